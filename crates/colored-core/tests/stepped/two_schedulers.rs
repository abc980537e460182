//! Two schedulers in one program, stepped by hand on one thread. The thread's state for the one is apart from its
//! state for the other. Two tests find their fault under Miri only: a record that outlives the value which it
//! names.

use crate::doubles::NeverParks;
use crate::stopping::stop;
use colored_core::{
    Color, ColorCell, JoinHandle, Options, Scheduler, SchedulerHandle, Step, Worker, WorkerMemory,
    exclusive, hop, spawn_local, when,
};
use std::future::pending;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread;

/// A scheduler that keeps no memory for later, so that Miri sees each use of freed memory.
fn scheduler(workers: usize) -> (SchedulerHandle, Vec<Worker>) {
    let options = Options { reuse: false, ..Options::default() };
    Scheduler::with_options(workers, 7, Box::new(NeverParks), options)
}

/// Runs all lanes that are runnable by one worker.
fn run(worker: &mut Worker) {
    while worker.step() == Step::Ran {}
}

fn output<T>(mut task: JoinHandle<T>) -> T {
    task.try_take().expect("the task has ended").expect("and has an output")
}

/// A future that is ready when its gate is open.
#[derive(Clone, Default)]
struct Gate(Arc<Mutex<(bool, Option<Waker>)>>);

impl Gate {
    fn open(&self) {
        let mut state = self.0.lock().unwrap();
        state.0 = true;
        let waker = state.1.take();
        drop(state);
        waker.expect("somebody waits").wake();
    }
}

impl Future for Gate {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.0.lock().unwrap();
        if state.0 {
            return Poll::Ready(());
        }
        state.1 = Some(cx.waker().clone());
        Poll::Pending
    }
}

/// Spawns a task that waits in a section for a color that is busy: a look for a cycle walks all records.
fn wait_in_a_section(handle: &SchedulerHandle, cell: &ColorCell<i32>) {
    let cell = cell.clone();
    drop(handle.spawn_colored(Color::new(30), async move {
        cell.post(|_| ());
        exclusive(cell.call(|n| *n)).await;
    }));
}

/// A `when` that would have to begin under the locks of two schedulers is in the records of neither.
#[test]
fn a_when_over_cells_of_two_schedulers_leaves_no_record() {
    let ((one, mut ones), (two, mut twos)) = (scheduler(1), scheduler(1));
    one.scheduler().expect_sections();
    two.scheduler().expect_sections();
    let a = ColorCell::new_in(&one, Color::new(1), 1);
    let b = ColorCell::new_in(&two, Color::new(2), 2);
    for swapped in [false, true] {
        a.post(|_| ());
        b.post(|_| ());
        {
            let (a, b) = (&a, &b);
            let sum = |a: &mut i32, b: &mut i32| *a + *b;
            let both: Pin<Box<dyn Future<Output = i32>>> =
                if swapped { Box::pin(when((b, a), sum)) } else { Box::pin(when((a, b), sum)) };
            let mut both = both;
            let mut cx = Context::from_waker(Waker::noop());
            assert!(both.as_mut().poll(&mut cx).is_pending());
            run(&mut twos[0]); // It has `b`, and lacks `a`.
            assert!(both.as_mut().poll(&mut cx).is_pending());
            run(&mut ones[0]);
            assert_eq!(both.as_mut().poll(&mut cx), Poll::Ready(3));
        }
        for (handle, cell, workers) in [(&one, &a, &mut ones), (&two, &b, &mut twos)] {
            wait_in_a_section(handle, cell);
            run(&mut workers[0]);
        }
    }
}

