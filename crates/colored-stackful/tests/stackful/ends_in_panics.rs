//! A stack that is unwound while another stack of its thread unwinds: every way to end it, times everything that its code
//! may do then, times how deep it is nested.

use crate::support::run;
use colored_stackful::{self as stackful, CannotWait, checked_wait};
use std::future::{Future, pending, poll_fn, ready};
use std::panic::{catch_unwind, resume_unwind};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread;

/// What code does that has caught the unwinding of its stack.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Then {
    Returns,
    WaitsAgain,
    CatchesAgainAndWaits,
    Panics,
    TakesWhatIsReady,
    LocksAndWaitsAgain,
    WaitsInDestructors,
}

const THEN: [Then; 7] = [
    Then::Returns,
    Then::WaitsAgain,
    Then::CatchesAgainAndWaits,
    Then::Panics,
    Then::TakesWhatIsReady,
    Then::LocksAndWaitsAgain,
    Then::WaitsInDestructors,
];

/// What ends the stack.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Abort,
    OtherSideOfJoin,
    OtherBranchOfSelect,
    PanicOfItsHolder,
}

const ENDS: [End; 4] =
    [End::Abort, End::OtherSideOfJoin, End::OtherBranchOfSelect, End::PanicOfItsHolder];

/// What the survivors have in common.
#[derive(Clone, Default)]
struct Seen {
    caught: Arc<AtomicUsize>,
    lock: Arc<Mutex<u32>>,
}

struct RefusedWait;

impl Drop for RefusedWait {
    fn drop(&mut self) {
        assert_eq!(checked_wait(ready(1)), Ok(1));
        assert_eq!(checked_wait(pending::<()>()), Err(CannotWait::Ended));
    }
}

/// Waits, catches its unwinding, and goes on.
fn survive(then: Then, seen: &Seen) {
    assert!(catch_unwind(|| stackful::wait(pending::<()>())).is_err());
    seen.caught.fetch_add(1, Ordering::Relaxed);
    match then {
        Then::Returns => {}
        Then::WaitsAgain => stackful::wait(pending()),
        Then::CatchesAgainAndWaits => {
            for _ in 0..3 {
                assert!(catch_unwind(|| stackful::wait(pending::<()>())).is_err());
            }
            stackful::yield_now();
        }
        Then::Panics => resume_unwind(Box::new("its own")),
        Then::TakesWhatIsReady => assert_eq!(stackful::wait(ready(7)), 7),
        Then::LocksAndWaitsAgain => {
            *seen.lock.lock().unwrap() += 1;
            stackful::wait(pending())
        }
        Then::WaitsInDestructors => {
            let _refused = RefusedWait;
            stackful::wait(pending())
        }
    }
}

/// So many levels of closures beside each other: 2^depth survivors.
fn nested(depth: u32, then: Then, seen: &Seen) {
    match depth {
        0 => survive(then, seen),
        _ => {
            stackful::join(|| nested(depth - 1, then, seen), || nested(depth - 1, then, seen));
        }
    }
}

/// Ready in its second poll, by a panic.
async fn panic_later() {
    colored::yield_now().await;
    resume_unwind(Box::new("the other one"));
}

fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// The task ends by the panic of the other side, whatever its own does; or as aborted.
async fn end(end: End, then: Then, depth: u32) {
    let seen = Seen::default();
    let ours = seen.clone();
    let survives = move || nested(depth, then, &ours);
    let ended = match end {
        End::Abort => {
            let task = stackful::spawn(1, survives);
            // One worker: the task has begun, and waits.
            colored::spawn_colored(1, async {}).await.unwrap();
            task.abort();
            task.await
        }
        End::OtherSideOfJoin => {
            let panics = || stackful::wait(panic_later());
            let joins = move || {
                stackful::join(survives, panics);
            };
            stackful::spawn(1, joins).await
        }
        End::OtherBranchOfSelect => {
            let both = async move {
                colored::select! {
                    biased;
                    () = stackful::future(survives) => {}
                    () = panic_later() => {}
                }
            };
            colored::spawn_local(both).await
        }
        End::PanicOfItsHolder => {
            let holds = async move {
                let mut survives = pin!(stackful::future(survives));
                poll_fn(|_| {
                    assert!(poll_once(survives.as_mut()).is_pending());
                    Poll::Ready(())
                })
                .await;
                resume_unwind(Box::new("the other one"));
            };
            colored::spawn_local(holds).await
        }
    };
    let case = format!("{end:?}, {then:?}, {depth}");
    let error = ended.expect_err(&case);
    match end {
        // A panic of the code that an abort unwinds is the end of the task, as any other.
        End::Abort => assert!(error.is_cancelled() || then == Then::Panics, "{case}: {error}"),
        _ => {
            let payload = error.try_into_panic().expect(&case);
            assert_eq!(payload.downcast_ref(), Some(&"the other one"), "{case}");
        }
    }
    assert_eq!(seen.caught.load(Ordering::Relaxed), 1 << depth, "{case}");
    let locked = if then == Then::LocksAndWaitsAgain { 1 << depth } else { 0 };
    assert_eq!(*seen.lock.lock().expect("no lock is poisoned"), locked, "{case}");
    // The thread's count of panics is what it was.
    stackful::spawn(1, || assert!(!thread::panicking())).await.unwrap();
}

#[test]
fn a_stack_is_unwound_whatever_unwinds_beside_it() {
    run(1, async {
        let main = colored::spawn_local(async {
            for ends in ENDS {
                for then in THEN {
                    for depth in 0..3 {
                        end(ends, then, depth).await;
                    }
                }
            }
        });
        main.await.unwrap();
    });
}

/// `GUIDE.md` says so: std counts an abort's unwinding as a panic.
#[test]
fn an_abort_poisons_the_lock_that_the_stack_holds() {
    run(1, async {
        let lock = Arc::new(Mutex::new(()));
        let held = Arc::clone(&lock);
        let task = stackful::spawn(1, move || {
            let _guard = held.lock().unwrap();
            stackful::wait(pending::<()>());
        });
        colored::spawn_colored(1, async {}).await.unwrap();
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
        assert!(lock.is_poisoned());
    });
}
