//! The graph of waits, and the search for a cycle.

use super::Room;
use super::lines::{Lines, Spot, Stand};
use crate::color::Color;
use crate::lane::LanePtr;
use crate::sync::Arc;
use crate::task::{Deadlock, Id, Link, Named, TaskRef};
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::panic::Location;

/// All waits that are recorded.
#[derive(Default)]
pub(super) struct Graph {
    /// By task.
    waits: HashMap<Id, Vec<Wait>>,
    /// By key.
    sections: HashMap<u64, Section>,
    /// The keys of the sections that hold a lane.
    held: HashMap<LanePtr, Vec<u64>>,
    /// How many waits are for a task.
    awaited: HashMap<Id, u32>,
    pub(super) lines: Lines,
    last_key: u64,
}

// SAFETY: the tasks in here are alive until the record that has them is removed, which takes the
// lock; and all that is done with them is to read what never changes, or is atomic.
unsafe impl Send for Graph {}

struct Wait {
    key: u64,
    task: Named,
    to: To,
    section: Option<u64>,
}

/// What is waited for.
pub(super) enum To {
    /// It was in no line at that time; 0 if that is not known of any.
    Task {
        task: TaskRef<LanePtr>,
        since: u64,
    },
    /// Room that a color gives, and perhaps others too.
    Room {
        room: Arc<dyn Room>,
        lane: LanePtr,
        color: Color,
        how: &'static str,
        site: &'static Location<'static>,
    },
    Lane {
        spot: Spot,
        color: Color,
        how: &'static str,
        site: &'static Location<'static>,
    },
}

#[derive(Clone, Copy)]
struct Section {
    task: TaskRef<LanePtr>,
    lane: LanePtr,
    color: Color,
    site: &'static Location<'static>,
}

/// A step of the search: a link, and where it leads.
struct Step {
    link: Link,
    node: Node,
    /// A wait on the way is inside a section.
    inside: bool,
}

#[derive(Clone, Copy)]
enum Node {
    /// As in [`To::Task`].
    Task(TaskRef<LanePtr>, u64),
    Lane(Spot),
    Section(u64),
    Stand(u64),
}

#[derive(PartialEq, Eq, Hash)]
enum Seen {
    Task(Id, bool),
    Lane(Spot, bool),
    Section(u64),
    Stand(u64, bool),
}

impl Graph {
    pub(super) fn next_key(&mut self) -> u64 {
        self.last_key += 1;
        self.last_key
    }

    /// The section that `task` is in, which holds `lane`, waits for something the first time.
    pub(super) fn begin_section(
        &mut self,
        task: TaskRef<LanePtr>,
        lane: LanePtr,
        site: &'static Location<'static>,
    ) -> u64 {
        let key = self.next_key();
        // SAFETY: the task that is polled keeps its lane.
        let color = unsafe { lane.get() }.color();
        self.sections.insert(key, Section { task, lane, color, site });
        self.held.entry(lane).or_default().push(key);
        key
    }

    /// Its waits are no longer inside a section.
    pub(super) fn end_section(&mut self, key: u64) {
        let Some(section) = self.sections.remove(&key) else { return };
        if let Some(keys) = self.held.get_mut(&section.lane) {
            keys.retain(|own| *own != key);
            if keys.is_empty() {
                self.held.remove(&section.lane);
            }
        }
        for wait in self.waits.get_mut(&section.task.id()).into_iter().flatten() {
            wait.section = wait.section.filter(|own| *own != key);
        }
    }

    /// Adds a wait for all of `to`, unless it closes a cycle.
    pub(super) fn add(
        &mut self,
        key: u64,
        task: TaskRef<LanePtr>,
        to: impl IntoIterator<Item = To>,
        section: Option<u64>,
    ) -> Result<(), Deadlock> {
        let task = task.named();
        for to in to {
            let wait = Wait { key, task, to, section };
            if let Some(deadlock) = self.cycle_of(&wait) {
                self.remove(task.id, key);
                return Err(deadlock);
            }
            if let To::Task { task: joined, .. } = wait.to {
                *self.awaited.entry(joined.id()).or_default() += 1;
            }
            self.waits.entry(task.id).or_default().push(wait);
        }
        Ok(())
    }

