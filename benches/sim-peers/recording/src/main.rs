//! What a record costs: bytes and nanoseconds a push, and what is left of hyper's throughput. The same program with
//! [`record`](colored::runtime::Builder::record) and without, alternated in one process; medians of CPU times.
//!
//! ```text
//! cargo run --release -p colored-recording
//! ```

mod http;
mod pushes;

use colored::Runtime;
use colored_sim_cpu::alternate;
use std::fs;
use std::path::Path;
use std::pin::Pin;

/// Measurements of each, alternated.
const ROUNDS: usize = 15;

struct Row {
    name: &'static str,
    workers: usize,
    /// Its pushes, or requests.
    count: u64,
    program: Program,
}

type Program = fn() -> Pin<Box<dyn Future<Output = ()> + Send>>;

const ROWS: [Row; 4] = [
    Row { name: "a post", workers: 1, count: pushes::POSTS, program: || Box::pin(pushes::posts()) },
    Row {
        name: "a message",
        workers: 1,
        count: pushes::MESSAGES,
        program: || Box::pin(pushes::messages()),
    },
    Row { name: "a call", workers: 1, count: pushes::CALLS, program: || Box::pin(pushes::calls()) },
    Row {
        name: "a request of HTTP",
        workers: 2,
        count: http::REQUESTS,
        program: || Box::pin(http::echo()),
    },
];

fn main() {
    let file = std::env::temp_dir().join(format!("recording-{}.colored", std::process::id()));
    println!("| | bytes | ns without | ns more with a record | throughput with a record |");
    println!("|---|---|---|---|---|");
    for Row { name, workers, count, program } in ROWS {
        let [without, with] = alternate(
            ROUNDS,
            [&mut || run(workers, program, None), &mut || run(workers, program, Some(&file))],
        );
        let bytes = fs::metadata(&file).expect("a record").len() as f64 / count as f64;
        let nanos = |seconds: f64| seconds * 1e9 / count as f64;
        println!(
            "| {name} | {bytes:.2} | {:.0} | {:.1} | {:.1} % |",
            nanos(without),
            nanos(with - without),
            100.0 * without / with,
        );
    }
    fs::remove_file(&file).expect("it is there");
}

fn run(workers: usize, program: Program, record: Option<&Path>) {
    let mut builder = Runtime::builder().workers(workers);
    if let Some(file) = record {
        builder = builder.record(file);
    }
    builder.build().expect("it starts").run(program());
}
