//! [`Digest`]: the sums over an observation, as the rules need them.
//!
//! Times are seconds. A *share* is a time by the length of the observation: a color that ran all the time has a share
//! of 1, two workers that did have 2. The share of a sum of waits is the mean number that waited (Little's law).

use super::waits::WaitDigest;
use crate::usage::{Usage, Window, WorkerUsage};
use colored_core::{Color, LongPoll, Priority};
use std::collections::BTreeMap;
use std::time::Duration;

/// A delay of less, as a share, is no matter.
const DELAY: f64 = 0.05;

/// The least mean number of tasks that wait for a color with a queue. A task that waits now and then makes no queue.
pub(super) const QUEUE: f64 = 0.5;

/// The sums over an observation.
pub(super) struct Digest<'w> {
    pub(super) windows: &'w [Window],
    /// In seconds; never 0.
    pub(super) length: f64,
    /// How many workers can run at a time: the workers, but not more than the CPUs.
    pub(super) capacity: f64,
    workers_in_use: f64,
    /// The colors that are known by name, the one that was busy longest first.
    pub(super) colors: Vec<ColorLoad>,
    /// All colors, with the unnamed rest.
    pub(super) all: Usage,
    /// All workers.
    pub(super) workers: WorkerUsage,
    /// The polls that were long, each once, with its length inside the observation.
    pub(super) long_polls: Vec<LongPoll>,
    /// How many timers have fired.
    pub(super) fired: u64,
    /// How often timers were due.
    pub(super) timer_turns: u64,
    /// How often a worker was woken.
    pub(super) wakes: u64,
    /// Whether waits were measured all the time.
    pub(super) measures_waits: bool,
    /// What the tasks waited for.
    pub(super) waits: WaitDigest,
}

/// A color in the observation.
#[derive(Clone, Copy, Debug)]
pub(super) struct ColorLoad {
    pub(super) color: Color,
    pub(super) priority: Priority,
    pub(super) usage: Usage,
    /// The share that it ran or was kept.
    pub(super) busy: f64,
    /// How many waited for the color, on average.
    pub(super) queue: f64,
}

impl<'w> Digest<'w> {
    /// None if the windows have no length.
    pub(super) fn of(windows: &'w [Window]) -> Option<Self> {
        let last = windows.last()?;
        let length = windows.iter().map(|window| window.length).sum::<Duration>().as_secs_f64();
        if length <= 0.0 {
            return None;
        }
        let workers = last.active_workers.max(1);
        let capacity = if last.cpus == 0 { workers } else { workers.min(last.cpus) };
        let waits = WaitDigest::of(windows);
        let colors = colors(windows, length, &waits);
        let others = windows.iter().map(|window| window.others).fold(Usage::default(), add);
        Some(Self {
            windows,
            length,
            capacity: capacity as f64,
            workers_in_use: workers as f64,
            all: colors.iter().map(|color| color.usage).fold(others, add),
            colors,
            workers: workers_of(windows),
            long_polls: long_polls(windows, length),
            fired: windows.iter().map(|window| window.timers.fired).sum(),
            timer_turns: windows.iter().map(|window| window.timers.turns).sum(),
            wakes: windows.iter().map(|window| window.wakes).sum(),
            measures_waits: windows.iter().all(|window| window.measures_waits),
            waits,
        })
    }

    /// The share of a time.
    pub(super) fn share(&self, time: Duration) -> f64 {
        time.as_secs_f64() / self.length
    }

    /// How often a second.
    pub(super) fn rate(&self, count: u64) -> f64 {
        count as f64 / self.length
    }

    /// The share of the CPUs that polls and callbacks took, at most 1. A poll that had no CPU meanwhile took none. A color
    /// that is not known by name is counted with its next slice, and its worker is in a poll before.
    pub(super) fn load(&self) -> f64 {
        let run = self.all.run.max(self.workers.run);
        let run = self.workers.cpu.map_or(run, |cpu| cpu.min(run));
        (self.share(run) / self.capacity).min(1.0)
    }

    /// How full the CPUs are, for a bound: by what polls and callbacks took of them, or by the part of the workers that were
    /// in one. Where other programs take the CPUs everything lasts longer, what the fullest color does as well, but a
    /// worker that is always in a poll has no room for another color.
    pub(super) fn demand(&self) -> f64 {
        let run = self.all.run.max(self.workers.run).min(self.runnable());
        (self.share(run) / self.workers_in_use).min(1.0).max(self.load())
    }

    /// The mean time that a turn had a CPU, in seconds.
    pub(super) fn turn(&self) -> f64 {
        let run = self.workers.cpu.map_or(self.all.run, |cpu| cpu.min(self.all.run));
        run.as_secs_f64() / self.all.turns.max(1) as f64
    }

    /// How long workers had a CPU, or could have had one. Where the system tells, a worker whose thread is blocked inside a
    /// poll is none of them.
    pub(super) fn runnable(&self) -> Duration {
        let awake = self.workers.awake();
        let runnable = self.workers.cpu.zip(self.workers.delayed);
        runnable.map_or(awake, |(cpu, delayed)| awake.min(cpu + delayed))
    }

    /// The share of the CPUs that workers took or could have taken, at most 1.
    pub(super) fn awake(&self) -> f64 {
        (self.share(self.runnable()) / self.capacity).min(1.0)
    }

