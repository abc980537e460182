//! How many runs find the bugs of the suite: ours, and shuttle-tokio's on the same programs. And what our shrinking takes and
//! leaves.
//!
//! ```text
//! cargo run --release -p colored-sim-suite-shuttle 2>/dev/null
//! ```
//!
//! shuttle writes lines for each run that fails, to the standard error. A kernel counts where its twin without the bug
//! passes on shuttle: some need a clock, or colors, or hold a lock of std, for which shuttle's one thread waits for ever. These are counts of runs, which a busy machine does not change; but for the
//! time that shrinking takes.

use colored_sim_suite::{SEARCHES, Shrunk, Strategy, Table, search};
use colored_sim_suite_shuttle::{By, is_twin_right, runs_until_bug};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

const OURS: [(&str, Strategy); 4] = [
    ("random", Strategy::Random),
    ("pct 3", Strategy::Pct { depth: 3 }),
    ("pos", Strategy::Pos),
    ("portfolio", Strategy::Portfolio),
];

const THEIRS: [(&str, By); 2] = [("shuttle: random", By::Random), ("shuttle: pct 3", By::Pct)];

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let names = OURS.map(|of| of.0).into_iter().chain(THEIRS.map(|of| of.0));
    let mut table = Table::new(&names.collect::<Vec<_>>());
    let mut shrunk = Vec::new();
    for (family, kernel) in colored_sim_suite::kernels() {
        let Some(theirs) = theirs(kernel) else {
            table.leave_out(kernel);
            continue;
        };
        let mut ours = |strategy, number| {
            let found = search(kernel, strategy, number);
            shrunk.extend(found.map(|found| found.shrunk));
            found.map(|found| found.seeds)
        };
        let ours = OURS.map(|of| (0..SEARCHES).map(|number| ours(of.1, number)).collect());
        table.add(family, kernel, &[&ours[..], &theirs[..]].concat());
    }
    table.end();
    print_shrunk(&shrunk);
}

/// shuttle's searches, by column. `None` if it cannot run the kernel.
fn theirs(kernel: &'static str) -> Option<[Vec<Option<u64>>; 2]> {
    /// Long after the longest of these, on a busy machine.
    const STUCK: Duration = Duration::from_secs(20);
    let (send, searched) = channel();
    let of = |by| (0..SEARCHES).map(|number| runs_until_bug(kernel, by, number)).collect();
    let search = move || send.send(is_twin_right(kernel).then(|| THEIRS.map(|by| of(by.1))));
    // A thread that is stuck is left behind.
    drop(thread::spawn(search));
    searched.recv_timeout(STUCK).ok().flatten()
}

fn print_shrunk(all: &[Shrunk]) {
    println!("\n| {} failures, shrunk | median | 99 of 100 | most |\n|---|---|---|---|", all.len());
    let print = |what, of: fn(&Shrunk) -> f64| {
        let mut of: Vec<f64> = all.iter().map(of).collect();
        of.sort_by(f64::total_cmp);
        let most = of.len() - 1;
        println!("| {what} | {} | {} | {} |", of[most / 2], of[most * 99 / 100], of[most]);
    };
    print("choices", |shrunk| shrunk.choices as f64);
    print("runs", |shrunk| shrunk.runs as f64);
    print("seconds", |shrunk| shrunk.tenths as f64 / 10.0);
}
