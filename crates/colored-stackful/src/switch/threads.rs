//! [`Threads`]: a double of the switch, in which each body has a thread of its own. Exactly one of the two threads runs at
//! any time, so a tool that cannot follow a switch of stacks, such as Miri or loom, follows this one.

use super::Switch;
use crate::link::Suspender;
use crate::sync::{self, Arc, Condvar, JoinHandle, Mutex};
use std::io;
use std::ops::Range;
use std::ptr;
use std::sync::PoisonError;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Baton {
    WithTheCaller,
    WithTheBody,
    Ended,
}

/// Which of the two threads runs.
struct Turns {
    baton: Mutex<Baton>,
    passed: Condvar,
}

impl Turns {
    fn pass(&self, to: Baton) {
        *self.baton.lock().unwrap_or_else(PoisonError::into_inner) = to;
        self.passed.notify_all();
    }

    /// Waits while the other side has it.
    fn wait_while(&self, other: Baton) -> Baton {
        let mut baton = self.baton.lock().unwrap_or_else(PoisonError::into_inner);
        while *baton == other {
            baton = self.passed.wait(baton).unwrap_or_else(PoisonError::into_inner);
        }
        *baton
    }
}

pub(crate) struct Threads {
    turns: Arc<Turns>,
    thread: Option<JoinHandle<()>>,
    /// Whether the body has begun, as its own thread sees it.
    has_begun: bool,
}

/// A body on its way to its thread.
struct Moved<B>(B);

// SAFETY: its thread and the thread that resumes it take turns by a lock, so neither sees the other's half-done work. The
// body is told (`RUNS_ON_THE_THREAD`) not to use what belongs to the other thread.
unsafe impl<B> Send for Moved<B> {}

impl<B> Moved<B> {
    fn into_inner(self) -> B {
        self.0
    }
}

impl Switch for Threads {
    const RUNS_ON_THE_THREAD: bool = false;

    unsafe fn new<B: FnOnce(Suspender)>(size: usize, body: B) -> io::Result<Self> {
        let turns =
            Arc::new(Turns { baton: Mutex::new(Baton::WithTheCaller), passed: Condvar::new() });
        let (own, moved) = (Arc::clone(&turns), Moved(body));
        let run = move || {
            let body = moved;
            if own.wait_while(Baton::WithTheCaller) == Baton::WithTheBody {
                let place = ptr::from_ref(&*own).cast();
                (body.into_inner())(Suspender { place, other: Some(Self::suspend) });
            }
            own.pass(Baton::Ended);
        };
        // SAFETY: the caller promises that the borrows of `body` live for as long as they are used.
        let thread = unsafe { sync::spawn(size.max(64 << 10), run) }?;
        Ok(Self { turns, thread: Some(thread), has_begun: false })
    }

    fn resume(&mut self) -> bool {
        self.has_begun = true;
        self.turns.pass(Baton::WithTheBody);
        self.turns.wait_while(Baton::WithTheBody) == Baton::Ended
    }

    unsafe fn suspend(place: *const ()) {
        // SAFETY: the caller runs inside the body, whose thread keeps the turns.
        let turns = unsafe { &*place.cast::<Turns>() };
        turns.pass(Baton::WithTheCaller);
        turns.wait_while(Baton::WithTheCaller);
    }

    fn guard(&self) -> Range<usize> {
        0..0
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        if !self.has_begun {
            self.turns.pass(Baton::Ended);
        }
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}
