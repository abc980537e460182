//! Instructions of the runtime's hot paths, by callgrind: what the features `record` and `sim` cost a program that uses neither,
//! and that without them nothing is there.
//!
//! ```text
//! cargo run --release --no-default-features --bin counts
//! cargo run --release --no-default-features --features record --bin counts
//! cargo run --release --bin counts
//! ```
//!
//! Needs `valgrind`. Each operation runs on the one worker of an embedded runtime, so no other thread is counted. The number is
//! the difference between many times and few times.

use colored::sync::mpsc;
use colored::{ColorCell, Runtime, spawn_colored, yield_now};
use std::env;
use std::process::Command;

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
