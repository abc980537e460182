//! [`Snapshot`]s of a runtime.

use crate::driver::Driver;
use crate::usage::{ColorUsage, Level, SiteUsage, Snapshot, TimerUsage, WorkerUsage};
use colored_core::{ObservedColor, ObservedSite, Scheduler};
use std::cmp::Reverse;
use std::num::NonZero;
use std::thread;
use std::time::Duration;

/// Reads all counters.
pub(super) fn snapshot(scheduler: &Scheduler, driver: &Driver) -> Snapshot {
    let at = Duration::from_nanos(scheduler.now());
    let observed = scheduler.usage();
    let color = |of: ObservedColor| ColorUsage {
        color: of.color,
        usage: of.usage,
        error: of.error,
        priority: of.priority,
    };
    let mut colors: Vec<ColorUsage> = observed.colors.into_iter().map(color).collect();
    colors.sort_by_key(|color| (Reverse(color.usage.run), color.color));
    let worker = |worker| {
        let of = scheduler.worker_metrics(worker);
        let time = driver.threads.time(worker);
        WorkerUsage {
            run: of.run,
            search: of.search,
            io: of.io,
            timers: of.timers,
            parked: of.parked,
            polls: of.polls,
            slices: of.slices,
            steals: of.steals,
            parks: of.parks,
            cpu: time.map(|time| time.cpu),
            delayed: time.map(|time| time.delayed),
        }
    };
    let (pending, fired, turns) = driver.timers.counts();
    Snapshot {
        at,
        workers: (0..scheduler.workers() + scheduler.spares()).map(worker).collect(),
        active_workers: driver.size.present(),
        cpus: thread::available_parallelism().map_or(0, NonZero::get),
        colors,
        others: observed.others,
        sites: sites(observed.sites),
        tasks: scheduler.live_tasks(),
        timers: TimerUsage { pending, fired, turns },
        long_polls: driver.long_polls.recent(),
        wakes: driver.parkers.wakes(),
        measures_waits: scheduler.level() != Level::Off,
    }
}

fn sites(observed: Vec<ObservedSite>) -> Vec<SiteUsage> {
    let mut sites: Vec<SiteUsage> = Vec::new();
    for of in observed {
        let place = sites.iter().position(|site| site.site == of.spawned).unwrap_or(sites.len());
        if place == sites.len() {
            sites.push(SiteUsage {
                site: of.spawned,
                run_default: Duration::ZERO,
                run_colored: Duration::ZERO,
                error: Duration::ZERO,
            });
        }
        let site = &mut sites[place];
        *(if of.is_default { &mut site.run_default } else { &mut site.run_colored }) += of.run;
        site.error += of.error;
    }
    sites.sort_by_key(|site| Reverse(site.run_default + site.run_colored));
    sites
}
