//! Colors that limit the program: hot ones, the default one, and those that are kept across awaits.

use super::{FULL, MOSTLY};
use crate::report::bound::{Bound, Limit, fullest};
use crate::report::digest::{ColorLoad, Digest, QUEUE, usage_in};
use crate::report::fault::{Fault, Finding};
use crate::report::hotspot;
use crate::report::text;
use crate::report::waits::Kept;
use crate::usage::{Usage, Window};
use colored_core::Color;
use std::slice;

/// A color that is busy for less is not hot: it can take a quarter more.
const HOT: f64 = 0.8;

/// A color that is busy for a little less is hot as well if so many wait for it on average: as many as wait for a color
/// of 82 % whose work comes at random.
const WARM: f64 = 0.7;
const LONG_QUEUE: f64 = 4.0;

/// And in this part of the windows.
const STEADY: f64 = 0.9;

/// Where other programs take the CPUs, a color is hot if this part of all that waits in the program waits for it: how busy it
/// is says what the system gave it. Two colors that each have a worker have a half each.
const MOST: f64 = 0.55;

/// A color that is kept for less is no convoy.
const CONVOY: f64 = 0.5;

/// A split that gives less is not worth a sentence.
const WORTH: f64 = 1.15;

/// How many places of spawns are shown.
const SITES: usize = 3;

/// The color that limits the program, if its tasks wait for it, and more could run at a time.
pub(super) fn hot(digest: &Digest<'_>) -> Option<Finding> {
    let is_busy = |load: &ColorLoad| {
        let is_warm = load.busy >= WARM && load.queue >= LONG_QUEUE;
        load.busy >= HOT || is_warm && has_steady_queue(digest, load)
    };
    let is_hot = |load: &&ColorLoad| is_busy(load) && is_waited_for(digest, load);
    let hot: Vec<&ColorLoad> = digest.colors.iter().filter(is_hot).collect();
    let split: Vec<Color> = hot.iter().map(|load| load.color).collect();
    let (now, then) = (Bound::without(digest, &[]), Bound::without(digest, &split));
    let is_worth = |first: &&ColorLoad| !is_kept(first) && then.ceiling / now.ceiling >= WORTH;
    match hot.first().copied().filter(is_worth) {
        Some(first) => Some(found(digest, first, &split, hot_sentence(digest, &hot, &then))),
        None => beside_others(digest),
    }
}

/// The color for which nearly everything waits that waits, where other programs take the CPUs.
fn beside_others(digest: &Digest<'_>) -> Option<Finding> {
    let delayed = digest.delayed();
    let waiting = |usage: &Usage| digest.share(usage.wait_color + usage.wait_cpu);
    let all = waiting(&digest.all);
    let first = digest
        .colors
        .iter()
        .max_by(|one, other| waiting(&one.usage).total_cmp(&waiting(&other.usage)))?;
    let queue = waiting(&first.usage);
    let is_long = |windows: &[Window]| {
        let (usage, length) = usage_in(windows, first.color);
        (usage.wait_color + usage.wait_cpu).as_secs_f64() >= queue / 2.0 * length
    };
    let is_hot = delayed > 0.0
        && first.busy >= WARM * (1.0 - delayed)
        && queue >= LONG_QUEUE
        && queue >= MOST * all
        && digest.capacity >= WORTH
        && !is_kept(first)
        && digest.part(is_long) >= MOSTLY;
    let sentence = || {
        format!(
            "{} limits: of {} that wait on average, {} wait for it; splitting it gives at most {} times, then the CPUs",
            digest.waits.name(first.color),
            text::number(all),
            text::number(queue),
            text::factor(digest.capacity)
        )
    };
    is_hot.then(|| found(digest, first, &[first.color], sentence()))
}

