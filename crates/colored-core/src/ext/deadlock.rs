//! The search for deadlocks. It follows the targets of waits, from each section that has waited for long.
//!
//! # What the search examines
//!
//! | from | to | because |
//! |---|---|---|
//! | a section | the targets of the waits inside it | it needs all of them |
//! | a task | the targets of its waits | the same |
//! | an awaited task | its own lane, if that is blocked | it runs under no other |
//! | a blocked lane | the sections that hold it | nothing else runs there before they end |
//! | a blocked lane | the behaviors that have it | the same; a reader waits only for an exclusive one, or if a writer waits behind |
//! | a behavior | the lanes that it lacks | it begins when it has all |
//! | a wait for room | the color, or the called waiters | any of them gives room |
//!
//! In a blocked lane all waiters wait for the holder of the lane: their order in the line does not matter. The search
//! ignores acts from outside that would end a wait, because they may never happen: an abort of an awaited task, the
//! close of a limit.
//!
//! # Why every cycle found is real
//!
//! First the search pauses all sections that wait ([`Paused`]): none runs before its end. Meanwhile these sections are
//! blocked, and so are the lanes that they hold, the behaviors in the lines of those lanes, the lanes that these behaviors
//! have, and so on. The search pauses the tasks that it reaches, too. So their state does not change while the search reads
//! it, with one exception: another thread may drop a future. The future's record shows that, and the search reads it again
//! when it has found a cycle. So all waits of the cycle have existed at one moment.
//!
//! The search assumes that a task goes on if it is being polled, or is about to be. The next search looks at it again.
//!
//! # Which wait gets the error
//!
//! The youngest wait of each cycle that is inside a section gets the error. Its record takes the error; the search
//! wakes its waker and its task, and the next poll of the future ends with the error.
//!
//! # Limits
//!
//! The search misses the following, and reports no wrong error for them:
//!
//! * a cycle through a task that is always being polled: the search reads its records between its polls;
//! * a wait for room while an item inside was admitted, or called, before the first section, or while the program holds
//!   an unused permit;
//! * a cycle that leads through a lane of another scheduler;
//! * waits without a record: for permits, locks and channels; a post; and a wait of a thread that polls no task.

mod graph;
pub(crate) mod line;
mod records;
pub(crate) mod room;

use self::graph::Graph;
use self::line::Wanted;
use self::records::{Kept, Seen, records, waits_inside};
use crate::kernel::color::Color;
use crate::kernel::lane::behavior::Header;
use crate::kernel::lane::{BehaviorRef, LanePtr, LaneRef};
use crate::kernel::sched::Scheduler;
use crate::kernel::task::{Abort, Cause, Deadlock, Id, Link, Named, Paused, TaskRef, contain};
use crate::kernel::wait::{Called, Room, Target, WaitId};
use crate::sync::Arc;
use std::collections::{HashMap, HashSet};
use std::ptr::NonNull;
use std::task::Waker;

/// Finds waits that cannot end, and gives them an error: waits in a cycle with a section in which a wait has lasted for
/// `delay` nanoseconds or more. Any thread may call it, now and then.
///
/// Returns the nanoseconds until the next section will have waited for that long; `None` if no search is needed before
/// a task has run.
///
/// Costs a look at each waiting section, and at all behaviors in the line behind it.
pub fn look_for_deadlocks(scheduler: &Scheduler, delay: u64) -> Option<u64> {
    is_needed(scheduler).then(|| Search::default().go(scheduler, delay)).flatten()
}

/// The cycles of waits at the moment, of any age. Ends no wait.
pub(crate) fn find_deadlocks(scheduler: &Scheduler) -> Vec<Deadlock> {
    let mut found = Vec::new();
    if is_needed(scheduler) {
        let _due = Search { found: Some(&mut found), ..Search::default() }.go(scheduler, 0);
    }
    found
}

fn is_needed(scheduler: &Scheduler) -> bool {
    scheduler.has_had_sections() && !scheduler.is_closing()
}

