//! What connections of all families have.

/// The methods beside `Read` and `Write`.
macro_rules! connection {
    ($stream:ident, $address:ty) => {
        impl $stream {
            /// The address of this side.
            pub fn local_addr(&self) -> io::Result<$address> {
                self.shared.get().local_addr()
            }

            /// The address of the other side.
            pub fn peer_addr(&self) -> io::Result<$address> {
                self.shared.get().peer_addr()
            }

            /// Takes the error that the system keeps for this socket.
            pub fn take_error(&self) -> io::Result<Option<io::Error>> {
                self.shared.get().take_error()
            }

            /// Ends one direction, or both, at once. Tasks that wait for it are woken.
            pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
                self.shared.get().shutdown_with(how)
            }

            /// Another owner of the same connection, for instance for a second task. It shares the socket and the
            /// time-outs, and makes no system call.
            ///
            /// # Errors
            ///
            /// None. It returns a `Result` as the standard library does.
            pub fn try_clone(&self) -> io::Result<$stream> {
                Ok($stream { shared: self.shared.share() })
            }

            /// Reads the available bytes without removing them, and returns their number; 0 is the end of the stream.
            /// Waits until there is something to read, as long as a read does.
            pub fn peek(&self, buf: &mut [u8]) -> io::Result<usize> {
                self.shared.complete_read(self.shared.get().peek(buf))
            }

            /// The async socket, for its other methods.
            pub fn get_ref(&self) -> &net::$stream {
                self.shared.get()
            }

            /// Gives the async socket back.
            ///
            /// # Errors
            ///
            /// Returns this stream while a clone of it lives.
            pub fn into_inner(self) -> Result<net::$stream, $stream> {
                self.shared.into_inner().map_err(|shared| $stream { shared })
            }
        }

        impl From<net::$stream> for $stream {
            fn from(stream: net::$stream) -> $stream {
                $stream { shared: Shared::new(stream) }
            }
        }

        #[cfg(unix)]
        impl AsFd for $stream {
            fn as_fd(&self) -> BorrowedFd<'_> {
                self.shared.get().as_fd()
            }
        }

        #[cfg(unix)]
        impl AsRawFd for $stream {
            fn as_raw_fd(&self) -> RawFd {
                self.shared.get().as_raw_fd()
            }
        }

        impl fmt::Debug for $stream {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.shared.get().fmt(f)
            }
        }
    };
}

pub(super) use connection;
