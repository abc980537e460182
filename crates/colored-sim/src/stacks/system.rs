//! Stacks of corosensei's.

use colored_core::port::{StackLocals, begin_stacks};
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::mem::{self, ManuallyDrop};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::{env, process, ptr};

/// Whether a thread can have several stacks here.
pub const ARE_HERE: bool = true;

/// A stack has so many bytes, as a thread of std has, unless `RUST_MIN_STACK` says otherwise.
const BYTES: usize = 2 << 20;

/// What a body gives back: the stack that goes on, or its panic.
type Ended = Result<usize, Box<dyn Any + Send>>;

type Switch = Yielder<(), usize>;

/// A stack that does not run.
struct Suspended {
    /// In its frames there may be what must not be given up.
    coroutine: ManuallyDrop<Coroutine<(), usize, Ended>>,
    locals: StackLocals,
    /// Where its body waits for its turn, once it has begun.
    switch: Rc<Cell<*const Switch>>,
}

thread_local! {
    static RUNNING: Cell<usize> = const { Cell::new(0) };
    /// Of the stack that runs.
    static SWITCH: Cell<*const Switch> = const { Cell::new(ptr::null()) };
    /// By number, from 1: none if it runs, or has ended.
    static SUSPENDED: RefCell<Vec<Option<Box<Suspended>>>> = const { RefCell::new(Vec::new()) };
}

/// The memory of stacks that have ended.
static POOL: Mutex<Vec<DefaultStack>> = Mutex::new(Vec::new());

/// This thread may have several stacks from now on. Those that have ended are forgotten: the next one is number 1.
///
/// # Panics
///
/// If one has not ended.
pub fn begin() {
    begin_stacks();
    SUSPENDED.with_borrow_mut(|suspended| {
        assert!(suspended.iter().all(Option::is_none), "all stacks have ended");
        suspended.clear();
    });
}

/// The number of the stack that runs.
#[must_use]
pub fn running() -> usize {
    RUNNING.get()
}

/// Makes a stack, and returns its number: these go up from 1. It begins when it is [switched to](switch_to). Its body returns the
/// number of the stack that goes on then.
///
/// # Panics
///
/// If the system has no memory for it.
pub fn start(body: impl FnOnce() -> usize + 'static) -> usize {
    let switch = Rc::new(Cell::new(ptr::null()));
    let own = Rc::clone(&switch);
    let coroutine = Coroutine::with_stack(take_stack(), move |yielder: &Switch, ()| {
        own.set(ptr::from_ref(yielder));
        SWITCH.set(own.get());
        drop(own);
        catch_unwind(AssertUnwindSafe(body))
    });
    let coroutine = ManuallyDrop::new(coroutine);
    let made = Box::new(Suspended { coroutine, locals: StackLocals::new(), switch });
    SUSPENDED.with_borrow_mut(|suspended| {
        suspended.push(Some(made));
        suspended.len()
    })
}

/// Goes on with another stack, until something switches to this one. A panic of another stack's body continues on the
/// thread's own stack.
///
/// # Panics
///
/// If there is no such stack, or it has ended.
pub fn switch_to(to: usize) {
    if RUNNING.get() == 0 {
        run_others(to);
    } else if to != RUNNING.get() {
        let switch = SWITCH.get();
        // SAFETY: the pointer is the running stack's. Its yielder lives in the first frame of this stack, until the body has
        // returned, and this call is inside the body.
        let switch = unsafe { &*switch };
        switch.suspend(to);
    }
}

/// An exchange that panicked would leave frames of one stack with the thread-locals of another one.
struct AbortUnlessWhole;

impl Drop for AbortUnlessWhole {
    fn drop(&mut self) {
        process::abort();
    }
}

/// Runs stacks from the thread's own one on, until it is the next.
fn run_others(mut to: usize) {
    while to > 0 {
        let next = SUSPENDED.with_borrow_mut(|all| all.get_mut(to - 1).and_then(Option::take));
        let mut next = next.unwrap_or_else(|| panic!("there is no stack {to} that waits"));
        RUNNING.set(to);
        SWITCH.set(next.switch.get());
        let whole = AbortUnlessWhole;
        // SAFETY: the thread goes on with this stack, whose locals they are: new, or left by the exchange below.
        unsafe { next.locals.exchange() };
        let result = next.coroutine.resume(());
        // SAFETY: the thread has come from this stack, and goes on with its own, which has left its locals there.
        unsafe { next.locals.exchange() };
        mem::forget(whole);
        RUNNING.set(0);
        let from = to;
        to = match result {
            CoroutineResult::Yield(to) => {
                SUSPENDED.with_borrow_mut(|all| all[from - 1] = Some(next));
                to
            }
            CoroutineResult::Return(ended) => {
                let coroutine = ManuallyDrop::into_inner(next.coroutine);
                give_back(coroutine.into_stack());
                ended.unwrap_or_else(|panic| resume_unwind(panic))
            }
        };
    }
}

fn take_stack() -> DefaultStack {
    let pooled = POOL.lock().unwrap_or_else(PoisonError::into_inner).pop();
    pooled.unwrap_or_else(|| {
        DefaultStack::new(bytes()).unwrap_or_else(|error| panic!("no memory for a stack: {error}"))
    })
}

fn give_back(stack: DefaultStack) {
    POOL.lock().unwrap_or_else(PoisonError::into_inner).push(stack);
}

fn bytes() -> usize {
    static BYTES_OF_ENVIRONMENT: OnceLock<usize> = OnceLock::new();
    *BYTES_OF_ENVIRONMENT.get_or_init(|| {
        let wanted = env::var("RUST_MIN_STACK").ok().and_then(|bytes| bytes.parse().ok());
        wanted.unwrap_or(BYTES)
    })
}
