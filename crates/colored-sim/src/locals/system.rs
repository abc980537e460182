//! glibc tells where the thread-locals of each program and library are.
//!
//! It does so in calls that hold its lock of all libraries: so these stay, and the calls make no room, for an allocator may wait
//! for that lock. They copy into room that was there before, and if it is too small, they are made again with more.

use super::Block;
use crate::thread;
use libc::{c_int, c_void, dl_iterate_phdr, dl_phdr_info, size_t};
use std::{mem, ptr, slice};

/// Room for this is mostly enough.
const BYTES: usize = 16 << 10;
const BLOCKS: usize = 64;

/// Copies of thread-locals.
struct Copies {
    bytes: Vec<u8>,
    /// By block, its address and its length.
    blocks: Vec<(usize, usize)>,
    /// How many bytes and blocks there are, also where there is no room.
    all_bytes: usize,
    all_blocks: usize,
}

/// The thread-locals of this thread, without the C library's own.
pub(super) fn read() -> Option<Vec<Block>> {
    read_with(BYTES, BLOCKS)
}

/// As [`read`], with room for so many at first.
fn read_with(mut bytes: usize, mut blocks: usize) -> Option<Vec<Block>> {
    loop {
        let (room, list) = (Vec::with_capacity(bytes), Vec::with_capacity(blocks));
        let mut copies = Copies { bytes: room, blocks: list, all_bytes: 0, all_blocks: 0 };
        // SAFETY: the function takes its data for what it is here, and does not unwind.
        unsafe { dl_iterate_phdr(Some(add), ptr::from_mut(&mut copies).cast()) };
        let is_whole = copies.blocks.len() == copies.all_blocks;
        if is_whole {
            let mut rest = &*copies.bytes;
            let block = |(at, len): (usize, usize)| {
                let (bytes, behind) = mem::take(&mut rest).split_at(len);
                rest = behind;
                Block { at, bytes: bytes.to_vec() }
            };
            let all: Vec<_> = copies.blocks.into_iter().map(block).collect();
            return (!all.is_empty()).then_some(all);
        }
        (bytes, blocks) = (2 * copies.all_bytes, 2 * copies.all_blocks);
    }
}

/// Asks the system for a random byte inside a run: [`thread`] notes it if that is answered by the seed.
pub(super) fn ask_for_a_byte() {
    let before = thread::take();
    thread::begin(1);
    let mut byte = 0_u8;
    // SAFETY: the call writes at most one byte to this one.
    unsafe { libc::syscall(libc::SYS_getrandom, ptr::from_mut(&mut byte), 1_usize, 0) };
    thread::go_on(before);
}

/// Adds the thread-locals of one program or library.
unsafe extern "C" fn add(info: *mut dl_phdr_info, _size: size_t, copies: *mut c_void) -> c_int {
    // SAFETY: `read_with` has given a pointer to its copies, which nothing else uses meanwhile.
    let copies = unsafe { &mut *copies.cast::<Copies>() };
    // SAFETY: glibc gives a description that lives for as long as this call.
    let info = unsafe { &*info };
    if info.dlpi_tls_data.is_null() || info.dlpi_phdr.is_null() {
        return 0;
    }
    // SAFETY: the description has so many headers.
    let headers = unsafe { slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
    for header in headers.iter().filter(|header| header.p_type == libc::PT_TLS) {
        let (at, len) = (info.dlpi_tls_data.addr(), header.p_memsz as usize);
        // SAFETY: it returns the address of a thread-local of this thread.
        let errno = unsafe { libc::__errno_location() }.addr();
        if !(at..at + len).contains(&errno) {
            // SAFETY: the thread-locals of this thread are at that place, and have that length; they stay while the library
            // does, which is at least as long as this call.
            unsafe { copies.add(info.dlpi_tls_data.cast(), len) };
        }
    }
    0
}

impl Copies {
    /// Adds a block, if there is room. Makes none.
    ///
    /// # Safety
    ///
    /// So many bytes are mapped there, and stay so for as long as this call.
    unsafe fn add(&mut self, at: *const u8, len: usize) {
        self.all_bytes += len;
        self.all_blocks += 1;
        let has_room = self.bytes.capacity() - self.bytes.len() >= len
            && self.blocks.capacity() > self.blocks.len();
        if !has_room {
            return;
        }
        self.blocks.push((at.addr(), len));
        // Another thread may write there meanwhile, as one that wakes this one by what it has in a thread-local. So each read is
        // one of the machine, which no assumption of the compiler is built on: it gives some bytes from before a write and some
        // from behind it. Bytes that differ for that reason cost a thread, which makes no other run.
        let words = if at.cast::<u64>().is_aligned() { len / 8 } else { 0 };
        for word in 0..words {
            // SAFETY: these bytes are mapped, by the caller's promise, and aligned. Each value is allowed.
            let word = unsafe { at.cast::<u64>().wrapping_add(word).read_volatile() };
            self.bytes.extend_from_slice(&word.to_ne_bytes());
        }
        for byte in 8 * words..len {
            // SAFETY: as above.
            self.bytes.push(unsafe { at.wrapping_add(byte).read_volatile() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{read, read_with};
    use std::cell::Cell;
    use std::thread;

    thread_local!(static OWN: Cell<[u8; 13]> = const { Cell::new(*b"thread-locals") });

    #[test]
    fn little_room_is_made_larger() {
        // On a thread of its own: a harness may change what it has in its own.
        let on_a_thread = || {
            let own = OWN.with(Cell::as_ptr).addr();
            let read = read().unwrap();
            assert_eq!(read_with(0, 0).unwrap(), read);
            assert_eq!(read_with(1 << 20, 1).unwrap(), read);
            let block = read.iter().find(|of| (of.at..of.at + of.bytes.len()).contains(&own));
            let block = block.expect("this program has thread-locals");
            assert!(block.bytes[own - block.at..].starts_with(b"thread-locals"));
        };
        thread::spawn(on_a_thread).join().unwrap();
    }
}
