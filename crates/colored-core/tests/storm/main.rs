//! The scheduler on real threads with the simplest possible shell: a condition variable a worker.
#![cfg(not(colored_loom))]

#[cfg(not(colored_sanitize))]
mod reuse;

use colored_core::{
    Color, ColorCell, Id, Park, Scheduler, SchedulerHandle, Step, Worker, hop, spawn_here,
    spawn_local, yield_now,
};
use std::cell::UnsafeCell;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How much smaller the numbers are under Miri, which takes some thousand times as long.
const LESS: u64 = if cfg!(miri) { 100 } else { 1 };

struct Shell {
    slots: Vec<(Mutex<bool>, Condvar)>,
    start: Instant,
}

struct Port(Arc<Shell>);

impl Park for Port {
    fn unpark(&self, worker: usize) {
        let (token, came) = &self.0.slots[worker];
        *token.lock().unwrap() = true;
        came.notify_one();
    }

    fn now(&self) -> u64 {
        self.0.start.elapsed().as_nanos() as u64
    }
}

struct Pool {
    handle: SchedulerHandle,
    threads: Vec<JoinHandle<()>>,
}

impl Pool {
    fn new(workers: usize) -> Self {
        let slots = (0..workers).map(|_| (Mutex::new(false), Condvar::new())).collect();
        let shell = Arc::new(Shell { slots, start: Instant::now() });
        let (handle, workers) = Scheduler::with_workers(workers, 7, Box::new(Port(shell.clone())));
        let run = |mut worker: Worker| {
            let shell = shell.clone();
            thread::spawn(move || {
                loop {
                    match worker.step() {
                        Step::Ran => {}
                        Step::Stopped => return,
                        Step::Park(limit) => {
                            let (token, came) = &shell.slots[worker.index()];
                            let mut token = token.lock().unwrap();
                            while !*token {
                                match limit {
                                    Some(nanos) => {
                                        let limit = Duration::from_nanos(nanos);
                                        token = came.wait_timeout(token, limit).unwrap().0;
                                        break;
                                    }
                                    None => token = came.wait(token).unwrap(),
                                }
                            }
                            *token = false;
                        }
                    }
                }
            })
        };
        let threads = workers.into_iter().map(run).collect();
        Self { handle, threads }
    }

    fn stop(self) {
        self.handle.scheduler().shut_down();
        for thread in self.threads {
            thread.join().unwrap();
        }
    }
}

/// State without a lock, and a witness that no other task is inside.
struct Witness {
    inside: AtomicBool,
    count: UnsafeCell<u64>,
}

// SAFETY: only the task that runs under the witness's color touches it. The test checks exactly that: if two tasks
// touched it at once, `inside` would tell.
unsafe impl Sync for Witness {}

impl Witness {
    fn touch(&self) {
        assert!(!self.inside.swap(true, Ordering::Relaxed), "two at once under one color");
        // SAFETY: the caller runs under the witness's color, so no other task touches `count`.
        unsafe { *self.count.get() += 1 };
        std::hint::black_box(0);
        assert!(self.inside.swap(false, Ordering::Relaxed));
    }
}

