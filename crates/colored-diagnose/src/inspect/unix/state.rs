//! The JSON text of a snapshot.

use super::history::History;
use crate::json::{Object, object};
use crate::subject::Subject;
use crate::usage::{ColorUsage, SiteUsage, Snapshot, TimerUsage, Usage, Window, WorkerUsage};
use colored_core::{Color, Priority};
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::env;
use std::process;
use std::time::Duration;

/// Another number tells that the meaning of a field has changed.
const PROTOCOL: u64 = 1;

/// Colors in each of the four orders.
const LEADERS: usize = 50;

/// The places of spawns.
const SITES: usize = 50;

/// The state that `history` has seen last; an empty text if it has seen none.
pub(super) fn text(history: &mut History, subject: &dyn Subject) -> String {
    let report = history.report();
    let Some(snapshot) = history.latest() else { return String::new() };
    let window = history.window();
    object(|all| {
        all.field("protocol", PROTOCOL);
        all.field("program", &program());
        all.field("pid", u64::from(process::id()));
        all.field("seconds", snapshot.at);
        all.field("window", window.map(|window| window.length));
        all.field("level", subject.scheduler().level() as u64);
        all.field("measures_waits", window.map_or(snapshot.measures_waits, |w| w.measures_waits));
        all.field("tasks", snapshot.tasks);
        all.field("colors_in_use", subject.scheduler().lanes());
        all.field("active_workers", snapshot.active_workers);
        all.field("cpus", snapshot.cpus);
        all.object("wakes", |wakes| {
            wakes.field("total", snapshot.wakes);
            wakes.field("window", window.map(|window| window.wakes));
        });
        workers(all, snapshot, window);
        colors(all, snapshot, window);
        sites(all, snapshot, window);
        all.object("timers", |timers| {
            timers.field("pending", snapshot.timers.pending);
            both(timers, &snapshot.timers, window.map(|window| &window.timers), write_timers);
        });
        all.array("long_polls", |polls| {
            for poll in &snapshot.long_polls {
                polls.object(|one| {
                    one.field("worker", poll.worker);
                    one.field("seconds", poll.time);
                    one.field("color", format_args!("{}", poll.color));
                    one.field("site", poll.spawned.map(|site| site.to_string()).as_ref());
                    one.field("cpu", poll.cpu);
                });
            }
        });
        all.array("partitions", |list| {
            for partition in window.iter().flat_map(|window| &window.partitions) {
                list.object(|one| partition.write(one));
            }
        });
        match &report {
            Some(report) => all.object("report", |object| report.write(object)),
            None => all.field("report", None::<u64>),
        }
    })
}

