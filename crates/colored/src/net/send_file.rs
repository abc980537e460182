//! Sending a part of a file over a connection.
//!
//! Linux sends what is in memory by `sendfile(2)`, which copies nothing. That call sleeps for the disk on a non-blocking
//! socket too, so the system is asked first which pages are in memory. What is not is read, without the worker, and
//! written.

use std::io::{self, ErrorKind};
use std::ops::Range;

use super::socket::Socket;
use super::transfer::Stream;
use crate::fs::File;
use crate::io::Interest;

/// Reads 64 KiB at a time, so that the buffer stays in the L2 cache.
const PART: usize = 64 << 10;

/// Sends what is in memory at the start of the range, as far as there is room, and returns the number of bytes.
pub(super) fn try_send(stream: &impl Stream, file: &File, range: &Range<u64>) -> io::Result<usize> {
    if range.is_empty() {
        return Ok(0);
    }
    let send = |socket: &_| send(socket, file, range);
    stream.registered().try_io(Interest::WRITABLE, send).map(|(_, sent)| sent)
}

/// A simulated socket takes no file from the system.
fn send<S: Socket>(socket: &S, file: &File, range: &Range<u64>) -> io::Result<usize> {
    if socket.is_simulated() { Ok(0) } else { file.send(&socket.system(), range) }
}

/// Moves the start of the range over what has been written.
pub(super) async fn send_file(
    stream: &impl Stream,
    file: &File,
    range: &mut Range<u64>,
) -> io::Result<()> {
    let part = |range: &Range<u64>| {
        usize::try_from(range.end - range.start).map_or(PART, |left| left.min(PART))
    };
    let mut buf = Vec::new();
    while !range.is_empty() {
        let send = |socket: &_| send(socket, file, range);
        let (_, sent) = stream.registered().io(Interest::WRITABLE, send).await?;
        if sent > 0 {
            range.start += sent as u64;
            continue;
        }
        buf.resize(part(range).max(buf.len()), 0);
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
