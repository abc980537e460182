//! [`Exporter`]: a runtime's counters for the recorder of the `metrics` crate.

mod names;
#[cfg(test)]
mod tests;

use crate::diagnose::usage::{ColorUsage, Snapshot, Usage};
use crate::runtime::Handle;
use ::metrics::{counter, gauge};
use colored_core::Color;
use std::cmp::Reverse;
use std::time::Duration;

/// Publishes the counters of a runtime to the recorder that the program has installed, with the crate
/// [`metrics`](https://docs.rs/metrics) 0.24.
///
/// Nothing is published by itself: [`publish`](Self::publish) reads the counters and sets the values, from a task of the
/// program or before each scrape.
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
/// | `colored_worker_time_seconds_total` | gauge | `worker`; `state`: `run`, `search`, `io`, `timer`, `park`, which add up to the age of the worker |
/// | `colored_polls_total`, `colored_slices_total`, `colored_steals_total`, `colored_parks_total`, `colored_wakes_total` | counter | |
/// | `colored_run_seconds_total` | gauge | all colors together |
/// | `colored_wait_seconds_total` | gauge | `for`: `color`, `cpu`; all colors together; grows while the runtime records at [`Level::Slices`](crate::diagnose::usage::Level::Slices) or higher |
/// | `colored_default_color_busy_ratio` | gauge | the part of the time since the last `publish`, from 0 to 1, in which the default color ran or was kept |
/// | `colored_lanes`, `colored_tasks`, `colored_timers` | gauge | colors in use, tasks, timers that are set |
/// | `colored_timers_fired_total`, `colored_long_polls_total` | counter | |
/// | `colored_blocking_threads` | gauge | threads of [`spawn_blocking`](crate::spawn_blocking) |
/// | `colored_recorder_level` | gauge | what the runtime records |
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

    /// Reads the counters, and sets the values of the current recorder. Costs what
    /// [`Handle::usage`](crate::Handle::usage) costs, and what the recorder takes for each value.
    pub fn publish(&mut self) {
        if !self.is_described {
            names::describe();
            self.is_described = true;
        }
        let usage = self.handle.usage();
        export_workers(&usage);
        export_counts(&usage, &self.handle);
        self.export_times(&usage);
        self.export_top_colors(&usage);
    }

    /// Run times and waits of all colors together, and of the default one.
    fn export_times(&mut self, usage: &Snapshot) {
        let all = usage.colors.iter().fold(usage.others, |sum, color| sum + color.usage);
        gauge!(names::RUN).set(all.run.as_secs_f64());
        gauge!(names::WAIT, "for" => "color").set(all.wait_color.as_secs_f64());
        gauge!(names::WAIT, "for" => "cpu").set(all.wait_cpu.as_secs_f64());
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
        for color in &colors {
            let (label, usage) = (label(color.color), &color.usage);
            gauge!(names::COLOR_RUN, "color" => label.clone()).set(usage.run.as_secs_f64());
            gauge!(names::COLOR_WAIT, "color" => label.clone(), "for" => "color")
                .set(usage.wait_color.as_secs_f64());
            gauge!(names::COLOR_WAIT, "color" => label.clone(), "for" => "cpu")
                .set(usage.wait_cpu.as_secs_f64());
            gauge!(names::COLOR_DEPTH, "color" => label).set(usage.depth as f64);
        }
        let labeled: Vec<_> = colors.iter().map(|color| color.color).collect();
        for gone in self.labeled.iter().filter(|color| !labeled.contains(color)) {
            gauge!(names::COLOR_DEPTH, "color" => label(*gone)).set(0.0);
        }
        self.labeled = labeled;
    }
}

fn export_workers(usage: &Snapshot) {
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
            gauge!(names::WORKER_TIME, "worker" => index.to_string(), "state" => state)
                .set(time.as_secs_f64());
        }
        let counts = [worker.polls, worker.slices, worker.steals, worker.parks];
        sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    for (name, sum) in [names::POLLS, names::SLICES, names::STEALS, names::PARKS].iter().zip(sums) {
        counter!(*name).absolute(sum);
    }
    counter!(names::WAKES).absolute(usage.wakes);
}

fn export_counts(usage: &Snapshot, handle: &Handle) {
    let metrics = handle.metrics();
    gauge!(names::LANES).set(metrics.colors as f64);
    gauge!(names::TASKS).set(usage.tasks as f64);
    gauge!(names::TIMERS).set(usage.timers.pending as f64);
    counter!(names::TIMERS_FIRED).absolute(usage.timers.fired);
    counter!(names::LONG_POLLS).absolute(metrics.long_polls.polls);
    gauge!(names::BLOCKING).set(metrics.blocking.threads as f64);
    gauge!(names::LEVEL).set(f64::from(handle.trace_level() as u8));
}

/// The name of a color, or its number.
fn label(color: Color) -> String {
    match color.name() {
        Some(name) => name.to_owned(),
        None => {
            let text = color.to_string();
            text.strip_prefix("color ").unwrap_or(&text).to_owned()
        }
    }
}
