//! From and to the sockets of the standard library.

use std::io;
use std::net;

use super::{TcpListener, TcpStream, UdpSocket};

macro_rules! convert {
    ($($ours:ty, $theirs:ty;)*) => {$(
        impl TryFrom<$theirs> for $ours {
            type Error = io::Error;

            /// See `from_std`, also for errors and panics.
            #[track_caller]
            fn try_from(socket: $theirs) -> io::Result<$ours> {
                <$ours>::from_std(socket)
            }
        }

        impl TryFrom<$ours> for $theirs {
            type Error = io::Error;

            /// See `into_std`, also for errors.
            fn try_from(socket: $ours) -> io::Result<$theirs> {
                socket.into_std()
            }
        }
    )*};
}

convert! {
    TcpListener, net::TcpListener;
    TcpStream, net::TcpStream;
    UdpSocket, net::UdpSocket;
}

#[cfg(unix)]
convert! {
    super::UnixDatagram, std::os::unix::net::UnixDatagram;
    super::UnixListener, std::os::unix::net::UnixListener;
    super::UnixStream, std::os::unix::net::UnixStream;
}
