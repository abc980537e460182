//! Lines that end, and thefts that are not worth it, stepped by hand.

use crate::doubles::Clock;
use colored_core::{
    Color, ColorCell, Priority, Scheduler, SchedulerHandle, Step, Worker, when, yield_now,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Two workers, and two accounts.
struct Bank {
    handle: SchedulerHandle,
    workers: Vec<Worker>,
    clock: Clock,
    polls: Arc<AtomicUsize>,
    cells: [ColorCell<u64>; 2],
}

impl Bank {
    fn new() -> Self {
        let clock = Clock::default();
        let (handle, workers) = Scheduler::with_workers(2, 1, Box::new(clock.clone()));
        let cells = [1, 2].map(|color| ColorCell::new_in(&handle, Color::new(color), 0));
        Self { handle, workers, clock, polls: Arc::default(), cells }
    }

    /// Fills a worker's queue with clients, each with `transfers` transfers. A poll takes `nanos`. No client can go
    /// on before the first worker has had a turn.
    fn open_queue(&mut self, worker: usize, clients: usize, transfers: u64, nanos: u64) {
        let (handle, clock) = (self.handle.clone(), self.clock.clone());
        let (cells, polls) = (self.cells.clone(), Arc::clone(&self.polls));
        let spawn_all = move || {
            for _ in 0..clients {
                let (clock, cells, polls) = (clock.clone(), cells.clone(), Arc::clone(&polls));
                let mut transfers = Box::pin(async move {
                    for _ in 0..transfers {
                        when((&cells[0], &cells[1]), |one, other| {
                            *one += 1;
                            *other += 1;
                        })
                        .await;
                    }
                });
                drop(handle.spawn_unique(std::future::poll_fn(move |cx| {
                    clock.spend(nanos);
                    polls.fetch_add(1, Ordering::Relaxed);
                    transfers.as_mut().poll(cx)
                })));
            }
        };
        let color = Color::new(9);
        self.handle.post_to_worker(worker, color, spawn_all).ok().expect("there is such a worker");
        assert_eq!(self.workers[worker].step(), Step::Ran);
        let account = Color::new(1);
        self.handle.post_to_worker(0, account, || ()).ok().expect("there is such a worker");
    }

    fn polls(&self) -> usize {
        self.polls.load(Ordering::Relaxed)
    }

    /// Steps the second worker until it sleeps.
    fn steal(&mut self) -> Option<u64> {
        loop {
            match self.workers[1].step() {
                Step::Ran => {}
                Step::Park(limit) => return limit,
                Step::Stopped => unreachable!("nobody has shut it down"),
            }
        }
    }

    /// Lets all clients go on, and ends. Returns how many transfers they have done.
    fn close(mut self) -> u64 {
        let done = |bank: &Self| {
            let parked = bank.handle.scheduler().parked();
            parked == bank.workers.len()
        };
        while !done(&self) {
            for worker in &mut self.workers {
                let _ = worker.step();
            }
            self.clock.spend(100_000);
        }
        let mut sum = self.handle.spawn_colored(Color::new(1), {
            let cell = self.cells[0].clone();
            async move { cell.with(|value| *value) }
        });
        while self.workers[0].step() == Step::Ran {}
        let sum = sum.try_take().expect("it has run").expect("no panic");
        self.handle.scheduler().shut_down();
        let mut stopped = [false; 2];
        while stopped.contains(&false) {
            for (worker, stopped) in self.workers.iter_mut().zip(&mut stopped) {
                *stopped = *stopped || worker.step() == Step::Stopped;
            }
            self.clock.spend(100_000);
        }
        sum
    }
}

const CLIENTS: usize = 32;

/// If each woken client joined the line again at once, the line would stay, and each transfer of each client would be a
/// poll.
fn line_ends(mut bank: Bank) {
    const TRANSFERS: u64 = if cfg!(miri) { 5 } else { 50 };
    bank.open_queue(1, CLIENTS, TRANSFERS, 10);
    assert_eq!(bank.steal(), None);
    assert_eq!(bank.polls(), CLIENTS, "all stand in line");
    while bank.workers[0].step() == Step::Ran {}
    let polls = bank.polls();
    assert_eq!(bank.close(), CLIENTS as u64 * TRANSFERS);
    // Some clients join the line once more: now and then the lane behind still has its turn.
    assert!(polls < 3 * CLIENTS, "{polls} polls");
}

/// Shows G7.
#[test]
fn a_line_ends_before_the_tasks_that_waited_in_it_go_on() {
    line_ends(Bank::new());
}

/// Shows G7.
#[test]
fn with_priorities_a_line_ends_before_the_tasks_that_waited_in_it_go_on() {
    let bank = Bank::new();
    bank.handle.set_priority(Color::new(8), Priority::Low);
    line_ends(bank);
}

/// Two tasks that never wait are always runnable. A task that has waited in a line runs behind them, and does run. Each
/// of their polls takes `nanos`.
fn check_turn(mut bank: Bank, nanos: u64, most: usize) {
    let over = Arc::new(AtomicBool::new(false));
    for _ in 0..2 {
        let (over, clock) = (Arc::clone(&over), bank.clock.clone());
        drop(bank.handle.spawn_unique(async move {
            while !over.load(Ordering::Relaxed) {
                clock.spend(nanos);
                yield_now().await;
            }
        }));
    }
    let (cells, has_run) = (bank.cells.clone(), Arc::new(AtomicBool::new(false)));
    let runs = Arc::clone(&has_run);
    let task = bank.handle.spawn_unique(async move {
        when((&cells[0], &cells[1]), move |_, _| runs.store(true, Ordering::Relaxed)).await;
    });
    bank.cells[0].post(|_| ());
    while !has_run.load(Ordering::Relaxed) {
        assert_eq!(bank.workers[0].step(), Step::Ran);
    }
    assert!(!task.is_finished(), "it has stood in line");
    let steps = (1..1_000).find(|_| {
        assert_eq!(bank.workers[0].step(), Step::Ran);
        task.is_finished()
    });
    over.store(true, Ordering::Relaxed);
    let steps = steps.expect("it has its turn");
    assert!((3..=most).contains(&steps), "{steps} slices");
    bank.close();
}

/// Shows G7.
#[test]
fn a_task_that_waited_in_a_line_has_its_turn_beside_endless_tasks() {
    check_turn(Bank::new(), 0, 64);
}

/// Shows G7.
#[test]
fn with_priorities_a_task_that_waited_in_a_line_has_its_turn_beside_endless_tasks() {
    let bank = Bank::new();
    bank.handle.set_priority(Color::new(8), Priority::Low);
    check_turn(bank, 0, 64);
}

/// Full slices are long. The task is behind for at most a millisecond of them, and for the slices that ran since the
/// clock was read last.
/// Shows G7.
#[test]
fn a_task_that_waited_in_a_line_is_not_behind_for_long() {
    check_turn(Bank::new(), 200_000, 16);
    let bank = Bank::new();
    bank.handle.set_priority(Color::new(8), Priority::Low);
    check_turn(bank, 200_000, 16);
}

/// The thief's clients all stop at once. The thief takes half of the lanes, then half of the pause, and that is
/// enough.
/// Shows G6.
#[test]
fn a_thief_pauses_longer_and_longer_but_always_comes_back() {
    let mut bank = Bank::new();
    bank.open_queue(0, CLIENTS, 1, 10);
    let mut pauses = Vec::new();
    while pauses.len() < 5 {
        let before = bank.polls();
        let limit = bank.steal().expect("there is more");
        pauses.push((bank.polls() - before, limit));
        bank.clock.spend(limit);
    }
    // The thief steals twice at first. It leaves the lane that the victim runs next, and looks for that after a
    // millisecond.
    assert_eq!(
        pauses,
        [(24, 200_000), (4, 400_000), (2, 800_000), (1, 1_600_000), (0, 1_000_000)],
        "so many clients, and a pause"
    );
    assert_eq!(bank.close(), CLIENTS as u64);
}

/// Shows G6.
#[test]
fn a_thief_of_clients_that_work_does_not_pause() {
    let mut bank = Bank::new();
    bank.open_queue(0, CLIENTS, 1, 20_000);
    // The thief takes all but the lane that the victim runs next.
    let pause = bank.steal();
    assert_eq!((bank.polls(), pause), (CLIENTS - 1, Some(1_000_000)));
    assert_eq!(bank.close(), CLIENTS as u64);
}

/// Shows G6.
#[test]
fn a_pausing_worker_runs_its_own_lanes() {
    let mut bank = Bank::new();
    bank.open_queue(0, CLIENTS, 1, 10);
    assert_eq!(bank.steal(), Some(200_000));
    let ran = Arc::new(AtomicUsize::new(0));
    let count = |ran: &Arc<AtomicUsize>| {
        let ran = Arc::clone(ran);
        move || {
            ran.fetch_add(1, Ordering::Relaxed);
        }
    };
    bank.handle.post_to_worker(1, Color::new(7), count(&ran)).ok().expect("there is such a worker");
    let late = count(&ran);
    drop(bank.handle.spawn_unique(async move { late() }));
    bank.clock.spend(50_000);
    assert_eq!(bank.steal(), Some(150_000), "and pauses on");
    assert_eq!(ran.load(Ordering::Relaxed), 2, "what is pinned, and what came from outside");
    assert_eq!(bank.close(), CLIENTS as u64);
}