/// The name of the program's file.
fn program() -> String {
    let file = env::current_exe().ok();
    let name = file.as_deref().and_then(|file| file.file_name());
    name.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// The fields `total` and `window`.
fn both<T>(
    object: &mut Object<'_>,
    total: &T,
    window: Option<&T>,
    write: impl Fn(&mut Object<'_>, &T),
) {
    object.object("total", |object| write(object, total));
    match window {
        Some(window) => object.object("window", |object| write(object, window)),
        None => object.field("window", None::<u64>),
    }
}

fn workers(all: &mut Object<'_>, snapshot: &Snapshot, window: Option<&Window>) {
    all.array("workers", |list| {
        for (index, total) in snapshot.workers.iter().enumerate() {
            let window = window.and_then(|window| window.workers.get(index));
            list.object(|worker| both(worker, total, window, write_worker));
        }
    });
}

fn colors(all: &mut Object<'_>, snapshot: &Snapshot, window: Option<&Window>) {
    let totals: HashMap<Color, &ColorUsage> =
        snapshot.colors.iter().map(|color| (color.color, color)).collect();
    let windows: HashMap<Color, &ColorUsage> =
        window.into_iter().flat_map(|w| &w.colors).map(|color| (color.color, color)).collect();
    all.array("colors", |list| {
        for color in leaders(snapshot, window) {
            let Some(total) = totals.get(&color) else { continue };
            let used = windows.get(&color).map_or(Usage::default(), |color| color.usage);
            list.object(|object| {
                object.field("color", format_args!("{color}"));
                object.field("priority", name_of(total.priority));
                both(object, &total.usage, window.map(|_| &used), write_usage);
            });
        }
    });
    all.object("others", |others| {
        both(others, &snapshot.others, window.map(|window| &window.others), write_usage);
    });
}

/// The colors that lead one of the orders that a reader may want.
fn leaders(snapshot: &Snapshot, window: Option<&Window>) -> BTreeSet<Color> {
    let recent = window.map_or(&snapshot.colors, |window| &window.colors);
    let waits = |usage: &Usage| usage.wait_color + usage.wait_cpu;
    let mut leaders = BTreeSet::new();
    leaders.extend(lead(recent, waits));
    leaders.extend(lead(recent, Usage::busy));
    leaders.extend(lead(&snapshot.colors, |usage| usage.depth));
    leaders.extend(lead(&snapshot.colors, Usage::busy));
    leaders
}

fn lead<'a, K: Ord>(
    colors: &'a [ColorUsage],
    key: impl Fn(&Usage) -> K + 'a,
) -> impl Iterator<Item = Color> + 'a {
    let mut colors: Vec<&ColorUsage> = colors.iter().collect();
    let key = move |color: &&ColorUsage| (Reverse(key(&color.usage)), color.color);
    if colors.len() > LEADERS {
        colors.select_nth_unstable_by_key(LEADERS, key);
    }
    colors.into_iter().take(LEADERS).map(|color| color.color)
}

fn sites(all: &mut Object<'_>, snapshot: &Snapshot, window: Option<&Window>) {
    all.array("sites", |list| {
        for total in snapshot.sites.iter().take(SITES) {
            let same = |site: &&SiteUsage| site.site == total.site;
            let none = SiteUsage {
                site: total.site,
                run_default: Duration::ZERO,
                run_colored: Duration::ZERO,
                error: Duration::ZERO,
            };
            let window =
                window.map(|window| window.sites.iter().find(same).copied().unwrap_or(none));
            list.object(|object| {
                object.field("site", total.site.map(|site| site.to_string()).as_ref());
                both(object, total, window.as_ref(), write_site);
            });
        }
    });
}

fn name_of(priority: Priority) -> &'static str {
    match priority {
        Priority::Low => "low",
        Priority::Normal => "normal",
        Priority::High => "high",
    }
}

fn write_worker(object: &mut Object<'_>, worker: &WorkerUsage) {
    object.field("run", worker.run);
    object.field("search", worker.search);
    object.field("io", worker.io);
    object.field("timers", worker.timers);
    object.field("parked", worker.parked);
    object.field("polls", worker.polls);
    object.field("slices", worker.slices);
    object.field("steals", worker.steals);
    object.field("parks", worker.parks);
    object.field("cpu", worker.cpu);
    object.field("delayed", worker.delayed);
}

fn write_usage(object: &mut Object<'_>, usage: &Usage) {
    object.field("run", usage.run);
    object.field("kept", usage.kept);
    object.field("wait_color", usage.wait_color);
    object.field("wait_cpu", usage.wait_cpu);
    object.field("waits", usage.waits);
    object.field("turns", usage.turns);
    object.field("slices", usage.slices);
    object.field("moves", usage.moves);
    object.field("depth", usage.depth);
    object.field("max_depth", usage.max_depth);
}

fn write_site(object: &mut Object<'_>, site: &SiteUsage) {
    object.field("run_default", site.run_default);
    object.field("run_colored", site.run_colored);
}

fn write_timers(object: &mut Object<'_>, timers: &TimerUsage) {
    object.field("fired", timers.fired);
    object.field("turns", timers.turns);
}