    /// The part of the time in which the workers could have run that they had no CPU.
    pub(super) fn delayed(&self) -> f64 {
        let (cpu, delayed) = (self.workers.cpu, self.workers.delayed);
        let (Some(cpu), Some(delayed)) = (cpu, delayed) else { return 0.0 };
        if self.share(delayed) < DELAY {
            return 0.0;
        }
        let all = (cpu + delayed).max(Duration::from_nanos(1));
        delayed.as_secs_f64() / all.as_secs_f64()
    }

    /// The color, if it is known by name.
    pub(super) fn color(&self, color: Color) -> Option<&ColorLoad> {
        self.colors.iter().find(|load| load.color == color)
    }

    /// The mean length of a turn without these long polls, in seconds.
    pub(super) fn short_turn(&self) -> f64 {
        let long: Duration = self.long_polls.iter().map(|poll| poll.time).sum();
        let turns = self.all.turns.saturating_sub(self.long_polls.len() as u64);
        self.all.run.saturating_sub(long).as_secs_f64() / turns.max(1) as f64
    }

    /// The part of the observation, by quarters, for which this is so. A quarter holds several windows, so that a poll
    /// that ends in a later window than it began is not taken for a pause.
    pub(super) fn part(&self, is_so: impl Fn(&[Window]) -> bool) -> f64 {
        let quarters = self.windows.chunks(self.windows.len().div_ceil(4));
        let (so, all) =
            quarters.fold((0, 0), |(so, all), quarter| (so + u32::from(is_so(quarter)), all + 1));
        f64::from(so) / f64::from(all)
    }
}

/// What a color has used in these windows, and how long they are in seconds.
pub(super) fn usage_in(windows: &[Window], color: Color) -> (Usage, f64) {
    let of_color = windows.iter().flat_map(|window| &window.colors).filter(|of| of.color == color);
    let length = windows.iter().map(|window| window.length).sum::<Duration>();
    (of_color.map(|of| of.usage).fold(Usage::default(), add), length.as_secs_f64())
}

/// The sum; the depth is that of the later one.
fn add(earlier: Usage, later: Usage) -> Usage {
    let mut sum = earlier + later;
    sum.depth = later.depth;
    sum
}

fn colors(windows: &[Window], length: f64, waits: &WaitDigest) -> Vec<ColorLoad> {
    let mut sums: BTreeMap<Color, (Usage, Priority)> = BTreeMap::new();
    for (at, window) in windows.iter().enumerate() {
        for of in &window.colors {
            let (usage, priority) = sums.entry(of.color).or_insert((Usage::default(), of.priority));
            *usage = add(*usage, of.usage);
            *priority = of.priority;
            if at + 1 < windows.len() {
                usage.depth = 0;
            }
        }
    }
    let load = |(color, (usage, priority)): (Color, (Usage, Priority))| ColorLoad {
        color,
        priority,
        usage,
        busy: usage.busy().as_secs_f64() / length,
        queue: usage.wait_color.as_secs_f64() / length,
    };
    // What was scheduled before the observation, and has had no turn, is in no sum; nor is a section that began before it.
    for kept in waits.kept.iter().filter(|_| waits.is_enough()) {
        let none = (Usage::default(), Priority::Normal);
        let (usage, _) = sums.entry(kept.last.color).or_insert(none);
        let time = |share: f64| Duration::from_secs_f64(share * length);
        usage.kept = usage.kept.max(time(kept.part).saturating_sub(usage.run));
        usage.wait_color = usage.wait_color.max(time(kept.queued));
        usage.depth = usage.depth.max(kept.last.queued);
    }
    let mut colors: Vec<_> = sums.into_iter().map(load).collect();
    colors.sort_by(|a, b| b.busy.total_cmp(&a.busy));
    colors
}

fn workers_of(windows: &[Window]) -> WorkerUsage {
    // A spare worker that was never wanted has no thread.
    let has_thread = |worker: &&WorkerUsage| !(worker.awake() + worker.parked).is_zero();
    let sum = |a: Option<Duration>, b: Option<Duration>| Some(a? + b?);
    let none = WorkerUsage {
        cpu: Some(Duration::ZERO),
        delayed: Some(Duration::ZERO),
        ..WorkerUsage::default()
    };
    let workers = windows.iter().flat_map(|window| &window.workers).filter(has_thread);
    workers.fold(none, |all, worker| WorkerUsage {
        run: all.run + worker.run,
        search: all.search + worker.search,
        io: all.io + worker.io,
        timers: all.timers + worker.timers,
        parked: all.parked + worker.parked,
        polls: all.polls + worker.polls,
        slices: all.slices + worker.slices,
        steals: all.steals + worker.steals,
        parks: all.parks + worker.parks,
        cpu: sum(all.cpu, worker.cpu),
        delayed: sum(all.delayed, worker.delayed),
    })
}

/// A poll that outlasts a window is seen in several: the last one knows the most.
fn long_polls(windows: &[Window], length: f64) -> Vec<LongPoll> {
    let mut polls: BTreeMap<(usize, u64), LongPoll> = BTreeMap::new();
    for poll in windows.iter().flat_map(|window| &window.long_polls) {
        polls.insert((poll.worker, poll.slice), poll.clone());
    }
    let whole = Duration::from_secs_f64(length);
    let cut = |mut poll: LongPoll| {
        let part = (length / poll.time.as_secs_f64()).min(1.0);
        let cut = |time: Option<Duration>| time.map(|time| time.mul_f64(part));
        (poll.cpu, poll.delayed) = (cut(poll.cpu), cut(poll.delayed));
        poll.time = poll.time.min(whole);
        poll
    };
    polls.into_values().filter(|poll| !poll.time.is_zero()).map(cut).collect()
}
