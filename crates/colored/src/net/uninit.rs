//! Reading into memory that is not initialized: the only unsafe code on the way of the bytes.
//!
//! A fresh buffer of a codec or of hyper is uninitialized. The safe ways into it are to zero it
//! before each read, or to read elsewhere and copy. Both add to every read, so we hand the memory
//! to the system and believe the length that it answers.

use std::io;
use std::mem::MaybeUninit;

use socket2::{MaybeUninitSlice, MsgHdrMut};

use super::socket::{Moved, Socket};
use crate::io::ReadBuf;

/// Whether a read removes the bytes.
#[derive(Clone, Copy)]
pub(super) enum Mode {
    /// They leave the socket.
    Take,
    /// They stay in it, for the next read.
    Peek,
}

/// Reads once into the unfilled part of `buf`, and marks the new bytes as filled.
pub(super) fn read(socket: &impl Socket, buf: &mut ReadBuf<'_>, mode: Mode) -> io::Result<Moved> {
    // SAFETY: the caller of `unfilled_mut` must not make initialized bytes uninitialized: `receive`
    // writes initialized bytes only.
    let unfilled = unsafe { buf.unfilled_mut() };
    let moved = receive(socket, unfilled, mode)?;
    // SAFETY: the caller of `assume_init` vouches that the first `moved.bytes` unfilled bytes are
    // initialized: `receive` has written as many to the start of the slice, which begins there.
    unsafe { buf.assume_init(moved.bytes) };
    buf.advance(moved.bytes);
    Ok(moved)
}

/// Reads once into the unfilled part of the buffer of hyper, and marks the new bytes as filled.
#[cfg(feature = "hyper")]
pub(super) fn read_cursor(
    socket: &impl Socket,
    cursor: &mut hyper::rt::ReadBufCursor<'_>,
) -> io::Result<Moved> {
    // SAFETY: the caller of `as_mut` must not make initialized bytes uninitialized: `receive`
    // writes initialized bytes only.
    let unfilled = unsafe { cursor.as_mut() };
    let moved = receive(socket, unfilled, Mode::Take)?;
    // SAFETY: the caller of `advance` vouches that the first `moved.bytes` unfilled bytes are initialized:
    // `receive` has written as many to the start of the slice, which begins there.
    unsafe { cursor.advance(moved.bytes) };
    Ok(moved)
}

/// Writes `bytes` initialized bytes to the start of `buf`, touches nothing else of it, and answers
/// `bytes`, which is at most its length. The unsafe blocks above rely on this sentence. A simulated socket promises the same:
/// see [`Socket::receive_simulated`].
fn receive<S: Socket>(socket: &S, buf: &mut [MaybeUninit<u8>], mode: Mode) -> io::Result<Moved> {
    let room = buf.len();
    // socket2 promises for these calls that `buf` goes to recv(2) or recvmsg(2) and nowhere else.
    let simulated = socket.receive_simulated(buf, mode);
    let system = || {
        socket.try_io(|| match mode {
            Mode::Take if S::HAS_ANCILLARY => {
                let (bytes, flags) =
                    socket.system().recv_vectored(&mut [MaybeUninitSlice::new(buf)])?;
                // A flag reports a message that found no room, as here. Flags also report other reasons to end a read
                // early.
                Ok(Moved { bytes, is_all: flags == MsgHdrMut::new().flags() })
            }
            Mode::Take => Ok(Moved { bytes: socket.system().recv(buf)?, is_all: true }),
            Mode::Peek => Ok(Moved { bytes: socket.system().peek(buf)?, is_all: false }),
        })
    };
    let moved = simulated.unwrap_or_else(system)?;
    assert!(moved.bytes <= room, "the system tells {} bytes in a buffer of {room}", moved.bytes);
    Ok(moved)
}
