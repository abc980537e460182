//! Staged middleware, figure 4: kinds of queues and of locks.
//!
//! All processors share one queue, and the scheduler is the event-driven one: an entry for each event. The events go
//! around the 502 stages of [`staged`](super::staged), with one event a stage. All nodes are made before, as in the paper.
//! The last two rows compare what that is worth: an event is a block of 32 bytes, made once, or anew for each stage.

use super::scaling::worker_counts;
use super::staged::Lines;
use super::{Goal, Plan, Report};
use colored_benches::chart::{Axis, Bars, number};
use colored_benches::measure::{Entry, Outcome, Sample};
use colored_benches::placement::stay_on;
use colored_lab::queues::{
    Deque, Event, Injector, NonBlocking, OneLock, Os, Queue, Spin, TwoLocks, run as schedule,
};
use std::thread::available_parallelism;
use std::time::Duration;

/// The events, and the stages that each visits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    /// Events that wait at each stage at first.
    pub(super) each: usize,
    /// Stages that an event visits after its first one.
    pub(super) hops: usize,
}

/// A kind of queue: how to sample it with a number of workers.
type Kind = (&'static str, fn(usize, Load) -> Box<dyn FnMut() -> Sample>);

const KINDS: [Kind; 8] = [
    ("list, one lock, std's", |workers, load| listed(workers, load, OneLock::<Os>::with_room)),
    ("list, one lock, spinning", |workers, load| listed(workers, load, OneLock::<Spin>::with_room)),
    ("list, two locks, std's", |workers, load| listed(workers, load, TwoLocks::<Os>::with_room)),
    ("list, two locks, spinning", |workers, load| {
        listed(workers, load, TwoLocks::<Spin>::with_room)
    }),
    ("list, no lock", |workers, load| listed(workers, load, NonBlocking::with_room)),
    ("blocks, no lock (crossbeam)", |workers, load| listed(workers, load, |_| Injector::new())),
    ("array, std's lock, events made before", |workers, load| boxed(workers, load, false)),
    ("the same, events made for each stage", |workers, load| boxed(workers, load, true)),
];

/// Places in [`KINDS`].
const ONE_OS: usize = 0;
const ONE_SPIN: usize = 1;
const TWO_OS: usize = 2;
const TWO_SPIN: usize = 3;
const FREE: usize = 4;
const BEFORE: usize = 6;
const EACH: usize = 7;

/// What the paper's text says of its figure: the first kind takes less time than the second.
const ORDER: [(usize, usize, &str); 5] = [
    (ONE_SPIN, ONE_OS, "one queue of events, one lock: a spinning one over std's"),
    (TWO_SPIN, TWO_OS, "one queue of events, two locks: spinning ones over std's"),
    (TWO_OS, ONE_OS, "one queue of events, std's locks: two over one"),
    (TWO_SPIN, ONE_SPIN, "one queue of events, spinning locks: two over one"),
    (TWO_SPIN, FREE, "one queue of events, two spinning locks over no lock"),
];

/// Runs every kind with one worker up to as many as there are cores.
///
/// # Panics
///
/// If an event is lost.
#[must_use]
pub fn run(plan: &Plan) -> Report {
    let mut report = Report::new(plan);
    let counts = worker_counts(available_parallelism().map_or(1, usize::from));
    let load = Load { each: 1, hops: plan.pick(199, 99, 3) };
    let points: Vec<Vec<Outcome>> = counts
        .iter()
        .map(|&workers| {
            let entries = KINDS.map(|(name, kind)| Entry::peer(name, kind(workers, load)));
            plan.alternate(Duration::from_secs(12), entries.into())
        })
        .collect();
    let costs = |kind: usize| points.iter().map(move |point| point[kind].cost * 1e9);
    let rows: Vec<Vec<String>> = KINDS
        .iter()
        .enumerate()
        .map(|(kind, (name, _))| {
            let figures = costs(kind).map(number);
            std::iter::once((*name).to_owned()).chain(figures).collect()
        })
        .collect();
    report.text(
        "One queue for all workers, 502 stages, nanoseconds an event, by the number of workers:",
    );
    let head: Vec<String> = counts.iter().map(usize::to_string).collect();
    let head: Vec<&str> = std::iter::once("queue").chain(head.iter().map(String::as_str)).collect();
    report.table(&head, &rows);
    let series = |(index, count): (usize, &usize)| {
        let kinds = 0..KINDS.len();
        let name = if *count == 1 { String::from("1 worker") } else { format!("{count} workers") };
        (name, kinds.map(|kind| costs(kind).nth(index)).collect())
    };
    let bars = Bars {
        title: String::from("one queue of events: cost of an event"),
        axis: Axis::linear("ns/event"),
        groups: KINDS.map(|(name, _)| name.to_owned()).to_vec(),
        series: counts.iter().enumerate().map(series).collect(),
    };
    report.plot("queues", "cost of an event by kind of queue", bars.draw());
    goals(&mut report, &points[points.len() - 1]);
    report
}

/// The order of the paper, with as many workers as there are cores.
fn goals(report: &mut Report, outcomes: &[Outcome]) {
    let over = |one: usize, other: usize| outcomes[one].cost / outcomes[other].cost;
    for (less, more, text) in ORDER {
        report.goal(&format!("{text} (paper: less)"), over(less, more), Goal::AtMost(1.0));
    }
    let what = "one queue of events, made before over made for each stage";
    report.goal(what, over(BEFORE, EACH), Goal::AtMost(1.0));
}

/// A queue of events that have nodes.
fn listed<Q: Queue<Event> + 'static>(
    workers: usize,
    load: Load,
    queue: fn(usize) -> Q,
) -> Box<dyn FnMut() -> Sample> {
    Box::new(ring(workers, load, stay_on, queue, Event::new, |lines, event| {
        lines.visit(event.what).map(|what| event.with(what))
    }))
}