/// The same by a task, of a third scheduler or of one of the two, which records its waits.
#[test]
fn a_task_that_waits_for_cells_of_other_schedulers_leaves_no_record() {
    let ((one, mut ones), (two, mut twos), (three, mut threes)) =
        (scheduler(1), scheduler(1), scheduler(1));
    let a = ColorCell::new_in(&one, Color::new(1), 1);
    let b = ColorCell::new_in(&two, Color::new(2), 2);
    let c = ColorCell::new_in(&two, Color::new(3), 4);
    let mut sums = Vec::new();
    for waiter in [&one, &two, &three] {
        for cell in [&a, &b, &c] {
            cell.post(|_| ());
        }
        let (cells, third) = ((a.clone(), b.clone()), c.clone());
        sums.push(waiter.spawn_colored(Color::new(9), async move {
            let ((a, b), c) = (cells, third);
            exclusive(async {}).await; // From now on waits are recorded.
            let foreign = when((&b, &c), |b: &mut i32, c: &mut i32| *b + *c).await;
            a.post(|_| ());
            b.post(|_| ());
            let mixed = when((&a, b.shared()), |a: &mut i32, b: &i32| *a + *b).await;
            a.post(|_| ());
            foreign + mixed + exclusive(a.call(|a| *a)).await
        }));
        for _ in 0..4 {
            for workers in [&mut ones, &mut twos, &mut threes] {
                run(&mut workers[0]);
            }
        }
        for (handle, cell, workers) in [(&one, &a, &mut ones), (&two, &b, &mut twos)] {
            wait_in_a_section(handle, cell);
            run(&mut workers[0]);
        }
    }
    assert_eq!(sums.into_iter().map(output).collect::<Vec<_>>(), [10; 3]);
}

/// The search finds a `when` that was in the line before the scheduler recorded waits, and skips it.
#[test]
fn a_when_over_cells_of_two_schedulers_that_is_older_than_the_first_section() {
    let ((one, mut ones), (two, mut twos)) = (scheduler(1), scheduler(1));
    let a = ColorCell::new_in(&one, Color::new(1), 1);
    let b = ColorCell::new_in(&two, Color::new(2), 2);
    b.post(|_| ());
    let gate = Gate::default();
    drop(one.spawn_colored(Color::new(1), exclusive(gate.clone())));
    {
        let mut both = pin!(when((&b, &a), |b: &mut i32, a: &mut i32| *a + *b));
        let mut cx = Context::from_waker(Waker::noop());
        assert!(both.as_mut().poll(&mut cx).is_pending());
        run(&mut ones[0]); // The section keeps the color, and blocks its line.
        gate.open();
        run(&mut ones[0]); // It has `a`, and lacks `b`.
        run(&mut twos[0]);
        assert_eq!(both.as_mut().poll(&mut cx), Poll::Ready(3));
    }
    for (handle, cell, workers) in [(&one, &a, &mut ones), (&two, &b, &mut twos)] {
        wait_in_a_section(handle, cell);
        run(&mut workers[0]);
    }
}

/// A place in the records of one scheduler says nothing about the order of another one's: the look does not take a
/// wait behind the call to be before it.
#[test]
fn a_call_that_is_taken_to_a_task_of_another_scheduler_is_recorded_there() {
    let ((one, mut ones), (two, mut twos)) = (scheduler(1), scheduler(1));
    one.scheduler().expect_sections();
    two.scheduler().expect_sections();
    let b = ColorCell::new_in(&two, Color::new(2), 2);
    let c = ColorCell::new_in(&two, Color::new(3), 3);
    let gate = Gate::default();
    drop(two.spawn_colored(Color::new(2), exclusive(gate.clone())));
    run(&mut twos[0]);
    let begun = Arc::new(Mutex::new(None));
    let (cell, kept) = (b.clone(), Arc::clone(&begun));
    drop(one.spawn_colored(Color::new(1), async move {
        let mut cx = Context::from_waker(Waker::noop());
        for _ in 0..100 {
            assert!(pin!(cell.call(|b| *b)).poll(&mut cx).is_pending());
        }
        let mut call = Box::pin(cell.call(|b| *b));
        assert!(call.as_mut().poll(&mut cx).is_pending());
        *kept.lock().unwrap() = Some(call);
    }));
    run(&mut ones[0]);
    let call = begun.lock().unwrap().take().expect("it has begun");
    let (asks, asked) = (Gate::default(), b.clone());
    let begins = asks.clone();
    let result = two.spawn_colored(Color::new(3), async move {
        exclusive(async move {
            begins.await;
            call.await
        })
        .await
    });
    run(&mut twos[0]);
    let behind = two.spawn_colored(Color::new(4), async move {
        when((&asked, &c), |b: &mut i32, c: &mut i32| *b + *c).await
    });
    run(&mut twos[0]);
    asks.open();
    run(&mut twos[0]);
    gate.open();
    run(&mut twos[0]);
    assert_eq!((output(result), output(behind)), (2, 5));
}

