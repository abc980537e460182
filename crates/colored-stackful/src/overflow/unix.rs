//! A handler of the signals that an access to a guard raises. Other accesses go to the handler that was there before.

mod text;

use self::text::Text;
use crate::link;
use std::cell::Cell;
use std::mem::{self, MaybeUninit};
use std::ptr;
use std::sync::{Once, OnceLock};

/// The signals of an access that is refused: macOS and the BSDs send `SIGBUS`.
const SIGNALS: [libc::c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// The handlers that were there before.
static BEFORE: [OnceLock<libc::sigaction>; 2] = [const { OnceLock::new() }; 2];

thread_local! {
    static HAS_SIGNAL_STACK: Cell<bool> = const { Cell::new(false) };
}

/// From now on an overflow on this thread is told.
#[inline]
pub(crate) fn watch() {
    if !HAS_SIGNAL_STACK.get() {
        HAS_SIGNAL_STACK.set(true);
        begin();
    }
}

#[cold]
fn begin() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(install);
    give_signal_stack();
}

fn install() {
    for (signal, before) in SIGNALS.into_iter().zip(&BEFORE) {
        let mut old = MaybeUninit::<libc::sigaction>::uninit();
        // SAFETY: with no new handler, the call only writes the present one.
        if unsafe { libc::sigaction(signal, ptr::null(), old.as_mut_ptr()) } != 0 {
            continue;
        }
        // SAFETY: the call has succeeded, and so has written it.
        let old = unsafe { old.assume_init() };
        // The handler reads it, so it is there first.
        if before.set(old).is_err() {
            continue;
        }
        // SAFETY: all zeros are a `sigaction` with no flags and an empty mask.
        let mut new = unsafe { mem::zeroed::<libc::sigaction>() };
        let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = handle;
        new.sa_sigaction = handler as usize;
        new.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        // SAFETY: the handler has the signature that `SA_SIGINFO` asks for, and uses only what a handler may.
        unsafe { libc::sigaction(signal, &raw const new, ptr::null_mut()) };
    }
}

/// std gives its threads a stack for handlers where `main` is Rust's.
fn give_signal_stack() {
    let mut now = MaybeUninit::<libc::stack_t>::uninit();
    // SAFETY: with no new stack, the call only writes the present one.
    if unsafe { libc::sigaltstack(ptr::null(), now.as_mut_ptr()) } != 0 {
        return;
    }
    // SAFETY: the call has succeeded, and so has written it.
    if unsafe { now.assume_init() }.ss_flags & libc::SS_DISABLE == 0 {
        return;
    }
    let bytes = libc::SIGSTKSZ.max(32 << 10);
    // The thread has it up to its end, of which nobody tells: it is leaked.
    let memory = Box::leak(vec![0_u8; bytes].into_boxed_slice());
    let stack = libc::stack_t { ss_sp: memory.as_mut_ptr().cast(), ss_flags: 0, ss_size: bytes };
    // SAFETY: the memory is leaked, and nobody else uses it.
    unsafe { libc::sigaltstack(&raw const stack, ptr::null_mut()) };
}

extern "C" fn handle(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the system passes the information of this signal.
    let of = unsafe { &*info };
    // SAFETY: these signals have an address.
    let address = unsafe { of.si_addr() }.addr();
    // SAFETY: the handler runs on top of the fiber that the thread runs, if it runs one.
    if let Some(link) = unsafe { link::current() }
        && link.told.is_overflow(address)
    {
        tell(&link.told);
        // SAFETY: `abort` may be called in a handler.
        unsafe { libc::abort() };
    }
    pass_on(signal, info, context);
}

/// Says which task it was, without a lock and without an allocation.
fn tell(told: &link::Told) {
    let mut text = Text::new();
    text.push("\nthe stack of a task has overflowed: ");
    if let Some(id) = told.task.get() {
        text.push("task ");
        text.push_number(id);
        text.push(" ");
    }
    if let Some(name) = &told.name {
        text.push("\"");
        text.push(name);
        text.push("\" ");
    }
    text.push("spawned at ");
    text.push(told.site.file());
    text.push(":");
    text.push_number(told.site.line().into());
    text.push(", with ");
    text.push_number(told.size as u64 / 1024);
    text.push(" KiB; `stackful::Builder::stack_size` sets the size\n");
    let bytes = text.bytes();
    // SAFETY: the bytes are there, and `write` may be called in a handler.
    unsafe { libc::write(libc::STDERR_FILENO, bytes.as_ptr().cast(), bytes.len()) };
}

/// The signal is not ours: the handler before decides.
fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let index = SIGNALS.iter().position(|known| *known == signal).unwrap_or(0);
    let Some(before) = BEFORE[index].get() else { return };
    match before.sa_sigaction {
        libc::SIG_IGN => {}
        libc::SIG_DFL => {
            // The access is made again when this returns, and ends the process.
            // SAFETY: it is the action that the system gave.
            unsafe { libc::sigaction(signal, before, ptr::null_mut()) };
        }
        handler if before.sa_flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: with this flag, the number is the address of a function with this signature.
            let handler = unsafe {
                mem::transmute::<
                    usize,
                    extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void),
                >(handler)
            };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: without the flag, the number is the address of a function with this signature.
            let handler = unsafe { mem::transmute::<usize, extern "C" fn(libc::c_int)>(handler) };
            handler(signal);
        }
    }
}
