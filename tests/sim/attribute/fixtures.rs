//! Tests that fail if the variable [`FAILS`] is 1.

use colored::sim::{Builder, always};
use colored::{ColorCell, spawn_colored, yield_now};
use colored_tests::join_all;
use std::collections::HashMap;
use std::env;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::task::Poll;
use std::thread;
use std::time::{Duration, SystemTime};

pub(super) const FAILS: &str = "COLORED_TEST_FAILS";
pub(super) const FILE: &str = "COLORED_TEST_FILE";

fn fails() -> bool {
    env::var(FAILS).is_ok_and(|fails| fails == "1")
}

async fn deposits() {
    let balance = ColorCell::new(1, 100);
    join_all([2, 3].map(|client: u64| {
        let balance = balance.clone();
        spawn_colored(client, async move {
            if fails() {
                let seen = balance.call(|balance| *balance).await;
                balance.call(move |balance| *balance = seen + 10).await;
            } else {
                balance.call(|balance| *balance += 10).await;
            }
        })
    }))
    .await;
    always!(balance.call(|balance| *balance).await == 120, "both deposits count");
}

#[colored::test(sim, seeds = 100)]
async fn lost_update() {
    deposits().await;
}

/// The name of the test before is a part of its name.
#[colored::test(sim, seeds = 100)]
async fn lost_update_twice() {
    deposits().await;
    deposits().await;
}

#[colored::test(sim, seeds = 5)]
async fn an_error() -> Result<(), String> {
    if fails() { Err("a reason".to_owned()) } else { Ok(()) }
}

#[test]
fn kept() {
    if let Some(file) = env::var_os(FILE) {
        Builder::new().seeds(0..100).keep_failures(file, "a-name").run(deposits).assert_passed();
    }
}

#[colored::test(sim, seeds = 2)]
async fn hash_order() {
    if fails() {
        let colors: HashMap<u64, ()> = (0..50).map(|color| (color, ())).collect();
        for color in colors.into_keys() {
            spawn_colored(color, async {}).await.unwrap();
        }
    }
}

#[colored::test(sim, seeds = 2)]
async fn real_clock() {
    if fails() {
        let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        spawn_colored(time.as_nanos() as u64, async {}).await.unwrap();
    }
}

#[colored::test(sim, seeds = 2)]
async fn static_state() {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    if fails() {
        for _ in 0..RUNS.fetch_add(1, SeqCst) {
            yield_now().await;
        }
    }
}

#[colored::test(sim, seeds = 2)]
async fn a_thread() {
    if fails() {
        let [polls, wakes] = [const { AtomicU32::new(0) }; 2].map(Arc::new);
        let (counted, woken) = (Arc::clone(&polls), Arc::clone(&wakes));
        let task = spawn_colored(
            1,
            poll_fn(move |cx| {
                if counted.fetch_add(1, SeqCst) == 0 {
                    let (waker, woken) = (cx.waker().clone(), Arc::clone(&woken));
                    let wakes = move || {
                        for _ in 0..10_000 {
                            waker.wake_by_ref();
                            woken.fetch_add(1, SeqCst);
                            thread::sleep(Duration::from_micros(10));
                        }
                    };
                    drop(thread::Builder::new().name("meddler".to_owned()).spawn(wakes).unwrap());
                }
                Poll::<()>::Pending
            }),
        );
        // A replay may choose this task again and again.
        for _ in (0..2_000).take_while(|_| polls.load(SeqCst) < 200) {
            // The thread may begin late.
            while polls.load(SeqCst) > 0 && wakes.load(SeqCst) < 100 {
                thread::yield_now();
            }
            thread::sleep(Duration::from_micros(10));
            yield_now().await;
        }
        drop(task);
    }
}

#[colored::test(sim, seeds = 2)]
async fn a_thread_that_is_waited_for() {
    if fails() {
        let (sender, receiver) = colored::sync::oneshot::channel::<()>();
        let (begin, begun) = std::sync::mpsc::channel();
        let waits = move || {
            // A thread gives itself its name.
            begin.send(()).unwrap();
            thread::sleep(Duration::from_secs(5));
            drop(sender);
        };
        drop(thread::Builder::new().name("idler".to_owned()).spawn(waits).unwrap());
        begun.recv().unwrap();
        receiver.await.unwrap();
    }
}
