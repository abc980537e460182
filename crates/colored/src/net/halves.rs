//! The two directions of a connection, each with an owner of its own. Connections of all families have the same.

/// Defines the halves of a connection `$stream`, the methods that split it, and the error of halves that do not belong
/// together.
macro_rules! halves {
    ($stream:path, $address:ty) => {
        use std::error::Error;
        use std::fmt;
        use std::io::{self, IoSlice, IoSliceMut};
        use std::sync::Arc;
        use std::task::{Context, Poll};

        use $crate::io::{Interest, ReadBuf, Ready};
        use $crate::net::buf_mut::BufMut;
        use $crate::net::halves::{directions, reading, writing};
        use $crate::net::transfer::Stream;
        // The name in the links of the documentation.
        use $stream as Connection;

        /// The reading direction of a borrowed connection; see [`split`](Connection::split). The rest of the connection is
        /// at [`as_ref`](AsRef::as_ref).
        #[derive(Debug)]
        pub struct ReadHalf<'a>(&'a Connection);

        /// The writing direction of a borrowed connection; see [`split`](Connection::split). The rest of the connection is
        /// at [`as_ref`](AsRef::as_ref). Dropping it does not end the direction.
        #[derive(Debug)]
        pub struct WriteHalf<'a>(&'a Connection);

        /// The reading direction of a connection; see [`into_split`](Connection::into_split). The rest of the connection,
        /// its options above all, is at [`as_ref`](AsRef::as_ref).
        #[derive(Debug)]
        pub struct OwnedReadHalf(Arc<Connection>);

        /// The writing direction of a connection; see [`into_split`](Connection::into_split). The rest of the connection,
        /// its options above all, is at [`as_ref`](AsRef::as_ref).
        ///
        /// Dropping it ends the direction: the peer sees the end of the stream, and may go on to write.
        /// [`forget`](OwnedWriteHalf::forget) drops it without that.
        #[derive(Debug)]
        pub struct OwnedWriteHalf {
            stream: Arc<Connection>,
            end_on_drop: bool,
        }

        /// The two halves belong to different connections; the error returns them.
        #[derive(Debug)]
        pub struct ReuniteError(pub OwnedReadHalf, pub OwnedWriteHalf);

        impl Connection {
            /// Lends the two directions out. Costs nothing; both stay in this task.
            pub fn split(&mut self) -> (ReadHalf<'_>, WriteHalf<'_>) {
                (ReadHalf(self), WriteHalf(self))
            }

            /// Splits the connection in two that may go to different tasks. Costs one allocation.
            pub fn into_split(self) -> (OwnedReadHalf, OwnedWriteHalf) {
                let stream = Arc::new(self);
                let read = OwnedReadHalf(Arc::clone(&stream));
                (read, OwnedWriteHalf { stream, end_on_drop: true })
            }
        }

        impl OwnedReadHalf {
            /// Makes a whole of the two halves again.
            ///
            /// # Errors
            ///
            /// When they are not of the same connection.
            pub fn reunite(self, write: OwnedWriteHalf) -> Result<Connection, ReuniteError> {
                if !Arc::ptr_eq(&self.0, &write.stream) {
                    return Err(ReuniteError(self, write));
                }
                write.forget();
                let stream = Arc::into_inner(self.0);
                Ok(stream.expect("a connection has two halves, and both are here"))
            }
        }

        impl OwnedWriteHalf {
            /// Makes a whole of the two halves again; see [`OwnedReadHalf::reunite`].
            ///
            /// # Errors
            ///
            /// When they are not of the same connection.
            pub fn reunite(self, read: OwnedReadHalf) -> Result<Connection, ReuniteError> {
                read.reunite(self)
            }

            /// Drops this without ending the direction, which then ends with the other half.
            pub fn forget(mut self) {
                self.end_on_drop = false;
            }
        }

        impl Drop for OwnedWriteHalf {
            fn drop(&mut self) {
                if self.end_on_drop {
                    // An error means that the direction has ended already.
                    let _ = self.stream.end_writing();
                }
            }
        }

        impl AsRef<Connection> for ReadHalf<'_> {
            fn as_ref(&self) -> &Connection {
                self.0
            }
        }

        impl AsRef<Connection> for WriteHalf<'_> {
            fn as_ref(&self) -> &Connection {
                self.0
            }
        }

        impl AsRef<Connection> for OwnedReadHalf {
            fn as_ref(&self) -> &Connection {
                &self.0
            }
        }

        impl AsRef<Connection> for OwnedWriteHalf {
            fn as_ref(&self) -> &Connection {
                &self.stream
            }
        }

        impl fmt::Display for ReuniteError {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "the two halves are of different connections; only those of one make a whole",
                )
            }
        }

        impl Error for ReuniteError {}

        reading!($address; ReadHalf<'_>, OwnedReadHalf);
        writing!($address; WriteHalf<'_>, OwnedWriteHalf);
        directions!(ReadHalf<'_>, WriteHalf<'_>, OwnedReadHalf, OwnedWriteHalf);
    };
}

