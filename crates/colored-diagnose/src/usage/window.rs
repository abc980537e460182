//! [`Window`]: what was used between two snapshots.

use super::{
    ColorUsage, FunctionUsage, SiteUsage, Snapshot, TimerUsage, Usage, Waits, WorkerUsage,
};
use crate::partitions::Partition;
use colored_core::{Color, LongPoll};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::iter;
use std::time::Duration;

/// What a runtime used between two [`Snapshot`]s.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Window {
    /// How long it was.
    pub length: Duration,
    /// By worker.
    pub workers: Vec<WorkerUsage>,
    /// Workers that were in use at its end, without spare ones.
    pub active_workers: usize,
    /// The CPUs that the process may use; 0 if the system does not say.
    pub cpus: usize,
    /// The colors that used something, the one that ran longest first.
    pub colors: Vec<ColorUsage>,
    /// The rest, with the run time that the samples cannot assign to a color.
    pub others: Usage,
    /// By the place of the spawn, the largest first.
    pub sites: Vec<SiteUsage>,
    /// Tasks that had been spawned and had not completed, at its end.
    pub tasks: u64,
    /// How many more tasks these are than at its begin.
    pub more_tasks: i64,
    /// Timers.
    pub timers: TimerUsage,
    /// The long polls that were seen in it.
    pub long_polls: Vec<LongPoll>,
    /// How often a worker was woken.
    pub wakes: u64,
    /// Whether waits were measured for the whole of it.
    pub measures_waits: bool,
    /// How many workers were inside a poll and blocked, on average. Snapshots do not say that: an
    /// observation looks every 5 ms, on Linux.
    pub blocked: Option<f64>,
    /// What the tasks waited for, at some moments of the window. Snapshots do not say that either: an observation looks
    /// some times a second.
    pub waits: Vec<Waits>,
    /// The partitions of the consumers on the runtime, at its end. Snapshots do not say that either: the last window of an
    /// observation has them.
    pub partitions: Vec<Partition>,
    /// The functions that workers were seen in, the most frequent first. Snapshots do not say that either: the last window
    /// of an observation has them, of all its windows, if the program has called `dump::install_stack_handler`.
    pub functions: Vec<FunctionUsage>,
}

impl Window {
    /// What was used from `earlier` to `later`, two snapshots of one runtime.
    #[must_use]
    pub fn between(earlier: &Snapshot, later: &Snapshot) -> Self {
        let before: HashMap<Color, &ColorUsage> =
            earlier.colors.iter().map(|color| (color.color, color)).collect();
        let mut colors: Vec<ColorUsage> = later.colors.clone();
        for color in &mut colors {
            let before = before.get(&color.color).map_or_else(Usage::default, |of| of.own());
            (color.usage, color.error) = (color.own().since(&before), Duration::ZERO);
        }
        colors.retain(|color| color.usage != Usage::default());
        colors.sort_by_key(|color| (Reverse(color.usage.run), color.color));
        let is_new = |poll: &&LongPoll| !earlier.long_polls.contains(poll);
        Self {
            length: later.at.saturating_sub(earlier.at),
            workers: workers_between(&earlier.workers, &later.workers),
            active_workers: later.active_workers,
            cpus: later.cpus,
            others: others_between(earlier, later, &colors),
            colors,
            sites: sites_between(&earlier.sites, &later.sites),
            tasks: later.tasks,
            more_tasks: later.tasks.cast_signed() - earlier.tasks.cast_signed(),
            timers: TimerUsage {
                pending: later.timers.pending,
                fired: later.timers.fired.saturating_sub(earlier.timers.fired),
                turns: later.timers.turns.saturating_sub(earlier.timers.turns),
            },
            long_polls: later.long_polls.iter().filter(is_new).cloned().collect(),
            wakes: later.wakes.saturating_sub(earlier.wakes),
            measures_waits: earlier.measures_waits && later.measures_waits,
            blocked: None,
            waits: Vec::new(),
            partitions: Vec::new(),
            functions: Vec::new(),
        }
    }
}

