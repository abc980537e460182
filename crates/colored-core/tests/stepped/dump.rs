//! `dump`: tasks are written down without a poll, each once.

#[cfg(feature = "leaves")]
mod leaves;

use crate::doubles::{Clock, NeverParks};
use colored_core::dump::{Dumped, Dumping, StateSeen, TargetSeen};
use colored_core::{
    Color, ColorCell, Id, InPlace, Scheduler, SchedulerHandle, Step, Worker, block_in_place,
    exclusive, hop, port, when, yield_now,
};
use std::collections::HashMap;
use std::future::{Future, pending, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

fn run(worker: &mut Worker) {
    while worker.step() == Step::Ran {}
}

/// A dump that nothing has to be waited for.
fn dump(handle: &SchedulerHandle) -> Dumped {
    let mut dumping = Dumping::begin(handle.scheduler()).expect("no other dump is made");
    while dumping.go_on() {}
    assert!(dumping.is_done(), "all lanes are idle");
    dumping.end()
}

/// The states of the tasks, and a check that no task is there twice.
fn states(dumped: &Dumped) -> HashMap<Id, StateSeen> {
    let tasks = dumped.sheet.tasks();
    let states: HashMap<_, _> = tasks.iter().map(|task| (task.id, task.state)).collect();
    assert_eq!(states.len(), tasks.len(), "a task is there twice");
    states
}

/// Counts its polls.
struct Polls(Arc<AtomicUsize>);

impl Future for Polls {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Poll::Pending
    }
}

#[test]
fn waiting_tasks_are_written_down_without_a_poll() {
    let (handle, mut workers) = Scheduler::with_workers(1, 1, Box::new(NeverParks));
    let polls = Arc::new(AtomicUsize::new(0));
    // An interpreter takes minutes for more.
    let alone: usize = if cfg!(miri) { 20 } else { 500 };
    let ids: Vec<_> = (0..2 * alone as u64)
        .map(|n| handle.spawn_colored(Color::new(n % 3), Polls(Arc::clone(&polls))).id())
        .chain((0..alone).map(|_| handle.spawn_unique(Polls(Arc::clone(&polls))).id()))
        .collect();
    run(&mut workers[0]);
    assert_eq!(polls.load(Ordering::Relaxed), 3 * alone);
    let dumped = dump(&handle);
    assert_eq!(polls.load(Ordering::Relaxed), 3 * alone, "the dump has polled");
    let states = states(&dumped);
    assert_eq!(states.len(), 3 * alone);
    assert!(ids.iter().all(|id| states[id] == StateSeen::Waiting));
    assert!(dumped.unread.is_empty() && dumped.deadlocks.is_empty());
}

#[test]
fn a_wait_says_for_what_and_since_when_and_is_gone_when_it_is_over() {
    let clock = Clock::default();
    let (handle, mut workers) = Scheduler::with_workers(1, 1, Box::new(clock.clone()));
    let cell = ColorCell::new_in(&handle, Color::new(7), 0);
    let waited = handle.spawn_colored(Color::new(1), pending::<()>());
    let waited_id = waited.id();
    let keeps = handle.spawn_colored(Color::new(7), exclusive(pending::<()>()));
    run(&mut workers[0]);
    clock.spend(5_000_000);
    let joins = handle.spawn_colored(Color::new(2), async move {
        // A branch that is dropped leaves nothing behind.
        let mut dropped = Box::pin(cell.call(|_| ()));
        poll_fn(|cx| Poll::Ready(dropped.as_mut().poll(cx).is_pending())).await;
        drop(dropped);
        waited.await.is_ok()
    });
    run(&mut workers[0]);
    clock.spend(3_000_000);
    let dumped = dump(&handle);
    let waits = |id: Id| {
        let task = dumped.sheet.tasks().iter().find(|task| task.id == id).expect("it waits");
        dumped.sheet.waits(task)
    };
    let [join] = waits(joins.id()) else { panic!("one wait is left") };
    assert!(matches!(join.target, TargetSeen::Task(id, _) if id == waited_id));
    assert_eq!(dumped.now - join.since, 3_000_000);
    let [section] = waits(keeps.id()) else { panic!("one section is open") };
    assert!(matches!(section.target, TargetSeen::Section));
    assert_eq!(dumped.now - section.since, 8_000_000);
    assert!(waits(waited_id).is_empty());
}

#[test]
fn a_wait_that_is_over_is_gone_although_its_future_is_kept() {
    let (handle, mut workers) = Scheduler::with_workers(1, 1, Box::new(NeverParks));
    let cell = ColorCell::new_in(&handle, Color::new(7), 0);
    let other = ColorCell::new_in(&handle, Color::new(8), 0);
    let spawner = handle.clone();
    let waits_no_more = handle.spawn_colored(Color::new(1), async move {
        let busy = |color| spawner.spawn_colored(Color::new(color), yield_now());
        let (mut join, _seven, _three) = (busy(2), busy(7), busy(3));
        let mut call = Box::pin(cell.call(|_| ()));
        let mut both = Box::pin(when((&cell, &other), |_, _| ()));
        let mut hops = Box::pin(hop(Color::new(3)));
        assert!((&mut join).await.is_ok());
        busy(7);
        call.as_mut().await;
        both.as_mut().await;
        busy(3);
        hops.as_mut().await;
        pending::<()>().await;
        drop((join, call, both, hops));
    });
    run(&mut workers[0]);
    let dumped = dump(&handle);
    let task = dumped.sheet.tasks().iter().find(|task| task.id == waits_no_more.id()).unwrap();
    assert_eq!(task.color, Color::new(3));
    assert!(dumped.sheet.waits(task).is_empty());
}

