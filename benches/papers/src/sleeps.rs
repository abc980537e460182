//! The lateness and the cost of sleeps: few sleepers and many, short sleeps and long.
//!
//! Every sleeper sleeps again and again, for random times. A sleep is late by the time from its
//! deadline to its task's next instruction. Its cost is the CPU time of the whole process over the
//! number of sleeps: it includes the timers, the threads that wake for them, and the tasks' turns.
//! A single sleeper pays for waking a thread each time; many sleepers share this cost.

use super::{Goal, Plan, Report};
use colored::runtime::Tuning;
use colored_benches::chart::number;
use colored_benches::latch::Latch;
use colored_benches::measure::median;
use colored_benches::random::Random;
use colored_benches::rivals::{Rival, Runtimes, Serial, workers};
use rustix::time::{ClockId, clock_gettime};
use std::thread;
use std::time::{Duration, Instant};

/// A number of tasks that sleep for `shortest` to `longest` microseconds.
struct Load {
    name: &'static str,
    text: &'static str,
    sleepers: usize,
    shortest: usize,
    longest: usize,
}

const LOADS: [Load; 5] = [
    Load { name: "1_short", text: "1, 0.3 ms", sleepers: 1, shortest: 300, longest: 300 },
    Load { name: "1", text: "1, 1 to 5 ms", sleepers: 1, shortest: 1_000, longest: 5_000 },
    Load { name: "100", text: "100, 1 to 5 ms", sleepers: 100, shortest: 1_000, longest: 5_000 },
    Load {
        name: "100_long",
        text: "100, 1 to 100 ms",
        sleepers: 100,
        shortest: 1_000,
        longest: 100_000,
    },
    Load {
        name: "10000_long",
        text: "10,000, 1 to 100 ms",
        sleepers: 10_000,
        shortest: 1_000,
        longest: 100_000,
    },
];

const RIVALS: [&str; 3] = ["colored", "colored, 0.2 ms", "tokio"];

/// The results of a load on one runtime.
struct Figures {
    /// Microseconds by which a tenth, a half and 99 of 100 sleeps were late at most.
    late: [f64; 3],
    /// Microseconds of CPU a sleep.
    cpu: f64,
    /// Microseconds of CPU a second.
    share: f64,
}

/// Runs all loads: on `colored`, on one whose timers wake a worker more often, and on tokio.
///
/// # Panics
///
/// If a sleep ends early.
#[must_use]
pub fn run(plan: &Plan) -> Report {
    let mut report = Report::new(plan);
    let on = Runtimes::start();
    let builder = colored::Runtime::builder().workers(workers());
    let fine =
        Serial::start(builder.tuning(Tuning::new().timer_resolution(Duration::from_micros(200))))
            .unique();
    let window = Duration::from_millis(plan.pick(1_000, 300, 20));
    let mut rows = Vec::new();
    for load in &LOADS {
        let mut runs = [const { Vec::new() }; RIVALS.len()];
        for _ in 0..plan.pick(3, 2, 1) {
            runs[0].push(load.run(on.unique(), window));
            runs[1].push(load.run(fine, window));
            runs[2].push(load.run(on.tokio(), window));
        }
        let all = runs.map(|runs| medians(&runs));
        let [ours, _, tokio] = &all;
        let name = load.name;
        report.ratio(&format!("sleeps_{name}_late"), ours.late[1], "tokio", tokio.late[1], "us");
        report.ratio(&format!("sleeps_{name}_cpu"), ours.cpu, "tokio", tokio.cpu, "us");
        let what = "median lateness of sleeps over tokio's; the most of all rows";
        report.goal(what, ours.late[1] / tokio.late[1], Goal::AtMost(1.0));
        rows.extend(RIVALS.iter().zip(&all).map(|(rival, figures)| figures.row(load.text, rival)));
    }
    report.table(
        &["sleepers", "runtime", "late by, ms: p10", "p50", "p99", "CPU a sleep, us", "of a core"],
        &rows,
    );
    report
}

impl Figures {
    fn row(&self, load: &str, rival: &str) -> Vec<String> {
        let mut row = vec![String::from(load), String::from(rival)];
        row.extend(self.late.map(|late| number(late / 1e3)));
        row.extend([number(self.cpu), format!("{:.1} %", self.share / 1e4)]);
        row
    }
}

impl Load {
    fn run<R: Rival>(&self, on: R, window: Duration) -> Figures {
        let mean = Duration::from_micros((self.shortest + self.longest) as u64 / 2);
        let each = (window.as_nanos() / mean.as_nanos()).max(1) as usize;
        let (count, latch) = (self.sleepers, Latch::leaked());
        let (shortest, span) = (self.shortest, self.longest - self.shortest + 1);
        // The remaining work of the other rival's threads would count as ours.
        thread::sleep(Duration::from_millis(20));
        let (start, cpu) = (Instant::now(), cpu());
        let mut late: Vec<Duration> = on.run(async move {
            latch.expect(count);
            let sleeper = |index: usize| async move {
                let mut random = Random::new(index as u64);
                let time = || Duration::from_micros((shortest + random.below(span)) as u64);
                let late = sleep_again_and_again(on, each, time).await;
                latch.hit();
                late
            };
            let tasks: Vec<_> = (0..count).map(|index| on.spawn(sleeper(index))).collect();
            latch.wait().await;
            let mut late = Vec::with_capacity(count * each);
            for task in tasks {
                late.extend(task.await.expect("a sleeper does not panic"));
            }
            late
        });
        let (cpu, wall) = (self::cpu() - cpu, start.elapsed());
        late.sort_unstable();
        let at = |share: f64| late[(late.len() as f64 * share) as usize].as_secs_f64() * 1e6;
        Figures {
            late: [at(0.1), at(0.5), at(0.99)],
            cpu: cpu.as_secs_f64() * 1e6 / late.len() as f64,
            share: cpu.as_secs_f64() * 1e6 / wall.as_secs_f64(),
        }
    }
}

/// Sleeps a number of times, and returns the lateness of each sleep.
async fn sleep_again_and_again<R: Rival>(
    on: R,
    times: usize,
    mut time: impl FnMut() -> Duration,
) -> Vec<Duration> {
    let mut late = Vec::with_capacity(times);
    for _ in 0..times {
        let time = time();
        let start = Instant::now();
        on.sleep(time).await;
        late.push(start.elapsed().checked_sub(time).expect("no sleep ends early"));
    }
    late
}

fn medians(runs: &[Figures]) -> Figures {
    let of = |figure: fn(&Figures) -> f64| median(runs.iter().map(figure));
    Figures {
        late: [of(|run| run.late[0]), of(|run| run.late[1]), of(|run| run.late[2])],
        cpu: of(|run| run.cpu),
        share: of(|run| run.share),
    }
}

/// The CPU time of all threads of the process.
fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
