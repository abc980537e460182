//! [`Exporter`]: a runtime's counters for the recorder of the `metrics` crate.

mod names;
mod share;
#[cfg(test)]
mod tests;

use self::share::Share;

use crate::diagnose::usage::{ColorUsage, Snapshot, Usage};
use crate::runtime::Handle;
use ::metrics::{Label, gauge};
use colored_core::Color;
use std::cmp::Reverse;
use std::time::Duration;

/// Publishes the counters of a runtime to the recorder that the program has installed, with the crate
/// [`metrics`](https://docs.rs/metrics) 0.24.
///
/// Nothing is published by itself: [`publish`](Self::publish) reads the counters and adds to the values what has changed since
/// this exporter's last publication, from a task of the program or before each scrape. So the values of several runtimes add
/// up, each with an exporter of its own. Keep one exporter for each runtime: a second one of the same runtime counts
/// everything again.
///
/// ```
/// use colored::Handle;
/// use colored::metrics::Exporter;
/// use colored::time::{Duration, interval};
///
/// # #[colored::main(workers = 1)]
/// # async fn main() {
/// let mut exporter = Exporter::new(&Handle::current()).colors(10);
/// let _detached = colored::spawn_unique(async move {
///     let mut ticks = interval(Duration::from_secs(10));
///     loop {
///         ticks.tick().await;
///         exporter.publish();
///     }
/// });
/// # }
/// ```
///
/// A recorder takes whole numbers only for counters, so times, in seconds, are gauges: they grow like counters, and
/// `rate` works on them.
///
/// | name | kind | labels |
/// |---|---|---|
/// | `colored_worker_time_seconds_total` | gauge | `worker`; `state`: `run`, `search`, `io`, `timer`, `park`, which add up to the age of the worker (of several runtimes, of the workers with this number) |
/// | `colored_polls_total`, `colored_slices_total`, `colored_steals_total`, `colored_parks_total`, `colored_wakes_total` | counter | |
/// | `colored_run_seconds_total` | gauge | all colors together |
/// | `colored_wait_seconds_total` | gauge | `for`: `color`, `cpu`; all colors together; grows while the runtime records at [`Level::Slices`](crate::diagnose::usage::Level::Slices) or higher |
/// | `colored_default_color_busy_ratio` | gauge | the part of the time since the last `publish`, from 0 to 1, in which the default color ran or was kept; of the runtime that was published last |
/// | `colored_lanes`, `colored_tasks`, `colored_timers` | gauge | colors in use, tasks, timers that are set |
/// | `colored_timers_fired_total`, `colored_long_polls_total` | counter | |
/// | `colored_blocking_threads` | gauge | threads of [`spawn_blocking`](crate::spawn_blocking) |
/// | `colored_recorder_level` | gauge | what the runtime records; of the runtime that was published last |
/// | `colored_color_run_seconds_total`, `colored_color_depth` | gauge | `color`; see [`colors`](Self::colors) |
/// | `colored_color_wait_seconds_total` | gauge | `color`; `for` |
#[derive(Debug)]
#[must_use = "an exporter publishes nothing by itself"]
pub struct Exporter {
    handle: Handle,
    most: usize,
    /// The time and the busy time of the default color, at the last publication.
    before: (Duration, Duration),
    /// The colors that have labels now.
    labeled: Vec<Color>,
    share: Share,
    is_described: bool,
}

impl Exporter {
    /// An exporter for this runtime, without any labels for colors.
    pub fn new(handle: &Handle) -> Self {
        Self {
            handle: handle.clone(),
            most: 0,
            before: (Duration::ZERO, Duration::ZERO),
            labeled: Vec::new(),
            share: Share::default(),
            is_described: false,
        }
    }

    /// Sets how many colors have metrics of their own: the ones with the most run time, kept time and waits since the begin of
    /// the runtime. Default: 0.
    ///
    /// A recorder keeps what it has once heard of. The order of these sums changes rarely, but a program with ever new
    /// colors may in time have more labels than this. The depth of a color that has lost its place is set to 0, and its
    /// sums stay as they are.
    pub fn colors(mut self, most: usize) -> Self {
        self.most = most;
        self
    }

    /// Reads the counters, and brings the values of the current recorder up to date. A recorder that is installed later has
    /// what was counted from then on. Costs what [`Handle::usage`](crate::Handle::usage) costs, and what the recorder takes
    /// for each value.
    pub fn publish(&mut self) {
        if !self.is_described {
            names::describe();
            self.is_described = true;
        }
        let usage = self.handle.usage();
        self.export_workers(&usage);
        self.export_counts(&usage);
        self.export_times(&usage);
        self.export_top_colors(&usage);
    }

