//! glibc tells where the thread-locals of each program and library are.

use super::Block;
use crate::thread;
use libc::{c_int, c_void, dl_iterate_phdr, dl_phdr_info, size_t};
use std::{ptr, slice};

/// The thread-locals of this thread, without the C library's own.
pub(super) fn read() -> Option<Vec<Block>> {
    let mut blocks: Vec<Block> = Vec::new();
    // SAFETY: the function takes its data for what it is here, and does not unwind: it aborts if there is no memory.
    unsafe { dl_iterate_phdr(Some(add), ptr::from_mut(&mut blocks).cast()) };
    (!blocks.is_empty()).then_some(blocks)
}

/// Asks the system for a random byte inside a run: [`thread`] notes it if that is answered by the seed.
pub(super) fn ask_for_a_byte() {
    thread::begin(1);
    let mut byte = 0_u8;
    // SAFETY: the call writes at most one byte to this one.
    unsafe { libc::syscall(libc::SYS_getrandom, ptr::from_mut(&mut byte), 1_usize, 0) };
    thread::end();
}

/// Adds the thread-locals of one program or library.
unsafe extern "C" fn add(info: *mut dl_phdr_info, _size: size_t, blocks: *mut c_void) -> c_int {
    // SAFETY: `read` has given a pointer to its list, which nothing else uses meanwhile.
    let blocks = unsafe { &mut *blocks.cast::<Vec<Block>>() };
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
            let mut bytes = vec![0; len];
            // SAFETY: the system's thread-locals of this thread are at that place, and have that length; they stay while the
            // thread lives. No other thread writes there. The copy is the C library's: to the compiler, a call of
            // another language that may read what it can reach.
            unsafe { libc::memcpy(bytes.as_mut_ptr().cast(), info.dlpi_tls_data, len) };
            blocks.push(Block { at, bytes });
        }
    }
    0
}
