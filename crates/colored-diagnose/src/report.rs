//! [`Report`]: what limits a program, in a sentence.
//!
//! A report reads a series of [`Window`]s, the parts of one observation of a second or two, and names the faults that it
//! finds in them, the most important one first. It has no other source, so it can be made of windows that a program has
//! collected itself, and `Handle::observe` collects them.
//!
//! All thresholds are relative: to the length of the observation, to the CPUs, to the other polls of the program, or to
//! what a dispatch costs there. A program that has nothing to mend gets no finding, however busy it is.

mod bound;
mod digest;
mod fault;
mod hotspot;
mod news;
mod rank;
mod rules;
#[cfg(test)]
mod tests;
mod text;
mod waits;

pub use self::bound::Limit;
pub use self::fault::{Fault, Finding};
pub use self::hotspot::Hotspot;
pub(crate) use self::news::News;
pub use self::waits::Waiting;

use self::bound::Bound;
use self::digest::Digest;
use crate::json::{self, Object};
use crate::partitions::Partition;
use crate::usage::Window;
use std::fmt;
use std::time::Duration;

/// From this part on the delay is noted: figures of run times are too large then.
const MUCH_DELAY: f64 = 0.25;

/// What limits a program, and what to change.
///
/// Its text ([`Display`](fmt::Display)) begins with one line: the name of the first fault and a sentence, or `none` and a
/// sentence that says by how much the load can grow.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// What was found, the most important one first.
    pub findings: Vec<Finding>,
    /// How long the program was observed.
    pub length: Duration,
    /// The factor by which the load can grow until something is full, 1 or more; infinite without a load.
    pub ceiling: f64,
    /// What is full then; none without a load.
    pub limit: Option<Limit>,
    /// The part of the CPUs that polls and callbacks took, from 0 to 1.
    pub load: f64,
    /// The part of the time, from 0 to 1, in which workers could have run and the system ran other threads: its own, those
    /// of other programs, or other workers, if there are more of these than CPUs. 0 where the system does not say.
    pub delayed: f64,
    /// Whether the workers were awake nearly all the time, as far as there are CPUs for them.
    is_full: bool,
    /// Whether waits were measured. Without this the report knows run times only, and finds less.
    pub measures_waits: bool,
    /// What the tasks waited for: the three most frequent waits that are alike, and the oldest one of the others.
    pub waits: Vec<Waiting>,
    /// How often the tasks were looked at for this: never, if there are too many of them.
    pub looks: usize,
    /// The partitions of consumers whose low-water mark has stood for half of the observation at least.
    pub partitions: Vec<Partition>,
    /// The crates that polls and callbacks spend their time in: first of all colors together, then of the color of each
    /// finding; three of each, the largest first. Empty unless the program has called `dump::install_stack_handler`, and if
    /// fewer than 20 looks have seen a function.
    pub hotspots: Vec<Hotspot>,
    /// The color of `limit`, as a text says it.
    limit_name: String,
}

impl Report {
    /// The report of an observation: of consecutive windows of one runtime, best ten of a tenth of a second each. What
    /// grows is told from what comes and goes by comparing the windows, so fewer than four find no growing queue.
    ///
    /// Costs a few microseconds for each window, and some for each color in it.
    #[must_use]
    pub fn of(windows: &[Window]) -> Self {
        let Some(digest) = Digest::of(windows) else { return Self::empty() };
        let bound = Bound::without(&digest, &[]);
        let findings = rank::rank(&rules::all(&digest));
        Self {
            hotspots: hotspot::of_findings(windows, &findings),
            findings,
            length: windows.iter().map(|window| window.length).sum(),
            ceiling: bound.ceiling,
            limit: bound.limit,
            load: digest.load(),
            is_full: digest.awake() >= rules::FULL,
            delayed: digest.delayed(),
            measures_waits: digest.measures_waits,
            waits: digest.waits.shown(),
            looks: digest.waits.looks,
            partitions: standing(windows),
            limit_name: match bound.limit {
                Some(Limit::Color(color)) => digest.waits.name(color),
                _ => String::new(),
            },
        }
    }

    /// Of nothing.
    fn empty() -> Self {
        Self {
            findings: Vec::new(),
            length: Duration::ZERO,
            ceiling: f64::INFINITY,
            limit: None,
            load: 0.0,
            is_full: false,
            delayed: 0.0,
            measures_waits: false,
            waits: Vec::new(),
            looks: 0,
            partitions: Vec::new(),
            hotspots: Vec::new(),
            limit_name: String::new(),
        }
    }

    /// The first fault, if there is one.
    #[must_use]
    pub fn fault(&self) -> Option<Fault> {
        self.findings.first().map(|finding| finding.fault)
    }

