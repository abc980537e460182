//! Futures that are dropped while they wait: pools that lose a connection, a place, or a wake.

use super::tools::{Shared, go, join};
use super::{HANGS, kernels};
use colored::sync::{Mutex, Notify, Semaphore, oneshot};
use colored::time::{Duration, sleep};
use colored::{ColorCell, JoinHandle, pin, select, yield_now};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

kernels! {
    Turn sqlx_83 "transact-rs/sqlx#83" HANGS;
    Turn sqlx_1211 "transact-rs/sqlx#622, #1211" HANGS;
    Turn bb8_67 "djc/bb8#67" HANGS;
    Turn bb8_122 "djc/bb8#122" HANGS;
    Turn diesel_async_198 "diesel-rs/diesel_async#198" "a transaction is open";
    Turn clickhouse_go_1759 "ClickHouse/clickhouse-go#1759" HANGS;
    Turn futurelock "Oxide RFD 609" HANGS;
}

/// Cancels a task at some time.
fn cancel(task: JoinHandle<()>) -> JoinHandle<()> {
    go(async move {
        for _ in 0..2 {
            yield_now().await;
        }
        task.abort();
        let _ = task.await;
    })
}

/// A pool of one connection.
#[derive(Default)]
struct Pool {
    idle: std::sync::Mutex<Vec<u32>>,
    freed: Notify,
}

/// A connection, which goes back to its pool.
struct Connection(Arc<Pool>);

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.idle.lock().unwrap().push(1);
        self.0.freed.notify_one();
    }
}

/// A connection is taken out of the queue, and tried before it is given to the caller, who may be gone by then.
async fn sqlx_83(wrong: bool) {
    let pool = Arc::new(Pool::default());
    pool.idle.lock().unwrap().push(1);
    let server = Shared::new(());
    let acquire = || {
        let (pool, server) = (pool.clone(), server.clone());
        go(async move {
            while pool.idle.lock().unwrap().pop().is_none() {
                pool.freed.notified().await;
            }
            let early = (!wrong).then(|| Connection(pool.clone()));
            server.get().await;
            drop(early.unwrap_or_else(|| Connection(pool)));
        })
    };
    let first = cancel(acquire());
    join([first, acquire()]).await;
}

/// A waiter that has been woken is cancelled before it takes the connection: nobody wakes the next one.
async fn sqlx_1211(wrong: bool) {
    let idle = Arc::new(std::sync::Mutex::new(0));
    let waiters = Arc::new(std::sync::Mutex::new(VecDeque::<oneshot::Sender<()>>::new()));
    let freed = Arc::new(Notify::new());
    let acquire = || {
        let (idle, waiters, freed) = (idle.clone(), waiters.clone(), freed.clone());
        go(async move {
            loop {
                if *idle.lock().unwrap() > 0 {
                    *idle.lock().unwrap() -= 1;
                    break;
                }
                if wrong {
                    let (wake, woken) = oneshot::channel();
                    waiters.lock().unwrap().push_back(wake);
                    let _ = woken.await;
                } else {
                    freed.notified().await;
                }
            }
            release(&idle, &waiters, &freed);
        })
    };
    let tasks = [cancel(acquire()), acquire()];
    let first = go(async move {
        yield_now().await;
        release(&idle, &waiters, &freed);
    });
    join(tasks).await;
    join([first]).await;
}

type Waiters = std::sync::Mutex<VecDeque<oneshot::Sender<()>>>;

fn release(idle: &std::sync::Mutex<u32>, waiters: &Waiters, freed: &Notify) {
    *idle.lock().unwrap() += 1;
    let first = waiters.lock().unwrap().pop_front();
    if let Some(first) = first {
        let _ = first.send(());
    }
    freed.notify_one();
}

