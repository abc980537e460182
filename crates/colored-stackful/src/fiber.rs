//! [`Fiber`]: a closure on a stack of its own, as a future.

#[cfg(all(test, not(colored_loom)))]
mod tests;

use crate::link::{Link, Told};
use crate::switch::{Chosen, Switch};
use crate::sync::Cell;
use crate::wait::Ended;
use colored::task::Id;
use colored_core::TaskName;
use std::any::Any;
use std::fmt;
use std::mem;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::thread;

/// How a fiber begins.
pub(crate) struct Settings {
    pub(crate) size: usize,
    pub(crate) name: Option<Name>,
    pub(crate) site: &'static Location<'static>,
    /// Whether it may be resumed on other threads than before.
    pub(crate) moves: bool,
}

/// The name of a task.
pub(crate) struct Name {
    pub(crate) text: Box<str>,
    /// Keeps the name for dumps; it lives as long as the task.
    pub(crate) kept: TaskName,
}

/// A closure that runs on a stack of its own, as a future. [`future`](crate::future()) makes it.
#[must_use = "futures do nothing unless awaited"]
pub struct Fiber<F, T> {
    inner: Switched<F, T, Chosen>,
}

/// A fiber by one of the switches.
pub(crate) struct Switched<F, T, S: Switch> {
    state: State<F, T, S>,
}

enum State<F, T, S> {
    New(F, Settings),
    Started(Started<T, S>),
    Over,
}

struct Started<T, S> {
    switch: S,
    frame: Rc<Frame<T>>,
    _name: Option<TaskName>,
}

/// What both sides of the switch use.
struct Frame<T> {
    link: Link,
    result: Cell<Option<thread::Result<T>>>,
}

impl<F: FnOnce() -> T, T> Fiber<F, T> {
    pub(crate) fn new(f: F, settings: Settings) -> Self {
        Self { inner: Switched::new(f, settings) }
    }
}

impl<F: FnOnce() -> T, T, S: Switch> Switched<F, T, S> {
    pub(crate) fn new(f: F, settings: Settings) -> Self {
        Self { state: State::New(f, settings) }
    }
}

impl<T, S: Switch> Started<T, S> {
    /// # Panics
    ///
    /// If the system has no memory for a stack.
    fn new<F: FnOnce() -> T>(f: F, settings: Settings) -> Self {
        let Settings { size, name, site, moves } = settings;
        let id = colored::task::try_id();
        let task = id.map(Id::get);
        let (name, kept) = name.map(|name| (name.text, name.kept)).unzip();
        if let Some((name, id)) = kept.as_ref().zip(id) {
            name.give(id);
        }
        let told = Told { site, name, size, guard: Cell::default(), task: Cell::new(task) };
        let link = Link::new(S::RUNS_ON_THE_THREAD, moves, told);
        let frame = Rc::new(Frame { link, result: Cell::new(None) });
        let own = Rc::clone(&frame);
        let body = move |suspender| {
            own.link.begin(suspender);
            own.result.set(Some(catch_unwind(AssertUnwindSafe(f))));
        };
        // SAFETY: a future is not used after what it borrows is gone. The body catches its panics, and `Drop` below ends
        // a fiber that has begun, or leaks its switch.
        let switch = match unsafe { S::new(size, body) } {
            Ok(switch) => switch,
            Err(error) => {
                panic!("no stack of {size} bytes for the task spawned at {site}: {error}")
            }
        };
        frame.link.told.set_guard(switch.guard());
        Self { switch, frame, _name: kept }
    }

    /// Runs the fiber up to its next wait that cannot go on. Returns whether it has ended.
    #[inline]
    fn resume(&mut self, cx: Option<&mut Context<'_>>) -> bool {
        let Self { switch, frame, .. } = self;
        frame.link.resume(cx, || switch.resume())
    }
}

impl<F: FnOnce() -> T, T, S: Switch> Switched<F, T, S> {
    #[inline]
    fn poll_once(&mut self, cx: &mut Context<'_>) -> Poll<T> {
        if matches!(self.state, State::New(..))
            && let State::New(f, settings) = mem::replace(&mut self.state, State::Over)
        {
            self.state = State::Started(Started::new(f, settings));
        }
        let State::Started(started) = &mut self.state else {
            panic!("the future of a closure was polled again after its end")
        };
        loop {
            if !started.frame.link.poll_awaited(cx) {
                return Poll::Pending;
            }
            if started.resume(Some(cx)) {
                break;
            }
            // It has polled what it waits for, with this context.
            if started.frame.link.polls_here {
                return Poll::Pending;
            }
        }
        let result = started.frame.result.take().expect("a fiber that has ended has a result");
        self.state = State::Over;
        match result {
            Ok(output) => Poll::Ready(output),
            Err(payload) => resume_unwind(payload),
        }
    }
}

// The closure moves to its stack before it runs.
impl<F, T, S: Switch> Unpin for Switched<F, T, S> {}

impl<F: FnOnce() -> T, T> Future for Fiber<F, T> {
    type Output = T;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        self.inner.poll_once(cx)
    }
}

impl<F: FnOnce() -> T, T, S: Switch> Future for Switched<F, T, S> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        self.poll_once(cx)
    }
}

impl<F, T, S: Switch> Drop for Switched<F, T, S> {
    fn drop(&mut self) {
        let State::Started(mut started) = mem::replace(&mut self.state, State::Over) else {
            return;
        };
        if cfg!(panic = "abort") {
            mem::forget(started);
            return;
        }
        started.frame.link.set_to_end();
        if !started.resume(None) {
            mem::forget(started);
            return;
        }
        // What the closure has returned after it caught the unwinding is dropped here.
        if let Some(Err(payload)) = started.frame.result.take()
            && !payload.is::<Ended>()
        {
            drop(started);
            if thread::panicking() {
                // A destructor of an unwinding: that panic goes on, and a second one would end the process.
                forget_panic(payload);
            } else {
                resume_unwind(payload);
            }
        }
    }
}

/// Drops the payload of a panic, and contains the panic of its destructor.
fn forget_panic(payload: Box<dyn Any + Send>) {
    if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        mem::forget(second);
    }
}

impl<F, T> fmt::Debug for Fiber<F, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fiber").finish_non_exhaustive()
    }
}
