//! Record marking: messages on a stream, in fragments with their lengths.

use crate::mistake::Mistake;
use colored::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use std::io;

/// The header of a fragment: this flag on the last one of its record, and the length.
const LAST: u32 = 1 << 31;

/// The bytes of a header.
pub(crate) const HEADER: usize = 4;

/// A buffer that has grown to more than this many bytes is given back.
const KEPT: usize = 1 << 16;

/// The records that come on a stream.
pub(crate) struct Records<S> {
    stream: BufReader<S>,
    record: Vec<u8>,
    limit: usize,
    mistake: Option<Mistake>,
}

impl<S: AsyncRead + Unpin> Records<S> {
    /// Records of at most `limit` bytes.
    pub(crate) fn new(stream: S, limit: usize, mistake: Option<Mistake>) -> Self {
        let stream = BufReader::with_capacity(1 << 14, stream);
        Self { stream, record: Vec::new(), limit, mistake }
    }

    /// The next record, until the stream ends. Memory grows with the bytes that have come, not with the length that is
    /// announced: a header with a length above the limit costs its four bytes. Not cancel safe: a part of a record is lost.
    ///
    /// # Errors
    ///
    /// Those of the stream, `InvalidData` if the record is longer than the limit, or has an empty fragment that is not its
    /// last, and `UnexpectedEof` if the stream ends inside of it.
    pub(crate) async fn next(&mut self) -> io::Result<Option<&mut Vec<u8>>> {
        if self.stream.fill_buf().await?.is_empty() {
            return Ok(None);
        }
        self.record.clear();
        self.record.shrink_to(KEPT);
        loop {
            let header = self.stream.read_u32().await?;
            let length = (header & !LAST) as usize;
            if length > self.limit - self.record.len() {
                return Err(too_long(length, self.limit));
            }
            if length == 0 && header & LAST == 0 {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "an empty fragment"));
            }
            if self.mistake == Some(Mistake::BelievesHeaders) {
                self.record.reserve(length);
            }
            let mut fragment = (&mut self.stream).take(length as u64);
            if fragment.read_to_end(&mut self.record).await? < length {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if header & LAST != 0 {
                return Ok(Some(&mut self.record));
            }
        }
    }
}

fn too_long(length: usize, limit: usize) -> io::Error {
    let text = format!("a fragment of {length} bytes: the limit of a record is {limit}");
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// A record of one fragment, without its message.
pub(crate) fn begin_record() -> Vec<u8> {
    vec![0; HEADER]
}

/// Writes the header of a record of one fragment.
///
/// # Panics
///
/// If it has 2 GiB or more.
pub(crate) fn finish_record(record: &mut [u8]) {
    let length = u32::try_from(record.len() - HEADER).ok().filter(|length| length & LAST == 0);
    let length = length.expect("a record of less than 2 GiB");
    record[..HEADER].copy_from_slice(&(length | LAST).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The memory that a connection takes for a header of 1 MiB and ten bytes behind it.
    async fn capacity(mistake: Option<Mistake>) -> usize {
        let stream = [&(LAST | 1 << 20).to_be_bytes()[..], &[7; 10]].concat();
        let mut records = Records::new(&stream[..], 1 << 20, mistake);
        let error = records.next().await.expect_err("bytes are missing");
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        records.record.capacity()
    }

    #[colored::test]
    async fn memory_grows_with_the_bytes_that_have_come() {
        let capacity = [capacity(None).await, capacity(Some(Mistake::BelievesHeaders)).await];
        assert!(capacity[0] < 1 << 10 && capacity[1] >= 1 << 20, "{capacity:?}");
    }
}
