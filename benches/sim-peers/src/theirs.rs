//! The programs on shuttle.

use crate::By;
use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::sync::mpsc;
use shuttle::{Config, Runner, future, thread};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

fn run(by: By, runs: u64, program: impl Fn() + Send + Sync + 'static) {
    let mut config = Config::default();
    config.silence_warnings = true;
    let runs = runs as usize;
    match by {
        By::Random => Runner::new(RandomScheduler::new(runs), config).run(program),
        By::Pct => Runner::new(PctScheduler::new(3, runs), config).run(program),
    };
}

fn yields(tasks: u64, times: u64) {
    let count = Arc::new(AtomicU64::new(0));
    let tasks: Vec<_> = (0..tasks)
        .map(|_| {
            let count = count.clone();
            future::spawn(async move {
                for _ in 0..times {
                    count.fetch_add(1, SeqCst);
                    future::yield_now().await;
                }
            })
        })
        .collect();
    future::block_on(async {
        for task in tasks {
            task.await.unwrap();
        }
    });
}

pub(crate) fn counter(by: By, runs: u64) {
    run(by, runs, || yields(10, 1000));
}

pub(crate) fn short(by: By, runs: u64) {
    run(by, runs, || yields(10, 20));
}

/// By threads: shuttle has no channel of its own for tasks.
pub(crate) fn ping_pong(by: By, runs: u64) {
    run(by, runs, || {
        let (ping, pinged) = mpsc::channel();
        let (pong, ponged) = mpsc::channel();
        let answer = thread::spawn(move || {
            while pinged.recv().is_ok() {
                let _ = pong.send(());
            }
        });
        let ask = thread::spawn(move || {
            for _ in 0..5000 {
                ping.send(()).unwrap();
                ponged.recv().unwrap();
            }
        });
        ask.join().unwrap();
        answer.join().unwrap();
    });
}