#[test]
fn two_sections_that_wait_for_each_other_are_a_cycle_in_the_dump() {
    let (handle, mut workers) = Scheduler::with_workers(1, 1, Box::new(NeverParks));
    let cells = [1, 2].map(|color| ColorCell::new_in(&handle, Color::new(color), 0));
    let tasks = [0, 1].map(|own: usize| {
        let other = cells[1 - own].clone();
        handle.spawn_colored(cells[own].color(), async move {
            exclusive(async { other.call(|value| *value += 1).await }).await;
        })
    });
    run(&mut workers[0]);
    let dumped = dump(&handle);
    let [deadlock] = &dumped.deadlocks[..] else { panic!("there is one cycle") };
    assert_eq!(deadlock.to_string().lines().count(), 5, "{deadlock}");
    let states = states(&dumped);
    assert!(tasks.iter().all(|task| states[&task.id()] == StateSeen::Waiting));
    for task in dumped.sheet.tasks() {
        let [section, call] = dumped.sheet.waits(task) else { panic!("each waits in a section") };
        assert!(matches!(section.target, TargetSeen::Section));
        assert!(matches!(call.target, TargetSeen::Color(color) if color != task.color));
    }
    assert!(!tasks.iter().any(|task| task.is_finished()), "the dump has ended no wait");
}

/// The lane is queued. Its holder writes its tasks down before the first poll of its next slice.
#[test]
fn the_holder_of_a_lane_that_is_queued_writes_it_down() {
    let (handle, mut workers) = Scheduler::with_workers(1, 1, Box::new(NeverParks));
    let color = Color::new(1);
    let waiting: Vec<_> = (0..300).map(|_| handle.spawn_colored(color, pending::<()>())).collect();
    run(&mut workers[0]);
    let queued = handle.spawn_colored(color, async {});
    let closures = ColorCell::new_in(&handle, color, ());
    closures.post(|()| ());
    let mut dumping = Dumping::begin(handle.scheduler()).expect("no other dump is made");
    while dumping.go_on() {}
    assert!(!dumping.is_done(), "the lane is queued");
    assert!(Dumping::begin(handle.scheduler()).is_none(), "one dump at a time");
    assert_eq!(workers[0].step(), Step::Ran);
    // The rest, of which one slice writes a page.
    assert!(dumping.is_done(), "the lane is idle now");
    let dumped = dumping.end();
    let states = states(&dumped);
    assert!(waiting.iter().all(|task| states[&task.id()] == StateSeen::Waiting));
    assert!(queued.is_finished());
}

#[test]
fn a_lane_that_no_holder_comes_to_is_named() {
    let clock = Clock::default();
    let (handle, mut workers) = Scheduler::with_workers(1, 1, Box::new(clock.clone()));
    drop(handle.spawn_colored(Color::new(3), pending::<()>()));
    run(&mut workers[0]);
    drop(handle.spawn_colored(Color::new(3), async {}));
    let mut dumping = Dumping::begin(handle.scheduler()).expect("no other dump is made");
    while dumping.go_on() {}
    assert!(!dumping.is_done());
    clock.spend(300_000_000);
    assert!(dumping.is_done(), "the time is over");
    assert_eq!(dumping.end().unread, [Color::new(3)]);
    run(&mut workers[0]);
    assert_eq!(dump(&handle).sheet.tasks().len(), 1, "the next dump finds it");
}

/// Dumps a color whose holder gets little of a CPU: 200 ms pass between two pages. Returns after how many it was over, too.
fn slow_dump(color: Color, tasks: usize) -> (Dumped, u32) {
    let clock = Clock::default();
    let (handle, mut workers) = Scheduler::with_workers(1, 1, Box::new(clock.clone()));
    (0..tasks).for_each(|_| drop(handle.spawn_colored(color, pending::<()>())));
    run(&mut workers[0]);
    let busy = handle.spawn_colored(color, async {
        loop {
            yield_now().await;
        }
    });
    let mut dumping = Dumping::begin(handle.scheduler()).expect("no other dump is made");
    while dumping.go_on() {}
    let mut pages = 0;
    while !dumping.is_done() {
        assert_eq!(workers[0].step(), Step::Ran);
        clock.spend(200_000_000);
        pages += 1;
    }
    let dumped = dumping.end();
    busy.abort();
    run(&mut workers[0]);
    (dumped, pages)
}

