//! The native stack of a thread of this process.

mod copy;
mod modules;
mod registers;

use self::copy::Copier;
use self::registers::NativeUnwinder;
use super::Frame;
use std::cell::OnceCell;
use std::ffi::c_void;
use std::io;
use std::sync::{Mutex, PoisonError};

/// The most frames of a stack: a recursion without an end has a stack of many thousands.
const FRAMES: usize = 256;

/// What copies stacks, once the program has asked for them. One stack is copied at a time.
static COPIER: Mutex<Option<Copier>> = Mutex::new(None);

/// From now on, the dumps of all runtimes have the native stacks of the workers that have run one color for 10 ms or more.
///
/// The function installs a handler of the signal `SIGURG`, which systems ignore by default, for the rest of the process.
/// A dump sends this signal to the thread of such a worker. The handler takes no lock and allocates nothing: it copies the
/// registers and up to 256 KiB of the stack, which takes some 50 µs, and its thread goes on. The thread that makes the dump
/// unwinds the copy by the tables (`.eh_frame`) in the program and its libraries, and names the functions, files and lines
/// as far as the program has symbols and debug information. The first dump reads these, which may take a second for a
/// large program.
///
/// A signal ends a system call that waits: such calls of the C library, as of the standard library, go on by themselves, except
/// those that `signal(7)` lists as never restarted, such as `poll` and `nanosleep`. What calls these has to expect `EINTR`, as the
/// standard library does. A thread that blocks the signal, or that the kernel does not let go, has no stack in the dump, which
/// says so after 20 ms.
///
/// A second call does nothing.
///
/// # Errors
///
/// `AlreadyExists` if the signal has a handler of something else; and the system's error, if it refuses the handler or
/// `/proc/self/mem`.
pub fn install_stack_handler() -> io::Result<()> {
    let mut copier = COPIER.lock().unwrap_or_else(PoisonError::into_inner);
    if copier.is_none() {
        *copier = Some(Copier::install()?);
    }
    Ok(())
}

/// The stacks of one dump.
#[derive(Default)]
pub(in crate::dump) struct Stacks {
    /// Made for the first stack: it reads the tables of the program.
    unwinder: OnceCell<NativeUnwinder>,
}

impl Stacks {
    /// The frames of a thread, or why there are none; `None` if the program has not asked for stacks.
    pub(in crate::dump) fn of_thread(
        &self,
        thread: u32,
    ) -> Option<Result<Vec<Frame>, &'static str>> {
        let mut copier = COPIER.lock().unwrap_or_else(PoisonError::into_inner);
        Some(copier.as_mut()?.copy(thread).map(|copied| {
            let unwinder = self.unwinder.get_or_init(modules::unwinder);
            let word = |address| copied.word(address);
            let addresses = copied.registers.unwind(unwinder, FRAMES, word);
            addresses.iter().flat_map(|&address| frames_at(address)).collect()
        }))
    }
}

/// The function at the address, and before it those that the compiler has put into it.
fn frames_at(address: u64) -> Vec<Frame> {
    let mut frames = Vec::new();
    backtrace::resolve(address as *mut c_void, |symbol| {
        let file = symbol.filename().map(|file| file.display().to_string());
        frames.push(Frame {
            address,
            function: symbol.name().map(|name| format!("{name:#}")),
            place: file.zip(symbol.lineno()),
        });
    });
    if frames.is_empty() {
        frames.push(Frame { address, function: None, place: None });
    }
    frames
}
