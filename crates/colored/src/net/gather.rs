//! Small pieces are written as one.
//!
//! An HTTP response is two pieces, a head and a body. The system takes longer to read a list of
//! pieces than this process takes to put short ones together: with a kilobyte and less, one copy
//! and a plain `send` cost some 80 ns less than `writev`, a twentieth of the call; from 8 KiB on
//! nothing is saved.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;

use super::socket::{Moved, Socket};
use crate::io::ReadBuf;

/// Together not longer than this, pieces are copied.
const SHORT: usize = 1024;

/// Writes `bufs`, of `len` bytes together, once, and answers how many bytes the system took.
pub(super) fn write(socket: &impl Socket, bufs: &[IoSlice<'_>], len: usize) -> io::Result<Moved> {
    if len > SHORT {
        return socket.write_vectored(bufs);
    }
    let mut whole = [MaybeUninit::uninit(); SHORT];
    let mut whole = ReadBuf::uninit(&mut whole);
    bufs.iter().for_each(|buf| whole.put_slice(buf));
    socket.write(whole.filled())
}
