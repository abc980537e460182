//! Tasks and threads that wait on stacks of their own.

use super::resident;
use crate::rows::stacks::{STACK, prepare_may};
use colored_benches::Rival;
use colored_benches::rivals::Unique;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

/// Tasks that are about to wait.
static BEGUN: AtomicU64 = AtomicU64::new(0);

fn begin() {
    // Ordering: Release, for `growth`.
    BEGUN.fetch_add(1, Ordering::Release);
}

/// By how much the process grows when this starts as many tasks, which call [`begin`] and then wait.
fn growth(count: u64, start: impl FnOnce()) -> u64 {
    let before = resident();
    start();
    // Ordering: Acquire, so that what the tasks have allocated is seen.
    while BEGUN.load(Ordering::Acquire) < count {
        thread::sleep(Duration::from_millis(1));
    }
    // The last one is about to wait.
    thread::sleep(Duration::from_millis(50));
    resident().saturating_sub(before)
}

pub(super) fn colored(on: Unique, count: u64) -> u64 {
    growth(count, || {
        Rival::run(on, async move {
            for _ in 0..count {
                drop(colored_stackful::spawn_unique(|| {
                    begin();
                    colored_stackful::wait(std::future::pending::<()>());
                }));
            }
        });
    })
}

pub(super) fn may(count: u64) -> u64 {
    prepare_may();
    growth(count, || {
        for _ in 0..count {
            drop(may::go!(|| {
                begin();
                may::coroutine::park();
            }));
        }
    })
}

pub(super) fn threads(count: u64) -> u64 {
    let never = Arc::new((Mutex::new(()), Condvar::new()));
    growth(count, || {
        for _ in 0..count {
            let never = Arc::clone(&never);
            let wait = move || {
                let guard = never.0.lock().expect("no thread panics");
                begin();
                drop(never.1.wait_while(guard, |()| true));
            };
            drop(thread::Builder::new().stack_size(STACK).spawn(wait).expect("it starts"));
        }
    })
}
