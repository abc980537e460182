//! [`Chunks`]: bytes to be written, in pieces that are freed one by one.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, IoSlice};

use super::gather;
use super::socket::{Moved, Socket};
use super::transfer::Stream;
use crate::io::Interest;

/// One system call writes so many chunks at most. Linux takes 1024; the list lives on the stack.
const SLICES: usize = 64;

/// Bytes to be written, in chunks, by [`TcpStream::write_chunks`](super::TcpStream::write_chunks) and
/// `UnixStream::write_chunks`. What has been written leaves the list: a chunk is dropped as soon as its
/// last byte has been.
///
/// Collect it from an iterator, or [`push`](Self::push) chunks; a chunk is anything that has bytes, such
/// as `Vec<u8>`, `Bytes` or `&[u8]`.
#[derive(Clone, Debug)]
pub struct Chunks<B> {
    /// No chunk is empty.
    queue: VecDeque<B>,
    /// Bytes of the first chunk that have been written.
    written: usize,
}

impl<B> Default for Chunks<B> {
    fn default() -> Self {
        Self { queue: VecDeque::new(), written: 0 }
    }
}

impl<B: AsRef<[u8]>> Chunks<B> {
    /// No chunks.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a chunk behind the others. An empty one is dropped.
    pub fn push(&mut self, chunk: B) {
        if !chunk.as_ref().is_empty() {
            self.queue.push_back(chunk);
        }
    }

    /// Whether everything has been written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// The number of chunks of which bytes are left.
    #[must_use]
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// The number of bytes that are left. Takes time for each chunk.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.queue.iter().map(|chunk| chunk.as_ref().len()).sum::<usize>() - self.written
    }

    /// Writes once, and returns the number of bytes.
    fn write_to(&self, socket: &impl Socket) -> io::Result<(Moved, usize)> {
        let mut slices = [IoSlice::new(&[]); SLICES];
        let mut len = 0;
        let mut skip = self.written;
        for (slice, chunk) in slices.iter_mut().zip(&self.queue) {
            let bytes = &chunk.as_ref()[skip..];
            skip = 0;
            len += bytes.len();
            *slice = IoSlice::new(bytes);
        }
        let used = self.queue.len().min(SLICES);
        gather::write(socket, &slices[..used], len).map(|moved| (moved, len))
    }

    /// Drops what has been written.
    fn advance(&mut self, bytes: usize) {
        self.written += bytes;
        while let Some(first) = self.queue.front() {
            let len = first.as_ref().len();
            if self.written < len {
                return;
            }
            self.written -= len;
            self.queue.pop_front();
        }
    }

    /// Writes all chunks to a connection.
    pub(super) async fn write_all(&mut self, stream: &impl Stream) -> io::Result<()> {
        while !self.is_empty() {
            let mut len = 0;
            let write = |socket: &_| {
                let (moved, of) = self.write_to(socket)?;
                len = of;
                Ok(moved)
            };
            let (seen, moved) = stream.registered().io(Interest::WRITABLE, write).await?;
            match stream.moved(seen, Interest::WRITABLE, moved, len) {
                0 => return Err(ErrorKind::WriteZero.into()),
                n => self.advance(n),
            }
        }
        Ok(())
    }
}

impl<B: AsRef<[u8]>> FromIterator<B> for Chunks<B> {
    fn from_iter<I: IntoIterator<Item = B>>(chunks: I) -> Self {
        let mut all = Self::new();
        all.extend(chunks);
        all
    }
}

impl<B: AsRef<[u8]>> Extend<B> for Chunks<B> {
    fn extend<I: IntoIterator<Item = B>>(&mut self, chunks: I) {
        chunks.into_iter().for_each(|chunk| self.push(chunk));
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::pin::pin;
    use std::rc::Rc;
    use std::task::Poll;

    use super::*;
    use crate::io::AsyncReadExt;
    use crate::net::testing::{pair, run};

    /// 5,000 chunks, more than one system call takes, of 0 to 2,000 bytes.
    fn chunks() -> Vec<Vec<u8>> {
        (0..5000).map(|i| vec![i as u8; i * 7 % 2001]).collect()
    }

    #[test]
    fn more_chunks_than_one_call_takes_arrive_in_order_at_a_slow_reader() {
        run(async {
            let (client, mut server) = pair().await;
            let mut left: Chunks<_> = chunks().into_iter().collect();
            let bytes = left.remaining();
            let (written, read) = tokio::join!(
                async {
                    let written = client.write_chunks(&mut left).await;
                    drop(client);
                    written
                },
                async {
                    let mut all = Vec::new();
                    while server.read_buf(&mut all).await.unwrap() > 0 {
                        crate::time::sleep(std::time::Duration::from_micros(50)).await;
                    }
                    all
                },
            );
            written.unwrap();
            assert!(left.is_empty() && left.remaining() == 0);
            assert_eq!(read.len(), bytes);
            assert!(read == chunks().concat());
        });
    }

    #[test]
    fn a_chunk_is_dropped_when_it_has_been_written_and_a_dropped_write_goes_on() {
        run(async {
            let (client, mut server) = pair().await;
            let chunk: Rc<[u8]> = vec![7; 1 << 20].into();
            let mut left: Chunks<_> = (0..64).map(|_| Rc::clone(&chunk)).collect();
            {
                let mut write = pin!(client.write_chunks(&mut left));
                poll_fn(|cx| {
                    assert!(write.as_mut().poll(cx).is_pending(), "64 MiB fill the buffers");
                    Poll::Ready(())
                })
                .await;
            }
            assert_eq!(Rc::strong_count(&chunk), 1 + left.len());
            assert!(left.len() < 64 && left.remaining() > 0);
            let reader = async {
                let mut buf = vec![0; 1 << 16];
                let mut sum = 0;
                loop {
                    match server.read(&mut buf).await.unwrap() {
                        0 => return sum,
                        n => sum += n,
                    }
                }
            };
            let writer = async {
                client.write_chunks(&mut left).await.unwrap();
                drop(client);
            };
            let (sum, ()) = tokio::join!(reader, writer);
            assert_eq!((sum, Rc::strong_count(&chunk)), (64 << 20, 1));
        });
    }

    #[test]
    fn a_write_to_a_peer_that_has_gone_is_an_error_and_keeps_the_rest() {
        run(async {
            let (client, server) = pair().await;
            drop(server);
            let mut left: Chunks<_> = (0..64).map(|_| vec![1; 1 << 20]).collect();
            client.write_chunks(&mut left).await.unwrap_err();
            assert!(!left.is_empty());
        });
    }
}
