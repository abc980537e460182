//! Where `wait` is refused, and what is said then.

use crate::support::run;
use colored::{ColorCell, color_local, task_local, when};
use colored_stackful::{self as stackful, CannotWait, checked_wait};
use std::cell::Cell;
use std::future::{pending, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Waker};

color_local! {
    static COUNT: Cell<u32> = Cell::new(0);
}

task_local! {
    static NAME: &'static str;
}

fn refusal<T>(f: impl FnOnce() -> T) -> String {
    let payload = catch_unwind(AssertUnwindSafe(f)).err().expect("it is refused");
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).expect("a text")
}

/// Polls a future by hand, which leads around `wait`.
fn poll_by_hand<F: Future>(future: Pin<&mut F>) {
    drop(future.poll(&mut Context::from_waker(Waker::noop())));
}

#[test]
fn outside_of_a_stackful_task() {
    assert_eq!(checked_wait(ready(())), Err(CannotWait::Outside));
    let told = refusal(|| stackful::wait(ready(())));
    assert!(
        told.contains("outside a stackful task") && told.contains("`stackful::spawn`"),
        "{told}"
    );
    run(1, async {
        let told = refusal(|| stackful::yield_now());
        assert!(told.contains("in a future, `.await`"), "{told}");
    });
    assert!(!stackful::is_ending());
}

#[test]
fn inside_of_a_poll() {
    run(1, async {
        let inside = stackful::spawn(1, || {
            let first = stackful::wait(async { checked_wait(ready(())) });
            let later = stackful::wait(async {
                colored::yield_now().await;
                checked_wait(ready(()))
            });
            (first, later)
        });
        let (first, later) = inside.await.unwrap();
        assert_eq!(first, Err(CannotWait::InPoll));
        // The worker polls it then, and not the task.
        assert_eq!(later, Err(CannotWait::Outside));
    });
}

#[test]
fn inside_of_a_closure_that_has_to_return() {
    run(2, async {
        let task = stackful::spawn(1, || {
            let (own, other) = (ColorCell::new(1, 0), ColorCell::new(2, 0));
            let refused = || assert_eq!(checked_wait(pending::<()>()), Err(CannotWait::InClosure));
            own.with(|_| refused());
            COUNT.with(|_| refused());
            NAME.sync_scope("a", refused);
            NAME.sync_scope("a", || NAME.with(|_| refused()));
            colored::task::block_in_place(refused);
            let inner = move || assert!(checked_wait(pending::<()>()).is_err());
            poll_by_hand(pin!(own.call(move |_| inner())));
            poll_by_hand(pin!(other.call(move |_| inner())));
            poll_by_hand(pin!(own.read(move |_| inner())));
            poll_by_hand(pin!(other.read(move |_| inner())));
            poll_by_hand(pin!(when((&own, &other), move |_, _| inner())));
            poll_by_hand(pin!(when((&own,), move |_| inner())));
            // Afterwards it may wait again.
            stackful::yield_now();
        });
        task.await.unwrap();
    });
}

/// The destructor of a cell's value runs at once, under the color of the cell.
#[test]
fn inside_of_a_destructor_that_runs_under_another_color() {
    struct Waits(std::sync::mpsc::Sender<bool>);
    impl Drop for Waits {
        fn drop(&mut self) {
            self.0.send(checked_wait(pending::<()>()).is_err()).unwrap();
        }
    }
    run(1, async {
        let (send, receive) = std::sync::mpsc::channel();
        let task = stackful::spawn(1, || {
            drop(ColorCell::new(2, Waits(send)));
            stackful::yield_now();
        });
        task.await.unwrap();
        assert!(receive.recv().unwrap());
    });
}

#[test]
fn a_scope_around_a_closure_goes_with_it() {
    run(1, async {
        let named = |name| {
            stackful::spawn_unique(move || {
                stackful::wait(NAME.scope(
                    name,
                    stackful::future(|| {
                        for _ in 0..10 {
                            assert_eq!(NAME.get(), name);
                            stackful::yield_now();
                        }
                    }),
                ));
            })
        };
        let (a, b) = (named("a"), named("b"));
        a.await.unwrap();
        b.await.unwrap();
    });
}

#[test]
fn sizes_are_checked() {
    for size in [0, (16 << 10) - 1, (1 << 30) + 1, usize::MAX] {
        let told = refusal(|| stackful::Builder::new().stack_size(size));
        assert!(told.contains(&size.to_string()) && told.contains("16384 to 1073741824"), "{told}");
    }
    let outside = refusal(|| stackful::spawn_unique(|| ()));
    assert!(outside.contains("outside a runtime"), "{outside}");
}