/// The inner task waits in no section, although the thread polls a section further up the stack.
#[test]
fn a_task_that_is_polled_inside_the_section_of_another_one_is_not_in_it() {
    for same in [true, false] {
        let ((one, mut ones), (two, mut twos)) = (scheduler(2), scheduler(1));
        one.scheduler().expect_sections();
        two.scheduler().expect_sections();
        let (inner_handle, mut inner) =
            if same { (one.clone(), ones.pop().unwrap()) } else { (two, twos.pop().unwrap()) };
        let b = ColorCell::new_in(&inner_handle, Color::new(2), 0);
        let c = ColorCell::new_in(&inner_handle, Color::new(3), 1);
        let outer = one.spawn_colored(
            Color::new(1),
            exclusive(async move {
                let (handle, busy) = (inner_handle.clone(), c.clone());
                let task = async move {
                    busy.post(|_| ());
                    busy.call(|c| *c).await
                };
                let task = inner.batch(1, || handle.spawn_colored(Color::new(2), task));
                run(&mut inner);
                assert_eq!(output(task), 1);
                // That task is freed, and this one waits for its color, in a section.
                b.post(|_| ());
                let mut waits = pin!(b.call(|b| *b));
                std::future::poll_fn(move |cx| {
                    if waits.as_mut().poll(cx).is_ready() {
                        return Poll::Ready(());
                    }
                    run(&mut inner);
                    waits.as_mut().poll(cx).map(|_| ())
                })
                .await;
            }),
        );
        run(&mut ones[0]);
        output(outer);
    }
}

/// A hop asks the task for its scheduler, not the thread. Else another thread would poll a future that may not
/// move.
#[test]
fn a_task_hops_in_its_own_scheduler_whatever_its_thread_is_meanwhile() {
    let ((one, mut ones), (two, mut twos)) = (scheduler(1), scheduler(1));
    let other = Arc::new(Mutex::new(twos.pop()));
    let inside = Arc::clone(&other);
    let task = one.spawn_colored(Color::new(1), async move {
        let local = spawn_local(async move {
            let (here, kept) = (thread::current().id(), Rc::new(5));
            for entered in [false, true] {
                let mut moves = pin!(hop(Color::new(9 + u64::from(entered))));
                let mut has_begun = false;
                std::future::poll_fn(|cx| {
                    if has_begun {
                        return moves.as_mut().poll(cx);
                    }
                    has_begun = true;
                    if entered {
                        let _two = two.enter();
                        return moves.as_mut().poll(cx);
                    }
                    let mut worker = inside.lock().unwrap().take().expect("it is not in use");
                    let polled = worker.batch(1, || moves.as_mut().poll(cx));
                    *inside.lock().unwrap() = Some(worker);
                    polled
                })
                .await;
                assert_eq!(Color::current(), Some(Color::new(9 + u64::from(entered))));
            }
            assert_eq!(thread::current().id(), here, "a future with an `Rc` was polled elsewhere");
            *kept
        });
        local.unwrap_or_else(|_| panic!("this is a worker")).await.unwrap()
    });
    run(&mut ones[0]);
    let mut worker = other.lock().unwrap().take().expect("it is not in use");
    thread::spawn(move || run(&mut worker)).join().unwrap();
    run(&mut ones[0]);
    assert_eq!(output(task), 5);
}

