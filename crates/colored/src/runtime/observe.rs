//! [`Handle::observe`]: a report of the next second.

use super::Handle;
use crate::blocking;
use crate::dump::{Patience, sample};
use crate::report::Report;
use crate::usage::{Snapshot, Waits, Window};
use crate::wall;
use std::mem;
use std::thread;
use std::time::{Duration, Instant};

/// So many windows show what grows, and what comes and goes.
pub(super) const PARTS: u32 = 10;

/// How often an observation looks which workers are blocked: some microseconds for each worker that is in a poll.
const LOOK: Duration = Duration::from_millis(5);

/// An observation looks at the tasks that often, at most.
const LOOK_AT_TASKS: Duration = Duration::from_millis(20);

/// The looks at the tasks take this part of the time, at most.
const PART_FOR_TASKS: u32 = 20;

/// Of more tasks an observation does not look at what they wait for: a look takes 0.2 s.
const MOST_TASKS: u64 = 300_000;

/// The same for the monitor thread, which has other things to do: a look takes 7 ms.
const MOST_TASKS_OF_REACTOR: u64 = 10_000;

impl Handle {
    /// Observes the runtime for so long, a second or two, and reports what limits it.
    ///
    /// Meanwhile the runtime records at [`Level::Slices`](crate::usage::Level::Slices), or the higher level that it is set to; afterwards it has the
    /// level that it had. That costs what the level costs, and ten times some 50 ns for each color in use. Up to fifty times a
    /// second it also looks at what the tasks wait for, as a dump does: some 0.7 µs a task, and a twentieth of the time at
    /// most; not, if there are more than 300,000 tasks.
    ///
    /// A thread of [`spawn_blocking`](crate::spawn_blocking) observes, so the future may be awaited anywhere, and the
    /// workers cannot delay the observation. Where the task that awaits it may be held up itself, because every worker is
    /// stuck, call [`observe_blocking`](Self::observe_blocking) from a thread of your own.
    ///
    /// Cancel safe: the observation ends in its time, and the report is lost. The end of the runtime waits for it.
    ///
    /// ```no_run
    /// use std::time::Duration;
    ///
    /// # async fn f() {
    /// let report = colored::Handle::current().observe(Duration::from_secs(1)).await;
    /// println!("{report}");
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// When it is polled, if the runtime has shut down; when it is called, as
    /// [`spawn_blocking`](Self::spawn_blocking) does.
    #[track_caller]
    pub fn observe(&self, length: Duration) -> impl Future<Output = Report> + Send + use<> {
        let handle = self.clone();
        let report = blocking::submit_within(&self.core, &self.driver, move || {
            handle.observe_blocking(length)
        });
        async move {
            match report.await {
                Ok(report) => report,
                Err(error) => super::resume(error, "observe"),
            }
        }
    }

    /// As [`observe`](Self::observe), on this thread, which sleeps meanwhile: call it from a thread that is no worker. It
    /// needs no worker, and works while all of them are stuck.
    #[must_use]
    pub fn observe_blocking(&self, length: Duration) -> Report {
        let mut observation = Observation::begin(self, Patience::Some);
        let (begin, part) = (wall::now(), length / PARTS);
        for number in 1..=PARTS {
            while let Some(rest) = (part * number).checked_sub(wall::since(begin)) {
                thread::sleep(rest.min(LOOK));
                observation.look();
            }
            observation.part();
        }
        observation.report()
    }
}

/// An observation in progress: the runtime records waits while this lives.
pub(super) struct Observation {
    handle: Handle,
    earlier: Snapshot,
    windows: Vec<Window>,
    /// Looks at the workers in the present part, and how many were blocked in them.
    looks: u32,
    blocked: u32,
    patience: Patience,
    /// What the tasks waited for in the present part.
    waits: Vec<Waits>,
    /// When the tasks are to be looked at again.
    next: Instant,
}

impl Observation {
    pub(super) fn begin(handle: &Handle, patience: Patience) -> Self {
        let handle = handle.clone();
        handle.driver.observers.begin(handle.core.scheduler());
        let earlier = handle.usage();
        let (windows, waits, next) = (Vec::new(), Vec::new(), wall::now());
        Self { handle, earlier, windows, looks: 0, blocked: 0, patience, waits, next }
    }

    /// Looks which workers are blocked, and now and then what the tasks wait for.
    pub(super) fn look(&mut self) {
        self.look_at_workers();
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
        let scheduler = self.handle.core.scheduler();
        if scheduler.live_tasks() <= most {
            self.waits.extend(sample(scheduler, &self.handle.driver, self.patience));
        }
        let rest = (wall::since(begin) * PART_FOR_TASKS).max(LOOK_AT_TASKS);
        self.next = wall::now() + rest;
    }

    fn look_at_workers(&mut self) {
        let scheduler = self.handle.core.scheduler();
        let workers = 0..scheduler.workers() + scheduler.spares();
        let blocked = |worker: &usize| self.handle.driver.threads.is_blocked(*worker, scheduler);
        self.blocked += u32::try_from(workers.filter(blocked).count()).expect("at most 1088");
        self.looks += 1;
    }

    /// A part is over. Returns how many there have been.
    pub(super) fn part(&mut self) -> u32 {
        let later = self.handle.usage();
        let mut window = Window::between(&self.earlier, &later);
        window.waits = mem::take(&mut self.waits);
        window.blocked = (self.looks > 0).then(|| f64::from(self.blocked) / f64::from(self.looks));
        self.windows.push(window);
        self.earlier = later;
        (self.looks, self.blocked) = (0, 0);
        u32::try_from(self.windows.len()).expect("ten")
    }

    pub(super) fn report(&self) -> Report {
        Report::of(&self.windows)
    }
}

impl Drop for Observation {
    fn drop(&mut self) {
        self.handle.driver.observers.end(self.handle.core.scheduler());
    }
}