/// A connection is sent to a waiter, who is gone.
async fn bb8_67(wrong: bool) {
    // Idle connections, and who waits for one.
    type State = std::sync::Mutex<(u32, VecDeque<oneshot::Sender<()>>)>;
    fn put(state: &State, wrong: bool) {
        let mut state = state.lock().unwrap();
        while let Some(waiter) = state.1.pop_front() {
            if waiter.send(()).is_ok() || wrong {
                return;
            }
        }
        state.0 += 1;
    }
    let state = Arc::new(State::default());
    let get = || {
        let state = state.clone();
        go(async move {
            let waiter = {
                let mut state = state.lock().unwrap();
                if state.0 > 0 {
                    state.0 -= 1;
                    None
                } else {
                    let (waiter, given) = oneshot::channel();
                    state.1.push_back(waiter);
                    Some(given)
                }
            };
            if let Some(given) = waiter {
                // What has been given to a future that is dropped goes back.
                let back = Back { state: (!wrong).then(|| state.clone()), given };
                back.wait().await;
            }
            put(&state, wrong);
        })
    };
    struct Back {
        state: Option<Arc<State>>,
        given: oneshot::Receiver<()>,
    }
    impl Back {
        async fn wait(mut self) {
            let _ = (&mut self.given).await;
            self.state = None;
        }
    }
    impl Drop for Back {
        fn drop(&mut self) {
            self.given.close();
            if let Some(state) = &self.state
                && self.given.try_recv().is_ok()
            {
                put(state, false);
            }
        }
    }
    let tasks = [cancel(get()), get()];
    let first = go(async move {
        yield_now().await;
        put(&state, wrong);
    });
    join(tasks).await;
    join([first]).await;
}

/// The pool is empty, and then the caller stands in line: in between a connection has come back.
async fn bb8_122(wrong: bool) {
    // Idle connections, and who waits for one.
    let pool = ColorCell::new(1, (0, VecDeque::<oneshot::Sender<()>>::new()));
    let get = {
        let pool = pool.clone();
        async move {
            let (waiter, given) = oneshot::channel();
            if wrong {
                let is_idle = pool.call(|pool| pool.0 > 0).await;
                if !is_idle {
                    pool.call(|pool| pool.1.push_back(waiter)).await;
                    given.await.unwrap();
                }
            } else {
                let take_or_wait = |pool: &mut (u32, VecDeque<_>)| {
                    if pool.0 == 0 {
                        pool.1.push_back(waiter);
                    }
                    pool.0 == 0
                };
                if pool.call(take_or_wait).await {
                    given.await.unwrap();
                }
            }
        }
    };
    let put = async move {
        let give = |pool: &mut (u32, VecDeque<oneshot::Sender<()>>)| match pool.1.pop_front() {
            Some(waiter) => drop(waiter.send(())),
            None => pool.0 += 1,
        };
        pool.call(give).await;
    };
    join([go(get), go(put)]).await;
}

/// A transaction is begun on the server, and noted behind that: a future that is dropped in between leaves a connection that
/// looks clean.
async fn diesel_async_198(wrong: bool) {
    let is_open = Shared::new(false);
    let is_dirty = Arc::new(AtomicBool::new(false));
    let transact = {
        let (is_open, is_dirty) = (is_open.clone(), is_dirty.clone());
        go(async move {
            if !wrong {
                is_dirty.store(true, SeqCst);
            }
            is_open.set(true).await;
            // The server's answer is on its way.
            yield_now().await;
            is_dirty.store(true, SeqCst);
            is_open.set(false).await;
            is_dirty.store(false, SeqCst);
        })
    };
    join([cancel(transact)]).await;
    // A dirty connection is thrown away.
    if !is_dirty.load(SeqCst) {
        assert!(!is_open.get().await, "a transaction is open");
    }
}

/// A place is taken, and then an idle connection: the caller is cancelled in between, and the place is not given back.
async fn clickhouse_go_1759(wrong: bool) {
    let (places, idle) = (Arc::new(Semaphore::new(1)), Shared::new(()));
    let acquire = || {
        let (places, idle) = (places.clone(), idle.clone());
        go(async move {
            let place = places.acquire().await.unwrap();
            if wrong {
                place.forget();
                idle.get().await;
                places.add_permits(1);
            } else {
                idle.get().await;
                drop(place);
            }
        })
    };
    join([cancel(acquire()), acquire()]).await;
}

/// A future that stands in line for a lock is not polled any more, but not dropped: it gets the lock, and keeps it.
async fn futurelock(wrong: bool) {
    let lock = Arc::new(Mutex::new(()));
    let background = {
        let lock = lock.clone();
        go(async move {
            let _guard = lock.lock().await;
            sleep(Duration::from_millis(5)).await;
        })
    };
    let task = go(async move {
        let work = async { drop(lock.lock().await) };
        if wrong {
            pin!(work);
            select! {
                biased;
                () = &mut work => {}
                () = sleep(Duration::from_millis(1)) => drop(lock.lock().await),
            }
        } else {
            select! {
                biased;
                () = work => {}
                () = sleep(Duration::from_millis(1)) => drop(lock.lock().await),
            }
        }
    });
    join([background, task]).await;
}