    /// The report as a JSON object: `fault` (null if there is none), `sentence`, `findings` with `fault`, `sentence`,
    /// `evidence` and `remedy`; `length` in seconds, `ceiling` (null if infinite), `limit`, `load`, `delayed`, `measures_waits`;
    /// `looks`; `partitions`, of those that stand, as in a [snapshot](crate::inspect); `hotspots` with `color` (null for all
    /// colors), `part` (of the time of its polls), `crate`, `functions` with `function` and `part`, `caller`; and `waits` with `for`, `color`, `site`, `spawned`, `tasks` (the mean number), `part` (of the looks), `oldest`.
    #[must_use]
    pub fn to_json(&self) -> String {
        json::object(|report| self.write(report))
    }

    /// The fields of [`to_json`](Self::to_json).
    pub(crate) fn write(&self, report: &mut Object<'_>) {
        report.field("fault", self.fault().map(Fault::name));
        report.field("sentence", &self.sentence());
        report.array("findings", |findings| {
            self.findings.iter().for_each(|found| findings.object(|object| found.write(object)));
        });
        report.array("partitions", |list| {
            self.partitions.iter().for_each(|partition| list.object(|one| partition.write(one)));
        });
        report.array("hotspots", |list| {
            self.hotspots.iter().for_each(|hotspot| list.object(|one| hotspot.write(one)));
        });
        report.field("length", self.length);
        report.field("ceiling", self.ceiling);
        let limit = self.limit.map(|limit| match limit {
            Limit::Color(color) => color.to_string(),
            Limit::Cpus => "cpus".into(),
        });
        report.field("limit", limit.as_ref());
        report.field("load", self.load);
        report.field("delayed", self.delayed);
        report.field("measures_waits", self.measures_waits);
        report.field("looks", self.looks);
        report.array("waits", |list| {
            self.waits.iter().for_each(|waiting| list.object(|object| waiting.write(object)));
        });
    }

    /// The first line, without the name of the fault.
    fn sentence(&self) -> String {
        match self.findings.first() {
            Some(finding) => finding.sentence.clone(),
            None => self.nothing(),
        }
    }

    /// What the tasks wait for, what holds partitions back, and the note on other programs.
    fn write_rest(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for waiting in &self.waits {
            write!(f, "\nwaits: {waiting}")?;
        }
        if self.looks == 0 && self.length > Duration::ZERO {
            f.write_str("\nwaits: not looked at, so what is not a color is not known")?;
        }
        for partition in &self.partitions {
            let Some(first) = &partition.first else { continue };
            let (name, stood, above) =
                (&partition.name, text::time(first.stood), partition.done_above);
            write!(
                f,
                "\npartition {name} stands for {stood}, {above} records done above: {first}"
            )?;
        }
        if self.delayed < MUCH_DELAY {
            return Ok(());
        }
        let delayed = text::percent(self.delayed);
        write!(
            f,
            "\nnote: for {delayed} of the time in which workers could have run, the system ran other threads"
        )
    }

    /// The sentence where nothing was found. It speaks of what is measured: what tasks wait for is listed, and may limit.
    fn nothing(&self) -> String {
        const MEASURED: &str = "no color and no CPU limits the program";
        let load = text::percent(self.load);
        let ceiling = text::factor(self.ceiling);
        match self.limit {
            None if self.waits.is_empty() => "nothing limits the program: it does nothing".into(),
            None => format!("{MEASURED}: it does nothing, its tasks wait"),
            Some(_) if self.is_full && self.load >= rules::FULL => {
                format!(
                    "the CPUs limit: polls take {load} of them, and no color would gain by a split"
                )
            }
            Some(_) if self.is_full => format!(
                "the CPUs limit: no worker sleeps, though polls get {load} of the CPUs only"
            ),
            Some(Limit::Cpus) => format!(
                "{MEASURED}: polls take {load} of the CPUs, which are full when the load has grown {ceiling} times"
            ),
            Some(Limit::Color(_)) => format!(
                "{MEASURED}: polls take {load} of the CPUs; {} is full when the load has grown {ceiling} times",
                self.limit_name
            ),
        }
    }
}

/// The partitions that have stood for most of the time.
fn standing(windows: &[Window]) -> Vec<Partition> {
    let length: Duration = windows.iter().map(|window| window.length).sum();
    let partitions = windows.last().into_iter().flat_map(|window| &window.partitions);
    partitions.filter(|partition| partition.has_stood(length / 2)).cloned().collect()
}

impl fmt::Display for Report {
    /// One sentence, then the evidence and the remedy of each finding; then what the tasks wait for, the partitions that stand, and a note if other
    /// programs took the CPUs. No line end after the last line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(first) = self.findings.first() else {
            write!(f, "none: {}", self.nothing())?;
            if self.is_full {
                let all = self.hotspots.iter().filter(|hotspot| hotspot.color.is_none());
                let mut lines = hotspot::lines(all, "the time of polls");
                lines.try_for_each(|line| write!(f, "\n  {line}"))?;
            }
            return self.write_rest(f);
        };
        write!(f, "{first}")?;
        for finding in &self.findings[1..] {
            write!(f, "\nalso {finding}")?;
        }
        self.write_rest(f)
    }
}