    /// Somebody does not wait for this task any more.
    fn is_let_go(&mut self, joined: Id) {
        if let Some(times) = self.awaited.get_mut(&joined) {
            *times -= 1;
            if *times == 0 {
                self.awaited.remove(&joined);
            }
        }
    }

    pub(super) fn remove(&mut self, task: Id, key: u64) {
        let Some(waits) = self.waits.get_mut(&task) else { return };
        let removed: Vec<Wait> = waits.extract_if(.., |wait| wait.key == key).collect();
        if waits.is_empty() {
            self.waits.remove(&task);
        }
        for wait in removed {
            if let To::Task { task: joined, .. } = wait.to {
                self.is_let_go(joined.id());
            }
        }
    }

    /// Whether a section holds that lane in which somebody waits.
    pub(super) fn is_held(&self, lane: LanePtr) -> bool {
        self.held.contains_key(&lane)
    }

    /// Looks for a way from what `wait` waits for back to it.
    fn cycle_of(&self, wait: &Wait) -> Option<Deadlock> {
        // It would have to lead back by one of these, and by a section in which somebody waits.
        let back = wait.section.is_some() || self.awaited.contains_key(&wait.task.id);
        if !back || self.sections.is_empty() {
            return None;
        }
        let arrived = |step: &Step| match step.node {
            Node::Task(task, _) => step.inside && task.id() == wait.task.id,
            Node::Lane(_) | Node::Stand(_) => false,
            Node::Section(key) => Some(key) == wait.section,
        };
        self.way(wait.step(false).into_iter().collect(), arrived).map(Deadlock::new)
    }

    /// Looks for a way by which a `when` that is scheduled now would wait for itself: for a task that is
    /// in no line, and so would come behind it.
    pub(super) fn crosses(&self, stand: &Stand) -> Option<Deadlock> {
        if self.held.is_empty() {
            return None;
        }
        let behind = Cell::new(None);
        let arrived = |step: &Step| match step.node {
            Node::Task(task, _) => {
                let color = stand.color_of(task.lane()).filter(|_| step.inside && task.is_out());
                behind.set(color.map(|color| (task.named(), color)));
                color.is_some()
            }
            Node::Lane(_) | Node::Stand(_) | Node::Section(_) => false,
        };
        let mut way = self.way(lacks(stand, false).collect(), arrived)?;
        if let Some((task, color)) = behind.get() {
            way.push(Link::Own { task, color });
            way.push(Link::Behind { color, task: stand.task, site: stand.site });
        }
        Some(Deadlock::new(way))
    }

    /// A way from the first of these steps to one that has arrived.
    fn way(&self, first: Vec<Step>, arrived: impl Fn(&Step) -> bool) -> Option<Vec<Link>> {
        let mut seen = HashSet::new();
        // The way so far, and at each of its points what has not been tried there.
        let mut way: Vec<Link> = Vec::new();
        let mut rest: Vec<Vec<Step>> = vec![first];
        while let Some(steps) = rest.last_mut() {
            let Some(step) = steps.pop() else {
                rest.pop();
                way.pop();
                continue;
            };
            if arrived(&step) {
                way.push(step.link);
                return Some(way);
            }
            if seen.insert(step.seen()) {
                rest.push(self.steps_from(&step));
                way.push(step.link);
            }
        }
        None
    }

