//! `reuse`: the memory that workers keep for the next task, and the memory that they give back, as the global
//! allocator sees it. Under sanitizers workers keep nothing.

#[allow(dead_code, reason = "`stepped` needs more of it")]
#[path = "../stepped/doubles.rs"]
mod doubles;

use self::doubles::NeverParks;
use colored_core::{AbortHandle, Color, JoinHandle, Options, Scheduler, Step, Worker};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

/// The system's allocator, counting the calls of each thread.
struct Counting;

thread_local! {
    static ALLOCATED: Cell<usize> = const { Cell::new(0) };
    static FREED: Cell<usize> = const { Cell::new(0) };
    /// Bytes that this thread has allocated, less the bytes that it has freed.
    static BYTES: Cell<isize> = const { Cell::new(0) };
}

// SAFETY: every method hands its arguments on unchanged, and returns what `System` returns. The
// counters neither allocate nor are dropped.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.set(ALLOCATED.get() + 1);
        BYTES.set(BYTES.get() + layout.size().cast_signed());
        // SAFETY: the caller keeps the contract of `alloc`, which is that of `System`, for this layout.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        FREED.set(FREED.get() + 1);
        BYTES.set(BYTES.get() - layout.size().cast_signed());
        // SAFETY: the caller has the block from `alloc` with this layout, and so from `System`.
        unsafe { System.dealloc(block, layout) };
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const TASKS: usize = if cfg!(miri) { 20 } else { 100 };

fn run_until_it_parks(worker: &mut Worker) {
    while !matches!(worker.step(), Step::Park(_)) {}
}

/// How often `f` allocates and frees on this thread.
fn calls(f: impl FnOnce()) -> (usize, usize) {
    let before = (ALLOCATED.get(), FREED.get());
    f();
    (ALLOCATED.get() - before.0, FREED.get() - before.1)
}

/// How often a worker calls the allocator while one of its tasks spawns `TASKS` others one after the other, each
/// under a color that has no lane. Earlier tasks have left memory that the worker can keep.
fn of_tasks_after_others(reuse: bool, color: fn(usize) -> Option<Color>) -> (usize, usize) {
    let before = BYTES.get();
    let options = Options { reuse, ..Options::default() };
    let (handle, mut workers) = Scheduler::with_options(1, 1, Box::new(NeverParks), options);
    let worker = &mut workers[0];
    let mut round = || {
        let spawner = handle.clone();
        drop(handle.spawn_colored(Color::new(1), async move {
            for task in 0..TASKS {
                let spawned = match color(task) {
                    Some(color) => spawner.spawn_colored(color, async move { task }),
                    None => spawner.spawn_unique(async move { task }),
                };
                assert_eq!(spawned.await.ok(), Some(task));
            }
        }));
        run_until_it_parks(worker);
    };
    round();
    let counted = calls(round);
    // Of each color that has no task, nothing is left but the lane of the default color.
    assert_eq!(handle.scheduler().lanes(), 1);
    handle.scheduler().shut_down();
    while worker.step() != Step::Stopped {}
    drop((handle, workers));
    assert_eq!(
        BYTES.get(),
        before,
        "each block is freed, with the size that it was allocated with"
    );
    counted
}

/// A fresh color for each task.
fn fresh(_: usize) -> Option<Color> {
    None
}

/// The color of a number, which has no task when this one is spawned.
fn named(task: usize) -> Option<Color> {
    Some(Color::new(100 + task as u64))
}

#[test]
fn reused_memory_is_neither_allocated_nor_freed() {
    for color in [fresh, named] {
        let (allocated, freed) = of_tasks_after_others(true, color);
        // The task that spawns has its memory from outside the worker.
        assert!(allocated <= 4 && freed <= 4, "{allocated} allocated, {freed} freed");
    }
}

#[test]
fn without_reuse_each_task_and_lane_is_allocated_and_freed() {
    let (allocated, freed) = of_tasks_after_others(false, fresh);
    // Each task allocates itself and a lane, and each that is awaited allocates the record of a wait.
    let blocks = 2 * (TASKS + 1) + TASKS;
    assert_eq!((allocated, freed), (blocks, blocks));
}

/// Many tasks wait at once, each under a fresh color, so the table has a lane for each. When all are done, the table
/// keeps no memory for them: 2 MiB otherwise.
#[test]
fn a_table_that_has_become_empty_frees_its_memory() {
    const MANY: usize = 1 << 17;
    let options = Options { reuse: false, ..Options::default() };
    let (handle, mut workers) = Scheduler::with_options(1, 1, Box::new(NeverParks), options);
    let worker = &mut workers[0];
    let before = BYTES.get();
    let wakers = Arc::new(Mutex::new(Vec::new()));
    for _ in 0..MANY {
        let (wakers, mut waits) = (Arc::clone(&wakers), true);
        drop(handle.spawn_unique(poll_fn(move |cx| {
            if std::mem::take(&mut waits) {
                wakers.lock().unwrap().push(cx.waker().clone());
                return Poll::Pending;
            }
            Poll::Ready(())
        })));
    }
    run_until_it_parks(worker);
    assert_eq!(handle.scheduler().lanes(), MANY + 1);
    let called = std::mem::take(&mut *wakers.lock().unwrap());
    called.into_iter().for_each(Waker::wake);
    run_until_it_parks(worker);
    assert_eq!(handle.scheduler().lanes(), 1);
    drop(wakers);
    let left = BYTES.get() - before;
    assert!(left < 1 << 20, "{left} bytes are left");
    handle.scheduler().shut_down();
    while worker.step() != Step::Stopped {}
}

/// A task that is complete, and whose other references are gone, is freed with the last one, whatever that is.
#[test]
fn the_last_reference_frees_the_task() {
    type Last = (Waker, AbortHandle, JoinHandle<()>);
    let lasts: [fn(Last); 5] = [
        |(waker, abort, join)| drop((abort, join, waker)),
        |(waker, abort, join)| {
            drop((abort, join));
            waker.wake();
        },
        |(waker, abort, join)| drop((waker.clone(), waker, join, abort)),
        |(waker, abort, join)| drop((waker, abort.clone(), abort, join)),
        |(waker, abort, mut join)| {
            assert!(join.try_take().is_some());
            drop((waker, abort, join));
        },
    ];
    let options = Options { reuse: false, ..Options::default() };
    let (handle, mut workers) = Scheduler::with_options(1, 1, Box::new(NeverParks), options);
    let place = Arc::new(Mutex::new(None));
    for last in lasts {
        let before = BYTES.get();
        let kept = Arc::clone(&place);
        let join = handle.spawn_unique(poll_fn(move |cx| {
            *kept.lock().unwrap() = Some(cx.waker().clone());
            Poll::Ready(())
        }));
        run_until_it_parks(&mut workers[0]);
        let waker = place.lock().unwrap().take().expect("it has run");
        last((waker, join.abort_handle(), join));
        assert_eq!(BYTES.get(), before);
    }
    handle.scheduler().shut_down();
    while workers[0].step() != Step::Stopped {}
}