/// The schedulers of a thread, from outside to inside: each time the inner one counts.
#[test]
fn the_innermost_scheduler_is_the_current_one() {
    fn is_current(handle: &SchedulerHandle) -> bool {
        SchedulerHandle::with_current(|current| current.is_some_and(|current| current.same(handle)))
    }
    fn is_entered(handle: &SchedulerHandle) -> bool {
        SchedulerHandle::entered_or_held().is_some_and(|current| current.same(handle))
    }
    let ((one, mut ones), (two, mut twos)) = (scheduler(1), scheduler(1));
    assert!(SchedulerHandle::with_current(|current| current.is_none()));
    assert!(SchedulerHandle::entered_or_held().is_none() && !one.runs_here());
    let foreign = ColorCell::new_in(&two, Color::new(2), ());
    let own = ColorCell::new_in(&one, Color::new(2), ());
    // The call runs at once, first on a thread that has entered no scheduler, and then on one that has entered the
    // other scheduler.
    let (a, b) = (one.clone(), two.clone());
    let mut cx = Context::from_waker(Waker::noop());
    let mut call =
        pin!(foreign.call(move |()| assert!(is_current(&b) && is_entered(&b) && b.runs_here())));
    assert!(call.as_mut().poll(&mut cx).is_ready());
    {
        let _one = one.enter();
        let b = two.clone();
        let mut call = pin!(foreign.call(move |()| {
            assert!(is_current(&b));
            let _one = a.enter();
            assert!(is_current(&a) && is_entered(&a) && !a.runs_here());
        }));
        assert!(call.as_mut().poll(&mut cx).is_ready());
        assert!(is_current(&one));
    }
    let usual = one.spawn_colored(Color::new(1), async {
        assert!(SchedulerHandle::entered_or_held().is_none());
    });
    run(&mut ones[0]);
    output(usual);
    let (a, b, worker) = (one.clone(), two.clone(), twos.pop().unwrap());
    let task = one.spawn_colored(Color::new(1), async move {
        assert!(is_current(&a));
        assert!(a.runs_here() && !b.runs_here());
        let inner = (a.clone(), b.clone());
        foreign
            .call(move |()| {
                assert!(is_current(&inner.1) && is_entered(&inner.1));
                assert!(inner.0.runs_here() && inner.1.runs_here());
                assert_eq!(Color::current(), Some(Color::new(2)));
            })
            .await;
        {
            let _two = b.enter();
            assert!(is_current(&b) && is_entered(&b));
            let inner = a.clone();
            let mut call = pin!(own.call(move |()| assert!(is_current(&inner))));
            assert!(call.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
            assert!(is_current(&b));
            // The task steps a worker of the other scheduler here.
            let (inner, mut worker) = (b.clone(), worker);
            let _one = a.enter();
            let task = b.spawn_colored(Color::new(5), async move {
                assert!(is_current(&inner));
                let local = spawn_local(async move { assert!(is_current(&inner)) });
                local.unwrap_or_else(|_| panic!("this is a worker")).await.unwrap();
            });
            run(&mut worker);
            output(task);
            assert!(is_current(&a));
        }
        assert!(is_current(&a));
    });
    {
        let _two = two.enter();
        run(&mut ones[0]);
        assert!(is_current(&two));
    }
    output(task);
    assert!(SchedulerHandle::with_current(|current| current.is_none()));
}

/// A scheduler that the thread entered outside is not current inside a worker, also where the worker runs no task.
#[test]
fn a_worker_that_hands_out_events_works_for_its_own_scheduler() {
    let ((one, mut ones), (two, _twos)) = (scheduler(1), scheduler(1));
    let _two = two.enter();
    let current =
        || SchedulerHandle::with_current(|current| current.cloned()).expect("there is one");
    let inside = ones[0].batch(1, current);
    assert!(inside.same(&one));
    assert!(current().same(&two));
    let inside = ones[0].batch(1, || {
        let _two = two.enter();
        current()
    });
    assert!(inside.same(&two), "it has been entered inside");
}

/// A guest that steps a worker is that worker meanwhile.
#[test]
fn a_local_task_of_a_stepped_worker_stays_with_it_and_not_with_the_guest() {
    let ((one, mut ones), (two, mut twos)) = (scheduler(1), scheduler(1));
    let mut worker = twos.pop().unwrap();
    // A worker on another thread gives the guest its turns.
    let helper = thread::spawn(move || {
        while !matches!(ones[0].step(), Step::Stopped) {
            thread::yield_now();
        }
    });
    let guest = one.clone();
    let ran = one.block_on(async move {
        let task = two.spawn_colored(Color::new(2), async {
            let local = spawn_local(async { Color::current() });
            local.unwrap_or_else(|_| panic!("this is a worker")).await.unwrap()
        });
        run(&mut worker);
        output(task)
    });
    assert_eq!(ran.unwrap().unwrap(), Some(Color::new(2)));
    guest.scheduler().shut_down();
    helper.join().unwrap();
}

/// A worker that drops a task of another scheduler counts it there, and not in its own scheduler.
#[test]
fn a_task_that_ends_on_another_schedulers_worker_is_counted_by_its_own() {
    let ((ended, mut its_workers), (handle, mut workers)) = (scheduler(1), scheduler(1));
    stop(&ended, &mut its_workers);
    let late = ended.clone();
    drop(handle.spawn_unique(async move {
        drop(late.spawn_unique(async {}));
        pending::<()>().await;
    }));
    run(&mut workers[0]);
    assert_eq!([&ended, &handle].map(|of| of.scheduler().live_tasks()), [0, 1]);
    stop(&handle, &mut workers);
}

/// A scheduler that has run some tasks in this memory, and has lanes in the deque of its worker.
fn begin_in(
    memory: &mut WorkerMemory,
) -> (SchedulerHandle, Vec<Worker>, JoinHandle<[JoinHandle<i32>; 3]>) {
    let (handle, mut workers) =
        Scheduler::with_memory(memory, 1, 7, Box::new(NeverParks), Options::default());
    assert_eq!(handle.scheduler().worker_metrics(0).polls, 0, "of another scheduler");
    let spawner = handle.clone();
    let spawn = move |number| spawner.spawn_unique(async move { number });
    let tasks = handle.spawn_unique(async move { [1, 2, 3].map(spawn) });
    assert_eq!(workers[0].step(), Step::Ran);
    (handle, workers, tasks)
}

#[test]
fn a_worker_in_the_memory_of_another_one_begins_anew() {
    let mut memory = WorkerMemory::default();
    for _ in 0..3 {
        let (handle, mut workers, tasks) = begin_in(&mut memory);
        assert_eq!(memory.workers(), 0, "it is in use");
        run(&mut workers[0]);
        assert_eq!(output(tasks).map(output), [1, 2, 3]);
        stop(&handle, &mut workers);
        memory.add(workers.remove(0));
    }
}

/// A thread with a handle of a stopped scheduler runs what others push there: none of that is another scheduler's.
#[test]
fn memory_is_not_used_again_while_somebody_has_the_scheduler() {
    let mut memory = WorkerMemory::default();
    let (stopped, mut workers, _) = begin_in(&mut memory);
    stop(&stopped, &mut workers);
    memory.add(workers.remove(0));
    let (handle, mut workers, tasks) = begin_in(&mut memory);
    let late = stopped.spawn_unique(async {});
    assert!(late.is_finished(), "it is cancelled at once");
    run(&mut workers[0]);
    assert_eq!(output(tasks).map(output), [1, 2, 3]);
    stop(&handle, &mut workers);
}
