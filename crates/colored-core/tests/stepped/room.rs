//! Waits for room and their records, stepped by hand: one worker, and a clock that the test advances.

use colored_core::port::{How, Room, RoomWait, WaitId, Ways};
use colored_core::{
    Address, Color, Park, Scheduler, SchedulerHandle, Step, Worker, exclusive, look_for_deadlocks,
};
use colored_limit::{Limit, Permit, RoomError};
use std::future::poll_fn;
use std::panic::Location;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

const RED: Color = Color::new(1);
const BLUE: Color = Color::new(2);

#[derive(Clone, Default)]
struct Clock(Arc<AtomicU64>);

impl Clock {
    fn advance(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Park for Clock {
    fn unpark(&self, _: usize) {}

    fn now(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

fn scheduler() -> (SchedulerHandle, Worker, Clock) {
    let clock = Clock::default();
    let (handle, mut workers) = Scheduler::with_workers(1, 1, Box::new(clock.clone()));
    (handle, workers.remove(0), clock)
}

fn run(worker: &mut Worker) {
    while worker.step() == Step::Ran {}
}

/// Ends the scheduler, so that a test leaves nothing behind.
fn stop(handle: &SchedulerHandle, worker: &mut Worker) {
    handle.scheduler().shut_down();
    while worker.step() != Step::Stopped {}
}

type Shared = Arc<Mutex<Pin<Box<dyn Future<Output = Permit> + Send>>>>;

/// A wait that any task may poll.
fn shared(limit: &Limit) -> Shared {
    let limit = limit.clone();
    Arc::new(Mutex::new(Box::pin(async move { limit.reserve().await.unwrap() })))
}

fn poll(wait: &Shared, cx: &mut Context<'_>) -> Poll<Permit> {
    wait.lock().unwrap().as_mut().poll(cx)
}

/// The color is held by a section that waits for a task, which waits for room in a section of its own. The second wait
/// is the youngest.
#[test]
fn a_wait_for_room_that_closes_a_cycle_gets_the_error() {
    let (handle, mut worker, clock) = scheduler();
    handle.scheduler().expect_sections();
    let limit = Limit::new_in(&handle, RED, 1);
    let (inside, spawner) = (limit.clone(), handle.clone());
    let holder = handle.spawn_colored(
        RED,
        exclusive(async move {
            // The task runs under the color only, so it waits for the end of this section.
            drop(inside.try_spawn(async {}).unwrap());
            let waits = exclusive(async move { inside.checked_reserve().await.map(drop) });
            let waiter = spawner.spawn_colored(BLUE, waits);
            clock.advance();
            waiter.await.unwrap()
        }),
    );
    run(&mut worker);
    assert_eq!((limit.depth(), limit.waiting()), (1, 1));
    look_for_deadlocks(handle.scheduler(), 0);
    run(&mut worker);
    assert_eq!((limit.depth(), limit.waiting()), (0, 0), "the waiter has left, the item has run");
    let check = handle.spawn_colored(BLUE, async move {
        let error = holder.await.unwrap().unwrap_err();
        assert!(matches!(error, RoomError::Deadlock(_)), "{error:?}");
        let text = error.to_string();
        assert!(text.contains("waits for room in a limit of"), "{text}");
        assert!(text.contains("is held by the section of"), "{text}");
    });
    run(&mut worker);
    assert!(check.is_finished());
    stop(&handle, &mut worker);
}

/// The same without a cycle: the section waits for a task that ends by itself.
#[test]
fn a_wait_for_room_that_will_end_gets_no_error() {
    let (handle, mut worker, clock) = scheduler();
    handle.scheduler().expect_sections();
    let limit = Limit::new_in(&handle, RED, 1);
    let permit = limit.try_reserve().unwrap();
    let (inside, seen) = (limit.clone(), Arc::new(Mutex::new(None)));
    let result = Arc::clone(&seen);
    drop(handle.spawn_colored(
        BLUE,
        exclusive(async move {
            let waited = inside.checked_reserve().await.map(drop);
            *result.lock().unwrap() = Some(waited);
        }),
    ));
    run(&mut worker);
    clock.advance();
    look_for_deadlocks(handle.scheduler(), 0);
    run(&mut worker);
    assert_eq!((limit.waiting(), seen.lock().unwrap().clone()), (1, None));
    drop(permit);
    run(&mut worker);
    assert_eq!(seen.lock().unwrap().clone(), Some(Ok(())));
    stop(&handle, &mut worker);
}

/// A wait that one task begins and another one ends: its record moves, and so does the task that is called.
#[test]
fn a_wait_moves_to_another_task() {
    let (handle, mut worker, _) = scheduler();
    handle.scheduler().expect_sections();
    let limit = Limit::new_in(&handle, RED, 1);
    let permit = limit.try_reserve().unwrap();
    let wait = shared(&limit);
    let begins = Arc::clone(&wait);
    let first = handle.spawn_colored(
        BLUE,
        poll_fn(move |cx| {
            assert!(poll(&begins, cx).is_pending());
            Poll::Ready(())
        }),
    );
    run(&mut worker);
    assert!(first.is_finished());
    let second =
        handle.spawn_colored(BLUE, async move { drop(poll_fn(|cx| poll(&wait, cx)).await) });
    run(&mut worker);
    assert_eq!((limit.depth(), limit.waiting()), (1, 1));
    drop(permit);
    run(&mut worker);
    assert!(second.is_finished());
    assert_eq!((limit.depth(), limit.waiting()), (0, 0));
    stop(&handle, &mut worker);
}

/// A wait that a task has begun is dropped by this thread: while the task waits, when it was called, and when the task
/// is complete.
#[test]
fn a_wait_is_dropped_outside_its_task() {
    for (is_called, is_complete) in [(false, false), (true, false), (false, true), (true, true)] {
        let (handle, mut worker, _) = scheduler();
        handle.scheduler().expect_sections();
        let limit = Limit::new_in(&handle, RED, 1);
        let permit = limit.try_reserve().unwrap();
        let wait = shared(&limit);
        let begins = Arc::downgrade(&wait);
        let task = handle.spawn_colored(BLUE, async move {
            poll_fn(|_| {
                let wait = begins.upgrade().unwrap();
                // The call wakes no task, so the wait stays as it is.
                assert!(poll(&wait, &mut Context::from_waker(Waker::noop())).is_pending());
                Poll::Ready(())
            })
            .await;
            if !is_complete {
                std::future::pending::<()>().await;
            }
        });
        run(&mut worker);
        assert_eq!((task.is_finished(), limit.waiting()), (is_complete, 1));
        let permit = (!is_called).then_some(permit);
        assert_eq!((limit.depth(), limit.waiting()), (1, usize::from(!is_called)));
        drop(wait);
        assert_eq!((limit.depth(), limit.waiting()), (usize::from(!is_called), 0));
        drop(permit);
        assert_eq!(limit.depth(), 0);
        stop(&handle, &mut worker);
    }
}

/// Room under a color that never comes.
struct NoRoom {
    address: Address,
    told: AtomicU64,
}

impl Room for NoRoom {
    fn address(&self) -> &Address {
        &self.address
    }

    fn ways(&self) -> Option<Ways> {
        Ways::new(true, [])
    }

    fn take_waker(&self, _: WaitId) -> Option<Waker> {
        self.told.fetch_add(1, Ordering::Relaxed);
        None
    }
}

/// A wait that another task takes over without a call of `begin_poll`: its record moves to that task all the same, so
/// the search finds that the task waits, in a section, for its own color.
#[test]
fn a_record_belongs_to_the_task_that_polled_last() {
    const HOW: &How = &How::new("waits for room in a double of");
    let (handle, mut worker, clock) = scheduler();
    let room = Arc::new(NoRoom { address: Address::new(&handle, RED), told: AtomicU64::new(0) });
    let wait = Arc::new(Mutex::new(RoomWait::default()));
    let polled = |poll: Poll<()>| {
        let (wait, room) = (Arc::clone(&wait), Arc::clone(&room));
        poll_fn(move |_| {
            wait.lock().unwrap().record_wait(HOW, Location::caller(), &room);
            poll
        })
    };
    let first = handle.spawn_colored(BLUE, polled(Poll::Ready(())));
    run(&mut worker);
    assert!(first.is_finished());
    drop(handle.spawn_colored(RED, exclusive(polled(Poll::Pending))));
    run(&mut worker);
    clock.advance();
    look_for_deadlocks(handle.scheduler(), 0);
    assert_eq!(room.told.load(Ordering::Relaxed), 1);
    stop(&handle, &mut worker);
}
