//! Where a future and those who run its closure meet.

use super::access::{CallError, InUse};
use crate::contain::contain;
use crate::sched::waits::Wait;
use crate::sync::{Mutex, MutexGuard};
use crate::task::Deadlock;
use std::any::Any;
use std::panic::resume_unwind;
use std::task::Waker;
use std::{mem, thread};

/// A closure on its way to where it runs, and its result on the way back.
pub(super) struct Slot<F, R>(Mutex<State<F, R>>);

enum State<F, R> {
    /// The closure has not begun. The record of the wait goes when it does.
    Waiting(F, Waker, Option<Wait>),
    /// It has not begun and nobody waits for it: whose turn it is drops it.
    Abandoned(F),
    /// It has begun.
    Begun(Waker),
    /// It has begun and nobody waits for it, or all is over.
    Alone,
    /// It is over.
    Over(Outcome<R>),
}

/// What became of a closure.
pub(super) enum Outcome<R> {
    Done(R),
    Panicked(Box<dyn Any + Send>),
    /// The runtime shut down before it ran.
    Cancelled,
}

impl<R> From<thread::Result<R>> for Outcome<R> {
    fn from(result: thread::Result<R>) -> Self {
        match result {
            Ok(result) => Self::Done(result),
            Err(payload) => Self::Panicked(payload),
        }
    }
}

impl<R> Outcome<Result<R, InUse>> {
    /// For whoever has waited for it; goes on with the closure's panic.
    pub(super) fn into_result(self) -> Result<R, CallError> {
        match self {
            Self::Done(result) => Ok(result?),
            Self::Panicked(payload) => resume_unwind(payload),
            Self::Cancelled => Err(CallError::ShutDown),
        }
    }
}

impl<F, R> Slot<F, R> {
    pub(super) fn new(f: F, waker: Waker, wait: Option<Wait>) -> Self {
        Self(Mutex::new(State::Waiting(f, waker, wait)))
    }

    /// Records again, by `record`, that the caller waits, if it does. The closure does not begin
    /// meanwhile, nor after an error, when it is abandoned.
    #[cold]
    pub(super) fn record_again(
        &self,
        record: impl FnOnce(Option<Wait>) -> Result<Option<Wait>, Deadlock>,
    ) -> Result<(), Deadlock> {
        let mut state = self.0.lock();
        if let State::Waiting(_, _, wait) = &mut *state {
            match record(wait.take()) {
                Ok(again) => *wait = again,
                Err(deadlock) => {
                    abandon(state);
                    return Err(deadlock);
                }
            }
        }
        Ok(())
    }

    /// The outcome, once; or the waker to be called when it is there.
    pub(super) fn poll(&self, waker: &Waker) -> Option<Outcome<R>> {
        // A waker is anybody's code: it is cloned before the lock, and dropped after it.
        let waker = waker.clone();
        let mut state = self.0.lock();
        let (next, _old) = match mem::replace(&mut *state, State::Alone) {
            State::Over(outcome) => return Some(outcome),
            State::Waiting(f, old, wait) => (State::Waiting(f, waker, wait), old),
            State::Begun(old) => (State::Begun(waker), old),
            State::Abandoned(..) | State::Alone => unreachable!("nobody waits any more"),
        };
        *state = next;
        drop(state);
        None
    }

    /// Its turn has come. An abandoned closure is dropped here.
    pub(super) fn begin(&self) -> Option<F> {
        let mut state = self.0.lock();
        match mem::replace(&mut *state, State::Alone) {
            State::Abandoned(f) => {
                drop(state);
                contain(|| drop(f));
                None
            }
            waiting => {
                *state = waiting;
                begin_in(state)
            }
        }
    }

    /// As [`begin`](Self::begin), but an abandoned closure stays: then `begin` is still to come.
    pub(super) fn begin_wanted(&self) -> Option<F> {
        let state = self.0.lock();
        if let State::Abandoned(..) = *state { None } else { begin_in(state) }
    }

    /// What has begun is over. An outcome that nobody waits for is dropped here. Whom to wake.
    pub(super) fn finish(&self, outcome: Outcome<R>) -> Option<Waker> {
        let mut state = self.0.lock();
        if let State::Begun(waker) = mem::replace(&mut *state, State::Alone) {
            *state = State::Over(outcome);
            return Some(waker);
        }
        drop(state);
        contain(|| drop(outcome));
        None
    }

    /// What has begun is over, and who waits for it is woken.
    pub(super) fn settle(&self, outcome: Outcome<R>) {
        if let Some(waker) = self.finish(outcome) {
            contain(|| waker.wake());
        }
    }

    /// The future is dropped, or has failed.
    pub(super) fn abandon(&self) {
        abandon(self.0.lock());
    }
}

fn begin_in<F, R>(mut state: MutexGuard<'_, State<F, R>>) -> Option<F> {
    let State::Waiting(f, waker, wait) = mem::replace(&mut *state, State::Alone) else {
        unreachable!("it begins once")
    };
    *state = State::Begun(waker);
    drop(state);
    drop(wait);
    Some(f)
}

fn abandon<F, R>(mut state: MutexGuard<'_, State<F, R>>) {
    let before = match mem::replace(&mut *state, State::Alone) {
        State::Waiting(f, waker, wait) => {
            *state = State::Abandoned(f);
            // The closure keeps the lane that the record names, until somebody else has this lock.
            drop(wait);
            State::Begun(waker)
        }
        abandoned @ State::Abandoned(..) => {
            *state = abandoned;
            return;
        }
        before => before,
    };
    drop(state);
    drop(before);
}
