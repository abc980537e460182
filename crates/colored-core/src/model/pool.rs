//! A whole scheduler, with threads that sleep on a condition variable.

use super::doubles::{Gate, Wait, gate};
use crate::kernel::color::Color;
use crate::kernel::sched::{Options, Park, Scheduler, SchedulerHandle, Step, Worker};
use crate::sync::{Arc, Condvar, Mutex};
use loom::thread::{self, JoinHandle};

/// An event that one thread waits for.
pub(crate) struct Flag {
    set: Mutex<bool>,
    came: Condvar,
}

impl Flag {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self::clear())
    }

    fn clear() -> Self {
        Self { set: Mutex::new(false), came: Condvar::new() }
    }

    pub(crate) fn set(&self) {
        *self.set.lock() = true;
        self.came.notify_one();
    }

    /// Waits, and clears it.
    pub(crate) fn wait(&self) {
        let mut set = self.set.lock();
        while !*set {
            set = self.came.wait(set);
        }
        *set = false;
    }
}

/// Where the workers sleep.
pub(crate) struct Beds(Vec<Flag>);

impl Beds {
    /// Sleeps where that worker does.
    pub(crate) fn wait(&self, worker: usize) {
        self.0[worker].wait();
    }
}

struct Port(Arc<Beds>);

impl Park for Port {
    fn unpark(&self, worker: usize) {
        self.0.0[worker].set();
    }

    fn now(&self) -> u64 {
        0
    }
}

/// A scheduler, its workers, and the places where the workers sleep.
pub(crate) type Pool = (SchedulerHandle, Vec<Worker>, Arc<Beds>);

pub(crate) fn pool(workers: usize) -> Pool {
    pool_with(workers, Options::default())
}

pub(crate) fn pool_with(workers: usize, options: Options) -> Pool {
    let beds = Arc::new(Beds((0..workers + options.spares).map(|_| Flag::clear()).collect()));
    let port = Box::new(Port(Arc::clone(&beds)));
    let (handle, workers) = Scheduler::with_options(workers, 7, port, options);
    (handle, workers, beds)
}

/// Runs a worker until the scheduler has shut down. It sleeps without a limit: a lane that only the backstop would find
/// is a deadlock.
pub(crate) fn run(mut worker: Worker, beds: &Beds) {
    loop {
        match worker.step() {
            Step::Ran => {}
            Step::Park(_) => beds.wait(worker.index()),
            Step::Stopped => return,
        }
    }
}

/// Runs a worker on a thread of its own.
pub(crate) fn start(worker: Worker, beds: &Arc<Beds>) -> JoinHandle<()> {
    let beds = Arc::clone(beds);
    thread::spawn(move || run(worker, &beds))
}

/// Runs two workers, each on a thread of its own.
pub(crate) fn start_both(workers: Vec<Worker>, beds: &Arc<Beds>) -> [JoinHandle<()>; 2] {
    let workers: [Worker; 2] = workers.try_into().ok().expect("there are two");
    workers.map(|worker| start(worker, beds))
}

/// Shuts the scheduler down, and waits for its workers.
pub(crate) fn stop(handle: &SchedulerHandle, threads: impl IntoIterator<Item = JoinHandle<()>>) {
    handle.scheduler().shut_down();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// Two lanes, of which one cannot end before the other has run: both workers must come. The other lane is of a fresh
/// color, or of `color`.
pub(crate) fn both_come((handle, workers, beds): Pool, color: Option<Color>) {
    let threads = start_both(workers, &beds);
    let (first, second) = (Flag::new(), Flag::new());
    let (wait, set) = (Arc::clone(&first), Arc::clone(&second));
    drop(handle.spawn_unique(async move {
        wait.wait();
        set.set();
    }));
    let sets = async move { first.set() };
    drop(match color {
        None => handle.spawn_unique(sets),
        Some(color) => handle.spawn_colored(color, sets),
    });
    second.wait();
    stop(&handle, threads);
}

/// One of two workers makes two lanes runnable and stays in its poll until one of them has run, which
/// the second has displaced into the deque: the other worker must come for it.
pub(crate) fn stay_stuck((handle, mut workers, beds): Pool) {
    let spawner = handle.clone();
    drop(handle.spawn_unique(async move {
        let ran = Flag::new();
        let set_ran = Arc::clone(&ran);
        drop(spawner.spawn_unique(async move { set_ran.set() }));
        drop(spawner.spawn_unique(async {}));
        ran.wait();
        spawner.scheduler().shut_down();
    }));
    let other = start(workers.remove(1), &beds);
    run(workers.remove(0), &beds);
    other.join().unwrap();
}

/// Makes a lane that has run on `home`, and whose task runs `f` when the gate is open.
pub(crate) fn at_home(
    handle: &SchedulerHandle,
    home: &mut Worker,
    f: impl FnOnce() + Send + 'static,
) -> Gate {
    let (gate, wait) = gate();
    drop(handle.spawn_unique(async move {
        wait.await;
        f();
    }));
    step_until_idle(home);
    gate
}

/// Steps a worker until there is nothing to run.
pub(crate) fn step_until_idle(worker: &mut Worker) {
    while worker.step() == Step::Ran {}
}

/// Calls `f` on another thread, and steps the worker there until it is idle.
pub(crate) fn step_beside(mut worker: Worker, f: impl FnOnce() + 'static) -> JoinHandle<Worker> {
    thread::spawn(move || {
        f();
        step_until_idle(&mut worker);
        worker
    })
}

/// Leaves a worker awake, and not searching for lanes.
pub(crate) fn wake_up(handle: &SchedulerHandle, worker: &mut Worker) {
    drop(handle.spawn_unique(async {}));
    assert_eq!(worker.step(), Step::Ran);
}

/// Shuts a scheduler down while another thread ends the wait of a task, of which `section` makes the future.
pub(crate) fn shut_down_beside_a_wake<F>(section: impl FnOnce(Wait) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let (handle, mut workers, _beds) = pool(1);
    let (gate, wait) = gate();
    let join = handle.spawn_unique(section(wait));
    step_until_idle(&mut workers[0]);
    let waker = thread::spawn(move || gate.open());
    handle.scheduler().shut_down();
    step_until_idle(&mut workers[0]);
    waker.join().unwrap();
    step_until_idle(&mut workers[0]);
    assert!(join.is_finished());
}
