//! [`Link`]: what a fiber and the code that polls it tell each other, and the fiber that a thread runs.

use crate::sync::{Cell, thread_slot};
use colored_core::port::{Kept, Nesting, StackLocal, exchange_with_stacks};
use std::ops::Range;
use std::panic::Location;
use std::ptr::{self, NonNull};
use std::task::Context;
use std::thread;

/// One fiber, as both sides see it. Only one side runs at any time.
pub(crate) struct Link {
    /// The context of the poll that runs the fiber; none while the fiber is suspended, or unwinds.
    cx: Cell<Option<NonNull<Context<'static>>>>,
    /// The future that the fiber waits for.
    awaited: Cell<Option<Awaited>>,
    /// Whether the fiber polls a future.
    is_polling: Cell<bool>,
    /// What the thread was inside of when the fiber was resumed.
    resumed_in: Cell<Option<Nesting>>,
    /// Whether another stack of the thread unwound when the fiber was resumed: a destructor there polls or drops it.
    resumed_in_panic: Cell<bool>,
    has_to_end: Cell<bool>,
    /// How often the code of the fiber has caught the unwinding that ends it.
    caught: Cell<u32>,
    suspender: Cell<Option<Suspender>>,
    /// Whether the fiber runs on the thread that polls it.
    runs_on_the_thread: bool,
    /// Whether the fiber polls futures itself, before it suspends for them.
    pub(crate) polls_here: bool,
    pub(crate) told: Told,
}

/// What an overflow of the stack tells.
#[cfg_attr(
    any(miri, colored_loom, not(unix)),
    expect(dead_code, reason = "nothing of ours tells of an overflow")
)]
pub(crate) struct Told {
    pub(crate) site: &'static Location<'static>,
    pub(crate) name: Option<Box<str>>,
    /// Bytes of the stack.
    pub(crate) size: usize,
    pub(crate) guard: Cell<(usize, usize)>,
    pub(crate) task: Cell<Option<u64>>,
}

impl Told {
    /// Whether an access at this address is an overflow.
    #[cfg_attr(
        any(miri, colored_loom, not(unix)),
        expect(dead_code, reason = "nothing of ours tells of an overflow")
    )]
    pub(crate) fn is_overflow(&self, address: usize) -> bool {
        let (start, end) = self.guard.get();
        (start..end).contains(&address)
    }

    pub(crate) fn set_guard(&self, guard: Range<usize>) {
        self.guard.set((guard.start, guard.end));
    }
}

/// The right of a body to suspend itself.
#[derive(Clone, Copy)]
pub(crate) struct Suspender {
    pub(crate) place: *const (),
    /// What suspends a body of a switch that is not the chosen one.
    pub(crate) other: Option<unsafe fn(*const ())>,
}

/// A future, its type erased, in the frame of the function that waits for it.
#[derive(Clone, Copy)]
pub(crate) struct Awaited {
    pub(crate) place: *mut (),
    /// Polls it, and returns whether it is ready; the output, or the payload of a panic, is in the place then.
    pub(crate) poll: unsafe fn(*mut (), &mut Context<'_>) -> bool,
}

thread_slot! {
    static CURRENT: Cell<*const Link> = Cell::new(ptr::null())
}

/// The fiber that runs in a turn: a simulation goes on with another turn while this one waits inside.
struct CurrentOfStack {
    slot: fn(*const Link) -> *const Link,
}

static CURRENT_OF_STACK: CurrentOfStack = CurrentOfStack { slot: replace_current };

impl StackLocal for CurrentOfStack {
    fn exchange(&self, kept: &mut Kept) {
        let kept = kept.get_or_insert_with(|| Box::new(ptr::null::<Link>()));
        if let Some(kept) = kept.downcast_mut() {
            *kept = (self.slot)(*kept);
        }
    }
}

/// Makes `link` the fiber that this thread runs, and returns the one before.
#[inline(never)]
pub(crate) fn replace_current(link: *const Link) -> *const Link {
    CURRENT.with(|current| current.replace(link))
}

/// The fiber that this thread runs.
///
/// The function is not inlined: a fiber that moves between threads (`spawn_migrating`) must not keep the address of a
/// thread-local in a register.
///
/// # Safety
///
/// The caller does not keep the reference beyond the function of the fiber that it runs in.
#[inline(never)]
pub(crate) unsafe fn current<'a>() -> Option<&'a Link> {
    let link = CURRENT.with(Cell::get);
    // SAFETY: a link is current while its fiber runs, and the fiber's own stack has a reference to it.
    unsafe { link.as_ref() }
}

/// The fiber that this thread runs, if its code may suspend it now. One call, for it looks at several thread-locals.
///
/// # Safety
///
/// As for [`current`].
#[inline(never)]
pub(crate) unsafe fn current_that_may_wait<'a>() -> Option<&'a Link> {
    // SAFETY: as in `current`.
    let link = unsafe { CURRENT.with(Cell::get).as_ref() }?;
    let may_not =
        link.is_polling() || link.has_to_end() || link.is_in_closure() || link.is_unwinding();
    (!may_not).then_some(link)
}

impl Link {
    pub(crate) fn new(runs_on_the_thread: bool, moves: bool, told: Told) -> Self {
        Self {
            cx: Cell::new(None),
            awaited: Cell::new(None),
            is_polling: Cell::new(false),
            resumed_in: Cell::new(None),
            resumed_in_panic: Cell::new(false),
            has_to_end: Cell::new(false),
            caught: Cell::new(0),
            suspender: Cell::new(None),
            runs_on_the_thread,
            polls_here: runs_on_the_thread && !moves,
            told,
        }
    }

