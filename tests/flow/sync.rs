//! Loops over channels and locks that never have to wait: each ends its poll in time, so that its color goes on.

use colored::sync::mpsc::error::SendTimeoutError;
use colored::sync::{
    Barrier, Mutex, Notify, OnceCell, RwLock, Semaphore, broadcast, mpsc, oneshot, watch,
};
use colored::task::{consume_budget, has_budget_remaining};
use colored::time::Duration;
use colored::{spawn_here, yield_now};
use colored_tests::{runtime, shared};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

/// More operations than the budget of one poll has units, and rounds enough that a loop which never ends its poll is told
/// from one that does.
const MOST: usize = 200;
const ROUNDS: usize = 2_000;

/// Runs a future that need not be `Send`.
fn here(test: impl Future<Output = ()>) {
    shared(|| runtime(1).block_on(test));
}

/// `operation` is ready each time. Another task of the color, which is scheduled first, must run within one poll.
async fn check_that_its_color_runs(name: &str, mut operation: impl AsyncFnMut(usize)) {
    let rounds = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&rounds);
    let beside = spawn_here(async move { seen.load(Ordering::Relaxed) });
    for round in 0..ROUNDS {
        rounds.store(round, Ordering::Relaxed);
        operation(round).await;
    }
    let seen = beside.await.unwrap();
    assert!(seen <= MOST, "{name}: {seen} rounds before the next task of the color");
}

#[test]
fn a_loop_over_a_channel_that_is_never_empty_lets_its_color_run() {
    here(async {
        let (send, mut receive) = mpsc::channel(4);
        check_that_its_color_runs("mpsc send and recv", async |round| {
            send.send(round).await.unwrap();
            assert_eq!(receive.recv().await, Some(round));
        })
        .await;
        let (send, mut receive) = mpsc::channel(4);
        check_that_its_color_runs("mpsc reserve, recv_many", async |round| {
            send.reserve().await.unwrap().send(round);
            assert_eq!(receive.recv_many(&mut Vec::new(), 4).await, 1);
        })
        .await;
        let (send, mut receive) = mpsc::channel(4);
        check_that_its_color_runs("mpsc reserve_many, reserve_owned", async |round| {
            send.reserve_many(1).await.unwrap().for_each(|permit| permit.send(round));
            drop(send.clone().reserve_owned().await.unwrap().release());
            receive.try_recv().unwrap();
        })
        .await;
        let (send, mut receive) = mpsc::unbounded_channel();
        check_that_its_color_runs("unbounded recv", async |round| {
            send.send(round).unwrap();
            assert_eq!(receive.recv().await, Some(round));
        })
        .await;
        check_that_its_color_runs("unbounded recv_many", async |round| {
            send.send(round).unwrap();
            assert_eq!(receive.recv_many(&mut Vec::new(), 4).await, 1);
        })
        .await;
        check_that_its_color_runs("unbounded poll_recv, poll_recv_many", async |round| {
            send.send(round).unwrap();
            assert_eq!(poll_fn(|cx| receive.poll_recv(cx)).await, Some(round));
            send.send(round).unwrap();
            poll_fn(|cx| receive.poll_recv_many(cx, &mut Vec::new(), 4)).await;
        })
        .await;
        check_that_its_color_runs("oneshot", async |round| {
            let (send, receive) = oneshot::channel();
            send.send(round).unwrap();
            assert_eq!(receive.await, Ok(round));
        })
        .await;
        let (send, mut receive) = broadcast::channel(4);
        check_that_its_color_runs("broadcast", async |round| {
            send.send(round).unwrap();
            assert_eq!(receive.recv().await, Ok(round));
        })
        .await;
        let (send, mut receive) = watch::channel(0);
        check_that_its_color_runs("watch", async |round| {
            send.send_replace(round);
            receive.changed().await.unwrap();
            assert_eq!(*receive.wait_for(|_| true).await.unwrap(), round);
        })
        .await;
        let (gone, closed) = mpsc::channel::<()>(1);
        drop(closed);
        check_that_its_color_runs("closed", async |_| gone.closed().await).await;
    });
}

