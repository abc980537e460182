//! Connections of all families: readiness, transfers that do not wait, files, and a look at what comes.

/// Defines what all connections have, of a `$stream` with the field `inner` and the function `connected`.
macro_rules! connection {
    ($stream:ident, $std:path) => {
        use std::fmt;
        use std::io::{self, IoSlice, IoSliceMut};
        use std::net::Shutdown;
        use std::ops::Range;
        use std::task::{Context, Poll};

        use $crate::fs::File;
        use $crate::io::{Interest, ReadBuf, Ready};
        use $crate::net::buf_mut::BufMut;
        use $crate::net::chunks::Chunks;
        use $crate::net::direction::Direction;
        use $crate::net::socket::Socket;
        use $crate::net::transfer::Stream;
        use $crate::net::uninit::{self, Mode};
        use $crate::net::{send_file, system};
        use $crate::registration::Registered;

        impl $stream {
            /// Takes over a connection of the standard library and makes it non-blocking.
            ///
            /// # Errors
            ///
            /// When the system refuses to make it non-blocking or to register it.
            ///
            /// # Panics
            ///
            /// Outside a runtime.
            #[track_caller]
            pub fn from_std(stream: $std) -> io::Result<Self> {
                stream.set_nonblocking(true)?;
                Self::connected(system::$stream::from_std(stream))
            }

            /// Gives the connection back to the standard library, still in non-blocking mode.
            ///
            /// # Errors
            ///
            /// When the system fails to release it; the connection is then closed.
            pub fn into_std(self) -> io::Result<$std> {
                self.inner.into_inner().map(Into::into)
            }

            /// Takes the error that the system keeps for this socket.
            pub fn take_error(&self) -> io::Result<Option<io::Error>> {
                self.socket().take_error()
            }

            /// Ends one direction, or both, at once. Tasks that wait for it are woken.
            ///
            /// [`AsyncWriteExt::shutdown`](crate::io::AsyncWriteExt::shutdown) ends the writing direction.
            pub fn shutdown_with(&self, how: Shutdown) -> io::Result<()> {
                Socket::shutdown(self.socket(), how)?;
                // Of a Unix connection, Linux wakes only tasks that wait to read; Wine wakes no such task.
                self.inner.end(how);
                Ok(())
            }

            pub(in crate::net) fn socket(&self) -> &system::$stream {
                self.inner.get()
            }

            /// Waits until there is something to read, which may be the end of the stream. Cancel safe.
            ///
            /// This is a hint: [`try_read`](Self::try_read) may still answer `WouldBlock`.
            pub async fn readable(&self) -> io::Result<()> {
                self.ready(Interest::READABLE).await.map(|_| ())
            }

            /// Waits until something can be written. Cancel safe. A hint like
            /// [`readable`](Self::readable).
            pub async fn writable(&self) -> io::Result<()> {
                self.ready(Interest::WRITABLE).await.map(|_| ())
            }

            /// Waits until the connection is ready for part of `interest`, and returns that part.
            /// Cancel safe. A hint like [`readable`](Self::readable).
            pub async fn ready(&self, interest: Interest) -> io::Result<Ready> {
                self.registered().ready(interest).await
            }

            /// Like [`readable`](Self::readable); only the last task to poll for reading is woken.
            pub fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.registered().poll_ready(cx, Interest::READABLE)
            }

            /// Like [`writable`](Self::writable); only the last task to poll for writing is woken.
            pub fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.registered().poll_ready(cx, Interest::WRITABLE)
            }

            /// Reads the available bytes, and returns their number; 0 is the end of the stream.
            ///
            /// # Errors
            ///
            /// [`WouldBlock`](io::ErrorKind::WouldBlock) if there is nothing to read yet.
            pub fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
                self.try_transfer(Interest::READABLE, buf.len(), |socket| socket.read(buf))
            }

            /// Like [`try_read`](Self::try_read) into several buffers, one after the other.
            pub fn try_read_vectored(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
                self.try_read_bufs(bufs)
            }

            /// Like [`try_read`](Self::try_read), behind what `buf` has, as far as it has room. The room need not be
            /// initialized.
            pub fn try_read_buf(&self, buf: &mut (impl BufMut + ?Sized)) -> io::Result<usize> {
                self.try_fill(buf)
            }

            /// Writes as many bytes as there is room for, and returns their number.
            ///
            /// # Errors
            ///
            /// [`WouldBlock`](io::ErrorKind::WouldBlock) if there is no room yet.
            pub fn try_write(&self, buf: &[u8]) -> io::Result<usize> {
                self.try_transfer(Interest::WRITABLE, buf.len(), |socket| socket.write(buf))
            }

            /// Like [`try_write`](Self::try_write) from several buffers, one after the other.
            pub fn try_write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
                self.try_write_bufs(bufs)
            }

            /// Writes all of `chunks`, however many they are and however few bytes the system takes at a
            /// time, and drops each chunk as soon as it has been written. Cancel safe: what has been
            /// written has left `chunks`, and another call goes on.
            ///
            /// # Errors
            ///
            /// The system's; the chunks that were not written stay.
            pub async fn write_chunks<B: AsRef<[u8]>>(
                &self,
                chunks: &mut Chunks<B>,
            ) -> io::Result<()> {
                chunks.write_all(self).await
            }

            /// Sends the bytes of a file in `range`, which must not end behind the end of the file. Waits
            /// for the disk without its worker, and for the peer. Cancel safe: the start of the range is
            /// behind what has been sent, and another call goes on.
            ///
            /// Linux sends what is in memory without a copy ([`try_send_file`](Self::try_send_file)), by
            /// two system calls for 256 KiB. The rest is read and written, 64 KiB at a time, which costs a
            /// buffer of that length.
            ///
            /// # Errors
            ///
            /// The system's; [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) if the file ends inside the
            /// range. The range is then what has not been sent.
            pub async fn send_file(&self, file: &File, range: &mut Range<u64>) -> io::Result<()> {
                send_file::send_file(self, file, range).await
            }

            /// Sends bytes from the start of `range` of a file, by one `sendfile(2)`: as many as there is room
            /// for, at most 256 KiB, and none behind the first page that is not in memory. Returns their
            /// number. Does not wait for the peer, nor for the disk, unless a page leaves memory at this moment.
            ///
            /// 0 where the bytes must be read to be sent: nothing at the start of the range is in memory, or it
            /// is behind the end of the file, or the system does not tell. Only Linux does, of files on a disk
            /// of this machine that belong to the user of the process.
            ///
            /// # Errors
            ///
            /// The system's; [`WouldBlock`](io::ErrorKind::WouldBlock) if there is no room yet.
            pub fn try_send_file(&self, file: &File, range: Range<u64>) -> io::Result<usize> {
                send_file::try_send(self, file, &range)
            }

            /// Runs `operation` once, unless the connection is known not to be ready for `interest`.
            /// Use it for system calls that this type has no method for: `operation` uses the
            /// descriptor.
            ///
            /// # Errors
            ///
            /// [`WouldBlock`](io::ErrorKind::WouldBlock) if the connection is not ready. When
            /// `operation` returns this error, the connection counts as not ready for all of `interest`
            /// until the system reports an event. So `operation` must return it only if the system did,
            /// and `interest` must cover no more than the system call that failed.
            pub fn try_io<T>(
                &self,
                interest: Interest,
                operation: impl FnOnce() -> io::Result<T>,
            ) -> io::Result<T> {
                self.registered().try_io(interest, |_| operation()).map(|(_, done)| done)
            }

            /// Runs `operation` when the connection is ready for part of `interest`, and again as long
            /// as it returns [`WouldBlock`](io::ErrorKind::WouldBlock); [`try_io`](Self::try_io) lists
            /// its obligations. Cancel safe: unless this returns, `operation` has not run or has not
            /// succeeded.
            pub async fn async_io<T>(
                &self,
                interest: Interest,
                mut operation: impl FnMut() -> io::Result<T>,
            ) -> io::Result<T> {
                self.registered().io(interest, |_| operation()).await.map(|(_, done)| done)
            }

            /// Reads the available bytes without removing them, and returns their number; 0 is the end
            /// of the stream. Waits until there is something to read. Cancel safe.
            pub async fn peek(&self, buf: &mut [u8]) -> io::Result<usize> {
                let peek = |socket: &_| uninit::read(socket, &mut ReadBuf::new(buf), Mode::Peek);
                Ok(self.registered().io(Interest::READABLE, peek).await?.1.bytes)
            }

            /// Like [`peek`](Self::peek); only the last task to poll for reading is woken.
            pub fn poll_peek(
                &self,
                cx: &mut Context<'_>,
                buf: &mut ReadBuf<'_>,
            ) -> Poll<io::Result<usize>> {
                let peek = |socket: &_| uninit::read(socket, buf, Mode::Peek);
                self.registered()
                    .poll_io(cx, Interest::READABLE, peek)
                    .map_ok(|(_, moved)| moved.bytes)
            }
        }

        impl Stream for $stream {
            type Socket = system::$stream;

            fn registered(&self) -> &Registered<system::$stream> {
                &self.inner
            }
        }

        impl Direction for $stream {
            type Stream = Self;

            fn stream(&self) -> &Self {
                self
            }
        }

        impl fmt::Debug for $stream {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.socket().fmt(f)
            }
        }
    };
}

pub(super) use connection;
