//! A snapshot: the fields of the runtime's protocol that this program shows.
//!
//! Times are in seconds. A field that is not there has its default, so that a newer program reads an older runtime.

use serde::Deserialize;

/// The reply where something is wrong.
#[derive(Deserialize)]
pub(crate) struct Failure {
    pub(crate) error: Option<String>,
}

/// The reply to `trace`.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Traced {
    pub(crate) trace: Option<String>,
    pub(crate) error: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Snapshot {
    pub(crate) protocol: u64,
    pub(crate) program: String,
    pub(crate) pid: u64,
    pub(crate) seconds: f64,
    /// The length of the window.
    pub(crate) window: Option<f64>,
    pub(crate) level: u64,
    pub(crate) measures_waits: bool,
    pub(crate) tasks: u64,
    pub(crate) active_workers: u64,
    pub(crate) cpus: u64,
    pub(crate) wakes: Both<u64>,
    pub(crate) workers: Vec<Both<Worker>>,
    pub(crate) colors: Vec<Color>,
    pub(crate) colors_in_use: u64,
    pub(crate) others: Both<Usage>,
    pub(crate) sites: Vec<Site>,
    pub(crate) timers: Timers,
    pub(crate) long_polls: Vec<LongPoll>,
    pub(crate) partitions: Vec<Partition>,
    pub(crate) report: Option<Report>,
}

/// Since the begin of the runtime, and in the latest window.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(crate) struct Both<T> {
    pub(crate) total: T,
    pub(crate) window: Option<T>,
}

impl<T> Both<T> {
    /// The window where it is wanted and there is one, else the total.
    pub(crate) fn of(&self, totals: bool) -> &T {
        self.window.as_ref().filter(|_| !totals).unwrap_or(&self.total)
    }
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Worker {
    pub(crate) run: f64,
    pub(crate) search: f64,
    pub(crate) io: f64,
    pub(crate) timers: f64,
    pub(crate) parked: f64,
    pub(crate) polls: u64,
    pub(crate) slices: u64,
    pub(crate) steals: u64,
    pub(crate) parks: u64,
    pub(crate) delayed: Option<f64>,
}

impl Worker {
    /// The length of the time that the parts add up to.
    pub(crate) fn length(&self) -> f64 {
        self.run + self.search + self.io + self.timers + self.parked
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Color {
    color: String,
    pub(crate) priority: String,
    #[serde(flatten)]
    pub(crate) usage: Both<Usage>,
}

impl Color {
    /// The name, without the word "color" before it.
    pub(crate) fn name(&self) -> &str {
        name(&self.color)
    }
}

/// The name of a color, without the word "color" before it.
pub(crate) fn name(color: &str) -> &str {
    color.strip_prefix("color ").unwrap_or(color)
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Usage {
    pub(crate) run: f64,
    pub(crate) kept: f64,
    pub(crate) wait_color: f64,
    pub(crate) wait_cpu: f64,
    pub(crate) turns: u64,
    pub(crate) slices: u64,
    pub(crate) moves: u64,
    pub(crate) depth: u64,
    pub(crate) max_depth: u64,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Site {
    pub(crate) site: Option<String>,
    #[serde(flatten)]
    pub(crate) usage: Both<SiteUsage>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SiteUsage {
    pub(crate) run_default: f64,
    pub(crate) run_colored: f64,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Timers {
    pub(crate) pending: u64,
    #[serde(flatten)]
    pub(crate) usage: Both<TimerUsage>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct TimerUsage {
    pub(crate) fired: u64,
    pub(crate) turns: u64,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct LongPoll {
    pub(crate) worker: u64,
    pub(crate) seconds: f64,
    pub(crate) color: String,
    pub(crate) site: Option<String>,
    pub(crate) cpu: Option<f64>,
}

/// A partition of a log that a consumer of the program owns.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Partition {
    pub(crate) partition: String,
    pub(crate) lag: u64,
    pub(crate) in_flight: u64,
    /// Records that are done above the low-water mark.
    pub(crate) done_above: u64,
    pub(crate) retries: u64,
    pub(crate) dead_letters: u64,
    pub(crate) paused: bool,
    pub(crate) first: Option<FirstRecord>,
}

/// The record that holds a partition back.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct FirstRecord {
    pub(crate) key: String,
    pub(crate) offset: u64,
    pub(crate) seconds: f64,
    pub(crate) attempts: u64,
    pub(crate) waits_for: String,
}

impl Partition {
    /// How long its low-water mark has stood.
    pub(crate) fn stood(&self) -> f64 {
        self.first.as_ref().map_or(0.0, |first| first.seconds)
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Report {
    pub(crate) fault: Option<String>,
    pub(crate) sentence: String,
    pub(crate) findings: Vec<Finding>,
    pub(crate) length: f64,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Finding {
    pub(crate) fault: String,
    pub(crate) sentence: String,
    pub(crate) evidence: Vec<String>,
    pub(crate) remedy: String,
}

/// The tasks, and what each waits for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Dump {
    pub(crate) tasks: Vec<Task>,
    pub(crate) deadlocks: Vec<String>,
    pub(crate) unread: Vec<String>,
    /// Why there are no tasks.
    pub(crate) error: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Task {
    pub(crate) id: u64,
    pub(crate) name: Option<String>,
    pub(crate) color: String,
    pub(crate) spawned: String,
    pub(crate) state: String,
    pub(crate) waits: Vec<Wait>,
}

impl Task {
    /// The name, or the number.
    pub(crate) fn title(&self) -> String {
        match &self.name {
            Some(name) => format!("{name} ({})", self.id),
            None => self.id.to_string(),
        }
    }

    /// How long it has waited; 0 if it does not wait, or nobody knows.
    pub(crate) fn waited(&self) -> f64 {
        self.waits.iter().filter_map(|wait| wait.seconds).fold(0.0, f64::max)
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Wait {
    pub(crate) text: String,
    pub(crate) site: Option<String>,
    pub(crate) seconds: Option<f64>,
}