/// All that was used, without these colors. What a color has used before it lost its place to another one is not new,
/// although it is among the others, or counted for the other one, only since then.
fn others_between(earlier: &Snapshot, later: &Snapshot, colors: &[ColorUsage]) -> Usage {
    let sum = |colors: &[ColorUsage]| {
        colors.iter().map(|color| color.usage).fold(Usage::default(), |sum, usage| sum + usage)
    };
    let all = |of: &Snapshot| of.others + sum(&of.colors);
    let mut others = all(later).since(&all(earlier)).since(&sum(colors));
    (others.depth, others.max_depth) = (later.others.depth, later.others.max_depth);
    others
}

fn workers_between(earlier: &[WorkerUsage], later: &[WorkerUsage]) -> Vec<WorkerUsage> {
    let none = WorkerUsage::default();
    let before = earlier.iter().chain(iter::repeat(&none));
    let difference = |(later, before): (&WorkerUsage, &WorkerUsage)| WorkerUsage {
        run: later.run.saturating_sub(before.run),
        search: later.search.saturating_sub(before.search),
        io: later.io.saturating_sub(before.io),
        timers: later.timers.saturating_sub(before.timers),
        parked: later.parked.saturating_sub(before.parked),
        polls: later.polls.saturating_sub(before.polls),
        slices: later.slices.saturating_sub(before.slices),
        steals: later.steals.saturating_sub(before.steals),
        parks: later.parks.saturating_sub(before.parks),
        cpu: time_between(before.cpu, later.cpu),
        delayed: time_between(before.delayed, later.delayed),
    };
    later.iter().zip(before).map(difference).collect()
}

/// A thread that has just begun has no earlier time.
fn time_between(earlier: Option<Duration>, later: Option<Duration>) -> Option<Duration> {
    Some(later?.saturating_sub(earlier.unwrap_or_default()))
}

fn sites_between(earlier: &[SiteUsage], later: &[SiteUsage]) -> Vec<SiteUsage> {
    let mut sites = later.to_vec();
    for site in &mut sites {
        if let Some(before) = earlier.iter().find(|before| before.site == site.site) {
            site.run_default = site.run_default.saturating_sub(before.run_default);
            site.run_colored = site.run_colored.saturating_sub(before.run_colored);
        }
    }
    sites.retain(|site| !(site.run_default + site.run_colored).is_zero());
    sites.sort_by_key(|site| Reverse(site.run_default + site.run_colored));
    sites
}

#[cfg(test)]
mod tests {
    use super::{ColorUsage, Snapshot, Usage, Window};
    use colored_core::{Color, Priority};
    use std::time::Duration;

    fn used(run: u64, turns: u64) -> Usage {
        let mut usage = Usage::default();
        (usage.run, usage.turns) = (Duration::from_secs(run), turns);
        usage
    }

    /// With a color of that number, run time, turns and error.
    fn snapshot(at: u64, [number, run, turns, error]: [u64; 4], others: Usage) -> Snapshot {
        let color = ColorUsage {
            color: Color::new(number),
            usage: used(run, turns),
            error: Duration::from_secs(error),
            priority: Priority::Normal,
        };
        let at = Duration::from_secs(at);
        Snapshot { at, colors: vec![color], others, ..Snapshot::default() }
    }

    /// The second color ran for 2 s, the first one for 1 s before it lost its place.
    #[test]
    fn a_color_that_takes_the_place_of_another_has_not_run_for_it() {
        let earlier = snapshot(100, [1, 40, 4, 0], used(7, 70));
        let later = snapshot(103, [2, 43, 2, 41], used(7, 75));
        let window = Window::between(&earlier, &later);
        let colors: Vec<_> = window.colors.iter().map(|of| (of.color, of.usage)).collect();
        assert_eq!(colors, [(Color::new(2), used(2, 2))]);
        assert_eq!(window.others, used(1, 1));
        // From then on its sum grows by what it uses.
        let last = Window::between(&later, &snapshot(104, [2, 44, 3, 41], used(7, 75)));
        assert_eq!(last.colors[0].usage, used(1, 1));
        assert_eq!(last.others, Usage::default());
    }
}
