//! Futures that are made on a worker, against its end: each is dropped there, or was never made and is dropped
//! anywhere. Loom finds a leak, and a worker that does not stop.

use super::check_within;
use super::pool::{Flag, pool, start};
use crate::kernel::color::Color;
use crate::kernel::lane::push;
use crate::kernel::sched::JoinHandle;
use crate::kernel::sched::SchedulerHandle;
use crate::sync::{Arc, ThreadId, this_thread};
use loom::thread;
use std::future::pending;
use std::panic::Location;

/// A value that the future owns; it checks where it is dropped.
struct Payload(ThreadId, #[expect(dead_code, reason = "a leak is found by it")] Arc<()>);

impl Drop for Payload {
    fn drop(&mut self) {
        assert!(self.0 == this_thread(), "a future is dropped on another thread");
    }
}

/// Spawns a future that never ends on the first worker, which tells when it has made it.
fn spawn(handle: &SchedulerHandle, made: &Arc<Flag>) -> JoinHandle<()> {
    let (made, sent) = (Arc::clone(made), Arc::new(()));
    let make = move || {
        let payload = Payload(this_thread(), sent);
        made.set();
        async move {
            pending::<()>().await;
            drop(payload);
        }
    };
    let join = handle.spawn_pinned_from(Location::caller(), 0, Color::new(1), make);
    join.ok().expect("there is such a worker")
}

/// The future is spawned while the worker stops: made and dropped there, or dropped unmade.
/// Shows G8.
#[test]
fn spawn_against_stop() {
    check_within(2, || {
        let (handle, mut workers, beds) = pool(1);
        let worker = start(workers.remove(0), &beds);
        let (late, made) = (handle.clone(), Flag::new());
        let spawner = thread::spawn(move || spawn(&late, &made));
        handle.scheduler().shut_down();
        let join = spawner.join().unwrap();
        worker.join().unwrap();
        assert!(join.is_finished());
        assert_eq!(handle.scheduler().lanes(), 1);
    });
}

/// The future has been made, and a thread that is no worker holds its color while the tasks are cancelled: the worker
/// stays until it has dropped the future.
/// Shows G8.
#[test]
fn stop_against_a_color_that_is_held() {
    check_within(2, || {
        let (handle, mut workers, beds) = pool(1);
        let made = Flag::new();
        let join = spawn(&handle, &made);
        let worker = start(workers.remove(0), &beds);
        made.wait();
        let (closer, lane) = (handle.clone(), handle.lane(Color::new(1)));
        let closer = thread::spawn(move || closer.scheduler().shut_down());
        let held = push::run_inline(&lane, thread::yield_now);
        drop((held.ok(), lane));
        closer.join().unwrap();
        worker.join().unwrap();
        assert!(join.is_finished());
        assert_eq!(handle.scheduler().lanes(), 1);
    });
}
