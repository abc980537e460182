//! What limited a stretch of work that has a begin and an end: from the polls of a snapshot.

mod blame;
mod bound;
mod graph;
mod replay;

use super::{Event, Record, Snapshot};
use blame::{Reason, Walk};
use colored_core::Color;
use graph::Graph;
use replay::Replay;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::time::Duration;

/// What limited the work of a snapshot, from its first poll to its last: a batch, a request, a burst.
///
/// Its text is one line, such as ``61 % color `orders`, 22 % CPUs, 17 % outside``: what the steps waited for, from the last
/// one back to the first. The tasks' own run times on that path, which no other order makes shorter, are `work`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Batch {
    /// From the begin of the first poll to the end of the last.
    pub time: Duration,
    /// The run time of all polls and closures.
    pub work: Duration,
    /// The workers that could run them.
    pub workers: usize,
    /// The longest chain of wakes and spawns: with any number of CPUs and colors it takes no less, if run times stay.
    pub longest_chain: Duration,
    /// The colors, the one that ran longest first; at most 16.
    pub colors: Vec<Split>,
    /// What the last steps waited for, the largest part first. The times add up to [`time`](Self::time).
    pub blame: Vec<(Blame, Duration)>,
    /// Whether records were lost: then the figures are of what is left.
    pub is_cut: bool,
    names: BTreeMap<Color, &'static str>,
}

/// How much faster the batch would be, if a color were many.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Split {
    /// The color.
    pub color: Color,
    /// How long it ran.
    pub run: Duration,
    /// No split of the color makes the batch faster than by this factor, if run times stay.
    pub at_most: f64,
    /// The factor if each task of the color had a color of its own, colors took turns as they do by default, and a poll
    /// took as long as it did. Less than 1 if the split makes the batch slower: the tasks of the color then take turns with
    /// a chain of polls under another one, which lasts as long as the batch, and is late at its end.
    pub estimate: f64,
}

/// What a part of the time is blamed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Blame {
    /// A step could run, and its color was busy with others, while a worker was free.
    Color(Color),
    /// A step could run, and waited for a worker, or for one to wake up.
    Cpus,
    /// A step waited for an event, a timer, or another thread.
    Outside,
    /// The steps themselves.
    Work,
}

/// A poll, in nanoseconds.
#[cfg(feature = "hdrhistogram")]
pub(super) struct Polled {
    pub(super) color: Color,
    pub(super) ran: u64,
    /// From the wake-up to the poll; none if no wake-up is recorded.
    pub(super) waited: Option<u64>,
}

/// How many colors are compared.
const COLORS: usize = 16;

impl Snapshot {
    /// What limited the work of this snapshot; `None` without polls, which
    /// [`Level::Tasks`](crate::trace::Level::Tasks) records.
    ///
    /// Costs some microseconds for each poll.
    #[must_use]
    pub fn batch(&self) -> Option<Batch> {
        let graph = Graph::new(self);
        graph.nodes.iter().find(|node| node.task.is_some())?;
        let start = graph.nodes.first()?.begin;
        let end = graph.nodes.iter().map(|node| node.end).max()?;
        let workers = self.runners();
        let (time, work): (u64, u64) =
            (end - start, graph.nodes.iter().map(graph::Node::ran).sum());
        let longest_chain = bound::longest_chain(&graph, start);
        let replay = Replay::new(&graph, start, workers);
        let colors = splits(&graph, &replay, time, longest_chain.max(work / workers as u64));
        let is_cut = self.threads.iter().any(|thread| thread.overwritten + thread.dropped > 0);
        Some(Batch {
            time: Duration::from_nanos(time),
            work: Duration::from_nanos(work),
            workers,
            longest_chain: Duration::from_nanos(longest_chain),
            colors,
            blame: blamed(&blame::walk(&graph, start, workers)),
            is_cut,
            names: self.names.clone(),
        })
    }

