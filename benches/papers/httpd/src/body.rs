//! [`Streamed`]: a part of a file as the body of an answer.

use crate::access::{Access, Opened};
use crate::entry::{Content, Entry};
use crate::outbox::{LONGEST, Outbox, Placeholder, Source};
use bytes::{Buf, Bytes};
use http_body_util::{Either, Full};
use hyper::body::{Frame, SizeHint};
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// The body of an answer: bytes that are in memory, or a file.
pub(crate) type Body = Either<Full<Piece>, Streamed>;

/// What hyper sends of a body.
#[derive(Debug)]
pub(crate) enum Piece {
    Bytes(Bytes),
    /// A part of a file, which the connection sends.
    File(Placeholder),
}

impl Buf for Piece {
    fn remaining(&self) -> usize {
        match self {
            Piece::Bytes(bytes) => bytes.remaining(),
            Piece::File(part) => part.remaining(),
        }
    }

    fn chunk(&self) -> &[u8] {
        match self {
            Piece::Bytes(bytes) => bytes.chunk(),
            Piece::File(part) => part.chunk(),
        }
    }

    fn advance(&mut self, count: usize) {
        match self {
            Piece::Bytes(bytes) => bytes.advance(count),
            Piece::File(part) => part.advance(count),
        }
    }
}

/// The bytes that are read at a time. The next ones are read when the connection has room for them, so
/// a slow client costs no more memory than this.
pub(crate) const CHUNK: u64 = 64 * 1024;

/// A part of a file, read while it is sent.
pub(crate) struct Streamed {
    source: Arc<Source>,
    rest: Range<u64>,
    /// Where the connection sends it from, without reading it.
    outbox: Option<Outbox>,
    reading: Option<Reading>,
}

pub(crate) type Reading = Pin<Box<dyn Future<Output = io::Result<Bytes>> + Send>>;

impl Streamed {
    pub(crate) fn new(
        access: &Arc<Access>,
        path: &Arc<Path>,
        entry: &Arc<Entry>,
        part: Range<u64>,
        outbox: Option<&Outbox>,
    ) -> Streamed {
        let (access, path) = (Arc::clone(access), Arc::clone(path));
        let source = Arc::new(Source { access, path, entry: OpenEntry(Arc::clone(entry)) });
        let outbox = outbox.filter(|_| source.lazy_file().is_some()).cloned();
        Streamed { source, rest: part, outbox, reading: None }
    }

    /// Leaves the next part to the connection.
    fn hand_out(&mut self, outbox: &Outbox) -> Placeholder {
        let part = self.rest.start..self.rest.end.min(self.rest.start + LONGEST);
        self.rest.start = part.end;
        outbox.put(&self.source, part)
    }
}

/// Reads the start of a part of a file: at least one byte.
pub(crate) fn read(source: &Arc<Source>, part: &Range<u64>) -> Reading {
    let source = Arc::clone(source);
    let part = part.start..part.end.min(part.start + CHUNK);
    Box::pin(async move {
        let bytes = source.access.read(&source.path, source.entry.clone(), part).await?;
        if bytes.is_empty() {
            let text = format!("{} became shorter while it was sent", source.path.display());
            return Err(io::Error::new(ErrorKind::UnexpectedEof, text));
        }
        Ok(Bytes::from(bytes))
    })
}

impl hyper::body::Body for Streamed {
    type Data = Piece;
    type Error = io::Error;

    /// An error makes hyper close the connection, which tells the client that the answer is not whole.
    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Piece>>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        if let Some(outbox) = self.outbox.clone() {
            return Poll::Ready(Some(Ok(Frame::data(Piece::File(self.hand_out(&outbox))))));
        }
        let this = &mut *self;
        let reading = this.reading.get_or_insert_with(|| read(&this.source, &this.rest));
        let bytes = ready!(reading.as_mut().poll(cx));
        self.reading = None;
        Poll::Ready(Some(bytes.map(|bytes| {
            self.rest.start += bytes.len() as u64;
            Frame::data(Piece::Bytes(bytes))
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
#[derive(Clone, Debug)]
pub(crate) struct OpenEntry(Arc<Entry>);

impl AsRef<Opened> for OpenEntry {
    fn as_ref(&self) -> &Opened {
        match &self.0.content {
            Content::File(file) => file,
            Content::Bytes(_) => unreachable!("bytes are not streamed"),
        }
    }
}
