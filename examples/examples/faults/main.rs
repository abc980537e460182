//! Twelve programs with a fault each, one that has none, and the report that tells them apart.
//!
//! `docs/diagnosing.md` shows what each looks like, and the change that mends it.

mod colors;
mod healthy;
mod load;
mod polls;
mod queues;
mod small;
mod waits;

use colored::Runtime;
use colored_examples::{Args, Failure};
use load::Dice;
use std::io::{self, Write};
use std::thread;
use std::time::Duration;

const USAGE: &str = "faults --fault NAME [--report] [--json] [--workers N] [--seed S] [--seconds T] [--load NAME]
  NAME: hot-color, convoy, long-poll, default-color, too-fine, ping-pong, blocked-worker, timer-storm, unbounded-queue,
        starved-class, lock-wait, stuck-color, none
  --load, with none: idle, server, batch, burst, timers, busy, locks, pool, keys";

/// Spawns the tasks of a program, which run until it ends.
type Program = fn(&mut Dice);

const FAULTS: [(&str, Option<Program>); 13] = [
    ("hot-color", Some(colors::hot)),
    ("convoy", Some(colors::convoy)),
    ("long-poll", Some(polls::long)),
    ("default-color", Some(colors::default)),
    ("too-fine", Some(small::too_fine)),
    ("ping-pong", Some(small::ping_pong)),
    ("blocked-worker", Some(polls::blocked)),
    ("timer-storm", Some(small::timers)),
    ("unbounded-queue", Some(queues::unbounded)),
    ("starved-class", Some(queues::starved)),
    ("lock-wait", Some(waits::lock)),
    ("stuck-color", Some(waits::stuck)),
    ("none", None),
];

const LOADS: [(&str, Program); 9] = [
    ("idle", healthy::idle),
    ("server", healthy::server),
    ("batch", healthy::batch),
    ("burst", healthy::burst),
    ("timers", healthy::timers),
    ("busy", healthy::busy),
    ("locks", waits::locks),
    ("pool", waits::pool),
    ("keys", waits::keys),
];

/// The program may begin before it is observed.
const START: Duration = Duration::from_millis(200);

fn main() -> Result<(), Failure> {
    let mut args = Args::from_command_line(USAGE);
    let seed: u64 = args.number("--seed", 0..=u64::MAX)?.unwrap_or(1);
    let fault = args.choice("--fault", &FAULTS)?;
    let load = args.choice("--load", &LOADS)?;
    let workers = args.number("--workers", 2..=64)?;
    let seconds = args.number("--seconds", 1..=3600)?;
    let (reports, json) = (args.flag("--report"), args.flag("--json"));
    let Some(fault) = fault else { return Err(args.mistake("--fault is missing")) };
    args.end()?;

    let program = fault.or(load).unwrap_or(LOADS[(seed % LOADS.len() as u64) as usize].1);
    let builder = colored::Builder::new();
    let runtime = workers.map_or(builder.clone(), |workers| builder.workers(workers)).build()?;
    let mut dice = Dice::new(seed, runtime.handle().workers());
    let length = Duration::from_secs(seconds.unwrap_or(if reports { 1 } else { 10 }));
    runtime.run(async move { program(&mut dice) });
    thread::sleep(START);
    if reports {
        report(&runtime, length, json)?;
    } else {
        println!("it runs for {} s; `--report` tells what is wrong with it", length.as_secs());
        thread::sleep(length);
    }
    // The programs have no end of their own.
    runtime.shutdown_background();
    Ok(())
}

fn report(runtime: &Runtime, length: Duration, json: bool) -> io::Result<()> {
    let report = runtime.handle().observe_blocking(length);
    let text = if json { report.to_json() } else { report.to_string() };
    writeln!(io::stdout(), "{text}")
}
