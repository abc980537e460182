//! The programs on `colored`.

use crate::By;
use colored::sim::{Builder, Strategy};
use colored::sync::mpsc;
use colored::{spawn_unique, yield_now};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

fn run<F>(by: By, runs: u64, program: impl Fn() -> F + Sync)
where
    F: Future<Output = ()> + Send + 'static,
{
    let strategy = match by {
        By::Random => Strategy::Random,
        By::Pct => Strategy::Pct { depth: 3 },
    };
    // Each task has a color, and each color of these programs a worker.
    let builder = Builder::new().strategy(strategy).workers(11..=11).seeds(1..1 + runs);
    builder.run(program).assert_passed();
}

async fn yields(tasks: u64, times: u64) {
    let count = Arc::new(AtomicU64::new(0));
    let tasks: Vec<_> = (0..tasks)
        .map(|_| {
            let count = count.clone();
            spawn_unique(async move {
                for _ in 0..times {
                    count.fetch_add(1, SeqCst);
                    yield_now().await;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
}

pub(crate) fn counter(by: By, runs: u64) {
    run(by, runs, || yields(10, 1000));
}

pub(crate) fn short(by: By, runs: u64) {
    run(by, runs, || yields(10, 20));
}

pub(crate) fn ping_pong(by: By, runs: u64) {
    run(by, runs, || async {
        let (ping, mut pinged) = mpsc::unbounded_channel();
        let (pong, mut ponged) = mpsc::unbounded_channel();
        let answer = spawn_unique(async move {
            while pinged.recv().await.is_some() {
                let _ = pong.send(());
            }
        });
        let ask = spawn_unique(async move {
            for _ in 0..5000 {
                ping.send(()).unwrap();
                ponged.recv().await.unwrap();
            }
        });
        ask.await.unwrap();
        answer.await.unwrap();
    });
}
