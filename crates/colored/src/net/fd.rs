//! The descriptors of the sockets.

#[cfg(unix)]
mod unix {
    use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

    use crate::net::{
        TcpListener, TcpSocket, TcpStream, UdpSocket, UnixDatagram, UnixListener, UnixStream,
    };

    macro_rules! descriptor {
        ($($type:ty),*) => {$(
            impl AsFd for $type {
                fn as_fd(&self) -> BorrowedFd<'_> {
                    self.socket().as_fd()
                }
            }

            impl AsRawFd for $type {
                fn as_raw_fd(&self) -> RawFd {
                    self.socket().as_fd().as_raw_fd()
                }
            }
        )*};
    }

    descriptor!(TcpListener, TcpSocket, TcpStream, UdpSocket);
    descriptor!(UnixDatagram, UnixListener, UnixStream);

    impl From<OwnedFd> for TcpSocket {
        /// As [`TcpSocket::from_std_stream`].
        fn from(socket: OwnedFd) -> TcpSocket {
            TcpSocket::from_std_stream(socket.into())
        }
    }

    impl From<TcpSocket> for OwnedFd {
        fn from(socket: TcpSocket) -> OwnedFd {
            socket.into_socket().into()
        }
    }
}

#[cfg(windows)]
mod windows {
    use std::os::windows::io::{AsRawSocket, AsSocket, BorrowedSocket, OwnedSocket, RawSocket};

    use crate::net::{TcpListener, TcpSocket, TcpStream, UdpSocket};

    macro_rules! descriptor {
        ($($type:ty),*) => {$(
            impl AsSocket for $type {
                fn as_socket(&self) -> BorrowedSocket<'_> {
                    self.socket().as_socket()
                }
            }

            impl AsRawSocket for $type {
                fn as_raw_socket(&self) -> RawSocket {
                    self.socket().as_socket().as_raw_socket()
                }
            }
        )*};
    }

    descriptor!(TcpListener, TcpSocket, TcpStream, UdpSocket);

    impl From<OwnedSocket> for TcpSocket {
        /// As [`TcpSocket::from_std_stream`].
        fn from(socket: OwnedSocket) -> TcpSocket {
            TcpSocket::from_std_stream(socket.into())
        }
    }

    impl From<TcpSocket> for OwnedSocket {
        fn from(socket: TcpSocket) -> OwnedSocket {
            socket.into_socket().into()
        }
    }
}
