//! [`Streamed`]: a part of a file as the body of an answer.

use crate::access::{Access, Opened};
use crate::cache::{Content, Entry};
use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::body::{Frame, SizeHint};
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// The body of an answer: bytes that are in memory, or a file.
pub(crate) type Body = Either<Full<Bytes>, Streamed>;

/// The bytes that are read at a time. The next ones are read when the connection has room for them, so
/// a slow client costs no more memory than this.
const CHUNK: u64 = 64 * 1024;

/// A part of a file, read while it is sent.
pub(crate) struct Streamed {
    access: Arc<Access>,
    path: Arc<Path>,
    entry: OpenEntry,
    rest: Range<u64>,
    reading: Option<Reading>,
}

type Reading = Pin<Box<dyn Future<Output = io::Result<Vec<u8>>> + Send>>;

impl Streamed {
    pub(crate) fn new(
        access: &Arc<Access>,
        path: &Arc<Path>,
        entry: &Arc<Entry>,
        part: Range<u64>,
    ) -> Streamed {
        let (access, path) = (Arc::clone(access), Arc::clone(path));
        Streamed { access, path, entry: OpenEntry(Arc::clone(entry)), rest: part, reading: None }
    }

    fn read(&self) -> Reading {
        let (access, path) = (Arc::clone(&self.access), Arc::clone(&self.path));
        let entry = self.entry.clone();
        let part = self.rest.start..self.rest.end.min(self.rest.start + CHUNK);
        Box::pin(async move { access.read(&path, entry, part).await })
    }
}

impl hyper::body::Body for Streamed {
    type Data = Bytes;
    type Error = io::Error;

    /// An error makes hyper close the connection, which tells the client that the answer is not whole.
    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        let mut reading = self.reading.take().unwrap_or_else(|| self.read());
        let Poll::Ready(read) = reading.as_mut().poll(cx) else {
            self.reading = Some(reading);
            return Poll::Pending;
        };
        let bytes = match read {
            Ok(bytes) if bytes.is_empty() => {
                let text = format!("{} became shorter while it was sent", self.path.display());
                Err(io::Error::new(ErrorKind::UnexpectedEof, text))
            }
            read => read,
        };
        Poll::Ready(Some(bytes.map(|bytes| {
            self.rest.start += bytes.len() as u64;
            Frame::data(Bytes::from(bytes))
        })))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.end - self.rest.start)
    }
}

/// An entry with an open file.
#[derive(Clone)]
struct OpenEntry(Arc<Entry>);

impl AsRef<Opened> for OpenEntry {
    fn as_ref(&self) -> &Opened {
        match &self.0.content {
            Content::File(file) => file,
            Content::Bytes(_) => unreachable!("bytes are not streamed"),
        }
    }
}