    /// The fiber begins, on its own stack.
    pub(crate) fn begin(&self, suspender: Suspender) {
        self.suspender.set(Some(suspender));
        replace_current(self);
    }

    /// Runs `resume` with the context of this poll, as the current fiber.
    #[inline]
    pub(crate) fn resume(
        &self,
        cx: Option<&mut Context<'_>>,
        resume: impl FnOnce() -> bool,
    ) -> bool {
        exchange_with_stacks(&CURRENT_OF_STACK);
        self.cx.set(cx.map(|cx| NonNull::from(cx).cast()));
        self.resumed_in.set(Some(Nesting::here()));
        self.resumed_in_panic.set(thread::panicking());
        let before = replace_current(self);
        let has_ended = resume();
        replace_current(before);
        self.cx.set(None);
        has_ended
    }

    /// Polls the future that the suspended fiber waits for. Returns whether the fiber can go on.
    #[inline]
    pub(crate) fn poll_awaited(&self, cx: &mut Context<'_>) -> bool {
        let Some(awaited) = self.awaited.get() else { return true };
        // SAFETY: the fiber is suspended in the frame that has the place, and takes it back before it leaves that frame.
        let is_ready = unsafe { (awaited.poll)(awaited.place, cx) };
        if is_ready {
            self.awaited.set(None);
        }
        is_ready
    }

    /// Calls `poll` with the context of the poll that runs this fiber. Returns `None` if there is none.
    ///
    /// # Safety
    ///
    /// The caller runs on the fiber.
    #[inline]
    pub(crate) unsafe fn poll_here<R>(
        &self,
        poll: impl FnOnce(&mut Context<'_>) -> R,
    ) -> Option<R> {
        struct End<'a>(&'a Cell<bool>);
        impl Drop for End<'_> {
            fn drop(&mut self) {
                self.0.set(false);
            }
        }
        let mut cx = self.cx.get()?;
        self.is_polling.set(true);
        let _end = End(&self.is_polling);
        // SAFETY: the poll that runs the fiber has the context up to the next suspension, and nobody else uses it while
        // the fiber runs: `is_polling` refuses a second wait inside this one.
        Some(poll(unsafe { cx.as_mut() }))
    }

    /// The fiber waits for this future, or for none.
    #[inline]
    pub(crate) fn set_awaited(&self, awaited: Option<Awaited>) {
        self.awaited.set(awaited);
    }

    /// The right of the fiber's code to suspend it.
    #[inline]
    pub(crate) fn suspender(&self) -> Suspender {
        self.suspender.get().expect("a fiber that runs has begun")
    }

    /// Whether the fiber is inside of a closure that must return before the poll ends.
    ///
    /// It looks at thread-locals: no function that waits calls it, as of [`current`].
    #[inline]
    pub(crate) fn is_in_closure(&self) -> bool {
        self.runs_on_the_thread && self.resumed_in.get() != Some(Nesting::here())
    }

    /// Whether the stack of the fiber unwinds. The thread counts its panics, and not those of one stack: while another
    /// stack unwinds, that count tells nothing of this one, and the answer is no.
    ///
    /// It looks at thread-locals: no function that waits calls it, as of [`current`].
    #[inline]
    pub(crate) fn is_unwinding(&self) -> bool {
        thread::panicking() && !(self.runs_on_the_thread && self.resumed_in_panic.get())
    }

    #[inline]
    pub(crate) fn is_polling(&self) -> bool {
        self.is_polling.get()
    }

    #[inline]
    pub(crate) fn has_to_end(&self) -> bool {
        self.has_to_end.get()
    }

    /// From now on, each wait unwinds the stack.
    pub(crate) fn set_to_end(&self) {
        self.has_to_end.set(true);
    }

    /// Counts a wait after the unwinding was caught, and returns how many there were.
    pub(crate) fn count_caught(&self) -> u32 {
        self.caught.set(self.caught.get() + 1);
        self.caught.get()
    }
}