#[test]
fn colors_exclude_and_all_is_run() {
    const TASKS: u64 = 2000 / LESS;
    const ROUNDS: u64 = if cfg!(miri) { 10 } else { 50 };
    for workers in if cfg!(miri) { &[3][..] } else { &[1, 2, 8] } {
        let pool = Pool::new(*workers);
        let witnesses: Arc<Vec<Witness>> = Arc::new(
            (0..16)
                .map(|_| Witness { inside: AtomicBool::new(false), count: UnsafeCell::new(0) })
                .collect(),
        );
        let tasks: Vec<_> = (0..TASKS)
            .map(|i| {
                let witnesses = witnesses.clone();
                pool.handle.spawn_colored(Color::new(i % 16), async move {
                    for round in 0..ROUNDS {
                        let color = (i + round) % 16;
                        match round % 5 {
                            0 => hop(Color::new(color)).await,
                            1 => yield_now().await,
                            _ => {}
                        }
                        let here = Color::current().unwrap().number() as usize;
                        witnesses[here].touch();
                        if round == 7 {
                            let witnesses = witnesses.clone();
                            let child = spawn_here(async move { witnesses[here].touch() });
                            child.ok().expect("inside a task").await.unwrap();
                        }
                    }
                })
            })
            .collect();
        let all = async move {
            for task in tasks {
                task.await.unwrap();
            }
        };
        pool.handle.block_on(all).unwrap().unwrap();
        // SAFETY: all tasks are done, so this thread alone touches `count`.
        let total: u64 = witnesses.iter().map(|w| unsafe { *w.count.get() }).sum();
        assert_eq!(total, TASKS * (ROUNDS + 1));
        pool.stop();
    }
}

#[test]
fn cells_are_exact_by_call_and_by_post() {
    const TASKS: u64 = 1000 / LESS;
    const ROUNDS: u64 = if cfg!(miri) { 5 } else { 100 };
    let pool = Pool::new(4);
    let cell = ColorCell::new_in(&pool.handle, Color::new(1), 0u64);
    let tasks: Vec<_> = (0..TASKS)
        .map(|_| {
            let cell = cell.clone();
            pool.handle.spawn_unique(async move {
                for _ in 0..ROUNDS {
                    cell.post(|n| *n += 1);
                    cell.call(|n| *n += 1).await;
                }
            })
        })
        .collect();
    let end = cell.clone();
    let total = pool.handle.block_on(async move {
        for task in tasks {
            task.await.unwrap();
        }
        end.call(|n| *n).await
    });
    assert_eq!(total.unwrap().unwrap(), 2 * TASKS * ROUNDS);
    pool.stop();
}

