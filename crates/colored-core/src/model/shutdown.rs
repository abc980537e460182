//! Shutdown: every future is dropped, every worker stops. A future that is left over is a leak here, and a wait that
//! never ends a deadlock.

use super::pool::{Flag, pool, run, shut_down_beside_a_wake, start};
use super::{check, check_large, check_within};
use crate::kernel::color::Color;
use crate::kernel::lane::push;
use crate::kernel::sched::spawn_local;
use crate::sync::Arc;
use loom::thread;
use std::future::pending;

/// A future that never ends; loom finds it if it is not dropped.
async fn endless(payload: Arc<()>) {
    pending::<()>().await;
    drop(payload);
}

/// A lane that is in the table becomes idle with a waiting task.
/// Shows G8.
#[test]
fn close_against_a_color() {
    check_within(2, || {
        let (handle, mut workers, beds) = pool(1);
        drop(handle.spawn_colored(Color::new(1), endless(Arc::new(()))));
        let thread = start(workers.remove(0), &beds);
        handle.scheduler().shut_down();
        thread.join().unwrap();
        assert_eq!(handle.scheduler().lanes(), 1);
    });
}

/// A lane that is not in the table becomes idle with a waiting task: the shutdown finds it in the table, or the lane
/// sees the shutdown and cancels the task.
/// Shows G8.
#[test]
fn close_against_a_first_wait() {
    check_within(2, || {
        let (handle, mut workers, beds) = pool(1);
        let join = handle.spawn_unique(endless(Arc::new(())));
        let thread = start(workers.remove(0), &beds);
        handle.scheduler().shut_down();
        thread.join().unwrap();
        assert!(join.is_finished());
    });
}

/// A lane puts itself into the table, and becomes idle with a waiting task.
/// Shows G8.
#[test]
fn close_against_publish() {
    check_within(2, || {
        let (handle, mut workers, beds) = pool(1);
        let payload = Arc::new(());
        let join = handle.spawn_unique(async move {
            assert!(Color::current().is_some());
            endless(payload).await;
        });
        let thread = start(workers.remove(0), &beds);
        handle.scheduler().shut_down();
        thread.join().unwrap();
        assert!(join.is_finished());
        assert_eq!(handle.scheduler().lanes(), 1);
    });
}

/// Tasks that are spawned while the workers stop are run by a worker, or by the thread that spawned them.
/// Shows G8.
#[test]
fn stop_against_spawn() {
    check_within(2, || {
        let (handle, mut workers, beds) = pool(1);
        let thread = start(workers.remove(0), &beds);
        let late = handle.clone();
        let spawner = thread::spawn(move || late.spawn_unique(endless(Arc::new(()))));
        handle.scheduler().shut_down();
        let join = spawner.join().unwrap();
        thread.join().unwrap();
        assert!(join.is_finished());
    });
}

/// The same for a callback, and a thread that is no worker.
/// Shows G8.
#[test]
fn stop_against_post() {
    check_within(2, || {
        let (handle, mut workers, beds) = pool(1);
        let thread = start(workers.remove(0), &beds);
        let lane = handle.lane(Color::new(1));
        let poster = thread::spawn(move || {
            let payload = Arc::new(());
            push::post(&lane, move || drop(payload));
        });
        handle.scheduler().shut_down();
        poster.join().unwrap();
        thread.join().unwrap();
        assert_eq!(handle.scheduler().lanes(), 1);
    });
}

/// The same for a callback that is pinned to a worker: it is run there, or dropped by a thread that comes too late for
/// the worker; and the nodes behind it are cancelled.
/// Shows G8.
#[test]
fn stop_against_a_pinned_post() {
    check_within(2, || {
        let (handle, mut workers, beds) = pool(1);
        let thread = start(workers.remove(0), &beds);
        let late = handle.clone();
        let poster = thread::spawn(move || {
            let payload = Arc::new(());
            late.post_to_worker(0, Color::new(1), move || drop(payload)).ok().expect("a worker");
            late.spawn_colored(Color::new(1), endless(Arc::new(())))
        });
        handle.scheduler().shut_down();
        let join = poster.join().unwrap();
        thread.join().unwrap();
        assert!(join.is_finished());
        assert_eq!(handle.scheduler().lanes(), 1);
    });
}

/// Two workers: the last one to run out of work stops both.
/// Shows G8.
#[test]
fn two_workers_stop() {
    check_within(1, || {
        let (handle, mut workers, beds) = pool(2);
        let join = handle.spawn_unique(endless(Arc::new(())));
        let threads = [workers.remove(0), workers.remove(0)].map(|worker| start(worker, &beds));
        handle.scheduler().shut_down();
        for thread in threads {
            thread.join().unwrap();
        }
        assert!(join.is_finished());
    });
}

/// A lane is sent to the worker to which its next node is pinned, while the others run out of work: no worker stops
/// before it has been run there.
/// Shows G8.
#[test]
fn stop_against_send() {
    check_large(|| {
        let (handle, mut workers, beds) = pool(2);
        let pinned = Flag::new();
        let (set, payload) = (Arc::clone(&pinned), Arc::new(()));
        drop(handle.spawn_colored(Color::new(1), async move {
            drop(spawn_local(endless(payload)).ok().expect("on a worker"));
            set.set();
        }));
        let home = start(workers.remove(0), &beds);
        pinned.wait();
        handle.scheduler().shut_down();
        run(workers.remove(0), &beds);
        home.join().unwrap();
        assert_eq!(handle.scheduler().lanes(), 1);
    });
}

/// Another thread wakes a waiting task while the task is cancelled.
/// Shows G8.
#[test]
fn close_against_wake() {
    check(|| {
        shut_down_beside_a_wake(|wait| wait);
    });
}
