//! The models: every interleaving of the threads that resume, wake, abort and end a fiber, through the code that ships, on
//! the double of the switch.
//!
//! ```text
//! RUSTFLAGS="--cfg colored_loom" LOOM_MAX_PREEMPTIONS=3 \
//!     CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true cargo test -p colored-rt-stackful --release --lib model
//! ```
//!
//! A fiber has neither a lock nor an atomic: its stack, its link (`link.rs`) and its result are plain memory. The core
//! orders the threads that use it, by the right to run the lane of the task and by the pin of the task. In the models the
//! fields of a link are cells that loom watches, and each side of a switch is a thread. So an access that nothing orders
//! fails the model, and so do a wake-up that is lost, as a deadlock, a fiber that is dropped twice or not at all, as a
//! count, and one that is polled on another worker than before.
//!
//! Threads share three things more, which no model sees: the pool of stacks, whose lock guards every access and whose
//! stacks have one owner at a time; a hint, whether the system guards pages inside of a mapping; and the handlers of
//! signals that were there before, which are set before ours is installed.

use crate::fiber::Fiber;
use crate::sync::{Cell, Condvar, Mutex};
use crate::wait::wait;
use colored_core::{JoinHandle, Park, Scheduler, SchedulerHandle, Step, Worker};
use loom::model::Builder;
use loom::sync::atomic::AtomicPtr;
use loom::thread;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// Runs `model` in every interleaving with at most so many preemptions, or as many as `LOOM_MAX_PREEMPTIONS` says.
fn check_within(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let executions = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&executions);
    let mut builder = Builder::new();
    let bound = builder.preemption_bound.map_or(preemptions, |bound| bound.min(preemptions));
    builder.preemption_bound = Some(bound);
    builder.max_branches = 20_000;
    builder.check(move || {
        counter.fetch_add(1, Ordering::Relaxed);
        model();
    });
    let executions = executions.load(Ordering::Relaxed);
    eprintln!("{executions} interleavings");
    assert!(executions > 1, "loom saw one interleaving only: it does not see the threads");
}

/// The preemptions of a model with two workers, beside the switches where a thread waits: some 200 interleavings. With one
/// preemption it takes minutes. The core's own models look at two workers more closely.
const TWO_WORKERS: usize = 0;

/// An event that one thread waits for.
struct Flag {
    set: Mutex<bool>,
    came: Condvar,
}

impl Flag {
    fn new() -> Arc<Self> {
        Arc::new(Self { set: Mutex::new(false), came: Condvar::new() })
    }

    fn set(&self) {
        *self.set.lock().expect("no model panics under a lock") = true;
        self.came.notify_one();
    }

    /// Waits, and clears it.
    fn wait(&self) {
        let mut set = self.set.lock().expect("no model panics under a lock");
        while !*set {
            set = self.came.wait(set).expect("no model panics under a lock");
        }
        *set = false;
    }
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.set();
    }
}

/// Where the workers of a scheduler sleep.
struct Beds(Vec<Arc<Flag>>);

impl Park for Beds {
    fn unpark(&self, worker: usize) {
        self.0[worker].set();
    }

    fn now(&self) -> u64 {
        0
    }
}

/// A scheduler, whose workers have threads of their own.
struct Pool {
    handle: SchedulerHandle,
    threads: Vec<thread::JoinHandle<()>>,
}

impl Pool {
    fn new(workers: usize) -> Self {
        let beds: Vec<_> = (0..workers).map(|_| Flag::new()).collect();
        let (handle, workers) = Scheduler::with_workers(workers, 7, Box::new(Beds(beds.clone())));
        let start = |(worker, bed): (Worker, Arc<Flag>)| thread::spawn(move || run(worker, &bed));
        Self { handle, threads: workers.into_iter().zip(beds).map(start).collect() }
    }

    fn spawn<T: Send + 'static>(&self, f: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
        let _inside = self.handle.enter();
        crate::spawn(1, f)
    }

    fn stop(self) {
        self.handle.scheduler().shut_down();
        self.threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
}

fn run(mut worker: Worker, bed: &Flag) {
    loop {
        match worker.step() {
            Step::Ran => {}
            Step::Park(_) => bed.wait(),
            Step::Stopped => return,
        }
    }
}