/// The same by [`Injector`], with workers that the system places.
pub(super) fn unplaced(workers: usize, load: Load) -> impl FnMut() -> Sample {
    ring(workers, load, |_| (), |_| Injector::new(), |_, what| what, Lines::visit)
}

/// An event that is a block of memory, as large as a stage's line.
struct Block {
    what: u64,
    _rest: [u64; 3],
}

impl Block {
    fn boxed(_: u32, what: u64) -> Box<Self> {
        Box::new(Self { what, _rest: [0; 3] })
    }
}

/// A queue of blocks. Each stage makes a block `anew`, or passes on the one that it was given.
fn boxed(workers: usize, load: Load, anew: bool) -> Box<dyn FnMut() -> Sample> {
    let queue: fn(usize) -> Deque<Box<Block>> = Deque::with_room;
    if anew {
        Box::new(ring(workers, load, stay_on, queue, Block::boxed, |lines, block| {
            lines.visit(block.what).map(|what| Block::boxed(0, what))
        }))
    } else {
        Box::new(ring(workers, load, stay_on, queue, Block::boxed, |lines, mut block| {
            block.what = lines.visit(block.what)?;
            Some(block)
        }))
    }
}

/// Events that go around the stages. The queue is made before each sample.
fn ring<T: Send, Q: Queue<T>>(
    workers: usize,
    load: Load,
    on_start: fn(usize),
    queue: fn(usize) -> Q,
    event: fn(u32, u64) -> T,
    visit: impl Fn(&Lines, T) -> Option<T> + Sync,
) -> impl FnMut() -> Sample {
    let lines = Lines::new();
    move || {
        let count = lines.count() * load.each;
        let queue = queue(count);
        let first = |number| event(number as u32, lines.first(number, load.hops));
        let events = (0..count).map(first).collect();
        let runs = (count * (load.hops + 1)) as u64;
        let mut handled = 0;
        let sample = Sample::time(runs, || {
            handled = schedule(&queue, workers, on_start, events, |event| visit(&lines, event));
        });
        assert_eq!(handled, runs, "an event was lost");
        sample
    }
}
