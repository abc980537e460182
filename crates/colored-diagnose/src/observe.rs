//! [`Observation`]: a report of the next second.

use crate::dump::{Patience, SampledStacks, partitions, sample};
use crate::report::Report;
use crate::subject::Subject;
use crate::usage::{Snapshot, Waits, Window, snapshot};
use crate::wall;
use std::mem;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// Windows in an observation, which show what grows, and what comes and goes.
pub(crate) const PARTS: u32 = 10;

/// How often an observation looks which workers are blocked: some microseconds for each worker that is in a poll.
const LOOK: Duration = Duration::from_millis(5);

/// An observation looks at the tasks that often, at most.
const LOOK_AT_TASKS: Duration = Duration::from_millis(20);

/// The looks at the tasks take this part of the time, at most.
const PART_FOR_TASKS: u32 = 20;

/// Of more tasks an observation does not look at what they wait for: a look takes 0.2 s.
const MOST_TASKS: u64 = 300_000;

/// The same for the reactor thread, which has other things to do: a look takes 7 ms.
const MOST_TASKS_OF_REACTOR: u64 = 10_000;

/// Observes the runtime for so long, on this thread, which sleeps meanwhile. Needs no worker.
#[must_use]
pub fn observe_blocking(subject: Arc<dyn Subject>, length: Duration) -> Report {
    let mut observation = Observation::begin(subject, Patience::Some);
    let (begin, part) = (wall::now(), length / PARTS);
    for number in 1..=PARTS {
        while let Some(rest) = (part * number).checked_sub(wall::since(begin)) {
            thread::sleep(rest.min(LOOK));
            observation.look();
        }
        observation.end_part();
    }
    observation.report()
}

/// An observation in progress: the runtime records waits while this lives.
pub(crate) struct Observation {
    subject: Arc<dyn Subject>,
    earlier: Snapshot,
    windows: Vec<Window>,
    /// Looks at the workers in the present part, and how many were blocked in them.
    looks: u32,
    blocked: u32,
    patience: Patience,
    /// The functions that the workers were in. None are asked for without patience.
    stacks: SampledStacks,
    /// What the tasks waited for in the present part.
    waits: Vec<Waits>,
    /// When the tasks are to be looked at again.
    next: Instant,
}

impl Observation {
    pub(crate) fn begin(subject: Arc<dyn Subject>, patience: Patience) -> Self {
        subject.diagnosis().levels.raise(subject.scheduler());
        let earlier = snapshot(&*subject);
        let (windows, waits, next) = (Vec::new(), Vec::new(), wall::now());
        let stacks = SampledStacks::default();
        let observation =
            Self { subject, earlier, windows, looks: 0, blocked: 0, patience, stacks, waits, next };
        observation.ask_consumers();
        observation
    }

    /// The report reads what the consumers have told by then. Warnings say nothing of partitions.
    fn ask_consumers(&self) {
        if self.patience == Patience::Some {
            self.subject.diagnosis().partitions.refresh();
        }
    }

    /// Looks which workers are blocked and in which functions they are, and now and then what the tasks wait for.
    pub(crate) fn look(&mut self) {
        self.look_at_workers();
        if self.patience == Patience::Some {
            self.stacks.look(&*self.subject);
        }
        if wall::now() >= self.next {
            self.look_at_tasks();
        }
    }

    fn look_at_tasks(&mut self) {
        let begin = wall::now();
        let most = match self.patience {
            Patience::Some => MOST_TASKS,
            Patience::None => MOST_TASKS_OF_REACTOR,
        };
        let scheduler = self.subject.scheduler();
        if scheduler.live_tasks() <= most {
            self.waits.extend(sample(&*self.subject, self.patience));
        }
        let rest = (wall::since(begin) * PART_FOR_TASKS).max(LOOK_AT_TASKS);
        self.next = wall::now() + rest;
    }

    fn look_at_workers(&mut self) {
        let (scheduler, threads) = (self.subject.scheduler(), &self.subject.diagnosis().threads);
        let workers = 0..scheduler.workers() + scheduler.spares();
        let blocked = |worker: &usize| threads.is_blocked(*worker, scheduler);
        self.blocked += u32::try_from(workers.filter(blocked).count()).expect("at most 1088");
        self.looks += 1;
    }

    /// Ends a part. Returns how many there have been.
    pub(crate) fn end_part(&mut self) -> u32 {
        let later = snapshot(&*self.subject);
        let mut window = Window::between(&self.earlier, &later);
        window.waits = mem::take(&mut self.waits);
        window.blocked = (self.looks > 0).then(|| f64::from(self.blocked) / f64::from(self.looks));
        self.windows.push(window);
        self.earlier = later;
        self.ask_consumers();
        (self.looks, self.blocked) = (0, 0);
        self.stacks.end_part();
        u32::try_from(self.windows.len()).expect("ten")
    }

    pub(crate) fn report(&mut self) -> Report {
        if let (Patience::Some, Some(last)) = (self.patience, self.windows.last_mut()) {
            last.partitions = partitions(&*self.subject, MOST_TASKS);
            last.functions = self.stacks.functions();
        }
        Report::of(&self.windows)
    }
}

impl Drop for Observation {
    fn drop(&mut self) {
        self.subject.diagnosis().levels.restore(self.subject.scheduler());
    }
}
