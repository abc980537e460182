//! Fibers without a runtime, by each switch.

use super::{Settings, Switched};
use crate::switch::{Switch, Threads};
use crate::wait::{CannotWait, checked_wait, is_ending, wait};
use std::cell::Cell;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

fn fiber<S: Switch, T, F: FnOnce() -> T>(f: F) -> Switched<F, T, S> {
    Switched::new(
        f,
        Settings { size: 64 << 10, name: None, site: Location::caller(), moves: false },
    )
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Is ready at its poll number `polls`, counted from 0.
async fn after(polls: usize) -> usize {
    let mut left = polls;
    poll_fn(move |_| {
        if left == 0 {
            return Poll::Ready(polls);
        }
        left -= 1;
        Poll::Pending
    })
    .await
}

struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

fn a_resume_is_a_poll<S: Switch>() {
    let mut both = pin!(fiber::<S, _, _>(|| wait(after(2)) + wait(after(0)) + wait(after(1))));
    for _ in 0..3 {
        assert!(poll(both.as_mut()).is_pending());
    }
    assert_eq!(poll(both.as_mut()), Poll::Ready(3));
}

fn a_drop_unwinds_once<S: Switch>() {
    let dropped = Cell::new(0);
    let wait_then = || {
        let _count = OnDrop(|| dropped.set(dropped.get() + 1));
        wait(after(5));
        unreachable!("it is dropped before");
    };
    drop(fiber::<S, (), _>(wait_then));
    assert_eq!(dropped.get(), 0, "it has not begun");
    {
        let mut begun = pin!(fiber::<S, (), _>(wait_then));
        assert!(poll(begun.as_mut()).is_pending());
        assert_eq!(dropped.get(), 0);
    }
    assert_eq!(dropped.get(), 1);
}

fn a_panic_crosses<S: Switch>() {
    let mut panics = pin!(fiber::<S, (), _>(|| {
        wait(after(1));
        std::panic::resume_unwind(Box::new(7_u8));
    }));
    assert!(poll(panics.as_mut()).is_pending());
    let payload = catch_unwind(AssertUnwindSafe(|| poll(panics.as_mut()))).unwrap_err();
    assert_eq!(payload.downcast_ref(), Some(&7_u8));
    let mut caught = pin!(fiber::<S, _, _>(|| {
        let late = async {
            after(1).await;
            std::panic::resume_unwind(Box::new(8_u8));
        };
        let payload = catch_unwind(AssertUnwindSafe(|| wait(late))).unwrap_err();
        wait(after(1));
        *payload.downcast_ref::<u8>().unwrap()
    }));
    assert!(poll(caught.as_mut()).is_pending());
    assert!(poll(caught.as_mut()).is_pending());
    assert_eq!(poll(caught.as_mut()), Poll::Ready(8));
}

fn what_is_caught_at_the_end_ends<S: Switch>() {
    let (rounds, refused) = (Cell::new(0), Cell::new(None));
    {
        let mut loops = pin!(fiber::<S, (), _>(|| {
            while !is_ending() {
                rounds.set(rounds.get() + 1);
                drop(catch_unwind(|| wait(after(1))));
            }
            assert_eq!(checked_wait(after(0)), Ok(0), "what is ready is ready");
            refused.set(checked_wait(after(1)).err());
        }));
        assert!(poll(loops.as_mut()).is_pending());
        assert!(poll(loops.as_mut()).is_pending());
    }
    assert_eq!((rounds.get(), refused.get()), (2, Some(CannotWait::Ended)));
}

fn fibers_nest<S: Switch>() {
    let text = String::from("borrowed");
    let mut outer = pin!(fiber::<S, _, _>(|| {
        let inner = fiber::<S, _, _>(|| wait(after(2)) + text.len());
        let both = async { colored::join!(inner, after(1)) };
        wait(both)
    }));
    assert!(poll(outer.as_mut()).is_pending());
    assert!(poll(outer.as_mut()).is_pending());
    assert_eq!(poll(outer.as_mut()), Poll::Ready((10, 1)));
}

fn a_destructor_of_a_panic_waits_for_what_is_ready<S: Switch>() {
    let found = Cell::new(None);
    let mut panics = pin!(fiber::<S, (), _>(|| {
        let _end = OnDrop(|| found.set(Some((checked_wait(after(0)), checked_wait(after(1))))));
        wait(after(1));
        std::panic::resume_unwind(Box::new(()));
    }));
    assert!(poll(panics.as_mut()).is_pending());
    assert!(catch_unwind(AssertUnwindSafe(|| poll(panics.as_mut()))).is_err());
    assert_eq!(found.get(), Some((Ok(0), Err(CannotWait::Panicking))));
}

/// The double polls what a fiber waits for on the other side, so there a nested wait is outside.
fn a_poll_cannot_wait<S: Switch>() {
    let mut nested = pin!(fiber::<S, _, _>(|| wait(async { checked_wait(after(0)) })));
    let expected = if S::RUNS_ON_THE_THREAD { CannotWait::InPoll } else { CannotWait::Outside };
    assert_eq!(poll(nested.as_mut()), Poll::Ready(Err(expected)));
    assert_eq!(checked_wait(after(0)), Err(CannotWait::Outside));
}

macro_rules! by_each_switch {
    ($($test:ident)*) => {
        mod by_threads {
            $(#[test] fn $test() { super::$test::<super::Threads>() })*
        }
        #[cfg(not(miri))]
        mod by_coroutines {
            $(#[test] fn $test() { super::$test::<crate::switch::Coroutine>() })*
        }
    };
}

by_each_switch! {
    a_resume_is_a_poll a_drop_unwinds_once a_panic_crosses what_is_caught_at_the_end_ends fibers_nest
    a_destructor_of_a_panic_waits_for_what_is_ready a_poll_cannot_wait
}
