//! Sending a part of a file over a connection.
//!
//! The bytes are read and written, in place of `sendfile(2)`: that call sleeps for the disk on a
//! non-blocking socket too, and nothing tells before the call that it will. From 256 KiB on, reading and
//! writing is not slower.

use std::io::{self, ErrorKind};
use std::ops::Range;

use super::socket::Socket;
use super::transfer::Stream;
use crate::fs::File;
use crate::io::Interest;

/// Reads 64 KiB at a time, so that the buffer stays in the L2 cache.
const PART: usize = 64 << 10;

/// Moves the start of the range over what has been written.
pub(super) async fn send_file(
    stream: &impl Stream,
    file: &File,
    range: &mut Range<u64>,
) -> io::Result<()> {
    let part = |range: &Range<u64>| {
        usize::try_from(range.end - range.start).map_or(PART, |left| left.min(PART))
    };
    if range.is_empty() {
        return Ok(());
    }
    let mut buf = vec![0; part(range)];
    while !range.is_empty() {
        let read = file.read_at(&mut buf[..part(range)], range.start).await?;
        if read == 0 {
            let text = format!(
                "the file ends at {}, before the end of the range, {}",
                range.start, range.end
            );
            return Err(io::Error::new(ErrorKind::UnexpectedEof, text));
        }
        let mut written = 0;
        while written < read {
            let rest = &buf[written..read];
            let write = |socket: &_| Socket::write(socket, rest);
            let (seen, moved) = stream.registered().io(Interest::WRITABLE, write).await?;
            match stream.moved(seen, Interest::WRITABLE, moved, rest.len()) {
                0 => return Err(ErrorKind::WriteZero.into()),
                n => {
                    written += n;
                    range.start += n as u64;
                }
            }
        }
    }
    Ok(())
}
