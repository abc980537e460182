//! The methods of the halves of a connection beside the traits, each for its direction.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::SocketAddr;
use std::task::{Context, Poll};

use super::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, WriteHalf};
use crate::io::{Interest, ReadBuf, Ready};
use crate::net::buf_mut::BufMut;

/// The methods of both directions.
macro_rules! both {
    () => {
        /// The address of this side.
        pub fn local_addr(&self) -> io::Result<SocketAddr> {
            self.as_ref().local_addr()
        }

        /// The address of the other side.
        pub fn peer_addr(&self) -> io::Result<SocketAddr> {
            self.as_ref().peer_addr()
        }

        /// See [`TcpStream::ready`](crate::net::TcpStream::ready). Cancel safe.
        pub async fn ready(&self, interest: Interest) -> io::Result<Ready> {
            self.as_ref().ready(interest).await
        }
    };
}

macro_rules! reading {
    ($($half:ty),*) => {$(
        impl $half {
            both!();

            /// See [`TcpStream::readable`](crate::net::TcpStream::readable). Cancel safe.
            pub async fn readable(&self) -> io::Result<()> {
                self.as_ref().readable().await
            }

            /// See [`TcpStream::try_read`](crate::net::TcpStream::try_read).
            ///
            /// # Errors
            ///
            /// [`WouldBlock`](io::ErrorKind::WouldBlock) if there is nothing to read yet.
            pub fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
                self.as_ref().try_read(buf)
            }

            /// See [`TcpStream::try_read_vectored`](crate::net::TcpStream::try_read_vectored).
            ///
            /// # Errors
            ///
            /// [`WouldBlock`](io::ErrorKind::WouldBlock) if there is nothing to read yet.
            pub fn try_read_vectored(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
                self.as_ref().try_read_vectored(bufs)
            }

            /// See [`TcpStream::try_read_buf`](crate::net::TcpStream::try_read_buf).
            ///
            /// # Errors
            ///
            /// [`WouldBlock`](io::ErrorKind::WouldBlock) if there is nothing to read yet.
            pub fn try_read_buf(&self, buf: &mut (impl BufMut + ?Sized)) -> io::Result<usize> {
                self.as_ref().try_read_buf(buf)
            }

            /// See [`TcpStream::peek`](crate::net::TcpStream::peek). Cancel safe.
            pub async fn peek(&self, buf: &mut [u8]) -> io::Result<usize> {
                self.as_ref().peek(buf).await
            }

            /// See [`TcpStream::poll_peek`](crate::net::TcpStream::poll_peek): only the last task to
            /// poll for reading is woken.
            pub fn poll_peek(
                &self,
                cx: &mut Context<'_>,
                buf: &mut ReadBuf<'_>,
            ) -> Poll<io::Result<usize>> {
                self.as_ref().poll_peek(cx, buf)
            }
        }
    )*};
}

macro_rules! writing {
    ($($half:ty),*) => {$(
        impl $half {
            both!();

            /// See [`TcpStream::writable`](crate::net::TcpStream::writable). Cancel safe.
            pub async fn writable(&self) -> io::Result<()> {
                self.as_ref().writable().await
            }

            /// See [`TcpStream::try_write`](crate::net::TcpStream::try_write).
            ///
            /// # Errors
            ///
            /// [`WouldBlock`](io::ErrorKind::WouldBlock) if there is no room yet.
            pub fn try_write(&self, buf: &[u8]) -> io::Result<usize> {
                self.as_ref().try_write(buf)
            }

            /// See [`TcpStream::try_write_vectored`](crate::net::TcpStream::try_write_vectored).
            ///
            /// # Errors
            ///
            /// [`WouldBlock`](io::ErrorKind::WouldBlock) if there is no room yet.
            pub fn try_write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
                self.as_ref().try_write_vectored(bufs)
            }
        }
    )*};
}

reading!(ReadHalf<'_>, OwnedReadHalf);
writing!(WriteHalf<'_>, OwnedWriteHalf);