/// For the traits of other crates.
macro_rules! directions {
    ($($half:ty),*) => {$(
        impl $crate::net::direction::Direction for $half {
            type Stream = Connection;

            fn stream(&self) -> &Connection {
                self.as_ref()
            }
        }
    )*};
}

/// The methods of both directions, beside the traits.
macro_rules! both {
    ($address:ty) => {
        /// The address of this side.
        pub fn local_addr(&self) -> io::Result<$address> {
            self.as_ref().local_addr()
        }

        /// The address of the other side.
        pub fn peer_addr(&self) -> io::Result<$address> {
            self.as_ref().peer_addr()
        }

        /// See [`ready`](Connection::ready) of the connection. Cancel safe.
        pub async fn ready(&self, interest: Interest) -> io::Result<Ready> {
            self.as_ref().ready(interest).await
        }
    };
}

/// The methods of the reading direction.
macro_rules! reading {
    ($address:ty; $($half:ty),*) => {$(
        impl $half {
            $crate::net::halves::both!($address);

            /// See [`readable`](Connection::readable) of the connection. Cancel safe.
            pub async fn readable(&self) -> io::Result<()> {
                self.as_ref().readable().await
            }

            /// See [`try_read`](Connection::try_read) of the connection.
            ///
            /// # Errors
            ///
            /// [`WouldBlock`](io::ErrorKind::WouldBlock) if there is nothing to read yet.
            pub fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
                self.as_ref().try_read(buf)
            }

            /// See [`try_read_vectored`](Connection::try_read_vectored) of the connection.
            ///
            /// # Errors
            ///
            /// [`WouldBlock`](io::ErrorKind::WouldBlock) if there is nothing to read yet.
            pub fn try_read_vectored(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
                self.as_ref().try_read_vectored(bufs)
            }

            /// See [`try_read_buf`](Connection::try_read_buf) of the connection.
            ///
            /// # Errors
            ///
            /// [`WouldBlock`](io::ErrorKind::WouldBlock) if there is nothing to read yet.
            pub fn try_read_buf(&self, buf: &mut (impl BufMut + ?Sized)) -> io::Result<usize> {
                self.as_ref().try_read_buf(buf)
            }

            /// See [`peek`](Connection::peek) of the connection. Cancel safe.
            pub async fn peek(&self, buf: &mut [u8]) -> io::Result<usize> {
                self.as_ref().peek(buf).await
            }

            /// See [`poll_peek`](Connection::poll_peek) of the connection: only the last task to poll for reading is
            /// woken.
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

/// The methods of the writing direction.
macro_rules! writing {
    ($address:ty; $($half:ty),*) => {$(
        impl $half {
            $crate::net::halves::both!($address);

            /// See [`writable`](Connection::writable) of the connection. Cancel safe.
            pub async fn writable(&self) -> io::Result<()> {
                self.as_ref().writable().await
            }

            /// See [`try_write`](Connection::try_write) of the connection.
            ///
            /// # Errors
            ///
            /// [`WouldBlock`](io::ErrorKind::WouldBlock) if there is no room yet.
            pub fn try_write(&self, buf: &[u8]) -> io::Result<usize> {
                self.as_ref().try_write(buf)
            }

            /// See [`try_write_vectored`](Connection::try_write_vectored) of the connection.
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

pub(super) use {both, directions, halves, reading, writing};
