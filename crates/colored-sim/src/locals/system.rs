//! glibc tells where the thread-locals of each program and library are.
//!
//! It does so in calls that hold its lock of all libraries: so these stay, and the calls make no room, for an allocator may wait
//! for that lock. They copy into room that was there before, and if it is too small, they are made again with more.

use super::Block;
use crate::thread;
use libc::{c_int, c_void, dl_iterate_phdr, dl_phdr_info, size_t};
use std::{array, mem, ptr, slice};

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
        for_each(&mut |block| copies.add(block));
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

/// Whether this thread has these blocks, and each block has these bytes. A byte that the noise marks may differ: the noise has one
/// part for each block, or none.
pub(super) fn are_unchanged(blocks: &[Block], noise: &[Vec<u8>]) -> bool {
    let (mut number, mut is_unchanged) = (0, true);
    for_each(&mut |there| {
        is_unchanged &= blocks.get(number).is_some_and(|block| {
            let noise = noise.get(number).filter(|noise| noise.len() == there.len);
            block.at == there.at.addr()
                && there.is_alike(&block.bytes, noise.map_or(&[], |noise| noise))
        });
        number += 1;
    });
    is_unchanged && number == blocks.len()
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

/// Shows the thread-locals of each program or library to `see`, which makes no room and does not panic.
fn for_each(mut see: &mut dyn FnMut(&There)) {
    // SAFETY: the function takes its data for what it is here, and does not unwind.
    unsafe { dl_iterate_phdr(Some(show), ptr::from_mut(&mut see).cast()) };
}

/// Shows the thread-locals of one program or library.
unsafe extern "C" fn show(info: *mut dl_phdr_info, _size: size_t, see: *mut c_void) -> c_int {
    // SAFETY: `for_each` has given a pointer to its function, which nothing else uses meanwhile.
    let see = unsafe { &mut *see.cast::<&mut dyn FnMut(&There)>() };
    // SAFETY: glibc gives a description that lives for as long as this call.
    let info = unsafe { &*info };
    if info.dlpi_tls_data.is_null() || info.dlpi_phdr.is_null() {
        return 0;
    }
    // SAFETY: the description has so many headers.
    let headers = unsafe { slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
    for header in headers.iter().filter(|header| header.p_type == libc::PT_TLS) {
        let (at, len) = (info.dlpi_tls_data.cast::<u8>().cast_const(), header.p_memsz as usize);
        // SAFETY: it returns the address of a thread-local of this thread.
        let errno = unsafe { libc::__errno_location() }.addr();
        if !(at.addr()..at.addr() + len).contains(&errno) {
            see(&There { at, len });
        }
    }
    0
}

/// A block of this thread's thread-locals where it is. So many bytes are mapped there for as long as it is shown: they stay while the
/// library does, which is at least as long as glibc's call.
struct There {
    at: *const u8,
    len: usize,
}

impl There {
    /// The word of this number.
    ///
    /// Another thread may write there meanwhile, as one that wakes this one by what it has in a thread-local. So each read is one of the
    /// machine, which no assumption of the compiler is built on: it gives some bytes from before a write and some from behind it.
    /// Bytes that differ for that reason cost a thread, which makes no other run.
    #[inline]
    fn word(&self, number: usize) -> [u8; 8] {
        debug_assert!(8 * (number + 1) <= self.len);
        let word = self.at.wrapping_add(8 * number).cast::<u64>();
        if !word.is_aligned() {
            return array::from_fn(|byte| self.byte(8 * number + byte));
        }
        // SAFETY: these bytes are mapped, and aligned. Each value is allowed.
        unsafe { word.read_volatile() }.to_ne_bytes()
    }

    #[inline]
    fn byte(&self, number: usize) -> u8 {
        debug_assert!(number < self.len);
        // SAFETY: as above.
        unsafe { self.at.wrapping_add(number).read_volatile() }
    }

    /// Whether the block has these bytes and no more. A byte that the noise marks may differ: the noise has as many bytes, or none.
    fn is_alike(&self, bytes: &[u8], noise: &[u8]) -> bool {
        if bytes.len() != self.len {
            return false;
        }
        let ((words, rest), (masks, _)) = (bytes.as_chunks(), noise.as_chunks());
        let mut differs = 0;
        for (number, known) in words.iter().enumerate() {
            let mask = masks.get(number).map_or(0, |mask| u64::from_ne_bytes(*mask));
            let here = u64::from_ne_bytes(self.word(number)) ^ u64::from_ne_bytes(*known);
            differs |= here & !mask;
        }
        for (number, known) in (bytes.len() - rest.len()..).zip(rest) {
            let mask = noise.get(number).copied().unwrap_or(0);
            differs |= u64::from((self.byte(number) ^ known) & !mask);
        }
        differs == 0
    }
}

impl Copies {
    /// Adds a block, if there is room. Makes none.
    fn add(&mut self, block: &There) {
        let len = block.len;
        self.all_bytes += len;
        self.all_blocks += 1;
        let has_room = self.bytes.capacity() - self.bytes.len() >= len
            && self.blocks.capacity() > self.blocks.len();
        if !has_room {
            return;
        }
        self.blocks.push((block.at.addr(), len));
        (0..len / 8).for_each(|word| self.bytes.extend_from_slice(&block.word(word)));
        self.bytes.extend((len / 8 * 8..len).map(|byte| block.byte(byte)));
    }
}

#[cfg(test)]
mod tests {
    use super::{There, read, read_with};
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

    #[test]
    fn more_or_fewer_bytes_are_not_alike() {
        let bytes = *b"thread-locals";
        let there = There { at: bytes[1..].as_ptr(), len: 11 };
        let is_alike = |len: usize| there.is_alike(&bytes[1..1 + len], &[]);
        assert_eq!([10, 11, 12].map(is_alike), [false, true, false]);
    }
}