impl Search<'_> {
    fn go(mut self, scheduler: &Scheduler, delay: u64) -> Option<u64> {
        let search = &mut self;
        scheduler.common.sections.all().into_iter().for_each(|task| search.pause_section(task));
        if search.by_lane.is_empty() {
            return None;
        }
        search.walk_lines();
        let now = scheduler.now();
        let (starts, due) = search.starts(now, delay);
        let mut graph = Graph::default();
        starts.iter().for_each(|start| graph.reach(*start, |key| search.needs(key)));
        let mut told = HashSet::new();
        for start in starts {
            // Each search leaves out the waits that have been told: in the end every cycle has one of them.
            while let Some(cycle) = graph.cycle(start, &told) {
                search.tell(cycle, &mut told);
            }
        }
        let wakers = std::mem::take(&mut search.wakers);
        let ends_waits = search.found.is_none() && !told.is_empty();
        drop(self);
        if ends_waits {
            contain(|| scheduler.park.found_deadlock(scheduler));
        }
        // A waker may be foreign code.
        wakers.into_iter().for_each(|waker| contain(|| waker.wake()));
        due
    }
}

/// A behavior that has a lane.
struct Had {
    behavior: NonNull<Header>,
    is_shared: bool,
}

/// A task that waits in sections.
struct Holder {
    task: TaskRef<LanePtr>,
    sections: Vec<Seen>,
}

/// The search acts in a fixed order that does not depend on the order of a map, so that a simulation can be repeated.
#[derive(Default)]
struct Search<'a> {
    /// The holders, by the lanes that they hold.
    by_lane: HashMap<LanePtr, Holder>,
    /// The lanes that sections hold.
    blocked: Vec<LanePtr>,
    /// The task of each section.
    sections: HashMap<Seen, TaskRef<LanePtr>>,
    had: HashMap<LanePtr, Vec<Had>>,
    /// Lanes where readers are inside, and the first behind them is no reader.
    shut: HashSet<LanePtr>,
    behaviors: Kept<NonNull<Header>, BehaviorRef>,
    rooms: Kept<Seen, Arc<dyn Room>>,
    wakers: Vec<Waker>,
    paused: Vec<Paused<LanePtr>>,
    /// Their tasks, so that none is paused twice.
    paused_ids: HashSet<Id>,
    tasks: Kept<Id, Abort<LanePtr>>,
    lanes: Vec<LaneRef>,
    /// Where the cycles are written down, if no wait is to end with them.
    found: Option<&'a mut Vec<Deadlock>>,
}

/// A node of the search, which cannot go on before others do.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Task(Id),
    /// A lane, and whether it is wanted together with other readers.
    Lane(LanePtr, bool),
    Section(Seen),
    Behavior(NonNull<Header>),
    /// A wait for room, if room can come in several ways.
    Room(Seen),
}

type Step = graph::Step<Key, Seen, Link>;
type Needs = graph::Needs<Key, Seen, Link>;