#[test]
fn a_loop_over_a_lock_that_is_open_lets_its_color_run() {
    here(async {
        let lock = Arc::new(Mutex::new(0));
        check_that_its_color_runs("lock", async |_| *lock.lock().await += 1).await;
        check_that_its_color_runs("lock_owned", async |_| *lock.clone().lock_owned().await += 1)
            .await;
        let lock = Arc::new(RwLock::new(0));
        check_that_its_color_runs("read", async |_| assert_eq!(*lock.read().await, 0)).await;
        check_that_its_color_runs("read_owned", async |_| drop(lock.clone().read_owned().await))
            .await;
        check_that_its_color_runs("write", async |_| *lock.write().await += 1).await;
        check_that_its_color_runs("write_owned", async |_| *lock.clone().write_owned().await += 1)
            .await;
        let some = Arc::new(Semaphore::new(2));
        check_that_its_color_runs("acquire", async |_| drop(some.acquire().await)).await;
        check_that_its_color_runs("acquire_many", async |_| drop(some.acquire_many(2).await)).await;
        let owned = async |_| drop(some.clone().acquire_owned().await);
        check_that_its_color_runs("acquire_owned", owned).await;
        let owned = async |_| drop(some.clone().acquire_many_owned(2).await);
        check_that_its_color_runs("acquire_many_owned", owned).await;
    });
}

#[test]
fn a_loop_over_a_signal_that_is_there_lets_its_color_run() {
    here(async {
        let signal = Arc::new(Notify::new());
        check_that_its_color_runs("notified", async |_| {
            signal.notify_one();
            signal.notified().await;
        })
        .await;
        check_that_its_color_runs("notified_owned", async |_| {
            signal.notify_one();
            signal.clone().notified_owned().await;
        })
        .await;
        let barrier = Barrier::new(1);
        check_that_its_color_runs("barrier", async |_| assert!(barrier.wait().await.is_leader()))
            .await;
        let cell = OnceCell::new();
        let get = async |_| assert_eq!(*cell.get_or_init(async || 7).await, 7);
        check_that_its_color_runs("get_or_init", get).await;
        let get = async |_| assert_eq!(cell.get_or_try_init(async || Err(())).await, Ok(&7));
        check_that_its_color_runs("get_or_try_init", get).await;
    });
}

/// A value that can neither be printed nor cloned.
struct Opaque;

/// Handles of channels are printed and cloned whatever the values are, as tokio's.
#[test]
fn handles_ask_nothing_of_the_values() {
    fn assert_clone<T: Clone + std::fmt::Debug>(_: &T) {}
    fn assert_debug<T: std::fmt::Debug>(_: &T) {}
    let (send, receive) = mpsc::channel::<Opaque>(1);
    assert_clone(&send);
    assert_clone(&send.downgrade());
    assert_debug(&receive);
    let (send, receive) = mpsc::unbounded_channel::<Opaque>();
    assert_clone(&send);
    assert_clone(&send.downgrade());
    assert_debug(&receive);
    let send = broadcast::Sender::<Opaque>::new(1);
    assert_clone(&send);
    assert_debug(&send.subscribe());
    let (send, receive) = watch::channel(Opaque);
    let _clones = (send.clone(), receive.clone());
}

/// Uses up the budget of this poll.
async fn use_up() {
    while has_budget_remaining() {
        consume_budget().await;
    }
}

async fn is_ready(future: &mut Pin<&mut impl Future>) -> bool {
    poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx).is_ready())).await
}

/// `first` is polled before `second`, without a unit of the budget. After `release` it is the first one that goes on.
async fn check_the_line(
    name: &str,
    first: impl Future,
    second: impl Future,
    release: impl FnOnce(),
) {
    let (mut first, mut second) = (pin!(first), pin!(second));
    use_up().await;
    assert!(!is_ready(&mut first).await, "{name}");
    yield_now().await;
    assert!(!is_ready(&mut second).await, "{name}");
    release();
    assert!(!is_ready(&mut second).await, "{name}: the second one overtakes the first");
    assert!(is_ready(&mut first).await, "{name}");
}

