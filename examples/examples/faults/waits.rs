//! Waits for locks, and for colors that are not given up.

use crate::load::{Dice, compute};
use colored::sync::{Mutex, RwLock, mpsc};
use colored::time::{Duration, sleep};
use colored::{Color, ColorCell, exclusive, spawn_colored, spawn_unique};
use std::future::pending;
use std::sync::Arc;

/// Readers of a catalog, so that the program does something else as well.
fn readers(dice: &mut Dice) {
    let (readers, pause) = (dice.number(2..=8), dice.micros(2_000..=6_000));
    for _ in 0..readers {
        let _detached = spawn_unique(async move {
            loop {
                sleep(pause).await;
                compute(Duration::from_micros(20));
            }
        });
    }
}

/// A ledger behind a lock of one kind or the other, which a writer holds while it waits for the disk.
struct Ledger {
    one: Mutex<u64>,
    many: RwLock<u64>,
    is_one: bool,
    disk: Duration,
}

impl Ledger {
    async fn write(&self) {
        if self.is_one {
            let mut lines = self.one.lock().await;
            sleep(self.disk).await;
            *lines += 1;
        } else {
            let mut lines = self.many.write().await;
            sleep(self.disk).await;
            *lines += 1;
        }
    }
}

/// Writers of a ledger that is behind a lock.
pub(crate) fn lock(dice: &mut Dice) {
    readers(dice);
    let (writers, disk) = (dice.number(4..=40), dice.micros(500..=6_000));
    let kind = dice.number(0..=2);
    let (one, many) = (Mutex::new(0), RwLock::new(0));
    let ledger = Arc::new(Ledger { one, many, is_one: kind > 0, disk });
    for writer in 0..writers as u64 {
        let ledger = Arc::clone(&ledger);
        // In sections, the writers of one color wait for each other as well.
        let is_section = kind == 2;
        let color = if is_section { Color::new(1 + writer % 2) } else { Color::unique() };
        let _detached = spawn_colored(color, async move {
            loop {
                if is_section {
                    exclusive(ledger.write()).await;
                } else {
                    ledger.write().await;
                }
            }
        });
    }
}

/// Accounts of which one waits, in a section, for what can happen only after the section.
pub(crate) fn stuck(dice: &mut Dice) {
    readers(dice);
    let accounts = Color::named("accounts");
    let tasks = dice.number(2..=20);
    match dice.number(0..=2) {
        0 => {
            // A task of the color has the lock: it goes on after the section, which waits for the lock.
            let lock = Arc::new(Mutex::new(0_u64));
            for task in 0..tasks {
                let lock = Arc::clone(&lock);
                let _detached = spawn_colored(accounts, async move {
                    loop {
                        if task % 2 == 0 {
                            let _guard = lock.lock().await;
                            sleep(Duration::from_millis(2)).await;
                        } else {
                            exclusive(async { drop(lock.lock().await) }).await;
                        }
                    }
                });
            }
        }
        1 => {
            // The answer comes from a task of the color.
            let (answer, mut answered) = mpsc::channel::<u64>(1);
            let _detached = spawn_colored(accounts, async move {
                exclusive(answered.recv()).await;
            });
            for task in 0..tasks as u64 {
                let answer = answer.clone();
                let _detached = spawn_colored(accounts, async move { answer.send(task).await });
            }
        }
        _ => {
            let cell = ColorCell::new(accounts, 0_u64);
            let keeper = cell.clone();
            let _detached = spawn_colored(accounts, async move {
                keeper.exclusive(async |_| pending::<()>().await).await;
            });
            for _ in 0..tasks {
                let cell = cell.clone();
                let _detached =
                    spawn_unique(async move { cell.call(|balance| *balance += 1).await });
            }
        }
    }
}

/// Without a fault: a lock that is free most of the time.
pub(crate) fn locks(dice: &mut Dice) {
    let (tasks, pause) = (dice.number(4..=12), dice.millis(10..=20));
    let lock = Arc::new(Mutex::new(0_u64));
    for _ in 0..tasks {
        let lock = Arc::clone(&lock);
        let _detached = spawn_unique(async move {
            loop {
                {
                    let mut sum = lock.lock().await;
                    compute(Duration::from_micros(50));
                    *sum += 1;
                }
                sleep(pause).await;
            }
        });
    }
}

/// Without a fault: workers that share a receiver by a lock, and wait for jobs.
pub(crate) fn pool(dice: &mut Dice) {
    let (workers, pause) = (dice.number(2..=8), dice.millis(5..=500));
    let (give, jobs) = mpsc::channel::<Duration>(8);
    let jobs = Arc::new(Mutex::new(jobs));
    for _ in 0..workers {
        let jobs = Arc::clone(&jobs);
        let _detached = spawn_unique(async move {
            loop {
                let job = jobs.lock().await.recv().await;
                let Some(job) = job else { return };
                compute(job);
            }
        });
    }
    let _detached = spawn_unique(async move {
        while give.send(Duration::from_micros(50)).await.is_ok() {
            sleep(pause).await;
        }
    });
}

/// Without a fault: a lock for each key. At any time some task waits for some lock.
pub(crate) fn keys(dice: &mut Dice) {
    let (tasks, disk) = (dice.number(32..=96), dice.millis(1..=4));
    let locks: Arc<Vec<_>> = Arc::new((0..tasks).map(|_| Mutex::new(0_u64)).collect());
    for task in 0..tasks {
        let (locks, mut random) = (Arc::clone(&locks), fastrand::Rng::with_seed(task as u64));
        let _detached = spawn_unique(async move {
            loop {
                let mut value = locks[random.usize(..locks.len())].lock().await;
                sleep(disk).await;
                *value += 1;
            }
        });
    }
}
