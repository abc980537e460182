//! The descriptors of the sockets.

#[cfg(unix)]
mod unix {
    use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

    use crate::net::{TcpListener, TcpStream, UdpSocket, UnixDatagram, UnixListener, UnixStream};

    macro_rules! descriptor {
        ($($type:ty),*) => {$(
            impl AsFd for $type {
                fn as_fd(&self) -> BorrowedFd<'_> {
                    self.socket().as_fd()
                }
            }

            impl AsRawFd for $type {
                fn as_raw_fd(&self) -> RawFd {
                    self.socket().as_raw_fd()
                }
            }
        )*};
    }

    descriptor!(TcpListener, TcpStream, UdpSocket, UnixDatagram, UnixListener, UnixStream);
}

#[cfg(windows)]
mod windows {
    use std::os::windows::io::{AsRawSocket, AsSocket, BorrowedSocket, RawSocket};

    use crate::net::{TcpListener, TcpStream, UdpSocket};

    macro_rules! descriptor {
        ($($type:ty),*) => {$(
            impl AsSocket for $type {
                fn as_socket(&self) -> BorrowedSocket<'_> {
                    self.socket().as_socket()
                }
            }

            impl AsRawSocket for $type {
                fn as_raw_socket(&self) -> RawSocket {
                    self.socket().as_raw_socket()
                }
            }
        )*};
    }

    descriptor!(TcpListener, TcpStream, UdpSocket);
}