    /// What a task, a lane or a section waits for.
    fn steps_from(&self, step: &Step) -> Vec<Step> {
        match step.node {
            Node::Task(task, _) if task.is_complete() => Vec::new(),
            Node::Task(task, since) => {
                let own = self.own_lane(task, since, step.inside);
                let waits = self.waits.get(&task.id()).into_iter().flatten();
                own.into_iter().chain(waits.filter_map(|wait| wait.step(step.inside))).collect()
            }
            Node::Lane(spot) => {
                let stands = self.lines.before(spot).into_iter();
                let stands = stands.filter_map(|key| self.behind(key, spot, step.inside));
                let keys = self.held.get(&spot.lane).into_iter().flatten();
                stands.chain(keys.filter_map(|key| self.held_by(*key))).collect()
            }
            Node::Stand(key) => {
                let stand = self.lines.get(key);
                stand.map(|stand| lacks(stand, step.inside).collect()).unwrap_or_default()
            }
            Node::Section(key) => {
                let task = self.sections.get(&key).map(|section| section.task.id());
                let waits = task.and_then(|task| self.waits.get(&task)).into_iter().flatten();
                let waits = waits.filter(|wait| wait.section == Some(key));
                waits.filter_map(|wait| wait.step(true)).collect()
            }
        }
    }

    /// A task goes on under its own color only.
    fn own_lane(&self, task: TaskRef<LanePtr>, since: u64, inside: bool) -> Option<Step> {
        let lane = task.lane();
        let spot = Spot { lane, shared: false, place: since };
        let keys = self.held.get(&lane).into_iter().flatten();
        let mut holders = keys.filter_map(|key| self.sections.get(key));
        let holder = holders.find(|section| section.task.id() != task.id());
        let color = match holder {
            Some(section) => section.color,
            None => self.lines.get(*self.lines.before(spot).first()?)?.color_of(lane)?,
        };
        let link = Link::Own { task: task.named(), color };
        Some(Step { link, node: Node::Lane(spot), inside })
    }

    /// A `when` goes before this spot.
    fn behind(&self, key: u64, spot: Spot, inside: bool) -> Option<Step> {
        let stand = self.lines.get(key)?;
        let color = stand.color_of(spot.lane)?;
        let link = Link::Behind { color, task: stand.task, site: stand.site };
        Some(Step { link, node: Node::Stand(key), inside })
    }

    fn held_by(&self, key: u64) -> Option<Step> {
        let section = self.sections.get(&key).filter(|section| !section.task.is_complete())?;
        let task = section.task.named();
        let link = Link::Held { color: section.color, task, section: section.site };
        Some(Step { link, node: Node::Section(key), inside: true })
    }
}

impl Wait {
    /// `None` if it may end without whom it is for.
    fn step(&self, inside: bool) -> Option<Step> {
        let inside = inside || self.section.is_some();
        let (link, node) = match self.to {
            To::Task { task, since } => {
                (Link::Join { task: self.task, joined: task.named() }, Node::Task(task, since))
            }
            To::Lane { spot, color, how, site } => {
                (Link::Turn { task: self.task, how, color, site }, Node::Lane(spot))
            }
            To::Room { ref room, lane, color, how, site } => {
                if !room.comes_by_the_color_only() {
                    return None;
                }
                // Whoever is inside may be anywhere in the line.
                let spot = Spot { lane, shared: false, place: 0 };
                (Link::Turn { task: self.task, how, color, site }, Node::Lane(spot))
            }
        };
        Some(Step { link, node, inside })
    }
}

/// A `when` waits for all of its lanes.
fn lacks(stand: &Stand, inside: bool) -> impl Iterator<Item = Step> {
    stand.spots.iter().map(move |(spot, color)| {
        let link = Link::Lacks { color: *color, site: stand.site };
        Step { link, node: Node::Lane(*spot), inside }
    })
}

impl Step {
    fn seen(&self) -> Seen {
        match self.node {
            Node::Task(task, _) => Seen::Task(task.id(), self.inside),
            Node::Lane(spot) => Seen::Lane(spot, self.inside),
            Node::Section(key) => Seen::Section(key),
            Node::Stand(key) => Seen::Stand(key, self.inside),
        }
    }
}