impl Search<'_> {
    fn pause_section(&mut self, task: Abort<LanePtr>) {
        // Otherwise the task runs, or has left its lane.
        let Some(paused) = task.pause().filter(Paused::keeps_lane) else { return };
        let view = task.task();
        let sections = records(view).filter(|record| record.is_section()).collect();
        let holder = Holder { task: view, sections };
        self.sections.extend(holder.sections.iter().map(|section| (*section, view)));
        self.blocked.push(view.lane());
        self.by_lane.insert(view.lane(), holder);
        self.paused_ids.insert(view.id());
        self.paused.push(paused);
        self.tasks.insert(view.id(), task);
    }

    /// Finds the behaviors that have lanes, and lack a lane that is blocked.
    fn walk_lines(&mut self) {
        let mut found = Vec::new();
        // SAFETY: the section is paused, and so this thread holds its lane.
        let each = |lane: &LanePtr| unsafe { lane.line(|behavior| found.push(behavior)) };
        self.blocked.iter().for_each(each);
        while let Some(behavior) = found.pop() {
            let address = behavior.address();
            if !self.behaviors.insert(address, behavior) {
                continue;
            }
            for want in self.behaviors[address].wants().filter(|want| want.has) {
                let had = self.had.entry(want.lane).or_default();
                had.push(Had { behavior: address, is_shared: want.is_shared });
                if had.len() > 1 {
                    continue;
                }
                let show = |behavior| found.push(behavior);
                if want.is_shared {
                    // SAFETY: the behavior is inside, and lacks a lane that is blocked.
                    if unsafe { want.lane.line_beside_readers(show) } == Some(true) {
                        self.shut.insert(want.lane);
                    }
                } else {
                    // SAFETY: the behavior has the lane, and lacks a blocked one.
                    unsafe { want.lane.line(show) };
                }
            }
        }
    }

    /// The sections in which a wait has lasted for `delay`, and the time until the next one has.
    fn starts(&self, now: u64, delay: u64) -> (Vec<Key>, Option<u64>) {
        let (mut starts, mut due) = (Vec::new(), None::<u64>);
        let holders = self.blocked.iter().map(|lane| &self.by_lane[lane]);
        let sections = holders.flat_map(|of| of.sections.iter().map(|section| (of.task, section)));
        for (task, section) in sections {
            let waits = waits_inside(task, *section);
            let Some(since) = waits.map(|wait| wait.since()).min() else { continue };
            let age = now.saturating_sub(since);
            if age >= delay {
                starts.push(Key::Section(*section));
            } else {
                due = Some(due.map_or(delay - age, |due| due.min(delay - age)));
            }
        }
        (starts, due)
    }

    /// The nodes that a node needs, to which the search may add others on the way.
    fn needs(&mut self, key: Key) -> Needs {
        let any = matches!(key, Key::Room(_));
        let steps = match key {
            Key::Section(section) => {
                let task = self.sections[&section];
                waits_inside(task, section)
                    .flat_map(|wait| self.steps_of(wait, task.named()))
                    .collect()
            }
            Key::Task(task) => self.steps_of_task(task),
            Key::Lane(lane, is_shared) => self.holders(lane, is_shared),
            Key::Behavior(behavior) => {
                let behavior = &self.behaviors[behavior];
                let lacks = behavior.wants().filter(|want| !want.has);
                let step = |want: Wanted| Step {
                    link: Link::Lacks { color: want.color, site: behavior.site },
                    to: Key::Lane(want.lane, want.is_shared),
                    wait: None,
                };
                lacks.map(step).collect()
            }
            Key::Room(wait) => self.ways(wait),
        };
        Needs { any, steps }
    }

    /// The steps to the holders of a lane.
    fn holders(&self, lane: LanePtr, is_shared: bool) -> Vec<Step> {
        let mut steps = Vec::new();
        if let Some(holder) = self.by_lane.get(&lane) {
            // SAFETY: the holder's task keeps the lane.
            let color = unsafe { lane.get() }.color();
            let task = holder.task.named();
            steps.extend(holder.sections.iter().map(|section| {
                let link = Link::Kept { color, task, section: section.cause().site };
                Step { link, to: Key::Section(*section), wait: None }
            }));
        }
        for had in self.had.get(&lane).into_iter().flatten() {
            if is_shared && had.is_shared && !self.shut.contains(&lane) {
                continue;
            }
            let behavior = &self.behaviors[had.behavior];
            let color = color_of(behavior, lane);
            let link = Link::Behind { color, task: behavior.maker, site: behavior.site };
            steps.push(Step { link, to: Key::Behavior(had.behavior), wait: None });
        }
        steps
    }

    /// The steps that an awaited task needs.
    fn steps_of_task(&mut self, task: Id) -> Vec<Step> {
        let task = &self.tasks[task];
        let view = task.task();
        if !self.paused_ids.contains(&view.id())
            && let Some(paused) = task.pause()
        {
            self.paused_ids.insert(view.id());
            self.paused.push(paused);
        }
        let (lane, named) = (view.lane(), view.named());
        let holds = self.by_lane.get(&lane).is_some_and(|holder| holder.task == view);
        let is_blocked = self.by_lane.contains_key(&lane) || self.had.contains_key(&lane);
        if view.is_complete() || !(self.paused_ids.contains(&named.id) || is_blocked) {
            return Vec::new();
        }
        let waits: Vec<_> = records(view).filter(|wait| !wait.is_section()).collect();
        let mut steps = Vec::new();
        if is_blocked && !holds {
            // SAFETY: its holder keeps the lane.
            let color = unsafe { lane.get() }.color();
            // The cause of a hop points to nothing.
            let hop = waits.iter().find(|wait| wait.cause().what.is_null());
            let link = match hop.map(|hop| hop.cause()) {
                Some(&Cause { how, site, .. }) => {
                    Link::Turn { task: named, how: how.text, color, site }
                }
                None => Link::Own { task: named, color },
            };
            steps.push(Step { link, to: Key::Lane(lane, false), wait: None });
        }
        steps.extend(waits.into_iter().flat_map(|wait| self.steps_of(wait, named)));
        steps
    }

    /// The steps that a wait needs, all of them. Empty if the wait may end by itself.
    fn steps_of(&mut self, wait: Seen, task: Named) -> Vec<Step> {
        let cause = *wait.cause();
        let turn = |color| Link::Turn { task, how: cause.how.text, color, site: cause.site };
        let step = |link, to| Step { link, to, wait: Some(wait) };
        match wait.target() {
            None | Some(Target::Own) => Vec::new(),
            Some(Target::Task(joined)) => {
                let view = joined.task();
                let link = Link::Join { task, joined: view.named() };
                let step = step(link, Key::Task(view.id()));
                self.tasks.insert(view.id(), joined);
                vec![step]
            }
            Some(Target::Lane(lane)) => {
                let key = Key::Lane(lane.ptr(), cause.how.is_shared);
                let link = turn(lane.color());
                self.lanes.push(lane);
                vec![step(link, key)]
            }
            Some(Target::Behavior(behavior)) => {
                let lacks: Vec<_> = behavior.wants().filter(|want| !want.has).collect();
                // A behavior that lacks no blocked lane is kept for its lanes.
                self.behaviors.insert(behavior.address(), behavior);
                let steps = lacks.into_iter();
                steps
                    .map(|want| step(turn(want.color), Key::Lane(want.lane, want.is_shared)))
                    .collect()
            }
            Some(Target::Room(room)) => {
                let color = room.address().color();
                self.rooms.insert(wait, room);
                let mut ways = self.ways(wait);
                match ways.pop() {
                    None => Vec::new(),
                    Some(only) if ways.is_empty() && matches!(only.link, Link::Inside { .. }) => {
                        vec![step(turn(color), only.to)]
                    }
                    Some(_) => vec![step(turn(color), Key::Room(wait))],
                }
            }
        }
    }

    /// The ways by which room comes, any of which is enough. Empty if one of them goes on.
    fn ways(&self, wait: Seen) -> Vec<Step> {
        let room = &self.rooms[wait];
        let Some(ways) = room.ways() else { return Vec::new() };
        let step = |link, lane| Step { link, to: Key::Lane(lane, false), wait: None };
        let holds_its_own = |called: &Called| {
            self.by_lane.get(&called.lane).is_some_and(|of| of.task.id() == called.task.id)
        };
        if ways.called.iter().any(holds_its_own) {
            return Vec::new();
        }
        let called = ways.called.iter();
        let called = called.map(|called| step(Link::Called { task: called.task }, called.lane));
        let address = room.address();
        let inside = || step(Link::Inside { color: address.color() }, address.lane().ptr());
        let by_color = ways.by_color.then(inside);
        by_color.into_iter().chain(called).collect()
    }

    /// Gives the error to one wait of a cycle. If a wait of the cycle is over by now, the search leaves it out from
    /// here on.
    fn tell(&mut self, mut cycle: Vec<Step>, told: &mut HashSet<Seen>) {
        let waits = || cycle.iter().filter_map(|step| step.wait);
        if let Some(over) = waits().find(|wait| !wait.is_listed()) {
            told.insert(over);
            return;
        }
        let inside = waits().filter_map(|wait| Some((wait, *self.sections.get(&wait.section()?)?)));
        let (wait, task) =
            inside.max_by_key(|(wait, _)| wait.since()).expect("the cycle leads through a section");
        let first = cycle.iter().position(|step| step.wait == Some(wait)).unwrap_or(0);
        cycle.rotate_left(first);
        let deadlock = Deadlock::new(cycle.iter().map(|step| step.link).collect());
        if let Some(found) = &mut self.found {
            found.push(deadlock);
            told.insert(wait);
            return;
        }
        // SAFETY: the task is paused.
        unsafe { wait.tell(deadlock) };
        let waker = match self.rooms.get(&wait) {
            Some(room) => room.take_waker(WaitId::of(wait.0)),
            None => wait.waker(),
        };
        self.wakers.extend(waker);
        self.wakers.push(task.waker());
        told.insert(wait);
    }
}

fn color_of(behavior: &BehaviorRef, lane: LanePtr) -> Color {
    let want = behavior.wants().find(|want| want.lane == lane);
    want.expect("it has the lane").color
}
