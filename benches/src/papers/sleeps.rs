//! How late sleeps end, and what a sleep costs: few sleepers and many, short sleeps and long.
//!
//! Every sleeper sleeps again and again, for times at random. A sleep is late by the time from its
//! deadline to its task's next instruction. Its cost is the CPU time of the whole process over the
//! number of sleeps: what the timers, the threads that wake for them and the tasks' turns take
//! together. A sleeper alone pays for waking a thread each time; many share it.

use super::{Goal, Plan, Report};
use crate::chart::number;
use crate::latch::Latch;
use crate::measure::median;
use crate::random::Random;
use crate::rivals::{Rival, Runtimes};
use rustix::time::{ClockId, clock_gettime};
use std::thread;
use std::time::{Duration, Instant};

/// So many tasks sleep for `shortest` to `longest` microseconds.
struct Load {
    name: &'static str,
    sleepers: usize,
    shortest: usize,
    longest: usize,
}

const LOADS: [Load; 5] = [
    Load { name: "1, 0.3 ms", sleepers: 1, shortest: 300, longest: 300 },
    Load { name: "1, 1 to 5 ms", sleepers: 1, shortest: 1_000, longest: 5_000 },
    Load { name: "100, 1 to 5 ms", sleepers: 100, shortest: 1_000, longest: 5_000 },
    Load { name: "100, 1 to 100 ms", sleepers: 100, shortest: 1_000, longest: 100_000 },
    Load { name: "10,000, 1 to 100 ms", sleepers: 10_000, shortest: 1_000, longest: 100_000 },
];

/// What came of a load on one runtime.
struct Figures {
    /// Microseconds by which a tenth, a half and 99 of 100 sleeps were late at most.
    late: [f64; 3],
    /// Microseconds of CPU a sleep.
    cpu: f64,
    /// Microseconds of CPU a second.
    share: f64,
}

/// Runs all loads on both runtimes.
///
/// # Panics
///
/// If a sleep ends early.
#[must_use]
pub fn run(plan: &Plan) -> Report {
    let mut report = Report::new(plan);
    let on = Runtimes::start();
    let window = Duration::from_millis(plan.pick(1_000, 300, 20));
    let rounds = plan.pick(5, 2, 1);
    let mut rows = Vec::new();
    for load in &LOADS {
        let mut ours = Vec::new();
        let mut tokios = Vec::new();
        for _ in 0..rounds {
            ours.push(load.run(on.unique(), window));
            tokios.push(load.run(on.tokio(), window));
        }
        let (ours, tokios) = (medians(&ours), medians(&tokios));
        let name = format!("sleeps: {}", load.name);
        report.ratio(
            &format!("{name}: median lateness"),
            ours.late[1],
            "tokio",
            tokios.late[1],
            "us",
        );
        report.ratio(&format!("{name}: CPU a sleep"), ours.cpu, "tokio", tokios.cpu, "us");
        let what = format!("median lateness over tokio's, {}", load.name);
        report.goal(&what, ours.late[1] / tokios.late[1], Goal::AtMost(1.0));
        for (runtime, figures) in [("colored", &ours), ("tokio", &tokios)] {
            let mut row = vec![String::from(load.name), String::from(runtime)];
            row.extend(figures.late.map(|late| number(late / 1e3)));
            row.push(number(figures.cpu));
            row.push(format!("{:.1} %", figures.share / 1e4));
            rows.push(row);
        }
    }
    report.table(
        &["sleepers", "runtime", "late by, ms: p10", "p50", "p99", "CPU a sleep, us", "of a core"],
        &rows,
    );
    report
}

impl Load {
    fn run<R: Rival>(&self, on: R, window: Duration) -> Figures {
        let mean = Duration::from_micros((self.shortest + self.longest) as u64 / 2);
        let each = (window.as_nanos() / mean.as_nanos()).max(1) as usize;
        let (count, latch) = (self.sleepers, Latch::leaked());
        let (shortest, span) = (self.shortest, self.longest - self.shortest + 1);
        // What the other rival's threads still do would count as ours.
        thread::sleep(Duration::from_millis(20));
        let (start, cpu) = (Instant::now(), cpu());
        let mut late: Vec<Duration> = on.run(async move {
            latch.expect(count);
            let sleeper = |index: usize| {
                let mut random = Random::new(index as u64);
                on.spawn(async move {
                    let mut late = Vec::with_capacity(each);
                    for _ in 0..each {
                        let time = Duration::from_micros((shortest + random.below(span)) as u64);
                        let start = Instant::now();
                        on.sleep(time).await;
                        let slept = start.elapsed();
                        late.push(slept.checked_sub(time).expect("no sleep ends early"));
                    }
                    latch.hit();
                    late
                })
            };
            let tasks: Vec<_> = (0..count).map(sleeper).collect();
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

fn medians(runs: &[Figures]) -> Figures {
    let of = |figure: fn(&Figures) -> f64| median(runs.iter().map(figure));
    Figures {
        late: [of(|run| run.late[0]), of(|run| run.late[1]), of(|run| run.late[2])],
        cpu: of(|run| run.cpu),
        share: of(|run| run.share),
    }
}

/// What all threads of the process have taken.
fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
