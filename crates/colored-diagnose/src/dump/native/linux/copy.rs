//! A copy of the stack of another thread, which a signal handler on that thread makes.
//!
//! One word passes the room for the copy to and fro: [`FREE`], the number of the thread that is asked, [`COPIES`],
//! [`DONE`]. The thread that asks has the room in `FREE` and `DONE`, and the handler has it in `COPIES`. A handler
//! begins only by the change from its own thread's number to `COPIES`, so a signal that comes late, or from elsewhere,
//! changes nothing; and the thread that asks takes its question back only by the change from that number to `FREE`.

use super::registers::Registers;
use rustix::io::pread;
use std::cell::UnsafeCell;
use std::fs::File;
use std::io;
use std::mem;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

/// The signal. Systems ignore it by default, hardly a program uses it, and debuggers pass it on.
const SIGNAL: libc::c_int = libc::SIGURG;

/// How long a thread may take to answer: so many looks, with such a pause between them.
const LOOKS: u32 = 400;
const PAUSE: Duration = Duration::from_micros(50);

/// How much of a stack is wanted.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    /// The most frames: a recursion without an end has a stack of many thousands.
    pub(super) frames: usize,
    /// The most bytes. That many are copied as a rule, even from a short stack: what is mapped behind it.
    pub(super) bytes: usize,
}

impl Extent {
    /// Of a dump: all that there is, as a rule.
    pub(super) const WHOLE: Self = Self { frames: 256, bytes: 256 << 10 };

    /// Of a stack that is only counted, for its innermost functions: some 25 µs on the thread itself.
    pub(super) const SAMPLE: Self = Self { frames: 64, bytes: 64 << 10 };
}

/// No thread has these numbers: the kernel's are below 2^22.
const FREE: u32 = 0;
const COPIES: u32 = u32::MAX;
const DONE: u32 = u32::MAX - 1;

/// A copy of the innermost part of a stack.
pub(super) struct Copied {
    pub(super) registers: Registers,
    bytes: Box<[u8]>,
    /// So many are wanted.
    most: usize,
    length: usize,
}

impl Copied {
    /// The word at an address of the thread's memory, if it is in the copy.
    pub(super) fn word(&self, address: u64) -> Option<u64> {
        let begin = usize::try_from(address.checked_sub(self.registers.stack)?).ok()?;
        let bytes = self.bytes[..self.length].get(begin..)?.first_chunk()?;
        Some(u64::from_ne_bytes(*bytes))
    }
}

/// What the thread that asks and the handler share.
struct Shared {
    state: AtomicU32,
    copied: UnsafeCell<Copied>,
    /// The memory of the process. A read of it ends at the end of a stack without a fault.
    memory: File,
}

// SAFETY: only the side that has the room by `state` touches `copied`, as the module says.
unsafe impl Sync for Shared {}

static SHARED: OnceLock<Shared> = OnceLock::new();

/// The right to ask threads for their stacks. There is one in a process.
pub(super) struct Copier(&'static Shared);

impl Copier {
    /// Installs the handler.
    ///
    /// # Errors
    ///
    /// `AlreadyExists` if the signal has another one, and the system's error.
    pub(super) fn install() -> io::Result<Self> {
        if ![libc::SIG_DFL, libc::SIG_IGN].contains(&action(None)?.sa_sigaction) {
            let text = "native stacks need a handler of SIGURG, and the program has another one";
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, text));
        }
        let bytes = vec![0; Extent::WHOLE.bytes].into_boxed_slice();
        let copied = Copied { registers: Registers::default(), bytes, most: 0, length: 0 };
        let memory = File::open("/proc/self/mem")?;
        let state = AtomicU32::new(FREE);
        let shared = Shared { state, copied: UnsafeCell::new(copied), memory };
        let shared = SHARED.get_or_init(|| shared);
        action(Some(on_signal))?;
        Ok(Self(shared))
    }

    /// Has a thread of this process copy its stack.
    pub(super) fn copy(&mut self, thread: u32, extent: Extent) -> Result<&Copied, &'static str> {
        let state = &self.0.state;
        // SAFETY: no handler has the room before the question below: the last one is done, or its question was taken back.
        let copied = unsafe { &mut *self.0.copied.get() };
        copied.most = extent.bytes.min(copied.bytes.len());
        // Ordering: a change of the word passes the room on, so it releases, and the look that sees it acquires.
        state.store(thread, Ordering::Release);
        let process = rustix::process::getpid().as_raw_nonzero().get();
        // SAFETY: the call takes three numbers, and says so if there is no such thread.
        let sent = unsafe { libc::syscall(libc::SYS_tgkill, process, thread, SIGNAL) };
        let mut looks = if sent == 0 { LOOKS } else { 0 };
        while state.load(Ordering::Acquire) != DONE {
            looks = looks.saturating_sub(1);
            let is_taken_back = || {
                state.compare_exchange(thread, FREE, Ordering::AcqRel, Ordering::Relaxed).is_ok()
            };
            // A copy that has begun ends soon.
            if looks == 0 && is_taken_back() {
                return Err("it did not answer a signal in 20 ms, and has no stack here");
            }
            thread::sleep(PAUSE);
        }
        // SAFETY: the handler is done, and none begins before the next question, which needs `self` again.
        Ok(unsafe { &*self.0.copied.get() })
    }
}

type Handler = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);

/// Sets the handler of the signal, if there is one to set. Returns the action until now.
fn action(handler: Option<Handler>) -> io::Result<libc::sigaction> {
    // SAFETY: an action of zeros is the default one, without flags and with an empty mask.
    let mut next: libc::sigaction = unsafe { mem::zeroed() };
    let mut before = next;
    next.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
    let next = handler.map_or(ptr::null(), |handler| {
        next.sa_sigaction = handler as libc::sighandler_t;
        &raw const next
    });
    // SAFETY: both point to actions or nowhere, and a handler has the signature that SA_SIGINFO asks for.
    match unsafe { libc::sigaction(SIGNAL, next, &raw mut before) } {
        0 => Ok(before),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The handler. It allocates nothing and takes no lock, and `rustix`, which makes its system calls itself here, leaves
/// `errno` alone.
extern "C" fn on_signal(_: libc::c_int, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let Some(shared) = SHARED.get() else { return };
    let thread = rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned();
    let state = &shared.state;
    // Ordering: as in `copy`.
    if state.compare_exchange(thread, COPIES, Ordering::AcqRel, Ordering::Relaxed).is_err() {
        return;
    }
    // SAFETY: the kernel hands a handler with SA_SIGINFO the context of its thread.
    let registers = Registers::of(unsafe { &*context.cast::<libc::ucontext_t>() });
    // SAFETY: in this state the room is the handler's.
    let copied = unsafe { &mut *shared.copied.get() };
    copied.registers = registers;
    let room = &mut copied.bytes[..copied.most];
    copied.length = pread(&shared.memory, room, registers.stack).unwrap_or(0);
    state.store(DONE, Ordering::Release);
}
