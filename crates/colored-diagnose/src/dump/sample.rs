//! [`sample`]: what the tasks wait for, counted by place, for the report of an observation.

use super::keeper::{Keeper, KeptBy, keepers};
use super::make::LOOK;
use super::wait::{Wait, WaitFor};
use crate::subject::{Notes, Subject};
use crate::usage::{KeptColor, WaitGroup, WaitOfKeeper, Waits};
use crate::wall;
use colored_core::dump::{Dumped, Dumping, StateSeen, TargetSeen, TaskSeen};
use colored_core::{Color, Id};
use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::panic::Location;
use std::thread;
use std::time::Duration;

/// The groups that a sample keeps: the most frequent ones, and those with the oldest waits of the rest.
const FREQUENT: usize = 90;
const OLDEST: usize = 10;

/// The locks that a sample keeps.
const LOCKS: usize = 50;

/// The unique colors whose places are kept.
const UNIQUE: usize = 1000;

/// Whether the caller may sleep until the holders of colors that run have answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// It may, for a little while.
    Some,
    /// It has other things to do.
    None,
}

/// The longest time for which a patient caller sleeps.
const LONGEST: Duration = Duration::from_millis(2);

/// Looks at all tasks. None while another thread makes a dump. Costs some 0.7 µs a task.
pub(crate) fn sample(subject: &dyn Subject, patience: Patience) -> Option<Waits> {
    let mut dumping = Dumping::begin(subject.scheduler())?;
    while dumping.go_on() {}
    let begin = wall::now();
    while !dumping.is_done() && patience == Patience::Some && wall::since(begin) < LONGEST {
        thread::sleep(LOOK);
    }
    let seen = dumping.end();
    let mut waits = Waits { unread: seen.unread.len(), ..Waits::default() };
    waits.unique = unique(&seen);
    let notes = subject.notes();
    let groups = groups(&seen, &notes);
    waits.locks = groups.iter().filter(|group| group.what == "lock").cloned().collect();
    waits.locks.sort_by_key(|group| Reverse(group.tasks));
    waits.locks.truncate(LOCKS);
    waits.groups = first(merged(groups));
    let keepers = keepers(&seen);
    if !keepers.is_empty() {
        waits.kept = kept(&seen, &keepers, &notes);
    }
    Some(waits)
}

/// The places of unique colors with work. A task that runs has the state of one.
fn unique(seen: &Dumped) -> Vec<(Color, &'static Location<'static>)> {
    let tasks = seen.sheet.tasks().iter();
    let busy = tasks.filter(|task| task.color.is_unique() && task.state != StateSeen::Waiting);
    busy.map(|task| (task.color, task.spawned)).take(UNIQUE).collect()
}

/// What the waits of a group have in common.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    what: &'static str,
    how: &'static str,
    color: Option<Color>,
    site: Option<&'static Location<'static>>,
    spawned: &'static Location<'static>,
    lock: u32,
}

impl Key {
    fn of(group: &WaitGroup, lock: u32) -> Self {
        let &WaitGroup { what, how, color, site, spawned, .. } = group;
        Self { what, how, color, site, spawned, lock }
    }
}

/// The groups, with the locks of one place as one.
fn merged(groups: Vec<WaitGroup>) -> Vec<WaitGroup> {
    let mut all: HashMap<Key, WaitGroup> = HashMap::new();
    for group in groups {
        match all.entry(Key::of(&group, 0)) {
            Entry::Vacant(place) => drop(place.insert(WaitGroup { lock: 0, ..group })),
            Entry::Occupied(mut place) => {
                let sum = place.get_mut();
                sum.tasks += group.tasks;
                sum.members = sum.members.wrapping_add(group.members);
                if group.oldest > sum.oldest {
                    (sum.oldest, sum.example) = (group.oldest, group.example);
                }
            }
        }
    }
    all.into_values().collect()
}

/// The waits that are alike, by lock.
fn groups(seen: &Dumped, notes: &Notes) -> Vec<WaitGroup> {
    let mut groups: HashMap<Key, WaitGroup> = HashMap::new();
    for task in seen.sheet.tasks() {
        for wait in waits_of(seen, task, notes) {
            let (what, how, site) = words(&wait);
            let number = task.leaf.filter(|_| matches!(wait.what, WaitFor::Lock));
            let group = WaitGroup {
                what,
                how,
                color: color_of(&wait),
                site,
                spawned: task.spawned,
                tasks: 0,
                oldest: None,
                example: task.id,
                lock: number.map_or(0, |(leaf, _)| leaf.arg),
                members: 0,
            };
            let group = groups.entry(Key::of(&group, group.lock)).or_insert(group);
            group.tasks += 1;
            group.members = group.members.wrapping_add(mixed(task.id));
            if wait.time > group.oldest {
                (group.oldest, group.example) = (wait.time, task.id);
            }
        }
    }
    groups.into_values().collect()
}