#[test]
fn a_lane_whose_pages_come_is_waited_for_ten_seconds_at_most() {
    let color = Color::new(3);
    let (dumped, pages) = slow_dump(color, 700);
    let waiting = states(&dumped).into_values().filter(|state| *state == StateSeen::Waiting);
    assert_eq!((pages, dumped.unread.len(), waiting.count()), (3, 0, 700));
    let (dumped, pages) = slow_dump(color, 15_000);
    assert_eq!((pages, dumped.unread), (50, vec![color]));
}

/// The task that dumps is inside its own lane.
#[test]
fn a_task_dumps_its_own_color_too() {
    let (handle, mut workers) = Scheduler::with_workers(1, 1, Box::new(NeverParks));
    let waits = handle.spawn_colored(Color::new(1), pending::<()>());
    let own = handle.clone();
    let mut dumps = handle.spawn_colored(Color::new(1), async move { states(&dump(&own)) });
    run(&mut workers[0]);
    let states = dumps.try_take().expect("it is done").expect("it has not panicked");
    assert_eq!(states[&waits.id()], StateSeen::Waiting);
    assert_eq!(states[&dumps.id()], StateSeen::Running);
}

/// Between the pages tasks end, hop away and come.
#[test]
fn a_task_that_waits_is_found_once_while_others_of_its_color_come_and_go() {
    let (handle, mut workers) = Scheduler::with_workers(1, 1, Box::new(NeverParks));
    let color = Color::new(1);
    let all: Vec<_> = (0..3000)
        .map(|n| {
            if n % 3 == 0 {
                handle.spawn_colored(color, pending::<()>())
            } else {
                handle.spawn_colored(color, async move {
                    pending::<()>().await;
                })
            }
        })
        .collect();
    run(&mut workers[0]);
    // The lane is queued, and each slice writes a page. The slices in between end those that are aborted.
    let mut dumping = Dumping::begin(handle.scheduler()).expect("no other dump is made");
    all.iter().skip(1).step_by(3).take(400).for_each(|task| task.abort());
    while dumping.go_on() {}
    assert!(!dumping.is_done());
    for part in 0..6 {
        assert_eq!(workers[0].step(), Step::Ran);
        all.iter().rev().skip(1).step_by(3).skip(part * 90).take(90).for_each(|task| task.abort());
        drop(handle.spawn_colored(color, pending::<()>()));
    }
    run(&mut workers[0]);
    while !dumping.is_done() {}
    let states = states(&dumping.end());
    assert!(all.iter().step_by(3).all(|task| states[&task.id()] == StateSeen::Waiting));
}

#[test]
fn a_call_of_the_runtime_itself_is_marked_while_it_lasts() {
    let (handle, mut workers) = Scheduler::with_workers(1, 1, Box::new(NeverParks));
    let mark = {
        let handle = handle.clone();
        move || handle.scheduler().running(0).map(|slice| slice.in_place)
    };
    let marks = handle.spawn_unique(async move {
        let before = mark();
        let inside = port::in_own_call(&mark);
        let nested = block_in_place(|| (port::in_own_call(&mark), mark()));
        (before, inside, nested, mark())
    });
    run(&mut workers[0]);
    let mut marks = Box::pin(marks);
    let waker = std::task::Waker::noop();
    let Poll::Ready(Ok(marks)) = marks.as_mut().poll(&mut Context::from_waker(waker)) else {
        panic!("the task is complete")
    };
    let own = Some(InPlace::Own);
    let (inside, past) = (Some(InPlace::Inside), Some(InPlace::Past));
    assert_eq!(marks, (Some(InPlace::No), own, (own, inside), past));
}

/// A `when` that has one of its colors and waits for the other, which a section keeps.
#[test]
fn a_when_says_which_colors_it_has() {
    let (handle, mut workers) = Scheduler::with_workers(1, 1, Box::new(NeverParks));
    let cells = [1, 2].map(|color| ColorCell::new_in(&handle, Color::new(color), 0));
    let keeps = handle.spawn_colored(cells[1].color(), exclusive(pending::<()>()));
    run(&mut workers[0]);
    let wants = handle.spawn_unique(async move {
        when((&cells[0], &cells[1]), |one, other| *one += *other).await;
    });
    run(&mut workers[0]);
    let mut dumping = Dumping::begin(handle.scheduler()).expect("no other dump is made");
    while dumping.go_on() {}
    assert!(!dumping.is_done(), "nobody can read the color that the `when` has");
    let dumped = dumping.end();
    assert_eq!(dumped.unread, [Color::new(1)]);
    let task = dumped.sheet.tasks().iter().find(|task| task.id == wants.id()).expect("it waits");
    let [wait] = dumped.sheet.waits(task) else { panic!("it has one wait") };
    let TargetSeen::Colors { lacks, has } = &wait.target else { panic!("{:?}", wait.target) };
    assert_eq!((&lacks[..], &has[..]), (&[Color::new(2)][..], &[Color::new(1)][..]));
    assert!(!keeps.is_finished());
}
