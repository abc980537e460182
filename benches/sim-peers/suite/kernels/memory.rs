//! Races inside a poll, on memory that two colors share. A turn is whole, so no run has them: these belong to loom and
//! shuttle, and the documentation of `colored::sim` says so.

use super::kernels;
use super::tools::{go, join};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

kernels! {
    Memory counter "GoBench nonblocking, data races" "a count is lost";
    Memory store_buffer "chess.Dekker of SCTBench" "both are in";
    Memory published_early "GoBench kubernetes#82239" "nothing is published";
    Memory check_then_use "ConVul CVE-2016-7911, in one poll" "it is gone";
}

/// A counter is read and written inside a poll.
async fn counter(wrong: bool) {
    let count = Arc::new(AtomicU32::new(0));
    let add = |_| {
        let count = count.clone();
        go(async move {
            if wrong {
                let seen = count.load(Relaxed);
                count.store(seen + 1, Relaxed);
            } else {
                count.fetch_add(1, Relaxed);
            }
        })
    };
    let adders: Vec<_> = (0..2).map(add).collect();
    join(adders).await;
    assert!(count.load(Relaxed) == 2, "a count is lost");
}

/// Each says that it is in, and looks at the other: without an order both may see nobody.
async fn store_buffer(wrong: bool) {
    let is_in = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
    let inside = Arc::new(AtomicU32::new(0));
    let enter = |own: usize| {
        let (is_in, inside) = (is_in.clone(), inside.clone());
        go(async move {
            let order = if wrong { Relaxed } else { SeqCst };
            is_in[own].store(1, order);
            if is_in[1 - own].load(order) == 0 {
                assert!(inside.fetch_add(1, SeqCst) == 0, "both are in");
            }
        })
    };
    join([enter(0), enter(1)]).await;
}

/// A flag is set before what it announces, inside a poll.
async fn published_early(wrong: bool) {
    let state = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
    let publish = {
        let state = state.clone();
        go(async move {
            state[usize::from(wrong)].store(1, SeqCst);
            state[usize::from(!wrong)].store(1, SeqCst);
        })
    };
    let look = go(async move {
        if state[1].load(SeqCst) == 1 {
            assert!(state[0].load(SeqCst) == 1, "nothing is published");
        }
    });
    join([publish, look]).await;
}

/// A value is looked for, and used, under a lock each, inside a poll.
async fn check_then_use(wrong: bool) {
    let value = Arc::new(Mutex::new(Some(1)));
    let read = {
        let value = value.clone();
        go(async move {
            if wrong {
                if value.lock().unwrap().is_some() {
                    assert!(value.lock().unwrap().is_some(), "it is gone");
                }
            } else if let Some(value) = *value.lock().unwrap() {
                assert!(value == 1);
            }
        })
    };
    let remove = go(async move { *value.lock().unwrap() = None });
    join([read, remove]).await;
}
