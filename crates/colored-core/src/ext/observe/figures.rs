//! What a scheduler records, and what it has recorded: the level, each worker's flight recorder, the usage of colors.

use super::account::record;
use super::profile::Site;
use super::times::Phase;
use crate::ext::meter::Level;
use crate::ext::priority::Priority;
use crate::ext::trace::{Event, Record, Ring, SharedRing};
use crate::ext::usage::Usage;
use crate::hooks::slots::Listen;
use crate::kernel::color::Color;
use crate::kernel::lane::{Dispatch, Lane};
use crate::kernel::sched::local;
use crate::kernel::sched::metrics::{RunningSlice, WorkerMetrics};
use crate::kernel::sched::scheduler::Scheduler;
use crate::kernel::sched::worker::Worker;
use crate::kernel::task::Id;
use crate::sync::Ordering;
use std::collections::HashMap;
use std::ops::Range;
use std::panic::Location;
use std::sync::atomic::fence;
use std::time::Duration;

/// Where the time of a scheduler went: see [`Scheduler::usage`].
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Observed {
    /// By color, in no order.
    pub colors: Vec<ObservedColor>,
    /// The other colors: they were unique, and are gone.
    pub others: Usage,
    /// By the place of the spawn.
    pub sites: Vec<ObservedSite>,
}

/// A color's usage.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ObservedColor {
    /// The color.
    pub color: Color,
    /// Its usage.
    pub usage: Usage,
    /// The run time is too large by this at most.
    pub error: Duration,
    /// Its priority; the normal one if it has no lane.
    pub priority: Priority,
}

/// How long the tasks ran that were spawned at a place.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ObservedSite {
    /// The place; none for callbacks.
    pub spawned: Option<&'static Location<'static>>,
    /// Whether they ran under the default color.
    pub is_default: bool,
    /// How long they ran.
    pub run: Duration,
    /// The run time is too large by this at most.
    pub error: Duration,
}

impl Scheduler {
    /// What the scheduler records.
    #[must_use]
    pub fn level(&self) -> Level {
        self.common.slot.switch.level()
    }

    /// Changes what the scheduler records, and returns what it recorded before. Takes effect with the next slice of
    /// each worker. The first call with another level than [`Level::Off`] allocates the rings, on this thread.
    pub fn set_level(&self, level: Level) -> Level {
        if level != Level::Off {
            // Ordering: a hint. The thread that wants a further spare worker allocates its ring, or its first push does.
            let spares = self.wanted_spares.load(Ordering::Relaxed);
            self.allocate_rings(0..self.workers() + spares);
            self.common.slot.outside.allocate();
        }
        self.common.slot.switch.set(level)
    }

    /// Allocates the rings of these workers.
    #[cold]
    fn allocate_rings(&self, workers: Range<usize>) {
        self.remotes[workers].iter().for_each(|remote| remote.slot.ring.allocate());
    }

    /// The usage of all colors, and the samples by the place of the spawn. Looks at every lane that has a color in use,
    /// under the locks of the table: it takes some 50 ns for each.
    #[must_use]
    pub fn usage(&self) -> Observed {
        // While nothing is recorded, no thread tells a meter that its state ends.
        let at = (self.level() != Level::Off).then(|| self.common.slot.switch.at(self.now()));
        let mut colors: HashMap<Color, ObservedColor> = HashMap::new();
        let place = |color| ObservedColor {
            color,
            usage: Usage::NONE,
            error: Duration::ZERO,
            priority: Priority::Normal,
        };
        self.table.for_each(|lane: &Lane| {
            if let Some(usage) = lane.usage(at) {
                let color = lane.color();
                let entry = colors.entry(color).or_insert_with(|| place(color));
                entry.usage += usage;
                entry.priority = lane.priority();
            }
        });
        let mut others = Usage::NONE;
        let mut sites: Vec<ObservedSite> = Vec::new();
        for remote in &self.remotes {
            let profile = remote.slot.profile.lock().clone();
            others += profile.retired;
            for entry in profile.colors.entries() {
                let color = colors.entry(entry.key).or_insert_with(|| place(entry.key));
                color.usage += entry.value;
                color.usage.run += Duration::from_nanos(entry.sum);
                color.error += Duration::from_nanos(entry.error);
            }
            for entry in profile.sites.entries() {
                let Site { spawned, is_default } = entry.key;
                let (run, error) =
                    (Duration::from_nanos(entry.sum), Duration::from_nanos(entry.error));
                let same = |site: &&mut ObservedSite| {
                    Site { spawned: site.spawned, is_default: site.is_default } == entry.key
                };
                match sites.iter_mut().find(same) {
                    Some(site) => {
                        site.run += run;
                        site.error += error;
                    }
                    None => sites.push(ObservedSite { spawned, is_default, run, error }),
                }
            }
        }
        Observed { colors: colors.into_values().collect(), others, sites }
    }

