//! Reading into memory that is not initialized: the only unsafe code of the sockets.
//!
//! A fresh buffer of a codec or of hyper is uninitialized. The safe ways into it are to zero it
//! before each read, or to read elsewhere and copy. Both add to every read, so we hand the memory
//! to the system and believe the length that it answers.

use std::io;
use std::mem::MaybeUninit;

use mio::net::TcpStream;
use socket2::SockRef;

use crate::io::ReadBuf;

/// What happens to the bytes that were read.
#[derive(Clone, Copy)]
pub(super) enum Mode {
    /// They leave the socket.
    Take,
    /// They stay in it, for the next read.
    Peek,
}

/// Reads once into the unfilled part of `buf`, and marks what arrived as filled.
pub(super) fn read(socket: &TcpStream, buf: &mut ReadBuf<'_>, mode: Mode) -> io::Result<usize> {
    // SAFETY: the caller of `unfilled_mut` must not make initialized bytes uninitialized: `receive`
    // writes initialized bytes only.
    let unfilled = unsafe { buf.unfilled_mut() };
    let n = receive(socket, unfilled, mode)?;
    // SAFETY: the caller of `assume_init` vouches that the first `n` unfilled bytes are
    // initialized: `receive` has written as many to the start of the slice, which begins there.
    unsafe { buf.assume_init(n) };
    buf.advance(n);
    Ok(n)
}

/// Reads once into the unfilled part of the buffer of hyper, and marks what arrived as filled.
#[cfg(feature = "hyper")]
pub(super) fn read_cursor(
    socket: &TcpStream,
    cursor: &mut hyper::rt::ReadBufCursor<'_>,
) -> io::Result<usize> {
    // SAFETY: the caller of `as_mut` must not make initialized bytes uninitialized: `receive`
    // writes initialized bytes only.
    let unfilled = unsafe { cursor.as_mut() };
    let n = receive(socket, unfilled, Mode::Take)?;
    // SAFETY: the caller of `advance` vouches that the first `n` unfilled bytes are initialized:
    // `receive` has written as many to the start of the slice, which begins there.
    unsafe { cursor.advance(n) };
    Ok(n)
}

/// Writes `n` initialized bytes to the start of `buf`, touches nothing else of it, and answers `n`,
/// which is at most its length. The unsafe blocks above rely on this sentence.
fn receive(socket: &TcpStream, buf: &mut [MaybeUninit<u8>], mode: Mode) -> io::Result<usize> {
    let room = buf.len();
    // socket2 promises for both calls that `buf` goes to recv(2) and nowhere else.
    let n = socket.try_io(|| match mode {
        Mode::Take => SockRef::from(socket).recv(buf),
        Mode::Peek => SockRef::from(socket).peek(buf),
    })?;
    assert!(n <= room, "recv reported {n} bytes in a buffer of {room}");
    Ok(n)
}