/// The finding about a hot color, which is one of those to split.
fn found(digest: &Digest<'_>, first: &ColorLoad, split: &[Color], sentence: String) -> Finding {
    let (fault, remedy) = match first.color.is_default() {
        true => (Fault::DefaultColor, SPLIT_DEFAULT),
        false => (Fault::HotColor, SPLIT),
    };
    let finding = Finding::new(fault, first.busy, sentence).about(first).mend(remedy);
    let mut finding = finding.because(turns(first)).because(others(digest, split));
    if first.color.is_default() {
        finding.evidence.extend(sites(digest));
    }
    finding.evidence.extend(hotspot::evidence(digest.windows, first.color, "it"));
    finding
}

const SPLIT: &str = "divide what the color protects: one color for each key or shard (`Color::of(key)`, a `ColorCell` for each); \
    run code that needs no exclusion under `spawn_unique`; let code that only reads share the color by `ColorCell::read`";

const SPLIT_DEFAULT: &str = "name colors: `spawn_colored(Color::of(key), ..)` for tasks that share the state of a key, \
    `spawn_unique` for tasks that share nothing";

/// The color that is kept across awaits while tasks wait for it.
pub(super) fn convoy(digest: &Digest<'_>) -> Option<Finding> {
    // A `when` keeps its colors until the last one is free. If that one waits for a CPU, the CPUs limit.
    let is_of_cpus = |load: &ColorLoad| digest.awake() >= FULL && is_kept_by_when(digest, load);
    let is_convoy = |load: &&ColorLoad| {
        let is_kept = load.busy >= CONVOY && is_kept(load) && is_waited_for(digest, load);
        is_kept && !is_of_cpus(load)
    };
    let load = digest.colors.iter().find(is_convoy)?;
    let sentence = format!(
        "{} is kept across awaits {} of the time and runs {}; tasks wait for it {} a second",
        digest.waits.name(load.color),
        text::percent(digest.share(load.usage.kept).min(1.0)),
        text::percent(digest.share(load.usage.run)),
        text::seconds(load.queue)
    );
    let finding = Finding::new(Fault::Convoy, load.busy, sentence).about(load);
    let mut finding = finding.because(turns(load));
    let kept = digest.waits.kept(load.color);
    if let Some(kept) = kept {
        finding = finding.because(keeper(kept)).at(Some(kept.last.site));
        if kept.for_lock >= OFTEN {
            finding = finding.waits_for(kept.lock);
        }
    }
    Some(finding.mend(if is_kept_by_when(digest, load) { KEPT_BY_WHEN } else { KEPT_BY_SECTION }))
}

/// Whether a `when` keeps the color, as far as is known. What no waiting task keeps, a `when` keeps for which no task waits: a
/// section belongs to a task.
fn is_kept_by_when(digest: &Digest<'_>, load: &ColorLoad) -> bool {
    let by_when = |kept: &Kept| kept.last.by == "when";
    digest.waits.is_enough() && digest.waits.kept(load.color).is_none_or(by_when)
}

/// A keeper that waits for a lock so often keeps the color because of the lock.
const OFTEN: f64 = 0.25;

const KEPT_BY_SECTION: &str = "await before the section (`exclusive`, `ColorCell::exclusive`) or after it, not inside; if the \
    state must not change across the await, let only the tasks that need it wait, by a `sync::Mutex`, or give each key a color";

const KEPT_BY_WHEN: &str = "a `when` has this color and waits for another one: let that one be free sooner (shorter closures and \
    sections under it, no section that awaits), divide it by a key, or let the `when` want fewer colors";

/// The task or `when` that keeps the color.
fn keeper(kept: &Kept) -> String {
    let last = &kept.last;
    let mut text = format!(
        "it is kept by the {} at {}, of tasks spawned at {}",
        last.by, last.site, last.spawned
    );
    if let Some(wait) = &last.waits_for {
        text += &format!("; at the last look that task {}", wait.text);
    }
    text
}

fn is_kept(load: &ColorLoad) -> bool {
    load.usage.kept > load.usage.run
}

