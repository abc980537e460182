//! A game world in regions. Each region is a cell with a color of its own, so the regions live in parallel on all cores
//! and none has a lock. Creatures keep away from each other, walk over the borders of their regions, and trade with
//! those on the other side by `when`, which has both regions at once.
//!
//! No tick waits for the end of the tick before: each color runs its steps and its borders in the order in which they
//! were scheduled. That order is the same with one worker and with many, and so is the world that comes out.
//!
//! The program compares one worker with all of them, and ends by itself after some seconds.
//!
//! ```text
//! cargo run --release -p colored-examples --example game-world
//! cargo run --release -p colored-examples --example game-world -- --ticks 50 --workers 4
//! ```

mod region;
mod world;

use self::world::{Census, Plan, live};
use colored::Runtime;
use colored_examples::{Args, Failure};
use std::time::{Duration, Instant};

const USAGE: &str = "game-world [--ticks N] [--side N] [--creatures N] [--workers N]";

/// How often each number of workers is tried. The best time counts: other programs only lengthen it.
const ROUNDS: usize = 3;

fn main() -> Result<(), Failure> {
    let mut args = Args::from_command_line(USAGE);
    let plan = Plan {
        ticks: args.number("--ticks", 1..=1_000_000)?.unwrap_or(100),
        side: args.number("--side", 3..=64)?.unwrap_or(8),
        creatures: args.number("--creatures", 1..=10_000)?.unwrap_or(200),
    };
    let workers = args.number("--workers", 1..=1_024)?;
    args.end()?;
    let Plan { ticks, side, creatures } = plan;
    println!("{} regions of {creatures} creatures live for {ticks} ticks", side * side);

    let (mut one, mut all) = (Run::on(Some(1), plan)?, Run::on(workers, plan)?);
    for _ in 1..ROUNDS {
        one = one.or_better(Run::on(Some(1), plan)?)?;
        all = all.or_better(Run::on(workers, plan)?)?;
    }
    one.same_world(&all)?;
    for run in [&one, &all] {
        run.print(plan);
    }
    let ratio = one.took.as_secs_f64() / all.took.as_secs_f64();
    println!("speed-up from 1 worker to {}: {ratio:.2}, for the same world", all.workers);
    let Census { creatures, coins, crossed, .. } = one.census;
    println!("{creatures} creatures hold {coins} coins, after {crossed} walks over a border");
    Ok(())
}

struct Run {
    workers: usize,
    took: Duration,
    census: Census,
}

impl Run {
    /// On a runtime of its own. Without a number it has a worker for each core.
    fn on(workers: Option<usize>, plan: Plan) -> Result<Run, Failure> {
        let builder = match workers {
            Some(workers) => Runtime::builder().workers(workers),
            None => Runtime::builder(),
        };
        let runtime = builder.build()?;
        let start = Instant::now();
        let census = runtime.run(live(plan))?;
        let took = start.elapsed();
        Ok(Run { workers: runtime.metrics().workers.len(), took, census })
    }

    fn or_better(self, other: Run) -> Result<Run, Failure> {
        self.same_world(&other)?;
        Ok(if other.took < self.took { other } else { self })
    }

    fn same_world(&self, other: &Run) -> Result<(), Failure> {
        if self.census == other.census {
            return Ok(());
        }
        Err(Failure::new(format!(
            "two runs made two worlds: {:?}, {:?}",
            self.census, other.census
        )))
    }

    fn print(&self, plan: Plan) {
        let steps = plan.side * plan.side * plan.ticks;
        let each = self.took / steps.try_into().unwrap_or(u32::MAX);
        let Run { workers, took, census } = self;
        println!(
            "workers {workers:>3}: {took:.2?}, {each:.1?} for a step, checksum {:016x}",
            census.checksum
        );
    }
}
