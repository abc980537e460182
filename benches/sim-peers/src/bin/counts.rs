//! Instructions of the runtime's hot paths, by callgrind: what the feature `sim` costs a program that does not use it, and that
//! without it nothing is there.
//!
//! ```text
//! cargo run --release --no-default-features --bin counts
//! cargo run --release --bin counts
//! ```
//!
//! Needs `valgrind`. Each operation runs on the one worker of an embedded runtime, so no other thread is counted. The number is
//! the difference between many times and few times.
//!
//! With `sim`, also of simulated turns, messages and short runs: all of the rows that `colored-sim-peers` times. A turn and a message
//! are a 10,000th of a run. A search makes its runs on a thread for each core, and all of these are counted.

use colored::sync::mpsc;
use colored::{ColorCell, Runtime, spawn_colored, yield_now};
use std::env;
use std::process::Command;

#[cfg(feature = "sim")]
#[path = "../ours.rs"]
mod ours;

/// How a simulation chooses.
#[cfg(feature = "sim")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Random,
    Pct,
}

/// The programs of a simulation: the name, how often a run does it, few runs and many, and the program.
#[cfg(feature = "sim")]
type Simulated = (&'static str, u64, [u64; 2], fn(By, u64));

#[cfg(feature = "sim")]
const SIMULATED: [Simulated; 3] = [
    ("simulated turn", 10_000, [1, 9], ours::counter),
    ("simulated message", 10_000, [1, 9], ours::ping_pong),
    ("simulated run", 1, [100, 600], ours::short),
];

const FEW: u64 = 1_000;
const MANY: u64 = 11_000;

const OPERATIONS: [&str; 5] = ["yield", "post", "call", "spawn and join", "message"];

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let [operation, times] = &arguments[..] {
        return run(operation, times.parse().expect("a number"));
    }
    println!("| operation | instructions |\n|---|---|");
    for operation in OPERATIONS {
        let all = count(operation, MANY) - count(operation, FEW);
        println!("| {operation} | {:.1} |", all as f64 / (MANY - FEW) as f64);
    }
    #[cfg(feature = "sim")]
    for (name, of_a_run, [few, many], _) in SIMULATED {
        for by in [By::Random, By::Pct] {
            let operation = format!("{name}, {by:?}");
            let all = count(&operation, many) - count(&operation, few);
            println!("| {operation} | {:.0} |", all as f64 / ((many - few) * of_a_run) as f64);
        }
    }
}

#[cfg(feature = "sim")]
fn simulate(operation: &str, runs: u64) -> bool {
    let Some((name, by)) = operation.split_once(", ") else { return false };
    let by = if by == "Pct" { By::Pct } else { By::Random };
    let found = SIMULATED.into_iter().find(|(simulated, ..)| *simulated == name);
    found.map(|(.., program)| program(by, runs)).is_some()
}

/// The instructions of a process that makes so many operations.
fn count(operation: &str, times: u64) -> u64 {
    let own = env::current_exe().expect("the path of this program");
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(own);
    let output = valgrind.args([operation, &times.to_string()]).output().expect("valgrind starts");
    let text = String::from_utf8_lossy(&output.stderr);
    let collected = text.lines().find_map(|line| line.split_once("Collected : "));
    let (_, number) = collected.unwrap_or_else(|| panic!("no count: {text}"));
    number.trim().parse().expect("a number")
}

fn run(operation: &str, times: u64) {
    #[cfg(feature = "sim")]
    if simulate(operation, times) {
        return;
    }
    let mut runtime = Runtime::builder().build_embedded().expect("it starts");
    match operation {
        "yield" => runtime.block_on(async move {
            for _ in 0..times {
                yield_now().await;
            }
        }),
        "post" => runtime.block_on(async move {
            let count = ColorCell::new(1, 0);
            for _ in 0..times {
                count.post(|count| *count += 1);
            }
            assert_eq!(count.call(|count| *count).await, times);
        }),
        "call" => runtime.block_on(async move {
            let count = ColorCell::new(1, 0);
            for _ in 0..times {
                count.call(|count| *count += 1).await;
            }
        }),
        "spawn and join" => runtime.block_on(async move {
            for number in 0..times {
                spawn_colored(number % 8, async {}).await.expect("it ends");
            }
        }),
        "message" => runtime.block_on(async move {
            let (sender, mut receiver) = mpsc::unbounded_channel();
            let echo = spawn_colored(1, async move { while receiver.recv().await.is_some() {} });
            for number in 0..times {
                sender.send(number).expect("it receives");
                yield_now().await;
            }
            drop(sender);
            echo.await.expect("it ends");
        }),
        other => panic!("no operation {other}: {OPERATIONS:?}"),
    }
}