/// The waits of a task that is not running; that for its turn, if it is scheduled.
fn waits_of(seen: &Dumped, task: &TaskSeen, notes: &Notes) -> Vec<Wait> {
    match task.state {
        StateSeen::Running => Vec::new(),
        StateSeen::Queued => {
            let what = WaitFor::Colors(Box::new([task.color]));
            vec![Wait { what, site: None, time: None, how: TURN }]
        }
        StateSeen::Waiting => {
            let records = seen.sheet.waits(task).iter();
            let records = records.filter(|wait| !matches!(wait.target, TargetSeen::Section));
            let mut all: Vec<_> =
                records.filter_map(|wait| Wait::of_record(wait, seen.now, notes)).collect();
            if let Some((leaf, nanos)) = task.leaf {
                all.extend(Wait::of_leaf(leaf, nanos, notes, &HashMap::new()));
            }
            if all.is_empty() {
                all.push(Wait::OF_ITS_OWN);
            }
            all
        }
    }
}

/// The words of a wait for a turn.
const TURN: &str = "waits for a turn under";

/// A word for the kind, the words of a text without a detail that differs from task to task, and the place: for tasks and calls
/// that of the spawn.
fn words(wait: &Wait) -> (&'static str, &'static str, Option<&'static Location<'static>>) {
    match &wait.what {
        WaitFor::Colors(_) if wait.how == TURN => ("turn", TURN, None),
        WaitFor::Task(_, spawned) => ("task", "awaits a task", Some(spawned)),
        WaitFor::Call(Some(made)) => ("call", "awaits a blocking call", Some(made)),
        what => (what.word(), wait.how, wait.site),
    }
}

/// The color that they wait for, if it is one that has a name: there may be very many others.
fn color_of(wait: &Wait) -> Option<Color> {
    match &wait.what {
        WaitFor::Colors(colors) => match &colors[..] {
            [color] if color.is_default() || color.name().is_some() => Some(*color),
            _ => None,
        },
        _ => None,
    }
}

/// A number for a task whose sums are different for different sets of tasks, as a rule.
fn mixed(task: Id) -> u64 {
    let number = task.get().wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (number ^ number >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

/// The most frequent ones, and the oldest of the others.
fn first(mut groups: Vec<WaitGroup>) -> Vec<WaitGroup> {
    groups.sort_by_key(|group| (Reverse(group.tasks), Reverse(group.oldest), group.example));
    let mut rest = groups.split_off(FREQUENT.min(groups.len()));
    rest.sort_by_key(|group| Reverse(group.oldest));
    groups.extend(rest.into_iter().take(OLDEST));
    groups
}

/// The colors that are kept while something is scheduled under them.
fn kept(seen: &Dumped, keepers: &BTreeMap<Color, Keeper>, notes: &Notes) -> Vec<KeptColor> {
    let ids: HashSet<Id> = keepers.values().map(|keeper| keeper.task).collect();
    // A `when` that has a color stands at the head of the line there itself.
    let own = |keeper: &Keeper| u64::from(keeper.by == KeptBy::When);
    let mut queued: BTreeMap<Color, u64> = BTreeMap::new();
    let mut waits = HashMap::new();
    for task in seen.sheet.tasks() {
        if ids.contains(&task.id) {
            waits.insert(task.id, wait_of_keeper(seen, task, notes));
        }
        let keeper = keepers.get(&task.color).filter(|keeper| keeper.task != task.id);
        if keeper.is_some() && task.state == StateSeen::Queued {
            *queued.entry(task.color).or_default() += 1;
        }
    }
    for line in seen.sheet.lines() {
        if let Some(keeper) = keepers.get(&line.color) {
            let others = (line.closures as u64).saturating_sub(own(keeper));
            *queued.entry(line.color).or_default() += others;
        }
    }
    queued.retain(|_, queued| *queued > 0);
    let of = |(color, queued)| {
        let keeper = &keepers[&color];
        KeptColor {
            color,
            task: keeper.task,
            spawned: keeper.spawned,
            by: keeper.by.word(),
            site: keeper.site,
            time: keeper.time,
            queued,
            waits_for: waits.get(&keeper.task).cloned().flatten(),
        }
    };
    queued.into_iter().map(of).collect()
}

fn wait_of_keeper(seen: &Dumped, task: &TaskSeen, notes: &Notes) -> Option<WaitOfKeeper> {
    let waits = waits_of(seen, task, notes).into_iter();
    let oldest = waits.filter(|wait| wait.how != TURN).max_by_key(|wait| wait.time)?;
    let text = oldest.to_string();
    Some(WaitOfKeeper { what: words(&oldest).0, text, site: oldest.site, time: oldest.time })
}
