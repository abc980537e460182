//! [`Coroutine`]: the switch of a running program, by `corosensei`.

use super::Switch;
use crate::link::Suspender;
use crate::overflow;
use crate::stack::Stack;
use corosensei::{CoroutineResult, Yielder};
use std::io;
use std::ops::Range;
use std::ptr;

/// A closure on a stack of the pool, which goes back there when this value is dropped.
pub(crate) struct Coroutine {
    inner: corosensei::Coroutine<(), (), (), Stack>,
    guard: Range<usize>,
}

impl Switch for Coroutine {
    const RUNS_ON_THE_THREAD: bool = true;

    unsafe fn new<B: FnOnce(Suspender)>(size: usize, body: B) -> io::Result<Self> {
        overflow::watch();
        let stack = Stack::take(size)?;
        let guard = stack.guard();
        let body = |yielder: &Yielder<(), ()>, ()| {
            body(Suspender { place: ptr::from_ref(yielder).cast(), other: None });
        };
        // SAFETY: the caller promises that the borrows of `body` live for as long as they are used.
        let inner = unsafe { corosensei::Coroutine::with_stack_unchecked(stack, body) };
        Ok(Self { inner, guard })
    }

    #[inline]
    fn resume(&mut self) -> bool {
        matches!(self.inner.resume(()), CoroutineResult::Return(()))
    }

    #[inline]
    unsafe fn suspend(place: *const ()) {
        // SAFETY: the caller runs inside the body, for whose length the yielder lives on the body's own stack.
        let yielder = unsafe { &*place.cast::<Yielder<(), ()>>() };
        yielder.suspend(());
    }

    fn guard(&self) -> Range<usize> {
        self.guard.clone()
    }
}
