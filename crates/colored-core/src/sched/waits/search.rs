//! The search for a cycle of waits.

use super::graph::{Graph, To, Wait};
use super::lines::{Spot, Stand};
use super::room::Called;
use crate::lane::LanePtr;
use crate::task::{Deadlock, Id, Link, TaskRef};
use std::collections::HashSet;
use std::task::Waker;

/// A step of the search: a link, and where it leads.
pub(super) struct Step<'a> {
    link: Link,
    pub(super) node: Node<'a>,
    /// A wait on the way is inside a section.
    inside: bool,
    /// The wait that it is, if it is one.
    wait: Option<&'a Wait>,
}

#[derive(Clone, Copy)]
pub(super) enum Node<'a> {
    /// As in [`To::Task`].
    Task(TaskRef<LanePtr>, u64),
    Lane(Spot),
    Section(u64),
    Stand(u64),
    /// What a wait for room is for, if that comes by several.
    Room(&'a Wait),
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Task(Id, u64),
    Lane(Spot),
    Section(u64),
    Stand(u64),
    Room(Id, u64),
}

impl Graph {
    /// Looks for a way from what `wait` waits for back to it.
    pub(super) fn cycle_of(&self, wait: &Wait) -> Option<Deadlock> {
        // It would have to lead back by one of these, and by a section in which somebody waits.
        let back = wait.section().is_some() || self.awaited.contains_key(&wait.task.id);
        if !back || self.sections.is_empty() {
            return None;
        }
        let back = |node: Node<'_>| match node {
            Node::Task(task, _) => task.id() == wait.task.id,
            Node::Section(key) => wait.section().is_some_and(|(own, _)| own == key),
            Node::Lane(_) | Node::Stand(_) | Node::Room(..) => false,
        };
        let first = || self.steps_of(wait, false);
        self.way(first, back, &[]).map(|way| Deadlock::new(links(way)))
    }

    /// Looks for a way by which a `when` that is scheduled now would wait for itself: for a task that is
    /// in no line, and so would come behind it.
    pub(super) fn crosses(&self, stand: &Stand) -> Option<Deadlock> {
        if self.held.is_empty() {
            return None;
        }
        let comes_behind = |node: Node<'_>| match node {
            Node::Task(task, _) => {
                let color = stand.color_of(task.lane()).filter(|_| task.is_out());
                color.map(|color| (task.named(), color))
            }
            Node::Lane(_) | Node::Stand(_) | Node::Section(_) | Node::Room(..) => None,
        };
        let first = || lacks(stand, false).collect();
        let way = self.way(first, |node: Node<'_>| comes_behind(node).is_some(), &[])?;
        let behind = way.last().and_then(|step| comes_behind(step.node));
        let mut links = links(way);
        if let Some((task, color)) = behind {
            links.push(Link::Own { task, color });
            links.push(Link::Behind { color, task: stand.task, site: stand.site });
        }
        Some(Deadlock::new(links))
    }

    /// Tells all waits inside sections that are in a cycle through a `when` to look again. Whom to wake
    /// afterwards.
    pub(super) fn tell_those_shut_in(&self, key: u64) -> Vec<Waker> {
        let (mut told, mut wakers) = (Vec::new(), Vec::new());
        let Some(stand) = self.lines.get(key).filter(|_| !self.sections.is_empty()) else {
            return wakers;
        };
        let back = |node: Node<'_>| matches!(node, Node::Stand(other) if other == key);
        let first = || lacks(stand, false).collect();
        // Each time without one of those that have been told: so in the end every cycle has one.
        while let Some(way) = self.way(first, back, &told) {
            let waits = way.iter().filter_map(|step| step.wait);
            let inside: Vec<_> = waits.filter(|wait| wait.section().is_some()).collect();
            let first = inside.first().expect("it leads through a section");
            told.push(first.key);
            wakers.extend(inside.into_iter().filter_map(|wait| self.tell(wait)));
        }
        wakers
    }

    /// Tells a wait inside a section to look again. Whom to wake.
    fn tell(&self, wait: &Wait) -> Option<Waker> {
        let (section, told) = wait.section()?;
        told.tell();
        let section = self.sections.get(&section)?;
        // SAFETY: a section keeps its task.
        Some(unsafe { section.task.waker() })
    }

    /// A way from the first steps `back`, by a wait inside a section, and by none of those waits.
    fn way<'a>(
        &'a self,
        first: impl Fn() -> Vec<Step<'a>>,
        back: impl Fn(Node<'_>) -> bool + Copy,
        without: &[u64],
    ) -> Option<Vec<Step<'a>>> {
        let way = self.way_by(first(), back, |step| !step.is_one_of(without))?;
        if !way.iter().any(|step| matches!(step.node, Node::Room(..))) {
            return Some(way);
        }
        let stuck = self.stuck(first(), back, without);
        let by = |step: &Step<'_>| !step.is_one_of(without) && stuck.contains(&step.node.key());
        self.way_by(first(), back, by)
    }

    /// A way from the first of these steps, by such steps, `back`.
    fn way_by<'a>(
        &'a self,
        first: Vec<Step<'a>>,
        back: impl Fn(Node<'_>) -> bool,
        by: impl Fn(&Step<'a>) -> bool,
    ) -> Option<Vec<Step<'a>>> {
        let mut seen = HashSet::new();
        // The way so far, and at each of its points what has not been tried there.
        let mut way: Vec<Step<'a>> = Vec::new();
        let mut rest: Vec<Vec<Step<'a>>> = vec![first];
        while let Some(steps) = rest.last_mut() {
            let Some(step) = steps.pop() else {
                rest.pop();
                way.pop();
                continue;
            };
            if !by(&step) {
                continue;
            }
            if step.inside && back(step.node) {
                way.push(step);
                return Some(way);
            }
            if seen.insert((step.node.key(), step.inside)) {
                rest.push(self.steps_from(&step));
                way.push(step);
            }
        }
        None
    }

    /// What a task, a lane or a section waits for.
    pub(super) fn steps_from<'a>(&'a self, step: &Step<'a>) -> Vec<Step<'a>> {
        match step.node {
            Node::Task(task, _) if task.is_complete() => Vec::new(),
            Node::Task(task, since) => {
                let own = self.own_lane(task, since, step.inside);
                let waits = self.waits.get(&task.id()).into_iter().flatten();
                own.into_iter()
                    .chain(waits.flat_map(|wait| self.steps_of(wait, step.inside)))
                    .collect()
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
                let waits = waits.filter(|wait| wait.section().is_some_and(|(own, _)| own == key));
                waits.flat_map(|wait| self.steps_of(wait, true)).collect()
            }
            Node::Room(wait) => self.ways_of(wait, step.inside),
        }
    }

    /// What room may come by, any of which is enough. Nothing if one of those goes on.
    fn ways_of<'a>(&self, wait: &'a Wait, inside: bool) -> Vec<Step<'a>> {
        let To::Room { ref room, lane, color, .. } = wait.to else { return Vec::new() };
        let Some(ways) = room.ways() else { return Vec::new() };
        let step = |link, lane| {
            // Whoever is inside may be anywhere in the line.
            let spot = Spot { lane, shared: false, place: 0 };
            Step { link, node: Node::Lane(spot), inside, wait: None }
        };
        let holds_its_own = |called: &Called| {
            let keys = self.held.get(&called.lane).into_iter().flatten();
            let mut sections = keys.filter_map(|key| self.sections.get(key));
            sections.any(|section| section.task.id() == called.task.id)
        };
        if ways.called.iter().any(holds_its_own) {
            return Vec::new();
        }
        let called = ways.called.into_iter();
        let called = called.map(|called| step(Link::Called { task: called.task }, called.lane));
        let by_color = ways.by_color.then(|| step(Link::Inside { color }, lane));
        by_color.into_iter().chain(called).collect()
    }

    /// What is waited for, each of which is needed. Nothing if it may end without whom it is for.
    fn steps_of<'a>(&self, wait: &'a Wait, inside: bool) -> Vec<Step<'a>> {
        let inside = inside || wait.section().is_some();
        let task = wait.task;
        let step = |link, node| Step { link, node, inside, wait: Some(wait) };
        match wait.to {
            To::Task { task: joined, since } => {
                let link = Link::Join { task, joined: joined.named() };
                vec![step(link, Node::Task(joined, since))]
            }
            To::Lane { spot, color, how } => {
                let link = Link::Turn { task, how: how.how, color, site: how.site };
                vec![step(link, Node::Lane(spot))]
            }
            To::Stand { key, how } => {
                let lacks = self.lines.get(key).into_iter().flat_map(Stand::lacks);
                let turn = |color| Link::Turn { task, how: how.how, color, site: how.site };
                lacks.map(|(spot, color)| step(turn(color), Node::Lane(spot))).collect()
            }
            To::Room { color, how, .. } => {
                let link = Link::Turn { task, how: how.how, color, site: how.site };
                let mut ways = self.ways_of(wait, inside);
                match ways.pop() {
                    None => Vec::new(),
                    Some(only) if ways.is_empty() && matches!(only.link, Link::Inside { .. }) => {
                        vec![step(link, only.node)]
                    }
                    Some(_) => vec![step(link, Node::Room(wait))],
                }
            }
        }
    }

    /// A task goes on under its own color only.
    fn own_lane(&self, task: TaskRef<LanePtr>, since: u64, inside: bool) -> Option<Step<'_>> {
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
        Some(Step { link, node: Node::Lane(spot), inside, wait: None })
    }

    /// A `when` goes before this spot.
    fn behind(&self, key: u64, spot: Spot, inside: bool) -> Option<Step<'_>> {
        let stand = self.lines.get(key)?;
        let color = stand.color_of(spot.lane)?;
        let link = Link::Behind { color, task: stand.task, site: stand.site };
        Some(Step { link, node: Node::Stand(key), inside, wait: None })
    }

    fn held_by(&self, key: u64) -> Option<Step<'_>> {
        let section = self.sections.get(&key).filter(|section| !section.task.is_complete())?;
        let task = section.task.named();
        let link = Link::Held { color: section.color, task, section: section.site };
        Some(Step { link, node: Node::Section(key), inside: true, wait: None })
    }
}

/// A `when` waits for all of its lanes.
fn lacks(stand: &Stand, inside: bool) -> impl Iterator<Item = Step<'_>> {
    stand.lacks().map(move |(spot, color)| {
        let link = Link::Lacks { color, site: stand.site };
        Step { link, node: Node::Lane(spot), inside, wait: None }
    })
}

fn links(way: Vec<Step<'_>>) -> Vec<Link> {
    way.into_iter().map(|step| step.link).collect()
}

impl Step<'_> {
    /// Whether it is one of those waits.
    pub(super) fn is_one_of(&self, waits: &[u64]) -> bool {
        self.wait.is_some_and(|wait| waits.contains(&wait.key))
    }
}

impl Node<'_> {
    pub(super) fn key(self) -> Key {
        match self {
            Self::Task(task, since) => Key::Task(task.id(), since),
            Self::Lane(spot) => Key::Lane(spot),
            Self::Section(key) => Key::Section(key),
            Self::Stand(key) => Key::Stand(key),
            Self::Room(wait) => Key::Room(wait.task.id, wait.key),
        }
    }
}
