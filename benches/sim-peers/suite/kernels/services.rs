//! Bugs of services in other languages and runtimes, added when the simulation was complete: caches that are filled while
//! they are emptied, counts that a time-out leaves behind, ends that come too early, wakes that another waiter takes.

use super::tools::{Shared, go, join};
use super::{HANGS, kernels};
use colored::sim::random;
use colored::sync::{Notify, oneshot};
use colored::time::{Duration, sleep, timeout};
use colored::{JoinHandle, yield_now};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

kernels! {
    Turn guava_1881 "google/guava#1881" "a stale value";
    Turn epocxy_43 "duomark/epocxy#43" "a stale value";
    Turn ttrpc_227 "containerd/ttrpc-rust#227" HANGS;
    Turn oxidns_168 "svenshi/oxidns#168" "a count is left";
    Turn agenticos_1090 "vstorm-co/agenticos#1090" "a message is lost";
    Turn kestra_17129 "kestra-io/kestra#17129" "a result is lost";
    Turn endive_107 "bytecodealliance/endive#107" HANGS;
}

/// A value, and how often it was removed.
type Cache = Shared<(Option<u32>, u32)>;

async fn invalidate(cache: &Cache) {
    cache.update(|(value, times)| (*value, *times) = (None, *times + 1)).await;
}

/// Fills the cache from the database, if `fits` says so of the times before and behind the read.
async fn load(cache: Cache, database: Shared<u32>, fits: fn(u32, u32) -> bool) {
    let (cached, before) = cache.get().await;
    if cached.is_none() {
        let read = database.get().await;
        let fill = move |(value, times): &mut (Option<u32>, u32)| {
            if fits(before, *times) {
                *value = Some(read);
            }
        };
        cache.update(fill).await;
    }
}

async fn assert_fresh(cache: &Cache, database: &Shared<u32>) {
    let (value, fresh) = (cache.get().await.0, database.get().await);
    assert!(value.is_none_or(|value| value == fresh), "a stale value");
}

/// A load puts what it has read into the cache, although the key was removed meanwhile.
async fn guava_1881(wrong: bool) {
    let (cache, database): (Cache, _) = (Shared::new((None, 0)), Shared::new(1));
    let fits: fn(u32, u32) -> bool = if wrong { |_, _| true } else { |one, two| one == two };
    let load = go(load(cache.clone(), database.clone(), fits));
    let (removed, changed) = (cache.clone(), database.clone());
    let change = go(async move {
        changed.set(2).await;
        invalidate(&removed).await;
    });
    join([load, change]).await;
    assert_fresh(&cache, &database).await;
}

/// The key is removed before the value changes, and a load between the two finds the old value.
async fn epocxy_43(wrong: bool) {
    let (cache, database): (Cache, _) = (Shared::new((None, 0)), Shared::new(1));
    let load = go(load(cache.clone(), database.clone(), |one, two| one == two));
    let (removed, changed) = (cache.clone(), database.clone());
    let change = go(async move {
        if wrong {
            invalidate(&removed).await;
            changed.set(2).await;
        } else {
            changed.set(2).await;
            invalidate(&removed).await;
        }
    });
    join([load, change]).await;
    assert_fresh(&cache, &database).await;
}

/// An asynchronous function does nothing before it is awaited: the wait begins behind the look at the count.
async fn ttrpc_227(wrong: bool) {
    let (left, is_over) = (Shared::new(1), Arc::new(Notify::new()));
    let wait = {
        let (left, is_over) = (left.clone(), is_over.clone());
        go(async move {
            let notified = (!wrong).then(|| is_over.notified());
            if left.get().await > 0 {
                match notified {
                    Some(notified) => notified.await,
                    None => is_over.notified().await,
                }
            }
        })
    };
    let end = go(async move {
        left.set(0).await;
        is_over.notify_waiters();
    });
    join([wait, end]).await;
}

/// Counts one less when it is dropped.
struct Using(Arc<AtomicU32>);

impl Drop for Using {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

/// A query counts itself in and out, and a time-out drops it in between.
async fn oxidns_168(wrong: bool) {
    let using = Arc::new(AtomicU32::new(0));
    for _ in 0..3 {
        let count = Arc::clone(&using);
        let query = async move {
            count.fetch_add(1, SeqCst);
            let counted = (!wrong).then(|| Using(Arc::clone(&count)));
            sleep(Duration::from_millis(random() % 4)).await;
            drop(counted);
            if wrong {
                count.fetch_sub(1, SeqCst);
            }
        };
        let _ = timeout(Duration::from_millis(2), query).await;
    }
    assert!(using.load(SeqCst) == 0, "a count is left");
}

/// The end waits for the tasks that run when it begins, and one of them starts another one.
async fn agenticos_1090(wrong: bool) {
    let running = Arc::new(Mutex::new(Vec::<JoinHandle<()>>::new()));
    let sent = Shared::new(false);
    let parent = {
        let (running, sent) = (Arc::clone(&running), sent.clone());
        go(async move {
            yield_now().await;
            let child = go(async move { sent.set(true).await });
            running.lock().unwrap().push(child);
        })
    };
    running.lock().unwrap().push(parent);
    loop {
        let all = std::mem::take(&mut *running.lock().unwrap());
        if all.is_empty() {
            break;
        }
        join(all).await;
        if wrong {
            break;
        }
    }
    assert!(sent.get().await, "a message is lost");
}

/// Whoever is interrupted gives no result; a task that ends by itself while the service stops is taken for such a one.
async fn kestra_17129(wrong: bool) {
    let (stops, interrupted, results) = (Shared::new(false), Shared::new(false), Shared::new(0));
    let work = {
        let is_over = if wrong { stops.clone() } else { interrupted };
        let results = results.clone();
        go(async move {
            yield_now().await;
            if !is_over.get().await {
                results.update(|results| *results += 1).await;
            }
        })
    };
    stops.set(true).await;
    join([work]).await;
    assert!(results.get().await == 1, "a result is lost");
}

/// A wake is kept as a count, and a waiter that comes later takes it without having waited.
async fn endive_107(wrong: bool) {
    // Waiters that have come, wakes, and waiters that have gone on.
    let (counts, changed) = (Shared::new((0_u32, 0_u32, 0_u32)), Arc::new(Notify::new()));
    let wait = |registered: oneshot::Sender<()>| {
        let (counts, changed) = (counts.clone(), changed.clone());
        go(async move {
            let come = |(come, ..): &mut (u32, u32, u32)| {
                *come += 1;
                *come
            };
            let ticket = counts.update(come).await;
            let _ = registered.send(());
            loop {
                let notified = changed.notified();
                let goes_on = move |(_, wakes, gone): &mut (u32, u32, u32)| {
                    let goes_on = if wrong { *wakes > *gone } else { *wakes >= ticket };
                    *gone += u32::from(goes_on);
                    goes_on
                };
                if counts.update(goes_on).await {
                    break;
                }
                notified.await;
            }
        })
    };
    let wake = || async {
        counts.update(|(_, wakes, _)| *wakes += 1).await;
        changed.notify_waiters();
    };
    let (registered, is_registered) = oneshot::channel();
    let first = wait(registered);
    is_registered.await.unwrap();
    let second = wait(oneshot::channel().0);
    wake().await;
    join([first]).await;
    wake().await;
    join([second]).await;
}