    fn export_workers(&mut self, usage: &Snapshot) {
        let mut sums = [0; 4];
        for (index, worker) in usage.workers.iter().enumerate() {
            let states = [
                ("run", worker.run),
                ("search", worker.search),
                ("io", worker.io),
                ("timer", worker.timers),
                ("park", worker.parked),
            ];
            for (state, time) in states {
                let labels = vec![Label::new("worker", index.to_string()), label("state", state)];
                self.share.set(names::WORKER_TIME, labels, time.as_secs_f64());
            }
            let counts = [worker.polls, worker.slices, worker.steals, worker.parks];
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        let names = [names::POLLS, names::SLICES, names::STEALS, names::PARKS];
        names.into_iter().zip(sums).for_each(|(name, sum)| self.share.count(name, sum));
        self.share.count(names::WAKES, usage.wakes);
    }

    fn export_counts(&mut self, usage: &Snapshot) {
        let metrics = self.handle.metrics();
        let levels = [
            (names::LANES, metrics.colors as f64),
            (names::TASKS, usage.tasks as f64),
            (names::TIMERS, usage.timers.pending as f64),
            (names::BLOCKING, metrics.blocking.threads as f64),
        ];
        levels.into_iter().for_each(|(name, level)| self.share.set(name, Vec::new(), level));
        self.share.count(names::TIMERS_FIRED, usage.timers.fired);
        self.share.count(names::LONG_POLLS, metrics.long_polls.polls);
        gauge!(names::LEVEL).set(f64::from(self.handle.trace_level() as u8));
    }

    /// Run times and waits of all colors together, and of the default one.
    fn export_times(&mut self, usage: &Snapshot) {
        let all = usage.colors.iter().fold(usage.others, |sum, color| sum + color.usage);
        let share = &mut self.share;
        share.set(names::RUN, Vec::new(), all.run.as_secs_f64());
        share.set(names::WAIT, vec![label("for", "color")], all.wait_color.as_secs_f64());
        share.set(names::WAIT, vec![label("for", "cpu")], all.wait_cpu.as_secs_f64());
        let default = usage.colors.iter().find(|color| color.color.is_default());
        let busy = default.map_or(Duration::ZERO, |color| color.usage.busy());
        let (at, before) = self.before;
        let length = usage.at.saturating_sub(at).as_secs_f64();
        let ratio = busy.saturating_sub(before).as_secs_f64() / length;
        if length > 0.0 {
            gauge!(names::DEFAULT).set(ratio.min(1.0));
        }
        self.before = (usage.at, busy);
    }

    /// The colors that matter most.
    fn export_top_colors(&mut self, usage: &Snapshot) {
        let mut colors: Vec<&ColorUsage> = usage.colors.iter().collect();
        let weight = |usage: &Usage| usage.busy() + usage.wait_color + usage.wait_cpu;
        colors.sort_by_key(|color| (Reverse(weight(&color.usage)), color.color));
        colors.truncate(self.most);
        let share = &mut self.share;
        for color in &colors {
            let (named, usage) = (of_color(color.color), &color.usage);
            let waits_for = |what| vec![named.clone(), label("for", what)];
            share.set(names::COLOR_RUN, vec![named.clone()], usage.run.as_secs_f64());
            share.set(names::COLOR_WAIT, waits_for("color"), usage.wait_color.as_secs_f64());
            share.set(names::COLOR_WAIT, waits_for("cpu"), usage.wait_cpu.as_secs_f64());
            share.set(names::COLOR_DEPTH, vec![named], usage.depth as f64);
        }
        let labeled: Vec<_> = colors.iter().map(|color| color.color).collect();
        for gone in self.labeled.iter().filter(|color| !labeled.contains(color)) {
            share.set(names::COLOR_DEPTH, vec![of_color(*gone)], 0.0);
        }
        self.labeled = labeled;
    }
}

fn label(name: &'static str, value: &'static str) -> Label {
    Label::from_static_parts(name, value)
}

/// The name of a color, or its number.
fn of_color(color: Color) -> Label {
    let text = match color.name() {
        Some(name) => name.to_owned(),
        None => {
            let text = color.to_string();
            text.strip_prefix("color ").unwrap_or(&text).to_owned()
        }
    };
    Label::new("color", text)
}