#[test]
fn shutdown_drops_every_future_on_its_color() {
    const EACH: usize = 1000 / LESS as usize;
    struct Check(Color, Arc<AtomicUsize>);
    impl Drop for Check {
        fn drop(&mut self) {
            assert_eq!(Color::current(), Some(self.0));
            self.1.fetch_add(1, Ordering::Relaxed);
        }
    }
    let pool = Pool::new(3);
    let drops = Arc::new(AtomicUsize::new(0));
    let begun = Arc::new(AtomicUsize::new(0));
    for i in 0..EACH as u64 {
        let color = Color::new(i % 10);
        let check = Check(color, drops.clone());
        let task = async move {
            let _check = check;
            std::future::pending::<()>().await;
        };
        drop(pool.handle.spawn_colored(color, task));
        let (unique, begun) = (drops.clone(), begun.clone());
        let lonely = async move {
            let _check = Check(Color::current().unwrap(), unique);
            begun.fetch_add(1, Ordering::Relaxed);
            std::future::pending::<()>().await;
        };
        drop(pool.handle.spawn_unique(lonely));
        let silent = Count(drops.clone());
        struct Count(Arc<AtomicUsize>);
        impl Drop for Count {
            fn drop(&mut self) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        drop(pool.handle.spawn_unique(async move {
            let _count = silent;
            std::future::pending::<()>().await;
        }));
    }
    // A task that has not begun knows no color to check.
    while begun.load(Ordering::Relaxed) < EACH {
        thread::yield_now();
    }
    let handle = pool.handle.clone();
    pool.stop();
    assert_eq!(drops.load(Ordering::Relaxed), 3 * EACH);
    let check = Check(Color::new(3), drops.clone());
    let late = handle.spawn_colored(Color::new(3), async move { drop(check) });
    assert!(late.is_finished());
    assert_eq!(drops.load(Ordering::Relaxed), 3 * EACH + 1);
    assert_eq!(handle.scheduler().lanes(), 1, "only the default lane is left");
}

/// References that a task takes to its own lane are counted even if another thread gives them back
/// before the slice is over.
#[test]
fn cells_of_the_own_color_may_leave_before_the_slice_ends() {
    let pool = Pool::new(1);
    const ROUNDS: u64 = 100 / LESS;
    let handle = pool.handle.clone();
    let task = pool.handle.spawn_colored(Color::DEFAULT, async move {
        for _ in 0..ROUNDS {
            let cells: Vec<_> =
                (0..ROUNDS).map(|i| ColorCell::new_in(&handle, Color::DEFAULT, i)).collect();
            thread::spawn(move || drop(cells)).join().unwrap();
        }
    });
    pool.handle.block_on(task).unwrap().unwrap().unwrap();
    pool.stop();
}

/// A worker that left its thread would take along a future that cannot leave.
#[test]
fn a_worker_with_local_futures_refuses_another_thread() {
    let shell =
        Arc::new(Shell { slots: vec![(Mutex::new(false), Condvar::new())], start: Instant::now() });
    let (handle, mut workers) = Scheduler::with_workers(1, 7, Box::new(Port(shell)));
    let mut worker = workers.remove(0);
    let step_elsewhere = |mut worker: Worker| {
        thread::spawn(move || {
            let _ = worker.step();
            worker
        })
        .join()
    };
    worker = step_elsewhere(worker).expect("nothing keeps it yet");
    drop(handle.spawn_colored(Color::new(1), async {
        drop(spawn_local(std::future::pending::<()>()).expect("on a worker"));
    }));
    while worker.step() == Step::Ran {}
    let panic = step_elsewhere(worker).err().expect("it has settled here");
    let said = panic.downcast_ref::<String>().expect("a message");
    assert!(said.contains("must stay on the thread"), "{said}");
}

/// An unwind out of `block_on` would free what its future has borrowed, so it ends the process: this one, run again.
#[test]
#[cfg(all(unix, not(miri)))]
fn a_shell_that_panics_under_a_blocked_thread_ends_the_process() {
    use std::os::unix::process::ExitStatusExt;
    const NAME: &str = "a_shell_that_panics_under_a_blocked_thread_ends_the_process";
    struct Panics;
    impl Park for Panics {
        fn unpark(&self, _: usize) {}

        fn now(&self) -> u64 {
            0
        }

        fn guest_waits(&self) {
            panic!("a shell must not");
        }
    }
    if std::env::var_os(NAME).is_some() {
        let (handle, _workers) = Scheduler::with_workers(1, 7, Box::new(Panics));
        drop(handle.block_on(std::future::pending::<()>()));
        return;
    }
    let mut again = std::process::Command::new(std::env::current_exe().unwrap());
    let ended = again.args([NAME, "--exact"]).env(NAME, "").output().unwrap();
    assert_eq!(ended.status.signal(), Some(6), "{ended:?}");
}

/// A thread takes numbers by the block, and another thread has the block behind.
#[test]
fn unique_colors_and_ids_of_two_threads_differ() {
    const MANY: usize = 3_000 / LESS as usize;
    let shell =
        Arc::new(Shell { slots: vec![(Mutex::new(false), Condvar::new())], start: Instant::now() });
    // Nothing runs: a task has its id before its first turn.
    let (handle, mut workers) = Scheduler::with_workers(1, 7, Box::new(Port(shell)));
    let spawner = handle.clone();
    let make = move || -> (Vec<Color>, Vec<Id>) {
        let one = |_| (Color::unique(), spawner.spawn_colored(Color::new(1), async {}).id());
        (0..MANY).map(one).unzip()
    };
    let made = [make(), thread::spawn(make.clone()).join().unwrap(), make()];
    let colors: BTreeSet<_> = made.iter().flat_map(|(colors, _)| colors).collect();
    let ids: BTreeSet<_> = made.iter().flat_map(|(_, ids)| ids).map(|id| id.get()).collect();
    assert_eq!([colors.len(), ids.len()], [3 * MANY; 2]);
    handle.scheduler().shut_down();
    while workers[0].step() != Step::Stopped {}
}