    /// The flight recorder of a worker, or of a spare one.
    #[must_use]
    pub fn ring(&self, worker: usize) -> &Ring {
        &self.remotes[worker].slot.ring
    }

    /// The flight recorder of all threads that are no workers.
    #[must_use]
    pub fn ring_outside(&self) -> &SharedRing {
        &self.common.slot.outside
    }

    /// Records that a poll is long, as a thread has seen that looks now and then.
    pub fn record_long_poll(&self, slice: &RunningSlice) {
        let task = slice.task.map(|(task, _)| task);
        let event = Event::LongPoll { color: slice.color, ran: slice.nanos, task };
        self.record_at(Level::Slices, || self.now(), event);
    }

    /// Records an event of this thread, at this time.
    #[cold]
    pub(in crate::ext) fn record_at(
        &self,
        level: Level,
        nanos: impl FnOnce() -> u64,
        event: Event,
    ) {
        if self.common.slot.switch.level() < level {
            return;
        }
        local::with_own(self, |own| match own {
            Some(own) => own.remote().slot.ring.push(Record { nanos: nanos(), event }),
            None => self.common.slot.outside.push(Record { nanos: nanos(), event }),
        });
    }
}

/// What workers run and have done, and how many tasks there are.
impl Scheduler {
    /// The counters of a worker, or of a spare one.
    #[must_use]
    pub fn worker_metrics(&self, worker: usize) -> WorkerMetrics {
        let remote = &self.remotes[worker];
        let [run, search, io, timers, parked] = remote.slot.times.until(self.now());
        WorkerMetrics {
            polls: remote.counters.polls.get(),
            slices: remote.beat() / 2,
            steals: remote.counters.steals.get(),
            parks: remote.counters.parks.get(),
            run,
            search,
            io,
            timers,
            parked,
        }
    }

    /// The slice that the worker, or spare worker, is inside of. None if there is none, or if it changes at this moment.
    #[must_use]
    pub fn running(&self, worker: usize) -> Option<RunningSlice> {
        let remote = &self.remotes[worker];
        let (serial, start) = remote.slice()?;
        let running = &remote.running;
        // Ordering: the fence below orders these loads.
        let color = running.color();
        let in_place = running.in_place();
        let task = running.task();
        // Ordering: pairs with the fence in `begin`: if one of these values is of a later slice, the beat below is too.
        fence(Ordering::Acquire);
        let is_same = remote.beat() == serial;
        is_same.then(|| RunningSlice {
            serial,
            nanos: self.now().saturating_sub(start),
            in_place,
            color,
            task,
        })
    }

    /// The color of the worker's last slice, and the task that had its last turn; none for a callback. For the thread that
    /// steps the worker, between two steps.
    #[inline]
    #[must_use]
    pub fn last_slice(&self, worker: usize) -> (Color, Option<(Id, &'static Location<'static>)>) {
        let running = &self.remotes[worker].running;
        (running.color(), running.task())
    }

    /// How many tasks have been spawned and have not completed. The sum of counters that are not all of one instant.
    #[must_use]
    pub fn live_tasks(&self) -> u64 {
        let all = || self.remotes.iter().map(|remote| &remote.tasks).chain([&self.tasks_outside]);
        // What has completed is counted first, so that no task is missing from the second sum.
        let completed: u64 = all().map(|of| of.completed.get()).sum();
        let spawned: u64 = all().map(|of| of.spawned.get()).sum();
        spawned.saturating_sub(completed)
    }
}

impl Listen for Scheduler {
    #[cold]
    fn keep_usage(&self, color: Color, usage: Usage) {
        // That is added to this thread's sums.
        let worker = local::index_in(self).unwrap_or(0);
        self.remotes[worker].slot.profile.lock().add(color, usage);
    }

    #[cold]
    fn record(&self, level: Level, event: Event) {
        // What happens in the middle of a poll has its own time, not that of the last look at the clock.
        let nanos = || if level < Level::Tasks { self.noted_time() } else { self.now() };
        self.record_at(level, nanos, event);
    }
}

impl Worker {
    /// Records that `fired` timers have fired, which took `nanos` of the present phase.
    pub fn record_timers(&mut self, nanos: u64, fired: u32) {
        self.local.remote().slot.times.spent(Phase::Timers, nanos);
        record(&self.local, self.now(), || Event::Timers { took: nanos, fired });
    }
}
