//! Tasks that sleep for short, random times: the CPU time of the whole process, and the lateness.

use crate::executors::{Smol, Timed};
use crate::foreign::{self, Tool};
use crate::setup::Setup;
use colored_benches::measure::{Case, Entry, Sample, Unit};
use colored_benches::random::Random;
use rustix::time::{ClockId, clock_gettime};
use std::thread;
use std::time::{Duration, Instant};

/// Tasks.
const SLEEPERS: u64 = 100;

pub(super) fn cpu(setup: &Setup, subject: impl Timed) -> Case {
    case(setup, subject, "sleeps_cpu", Unit::us("us/sleep"), |slept| Sample {
        cost: slept.cpu,
        wall: slept.wall,
        ops: slept.late.len() as u64,
    })
}

pub(super) fn late(setup: &Setup, subject: impl Timed) -> Case {
    case(setup, subject, "sleeps_late", Unit::us("us"), |slept| Sample {
        cost: slept.late[slept.late.len() / 2],
        wall: slept.wall,
        ops: 1,
    })
}

fn case(
    setup: &Setup,
    subject: impl Timed,
    work: &'static str,
    unit: Unit,
    figure: fn(&Slept) -> Sample,
) -> Case {
    // Some 300 ms: the mean of a sleep is 3 ms.
    let each = setup.count(100, 2);
    let mut entries = vec![
        Entry::subject(move || figure(&sleep(subject, each))),
        Entry::peer("tokio", {
            let on = setup.runtimes().tokio();
            move || figure(&sleep(on, each))
        }),
        Entry::peer("smol", move || figure(&sleep(Smol, each))),
    ];
    entries.extend(foreign::entry(Tool::Go, work, each));
    Case { unit, pace: setup.rounds(3), entries }
}

/// What sleeping took.
struct Slept {
    cpu: Duration,
    wall: Duration,
    /// By how much each sleep was late, in order of length.
    late: Vec<Duration>,
}

fn sleep<E: Timed>(on: E, each: u64) -> Slept {
    // The remaining work of another rival's threads would count as this one's.
    thread::sleep(Duration::from_millis(20));
    let (start, cpu) = (Instant::now(), cpu_time());
    let mut late = on.run(async move {
        let tasks: Vec<_> =
            (0..SLEEPERS).map(|index| on.spawn(sleep_again_and_again(on, index, each))).collect();
        let mut late = Vec::with_capacity((SLEEPERS * each) as usize);
        for task in tasks {
            late.extend(task.await);
        }
        late
    });
    let slept = (cpu_time() - cpu, start.elapsed());
    assert_eq!(late.len() as u64, SLEEPERS * each, "a sleep was lost");
    late.sort_unstable();
    Slept { cpu: slept.0, wall: slept.1, late }
}

async fn sleep_again_and_again<E: Timed>(on: E, seed: u64, times: u64) -> Vec<Duration> {
    let mut random = Random::new(seed);
    let mut late = Vec::with_capacity(times as usize);
    for _ in 0..times {
        let time = Duration::from_micros(1_000 + random.below(4_001) as u64);
        let start = Instant::now();
        on.sleep(time).await;
        late.push(start.elapsed().checked_sub(time).expect("no sleep ends early"));
    }
    late
}

/// The CPU time of all threads of the process.
pub(super) fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}