#[test]
fn a_wait_without_budget_takes_its_place_in_the_line() {
    here(async {
        let lock = Mutex::new(());
        let held = lock.lock().await;
        check_the_line("Mutex", lock.lock(), lock.lock(), || drop(held)).await;
        let lock = Arc::new(Mutex::new(()));
        let held = lock.lock().await;
        let (first, second) = (lock.clone().lock_owned(), lock.clone().lock_owned());
        check_the_line("Mutex, owned", first, second, || drop(held)).await;
        let lock = RwLock::new(());
        let held = lock.write().await;
        check_the_line("RwLock", lock.write(), lock.read(), || drop(held)).await;
        let permits = Semaphore::new(0);
        let one = || permits.add_permits(1);
        check_the_line("Semaphore", permits.acquire(), permits.acquire(), one).await;
        let (send, mut receive) = mpsc::channel(1);
        send.send(1).await.unwrap();
        let one = || assert_eq!(receive.try_recv(), Ok(1));
        check_the_line("mpsc send", send.send(2), send.send(3), one).await;
        assert_eq!(receive.recv().await, Some(2));
        let (send, mut receive) = mpsc::channel(1);
        send.send(1).await.unwrap();
        let one = || assert_eq!(receive.try_recv(), Ok(1));
        check_the_line("mpsc reserve", send.reserve(), send.reserve(), one).await;
    });
}

#[test]
fn a_wait_that_ends_without_budget_has_sent_nothing_and_locks_nothing() {
    here(async {
        let lock = Mutex::new(());
        let (send, mut receive) = mpsc::channel(1);
        {
            let (mut locking, mut sending) = (pin!(lock.lock()), pin!(send.send(1)));
            use_up().await;
            assert!(!is_ready(&mut locking).await);
            assert!(!is_ready(&mut sending).await);
            assert!(lock.try_lock().is_err(), "the wait has the lock, and waits for a unit");
        }
        assert!(lock.try_lock().is_ok());
        assert!(receive.try_recv().is_err());
        assert_eq!(send.capacity(), 1);
    });
}

/// A wake is nothing that a drop could give back, unless tokio's own wait has it.
#[test]
fn a_wait_that_ends_without_budget_passes_its_wake_on() {
    here(async {
        let signal = Notify::new();
        {
            let mut woken = pin!(signal.notified());
            assert!(!is_ready(&mut woken).await);
            signal.notify_one();
            use_up().await;
            assert!(!is_ready(&mut woken).await, "it waits for a unit");
        }
        yield_now().await;
        assert!(is_ready(&mut pin!(signal.notified())).await, "the wake is lost");
    });
}

#[test]
fn they_print_what_tokios_print() {
    macro_rules! same {
        ($($path:ident)::+ ($($value:expr)?)) => {{
            let (ours, theirs) = (colored::sync::$($path)::+($($value)?), tokio::sync::$($path)::+($($value)?));
            assert_eq!(format!("{ours:?}"), format!("{theirs:?}"));
        }};
    }
    same!(Mutex::new(3));
    same!(RwLock::new("text"));
    same!(Semaphore::new(2));
    same!(OnceCell::new_with(Some(5)));
    let (_sender, ours) = watch::channel(7);
    let (_other, theirs) = tokio::sync::watch::channel(7);
    // The version is of the channel.
    assert!(format!("{ours:?}").starts_with("Receiver { shared: Shared { value: "), "{ours:?}");
    assert!(format!("{theirs:?}").starts_with("Receiver { shared: Shared { value: "));
}

#[test]
fn a_send_with_a_timeout_returns_the_value() {
    here(async {
        let (send, mut receive) = mpsc::channel(1);
        let brief = Duration::from_millis(1);
        send.send_timeout("first", brief).await.unwrap();
        let full = send.send_timeout("second", brief).await.unwrap_err();
        assert_eq!(full, SendTimeoutError::Timeout("second"));
        assert_eq!(full.to_string(), "timed out waiting on send operation");
        assert_eq!(receive.recv().await, Some("first"));
        send.send_timeout("third", Duration::ZERO).await.unwrap();
        assert_eq!(receive.recv().await, Some("third"));
        drop(receive);
        let closed = send.send_timeout("fourth", brief).await.unwrap_err();
        assert_eq!((closed, closed.into_inner()), (SendTimeoutError::Closed("fourth"), "fourth"));
    });
}