/// Whether tasks wait for the color on average, and nearly all the time.
fn is_waited_for(digest: &Digest<'_>, load: &ColorLoad) -> bool {
    let is_always_kept = |kept: &Kept| digest.waits.is_enough() && kept.part >= MOSTLY;
    if load.queue >= QUEUE && digest.waits.kept(load.color).is_some_and(is_always_kept) {
        return true;
    }
    let has_queue = |windows: &[_]| {
        let (usage, length) = usage_in(windows, load.color);
        usage.wait_color.as_secs_f64() >= QUEUE / 2.0 * length
    };
    load.queue >= QUEUE && digest.part(has_queue) >= MOSTLY
}

/// Whether the queue never runs dry: what comes in bursts, and drains, has room between them.
fn has_steady_queue(digest: &Digest<'_>, load: &ColorLoad) -> bool {
    let is_long = |window: &&Window| {
        let (usage, length) = usage_in(slice::from_ref(*window), load.color);
        usage.wait_color.as_secs_f64() >= load.queue / 2.0 * length
    };
    let long = digest.windows.iter().filter(is_long).count();
    long as f64 >= STEADY * digest.windows.len() as f64
}

fn hot_sentence(digest: &Digest<'_>, hot: &[&ColorLoad], then: &Bound) -> String {
    let first = hot[0];
    let rest = match then.limit {
        Some(Limit::Color(color)) => format!("then {}", digest.waits.name(color)),
        _ => "then the CPUs".into(),
    };
    let (limits, it) = match hot.len() {
        1 => ("limits".into(), "it"),
        2 => ("and another color limit".into(), "them"),
        more => (format!("and {} other colors limit", more - 1), "them"),
    };
    format!(
        "{} {limits}: {} busy, tasks wait for it {} a second; splitting {it} gives at most {} times, {rest}",
        digest.waits.name(first.color),
        text::percent(first.busy.min(1.0)),
        text::seconds(first.queue),
        text::factor(then.ceiling)
    )
}

/// How long a turn runs and waits.
fn turns(load: &ColorLoad) -> String {
    let usage = &load.usage;
    let by = |time: std::time::Duration, count: u64| {
        text::seconds(time.as_secs_f64() / count.max(1) as f64)
    };
    format!(
        "a turn of it runs {}, and waits {} for the color and {} for a worker; {} are in line, at most {} have been",
        by(usage.run, usage.turns),
        by(usage.wait_color, usage.waits),
        by(usage.wait_cpu, usage.waits),
        usage.depth,
        usage.max_depth.max(usage.depth)
    )
}

/// What there is beside these colors.
fn others(digest: &Digest<'_>, split: &[Color]) -> String {
    let load = text::percent(digest.load());
    match fullest(digest, split) {
        Some((next, taken)) => format!(
            "polls take {load} of the CPUs; the next color, {}, is {} busy",
            digest.waits.name(next),
            text::percent(taken)
        ),
        None => format!("polls take {load} of the CPUs; there is no other color"),
    }
}

/// The places whose tasks fill the default color.
fn sites(digest: &Digest<'_>) -> Vec<String> {
    let mut sums = std::collections::HashMap::new();
    for site in digest.windows.iter().flat_map(|window| &window.sites) {
        *sums.entry(site.site).or_insert(std::time::Duration::ZERO) += site.run_default;
    }
    let mut sums: Vec<_> = sums.into_iter().filter(|(_, run)| !run.is_zero()).collect();
    sums.sort_by_key(|(site, run)| (std::cmp::Reverse(*run), site.map(ToString::to_string)));
    let all: f64 = sums.iter().map(|(_, run)| run.as_secs_f64()).sum();
    let line =
        |(site, run): &(Option<&'static std::panic::Location<'static>>, std::time::Duration)| {
            let part = text::percent(run.as_secs_f64() / all);
            match site {
                Some(site) => format!("{part} of it are tasks spawned at {site}"),
                None => format!("{part} of it are callbacks of cells"),
            }
        };
    sums.iter().take(SITES).map(line).collect()
}
