//! The native stack of a thread of this process.

mod copy;
mod modules;
mod registers;
mod symbols;

use self::copy::{Copier, Extent};
use self::registers::NativeUnwinder;
use super::Frame;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::ffi::c_void;
use std::io;
use std::sync::{Mutex, PoisonError, TryLockError};

/// What copies stacks, once the program has asked for them. One stack is copied at a time.
static COPIER: Mutex<Option<Copier>> = Mutex::new(None);

/// From now on, the dumps of all runtimes have the native stacks of the workers that have run one color for 10 ms or more,
/// and the reports of `Handle::observe` name the functions in which polls spend their time.
///
/// The function installs a handler of the signal `SIGURG`, which systems ignore by default, for the rest of the process.
/// A dump sends this signal to the thread of such a worker. The handler takes no lock and allocates nothing: it copies the
/// registers and up to 256 KiB of the stack, which takes some 60 µs, and its thread goes on. The thread that makes the dump
/// unwinds the copy by the tables (`.eh_frame`) in the program and its libraries, and names the functions, files and lines
/// as far as the program has symbols and debug information. The first dump reads these, which may take a second for a
/// large program.
///
/// A signal ends a system call that waits: such calls of the C library, as of the standard library, go on by themselves, except
/// those that `signal(7)` lists as never restarted, such as `poll` and `nanosleep`. What calls these has to expect `EINTR`, as the
/// standard library does. A thread that blocks the signal, or that the kernel does not let go, has no stack in the dump, which
/// says so after 20 ms.
///
/// # Observations
///
/// While an observation lasts, it sends the signal to each worker inside a poll or a callback every 5 ms, except inside
/// `block_in_place`: only to some of them, in turn, if the answers take more than a millisecond. The handler then copies 64 KiB, which
/// takes some 25 µs: half a percent of the worker's time. The thread that observes takes some 50 µs to unwind a copy. It keeps up
/// to 4,096 stacks as addresses, 2 MiB at most, and leaves out every second one each time that they are full. At the end it reads
/// the names: 0.1 s for a program of 10 MB without debug information. Where there are enough of others, stacks of
/// threads that waited for a CPU do not count. A thread that does not answer in 20 ms is not asked again for a tenth of the
/// observation. Warnings that come unasked look at no stacks.
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

/// The stacks of one dump, or of one observation.
#[derive(Default)]
pub(in crate::dump) struct Stacks {
    /// Made for the first stack: it reads the tables of the program.
    unwinder: OnceCell<NativeUnwinder>,
}

impl Stacks {
    /// Whether the program has asked for stacks, and no other thread copies one.
    pub(in crate::dump) fn is_installed() -> bool {
        COPIER.try_lock().is_ok_and(|copier| copier.is_some())
    }

    /// The frames of a thread, or why there are none; `None` if the program has not asked for stacks.
    pub(in crate::dump) fn of_thread(
        &self,
        thread: u32,
    ) -> Option<Result<Vec<Frame>, &'static str>> {
        let mut copier = COPIER.lock().unwrap_or_else(PoisonError::into_inner);
        let addresses = self.unwind(thread, copier.as_mut()?, Extent::WHOLE);
        drop(copier);
        Some(addresses.map(|all| {
            let frames = frames_at(all.iter().copied());
            all.iter().flat_map(|address| frames[address].clone()).collect()
        }))
    }

    /// The addresses of the innermost functions that a thread is in, or why there are none. `None` if the program has not
    /// asked for stacks, and while another thread copies one.
    pub(in crate::dump) fn sample(&self, thread: u32) -> Option<Result<Vec<u64>, &'static str>> {
        let mut copier = match COPIER.try_lock() {
            Ok(copier) => copier,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        Some(self.unwind(thread, copier.as_mut()?, Extent::SAMPLE))
    }

    fn unwind(
        &self,
        thread: u32,
        copier: &mut Copier,
        extent: Extent,
    ) -> Result<Vec<u64>, &'static str> {
        let unwinder = self.unwinder.get_or_init(modules::unwinder);
        let copied = copier.copy(thread, extent)?;
        Ok(copied.registers.unwind(unwinder, extent.frames, |address| copied.word(address)))
    }
}

/// The function at each address, and before it those that the compiler has put into it.
pub(in crate::dump) fn frames_at(addresses: impl Iterator<Item = u64>) -> HashMap<u64, Vec<Frame>> {
    let mut all: HashMap<u64, Vec<Frame>> = HashMap::new();
    for address in addresses {
        all.entry(address).or_insert_with(|| of_debug_information(address));
    }
    // Debug information that is of lines only has the last part of a name, as a rule.
    let is_short = |frame: &Frame| frame.function.as_deref().is_none_or(|it| !it.contains("::"));
    let outermost = |frames: &[Frame]| frames.last().is_some_and(is_short);
    let short = all.iter().filter(|(_, frames)| outermost(frames)).map(|(address, _)| *address);
    for (address, symbol) in symbols::at(short.collect()) {
        if let Some(frame) = all.get_mut(&address).and_then(|frames| frames.last_mut()) {
            frame.function = Some(symbol);
        }
    }
    all
}

fn of_debug_information(address: u64) -> Vec<Frame> {
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
