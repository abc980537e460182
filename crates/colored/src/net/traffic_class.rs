//! The class of traffic that the packets of a socket belong to.

use std::io;

use socket2::SockRef;

use super::{TcpSocket, TcpStream, UdpSocket};

macro_rules! traffic_class {
    ($($socket:ty),*) => {$(
        impl $socket {
            /// `IP_TOS`: the byte that tells the routers the class of IPv4 packets. Its upper six bits are the class
            /// (DSCP).
            #[cfg(not(any(
                target_os = "fuchsia",
                target_os = "redox",
                target_os = "solaris",
                target_os = "illumos",
                target_os = "haiku",
                target_os = "wasi",
            )))]
            pub fn tos_v4(&self) -> io::Result<u32> {
                SockRef::from(self.socket()).tos_v4()
            }

            /// Sets [`tos_v4`](Self::tos_v4), 0 to 255. The system may keep the lowest two bits for itself. Windows
            /// ignores the value, unless its administrator has allowed it. Another number is an error, `InvalidInput`.
            #[cfg(not(any(
                target_os = "fuchsia",
                target_os = "redox",
                target_os = "solaris",
                target_os = "illumos",
                target_os = "haiku",
                target_os = "wasi",
            )))]
            pub fn set_tos_v4(&self, tos: u32) -> io::Result<()> {
                SockRef::from(self.socket()).set_tos_v4(byte("set_tos_v4", tos)?)
            }

            /// `IPV6_TCLASS`: the byte that tells the routers the class of IPv6 packets, as
            /// [`tos_v4`](Self::tos_v4) does for IPv4.
            ///
            /// # Errors
            ///
            /// The system's, on most systems if the socket is one for IPv4.
            #[cfg(any(
                target_os = "android",
                target_os = "dragonfly",
                target_os = "freebsd",
                target_os = "linux",
                target_os = "macos",
                target_os = "netbsd",
                target_os = "openbsd",
            ))]
            pub fn tclass_v6(&self) -> io::Result<u32> {
                SockRef::from(self.socket()).tclass_v6()
            }

            /// Sets [`tclass_v6`](Self::tclass_v6), 0 to 255.
            ///
            /// # Errors
            ///
            /// `InvalidInput` for another number; the system's, on most systems if the socket is one for IPv4.
            #[cfg(any(
                target_os = "android",
                target_os = "dragonfly",
                target_os = "freebsd",
                target_os = "linux",
                target_os = "macos",
                target_os = "netbsd",
                target_os = "openbsd",
            ))]
            pub fn set_tclass_v6(&self, class: u32) -> io::Result<()> {
                SockRef::from(self.socket()).set_tclass_v6(byte("set_tclass_v6", class)?)
            }
        }
    )*};
}

traffic_class!(TcpSocket, TcpStream, UdpSocket);

/// The header has one byte for it; systems take the rest away without a word.
fn byte(name: &str, given: u32) -> io::Result<u32> {
    if given <= 255 {
        return Ok(given);
    }
    let text = format!("{name}({given}): allowed are 0 to 255");
    Err(io::Error::new(io::ErrorKind::InvalidInput, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::TcpListener;
    use crate::services::testing::run;

    /// The class CS3, without the lowest two bits, which the system keeps.
    const CLASS: u32 = 96;

    #[test]
    fn sockets_of_both_protocols_have_a_class() {
        run(async {
            let udp = UdpSocket::bind("127.0.0.1:0").await.unwrap();
            udp.set_tos_v4(CLASS).unwrap();
            assert_eq!(udp.tos_v4().unwrap(), CLASS);
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let socket = TcpSocket::new_v4().unwrap();
            socket.set_tos_v4(CLASS).unwrap();
            assert_eq!(socket.tos_v4().unwrap(), CLASS);
            let stream = socket.connect(listener.local_addr().unwrap()).await.unwrap();
            assert_eq!(stream.tos_v4().unwrap(), CLASS);
            stream.set_tos_v4(0).unwrap();
            assert_eq!(stream.tos_v4().unwrap(), 0);
        });
    }

    #[cfg(any(target_os = "android", target_os = "linux", target_os = "macos"))]
    #[test]
    fn sockets_for_ipv6_have_a_class() {
        run(async {
            // The machine may have no IPv6.
            let Ok(udp) = UdpSocket::bind("[::1]:0").await else { return };
            udp.set_tclass_v6(CLASS).unwrap();
            assert_eq!(udp.tclass_v6().unwrap(), CLASS);
            let socket = TcpSocket::new_v6().unwrap();
            socket.set_tclass_v6(CLASS).unwrap();
            assert_eq!(socket.tclass_v6().unwrap(), CLASS);
            socket.set_tclass_v6(1000).unwrap_err();
        });
    }
}