/// Waits for a future on a thread that is no worker.
fn block_on<F: Future>(future: F) -> F::Output {
    let (mut future, flag) = (pin!(future), Flag::new());
    let waker = Waker::from(Arc::clone(&flag));
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => flag.wait(),
        }
    }
}

/// Opens once, and wakes the task that waits. It is not an `Arc` of loom's: its end is no point of a switch, so nothing
/// runs in the middle of an unwinding.
#[derive(Clone, Default)]
struct Gate(Arc<Mutex<(bool, Option<Waker>)>>);

impl Gate {
    fn new() -> Self {
        Self(Arc::new(Mutex::new((false, None))))
    }

    fn open(&self) {
        let mut state = self.0.lock().expect("no model panics under a lock");
        state.0 = true;
        let waker = state.1.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Is ready when the gate is open.
    fn pass(&self) -> impl Future<Output = ()> + use<> {
        let gate = self.clone();
        poll_fn(move |cx| {
            let waker = cx.waker().clone();
            let mut state = gate.0.lock().expect("no model panics under a lock");
            if state.0 {
                return Poll::Ready(());
            }
            let before = state.1.replace(waker);
            drop(state);
            drop(before);
            Poll::Pending
        })
    }

    /// As [`pass`](Self::pass), for a task that stays: each poll is on the thread of the first.
    fn pass_on_one_thread(&self) -> impl Future<Output = ()> + use<> {
        let (mut pass, mut polled_on) = (Box::pin(self.pass()), None);
        poll_fn(move |cx| {
            let here = thread::current().id();
            assert!(*polled_on.get_or_insert(here) == here, "it has moved");
            pass.as_mut().poll(cx)
        })
    }
}

/// Counts its drop.
struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A closure that waits at the gate, and the number of times that what it owns was dropped.
fn waiter(gate: &Gate) -> (impl FnOnce() -> u32 + Send + 'static, Arc<AtomicUsize>) {
    let (count, gate) = (Arc::new(AtomicUsize::new(0)), gate.clone());
    let dropped = Dropped(Arc::clone(&count));
    let waits = move || {
        let _dropped = dropped;
        wait(gate.pass_on_one_thread());
        7
    };
    (waits, count)
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Neither side of a switch has a lock for what both use.
#[test]
fn two_sides_of_a_switch() {
    check_within(3, || {
        let (count, gate) = (Rc::new(Cell::new(0)), Gate::new());
        let (ours, entry) = (Rc::clone(&count), gate.clone());
        let mut fiber = pin!(crate::future(move || {
            ours.set(ours.get() + 1);
            wait(entry.pass());
            ours.set(ours.get() + 1);
        }));
        assert!(poll(fiber.as_mut()).is_pending());
        count.set(count.get() + 1);
        assert!(poll(fiber.as_mut()).is_pending());
        gate.open();
        assert!(poll(fiber.as_mut()).is_ready());
        assert_eq!(count.get(), 3);
    });
}

#[test]
fn a_drop_of_a_suspended_fiber() {
    check_within(3, || {
        let gate = Gate::new();
        let (waits, dropped) = waiter(&gate);
        {
            let mut fiber = pin!(crate::future(waits));
            assert!(poll(fiber.as_mut()).is_pending());
        }
        assert_eq!(dropped.load(Ordering::Relaxed), 1);
    });
}

/// The wake comes before the first poll of what the fiber waits for, during it, or after it.
#[test]
fn a_wake_against_a_wait() {
    check_within(2, || {
        let (pool, gate) = (Pool::new(1), Gate::new());
        let (waits, dropped) = waiter(&gate);
        let task = pool.spawn(waits);
        gate.open();
        assert_eq!(block_on(task).unwrap(), 7);
        assert_eq!(dropped.load(Ordering::Relaxed), 1);
        pool.stop();
    });
}

/// Shows G8.
#[test]
fn an_abort_against_a_wake() {
    check_within(1, || {
        let (pool, gate) = (Pool::new(1), Gate::new());
        let (waits, dropped) = waiter(&gate);
        let task = pool.spawn(waits);
        let opener = gate.clone();
        let opener = thread::spawn(move || opener.open());
        task.abort();
        let end = block_on(task);
        assert!(end.is_ok_and(|output| output == 7) || dropped.load(Ordering::Relaxed) == 1);
        opener.join().unwrap();
        assert_eq!(dropped.load(Ordering::Relaxed), 1);
        pool.stop();
    });
}

/// One of two workers takes the first turn, and the task is pinned to it then; the gate looks at that.
#[test]
fn a_wake_against_the_first_turn() {
    check_within(TWO_WORKERS, || {
        let (pool, gate) = (Pool::new(2), Gate::new());
        let (waits, dropped) = waiter(&gate);
        let task = pool.spawn(waits);
        gate.open();
        assert_eq!(block_on(task).unwrap(), 7);
        assert_eq!(dropped.load(Ordering::Relaxed), 1);
        pool.stop();
    });
}

/// Shows G8.
#[test]
fn an_abort_against_the_first_turn() {
    check_within(TWO_WORKERS, || {
        let (pool, gate) = (Pool::new(2), Gate::new());
        let (waits, dropped) = waiter(&gate);
        let task = pool.spawn(waits);
        task.abort();
        assert!(block_on(task).unwrap_err().is_cancelled());
        assert_eq!(dropped.load(Ordering::Relaxed), 1);
        pool.stop();
    });
}

/// Shows G8.
#[test]
fn a_shutdown_against_a_wake() {
    check_within(1, || {
        let (pool, gate) = (Pool::new(1), Gate::new());
        let (waits, dropped) = waiter(&gate);
        let task = pool.spawn(waits);
        let opener = gate.clone();
        let opener = thread::spawn(move || opener.open());
        pool.stop();
        opener.join().unwrap();
        assert_eq!(dropped.load(Ordering::Relaxed), 1);
        assert!(task.is_finished());
    });
}

/// The core orders what a stack has on one worker before what it has on the next.
#[test]
fn a_stack_that_moves() {
    check_within(TWO_WORKERS, || {
        let (pool, gate) = (Pool::new(2), Gate::new());
        let entry = gate.clone();
        let steps = move || {
            let count = Cell::new(0);
            for _ in 0..2 {
                let mut pass = pin!(entry.pass());
                wait(poll_fn(|cx| {
                    count.set(count.get() + 1);
                    pass.as_mut().poll(cx)
                }));
            }
            count.get()
        };
        let inside = pool.handle.enter();
        // SAFETY: the stack has a number, and nothing of a thread.
        let task = unsafe { crate::spawn_migrating(1, steps) };
        drop(inside);
        gate.open();
        assert!(block_on(task).unwrap() >= 2);
        pool.stop();
    });
}

/// A fiber that one thread suspends and another one resumes, with nothing in between that orders them.
#[test]
#[should_panic(expected = "Causality violation")]
fn a_resume_without_an_order_is_found() {
    check_within(2, || {
        let gate = Gate::new();
        let (waits, _) = waiter(&gate);
        resume_without_an_order(crate::future(waits));
    });
}

fn resume_without_an_order<F: FnOnce() -> u32 + 'static>(fiber: Fiber<F, u32>) {
    let place = Arc::new(AtomicPtr::<Fiber<F, u32>>::new(ptr::null_mut()));
    let taken = Arc::clone(&place);
    let thread = thread::spawn(move || {
        // Ordering: seeded: who takes a lane to run it has Acquire here.
        let fiber = taken.load(Ordering::Relaxed);
        if !fiber.is_null() {
            // SAFETY: not sound: nothing orders the two threads. That is the bug.
            let fiber = unsafe { &mut *fiber };
            assert!(poll(Pin::new(fiber)).is_pending());
        }
    });
    // Leaked while others use it: loom cannot unwind through its own types after a failure.
    let fiber = Box::leak(Box::new(fiber));
    assert!(poll(Pin::new(&mut *fiber)).is_pending());
    // Ordering: seeded: who gives a lane to others has Release here.
    place.store(fiber, Ordering::Relaxed);
    thread.join().unwrap();
    // SAFETY: it is from a box, and no other thread is left.
    drop(unsafe { Box::from_raw(place.load(Ordering::Relaxed)) });
}