    /// The polls of tasks.
    #[cfg(feature = "hdrhistogram")]
    pub(super) fn polls(&self) -> Vec<Polled> {
        let of_tasks = Graph::new(self).nodes.into_iter().filter(|node| node.task.is_some());
        let polled = |node: graph::Node| {
            let waited = match node.cause {
                graph::Cause::Own => None,
                graph::Cause::Poll(_, woken) | graph::Cause::Outside(woken) => {
                    Some(node.begin.saturating_sub(woken))
                }
            };
            Polled { color: node.color, ran: node.ran(), waited }
        };
        of_tasks.map(polled).collect()
    }

    /// The threads that run polls at a time: the workers, and a thread in `block_on` if one has run something.
    fn runners(&self) -> usize {
        let slice = |record: &Record| matches!(record.event, Event::Slice { .. });
        let outside = self.threads.iter().skip(self.workers).next_back();
        let has_run = outside.is_some_and(|thread| thread.records.iter().any(slice));
        (self.workers + usize::from(has_run)).max(1)
    }

    /// The records of the polls on the path from the first one to the last, by thread and index.
    pub(super) fn critical_polls(&self) -> Vec<(usize, usize)> {
        let graph = Graph::new(self);
        let start = graph.nodes.first().map_or(0, |node| node.begin);
        let walk = blame::walk(&graph, start, self.runners());
        let polls = walk.nodes.iter().rev().map(|node| &graph.nodes[*node]);
        polls.filter(|node| node.task.is_some()).map(|node| (node.thread, node.record)).collect()
    }
}

/// `least`: what the batch takes at least, whatever its colors are.
fn splits(graph: &Graph, replay: &Replay<'_>, time: u64, least: u64) -> Vec<Split> {
    let mut runs = HashMap::<Color, u64>::new();
    graph.nodes.iter().for_each(|node| *runs.entry(node.color).or_default() += node.ran());
    let mut runs: Vec<(Color, u64)> = runs.into_iter().collect();
    runs.sort_by_key(|(color, run)| (std::cmp::Reverse(*run), *color));
    let before = replay.time(None);
    let of = |&(color, run): &(Color, u64)| {
        let next = runs.iter().find(|(other, _)| *other != color).map_or(0, |(_, run)| *run);
        // One color's own tasks still run one after another, each.
        let strict = least.max(next).max(1);
        let at_most = (time as f64 / strict as f64).max(1.0);
        let gain = before as f64 / replay.time(Some(color)).max(1) as f64;
        Split { color, run: Duration::from_nanos(run), at_most, estimate: gain.min(at_most) }
    };
    runs.iter().take(COLORS).map(of).collect()
}

fn blamed(walk: &Walk) -> Vec<(Blame, Duration)> {
    let of = |(reason, nanos): (&Reason, &u64)| {
        let blame = match *reason {
            Reason::Color(color) => Blame::Color(color),
            Reason::Cpus => Blame::Cpus,
            Reason::Outside => Blame::Outside,
            Reason::Work => Blame::Work,
        };
        (blame, Duration::from_nanos(*nanos))
    };
    let mut blamed: Vec<_> = walk.sums.iter().filter(|(_, nanos)| **nanos > 0).map(of).collect();
    blamed.sort_by_key(|(blame, time)| (std::cmp::Reverse(*time), format!("{blame:?}")));
    blamed
}

impl fmt::Display for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = self.time.as_secs_f64();
        let mut others = 0.0;
        let mut separator = "";
        for (blame, time) in &self.blame {
            let percent = time.as_secs_f64() / whole * 100.0;
            if percent < 1.0 {
                others += percent;
                continue;
            }
            write!(f, "{separator}{percent:.0} % ")?;
            separator = ", ";
            match blame {
                Blame::Color(color) => match self.names.get(color) {
                    Some(name) => write!(f, "color `{name}`")?,
                    None => write!(f, "{color}")?,
                },
                Blame::Cpus => f.write_str("CPUs")?,
                Blame::Outside => f.write_str("outside")?,
                Blame::Work => f.write_str("work")?,
            }
        }
        if others >= 1.0 { write!(f, "{separator}{others:.0} % others") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests;
