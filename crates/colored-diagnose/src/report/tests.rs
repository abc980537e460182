//! Each rule on both sides of its thresholds, on windows that no runtime has made.

mod colors;
mod dispatch;
mod healthy;
mod hotspots;
mod order;
mod polls;
mod queues;
mod waits;

use super::{Fault, Report};
use crate::usage::{ColorUsage, Usage, Window, WorkerUsage};
use colored_core::{Color, LongPoll, Priority};
use std::time::Duration;

/// The parts of an observation of a second.
const PARTS: u64 = 10;
const PART: Duration = Duration::from_millis(100);

fn us(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A window in which so many workers did nothing.
fn idle(workers: usize) -> Window {
    let cpu = Some(Duration::ZERO);
    let parked = WorkerUsage { parked: PART, cpu, delayed: cpu, ..WorkerUsage::default() };
    Window {
        length: PART,
        workers: vec![parked; workers],
        active_workers: workers,
        cpus: workers,
        measures_waits: true,
        ..Window::default()
    }
}

/// What is added to a window.
impl Window {
    /// A color that ran so many turns of this length, in slices of so many turns.
    fn with(self, color: impl Into<Color>, turns: u64, turn: Duration, slice: u64) -> Self {
        self.with_usage(color, Priority::Normal, |usage| {
            usage.run = turn * u32::try_from(turns).unwrap();
            (usage.turns, usage.waits, usage.slices) = (turns, turns, turns.div_ceil(slice));
        })
    }

    fn with_usage(
        mut self,
        color: impl Into<Color>,
        priority: Priority,
        fill: impl FnOnce(&mut Usage),
    ) -> Self {
        let mut usage = Usage::default();
        fill(&mut usage);
        self.busy(usage.run);
        self.colors.push(ColorUsage {
            color: color.into(),
            usage,
            error: Duration::ZERO,
            priority,
        });
        self
    }

    /// The last color, with this on average in line.
    fn waiting(mut self, queue: f64) -> Self {
        self.last().wait_color = PART.mul_f64(queue);
        self.last().depth = queue as u64;
        self
    }

    /// The last color, with this on average waiting for a worker.
    fn waiting_for_cpu(mut self, queue: f64) -> Self {
        self.last().wait_cpu = PART.mul_f64(queue);
        self
    }

    fn kept(mut self, kept: Duration) -> Self {
        self.last().kept = kept;
        self
    }

    fn depth(mut self, depth: u64) -> Self {
        self.last().depth = depth;
        self
    }

    fn moved(mut self, moves: u64) -> Self {
        self.last().moves = moves;
        self
    }

    fn last(&mut self) -> &mut Usage {
        &mut self.colors.last_mut().unwrap().usage
    }

    /// The time of dispatch.
    fn searching(mut self, time: Duration) -> Self {
        self.take(time, |worker| &mut worker.search);
        self
    }

    fn firing(mut self, timers: u64, turns: u64, time: Duration) -> Self {
        (self.timers.fired, self.timers.turns, self.timers.pending) = (timers, turns, timers);
        self.take(time, |worker| &mut worker.timers);
        self
    }

    /// A poll that has taken so long when it was seen last, and this time of a CPU.
    fn poll(mut self, slice: u64, color: Color, time: Duration, cpu: Option<Duration>) -> Self {
        let delayed = cpu.map(|_| Duration::ZERO);
        let mut poll = LongPoll::new(0, slice, color, time);
        (poll.cpu, poll.delayed) = (cpu, delayed);
        self.long_polls.push(poll);
        self
    }

    fn busy(&mut self, time: Duration) {
        self.take(time, |worker| &mut worker.run);
    }

    /// Takes time from parked workers, with a CPU.
    fn take(&mut self, mut time: Duration, of: impl Fn(&mut WorkerUsage) -> &mut Duration) {
        for worker in &mut self.workers {
            let part = time.min(worker.parked);
            worker.parked -= part;
            *of(worker) += part;
            *worker.cpu.as_mut().unwrap() += part;
            time -= part;
        }
    }

    /// The workers had no CPU for so long, though they could have had one.
    fn delayed(mut self, mut time: Duration) -> Self {
        for worker in &mut self.workers {
            let (cpu, delayed) = (worker.cpu.as_mut().unwrap(), worker.delayed.as_mut().unwrap());
            let part = time.min(*cpu);
            *cpu -= part;
            *delayed += part;
            time -= part;
        }
        self
    }
}

/// The report of windows that are all the same.
fn steady(window: &Window) -> Report {
    Report::of(&vec![window.clone(); PARTS as usize])
}

/// The report of windows that differ.
fn changing(part: impl Fn(u64) -> Window) -> Report {
    Report::of(&(0..PARTS).map(part).collect::<Vec<_>>())
}

#[track_caller]
fn assert_first(report: &Report, fault: impl Into<Option<Fault>>) {
    assert_eq!(report.fault(), fault.into(), "{report}");
    let line = report.to_string();
    let name = report.fault().map_or("none", Fault::name);
    assert!(line.starts_with(&format!("{name}: ")), "{line}");
}

#[test]
fn a_report_of_nothing_says_so() {
    let report = Report::of(&[]);
    assert_eq!(report.to_string(), "none: nothing limits the program: it does nothing");
    assert_first(&steady(&idle(2)), None);
}

/// A partition stands if its mark has stood for half of the time.
#[test]
fn partitions_that_stand_are_named_and_others_are_not() {
    use crate::partitions::{FirstRecord, Partition};

    let partition = |name: &str, stood: Duration| {
        let (key, waits_for) = (String::from("key \"k7\""), String::from("its handler"));
        let first = FirstRecord { key, offset: 12, stood, waits_for, ..FirstRecord::default() };
        Partition { name: name.into(), done_above: 9, first: Some(first), ..Partition::default() }
    };
    let half = PART * u32::try_from(PARTS).unwrap() / 2;
    let mut windows = vec![idle(2); PARTS as usize];
    let last = windows.last_mut().unwrap();
    last.partitions = vec![
        partition("t/0", half - Duration::from_nanos(1)),
        partition("t/1", half),
        Partition { name: "t/2".into(), ..Partition::default() },
    ];
    let report = Report::of(&windows);
    assert_eq!(report.partitions.len(), 1);
    let line = "partition t/1 stands for 500 ms, 9 records done above: key \"k7\", offset 12, waits for its handler";
    assert_eq!(report.to_string().lines().last(), Some(line));
    let json = report.to_json();
    assert!(json.contains(r#""partitions":[{"partition":"t/1","generation":0,"lag":0"#), "{json}");
    assert!(json.contains(r#""first":{"key":"key \"k7\"","offset":12,"seconds":0.5"#), "{json}");
}
