//! The programs, ours and madsim's, and their table.

use crate::http::REQUESTS;
use crate::{echo, ours};
use colored::sim::{Builder, Strategy};
use colored_sim_cpu::alternate;
use madsim::runtime::Runtime;
use tokio::sync::mpsc;

/// Measurements of each, alternated. The median counts.
const ROUNDS: usize = 9;

struct Row {
    name: &'static str,
    /// Turns of one run.
    turns: u64,
    /// Runs of one measurement.
    runs: u64,
    ours: fn(u64),
    theirs: fn(u64),
}

const ROWS: [Row; 3] = [
    Row { name: "counter", turns: 10_000, runs: 20, ours: our_counter, theirs: counter },
    Row { name: "ping-pong", turns: 10_000, runs: 20, ours: our_ping_pong, theirs: ping_pong },
    Row { name: "short", turns: 200, runs: 500, ours: our_short, theirs: short },
];

/// Runs of the echo in one measurement, of a seed each.
const ECHOES: u64 = 8;

pub(crate) fn print() {
    println!("| row | ours, turns a second | madsim | ratio | ours, runs a second | madsim |");
    println!("|---|---|---|---|---|---|");
    for Row { name, turns, runs, ours, theirs } in ROWS {
        let seconds = alternate(ROUNDS, [&mut || ours(runs), &mut || theirs(runs)]);
        let [ours, theirs] = seconds.map(|seconds| runs as f64 / seconds);
        let millions = |runs: f64| runs * turns as f64 / 1e6;
        println!(
            "| {name} | {:.2} M | {:.2} M | {:.2} | {ours:.0} | {theirs:.0} |",
            millions(ours),
            millions(theirs),
            ours / theirs,
        );
    }
    let seconds = alternate(ROUNDS, [&mut || ours::run(ECHOES), &mut || echo::run(ECHOES)]);
    let [ours, theirs] = seconds.map(|seconds| ECHOES as f64 / seconds);
    println!("| echo, {REQUESTS} requests | | | {:.2} | {ours:.1} | {theirs:.1} |", ours / theirs);
}

/// By random turns, as madsim chooses.
fn run<F>(runs: u64, program: impl Fn() -> F + Sync)
where
    F: Future<Output = ()> + Send + 'static,
{
    let builder = Builder::new().strategy(Strategy::Random).workers(11..=11).seeds(1..1 + runs);
    builder.run(program).assert_passed();
}

fn our_ping_pong(runs: u64) {
    run(runs, || async {
        let (ping, mut pinged) = colored::sync::mpsc::unbounded_channel();
        let (pong, mut ponged) = colored::sync::mpsc::unbounded_channel();
        let answer = colored::spawn_unique(async move {
            while pinged.recv().await.is_some() {
                let _ = pong.send(());
            }
        });
        let ask = colored::spawn_unique(async move {
            for _ in 0..5000 {
                ping.send(()).unwrap();
                ponged.recv().await.unwrap();
            }
        });
        ask.await.unwrap();
        answer.await.unwrap();
    });
}

async fn our_yields(times: u64) {
    let task = |_| {
        colored::spawn_unique(async move {
            for _ in 0..times {
                colored::yield_now().await;
            }
        })
    };
    for task in (0..10).map(task).collect::<Vec<_>>() {
        task.await.unwrap();
    }
}

fn our_counter(runs: u64) {
    run(runs, || our_yields(1000));
}

fn our_short(runs: u64) {
    run(runs, || our_yields(20));
}

/// A runtime for each seed, as `#[madsim::test]` makes.
fn run_madsim<F: Future<Output = ()>>(runs: u64, program: impl Fn() -> F) {
    for seed in 1..1 + runs {
        Runtime::with_seed_and_config(seed, madsim::Config::default()).block_on(program());
    }
}

fn ping_pong(runs: u64) {
    run_madsim(runs, || async {
        let (ping, mut pinged) = mpsc::unbounded_channel();
        let (pong, mut ponged) = mpsc::unbounded_channel();
        let answer = madsim::task::spawn(async move {
            while pinged.recv().await.is_some() {
                let _ = pong.send(());
            }
        });
        let ask = madsim::task::spawn(async move {
            for _ in 0..5000 {
                ping.send(()).unwrap();
                ponged.recv().await.unwrap();
            }
        });
        ask.await.unwrap();
        answer.await.unwrap();
    });
}

async fn yields(times: u64) {
    let task = |_| {
        madsim::task::spawn(async move {
            for _ in 0..times {
                tokio::task::yield_now().await;
            }
        })
    };
    for task in (0..10).map(task).collect::<Vec<_>>() {
        task.await.unwrap();
    }
}

fn counter(runs: u64) {
    run_madsim(runs, || yields(1000));
}

fn short(runs: u64) {
    run_madsim(runs, || yields(20));
}
