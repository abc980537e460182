//! The acts of a task on several cells: beside readers, or for itself alone across awaits.

use super::callbacks::Value;
use super::crossing::{self, Pending};
use super::moves::Wait;
use super::task::Task;
use super::{Move, deeds, lies};
use crate::agenda::Event;
use crate::fault::Fault;
use crate::oracle::Want;
use crate::profile::Crossing;
use crate::slab::Key;
use crate::trace::What;
use crate::world::{Phase, World};
use colored_core::{ColorCell, Exclusive, exclusive, when};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

/// A `when` or a `read`.
pub(super) struct Behavior {
    pub(super) key: Key,
    pub(super) future: Wanted,
}

pub(super) type Wanted = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The token in the closure of a `when` or a `read`. It knows whether the closure has run.
pub(super) struct Token {
    key: Key,
    run: bool,
}

impl Token {
    pub(super) fn new(key: Key) -> Self {
        Self { key, run: false }
    }

    pub(super) fn run(&mut self, f: impl FnOnce(&World)) {
        self.run = true;
        World::with(|world| {
            if world.has_failed() {
                return;
            }
            world.oracle(|oracle| oracle.behavior_begins(self.key));
            world.note(What::Several, self.key.slot, 1);
            f(world);
            world.oracle(|oracle| oracle.behavior_ends(self.key));
        });
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        if !self.run {
            World::with(|world| {
                if !world.has_failed() {
                    world.note(What::Several, self.key.slot, 2);
                    world.oracle(|oracle| oracle.behavior_unrun(self.key));
                }
            });
        }
    }
}

pub(super) type Cell = ColorCell<Value>;

/// Some cells that stay up to the end, all different.
fn some_cells(world: &World, most: usize) -> Vec<(Key, Cell)> {
    let lasting = world.stock.lasting.borrow();
    let mut chosen: Vec<(Key, Cell)> = Vec::new();
    for _ in 0..most.min(lasting.len()) {
        let (key, cell) = &lasting[world.chance.index(lasting.len())];
        if chosen.iter().all(|(other, _)| other != key) && !may_hold(world, *key) {
            chosen.push((*key, cell.clone()));
        }
    }
    chosen
}

/// Whether sections may hold that cell's color. Where no wait can close a cycle, no task wants this color together
/// with others.
fn may_hold(world: &World, cell: Key) -> bool {
    let hue = world.oracle(|oracle| oracle.cells.get(cell).map(|cell| cell.hue));
    world.profile.crossing == Crossing::Ordered && hue.is_some_and(|hue| is_low(world, hue))
}

fn is_low(world: &World, hue: u32) -> bool {
    2 * hue < world.profile.palette
}

/// Makes a `when` or a `read`, if there is a cell.
pub(super) fn begin(waiter: Key, next: Move, world: &World) -> Option<Behavior> {
    let most = if next == Move::Read { 1 } else { 1 + world.chance.index(4) };
    let cells = some_cells(world, most);
    let (first, others) = cells.split_first()?;
    // Sometimes the `when` only looks at the second cell.
    let shared = world.chance.one_in(2);
    let wants: Vec<_> = cells
        .iter()
        .enumerate()
        .map(|(place, (key, _))| Want {
            hue: world.oracle(|oracle| oracle.cells.get(*key).expect("it stays").hue),
            shared: next == Move::Read || (cells.len() == 2 && shared && place == 1),
        })
        .collect();
    if next == Move::When && lies::may_swap(&wants, world) {
        return Some(lies::swapped(&wants, &cells, waiter, world));
    }
    let key = world.oracle(|oracle| oracle.behavior(&wants, waiter));
    world.note(What::Several, key.slot, 0);
    let mut token = Token::new(key);
    // The future borrows its cells and outlives this call, so it gets clones.
    let cell = first.1.clone();
    let future: Wanted = match others {
        [] if next == Move::Read => Box::pin(async move {
            let look = move |value: &Value| token.run(|world| value.look(world));
            cell.read(look).await;
        }),
        [] => Box::pin(async move {
            let touch = move |value: &mut Value| token.run(|world| value.touch(world));
            when((&cell,), touch).await;
        }),
        [(_, second)] if shared => {
            let second = second.clone();
            Box::pin(async move {
                when((&cell, second.shared()), move |value: &mut Value, other: &Value| {
                    token.run(|world| {
                        value.touch(world);
                        other.look(world);
                    });
                })
                .await;
            })
        }
        [(_, second)] => {
            let second = second.clone();
            Box::pin(async move {
                when((&cell, &second), move |a: &mut Value, b: &mut Value| {
                    token.run(|world| {
                        a.touch(world);
                        b.touch(world);
                    });
                })
                .await;
            })
        }
        _ => of_all(&cells, token),
    };
    Some(Behavior { key, future })
}

/// A `when` that changes all its cells.
pub(super) fn of_all(cells: &[(Key, Cell)], mut token: Token) -> Wanted {
    let cells: Vec<Cell> = cells.iter().map(|(_, cell)| cell.clone()).collect();
    Box::pin(when(cells, move |mut all| {
        token.run(|world| {
            for place in 0..all.len() {
                all[place].touch(world);
            }
        });
    }))
}

/// Polls a `when` or a `read`. False if it is over.
pub(super) fn poll_behavior(
    task: &mut Task,
    behavior: Behavior,
    world: &World,
    cx: &mut Context<'_>,
) -> bool {
    let behavior = poll(behavior, world, cx);
    let waits = behavior.is_some();
    if let Some(behavior) = behavior {
        task.wait = Wait::Behavior(behavior);
    }
    waits
}

/// As `waits`. Returns the future if it goes on.
fn poll(behavior: Behavior, world: &World, cx: &mut Context<'_>) -> Option<Behavior> {
    let (behavior, refused) = try_poll(behavior, world, cx);
    if refused {
        world.oracle(|oracle| oracle.violated("G12", "what wants no held color waits for one"));
    }
    behavior
}

/// As `poll`. Also returns whether the scheduler told it that it would wait for ever.
pub(super) fn try_poll(
    mut behavior: Behavior,
    world: &World,
    cx: &mut Context<'_>,
) -> (Option<Behavior>, bool) {
    let polled = catch_unwind(AssertUnwindSafe(|| behavior.future.as_mut().poll(cx)));
    let refused = match polled {
        Ok(Poll::Pending) => {
            world.oracle(|oracle| oracle.behavior_is_pending(behavior.key));
            return (Some(behavior), false);
        }
        Ok(Poll::Ready(())) => false,
        Err(payload) => {
            let text = payload.downcast_ref::<String>();
            let refused = text.is_some_and(|text| text.contains("closes a cycle"));
            if !refused && world.phase.get() != Phase::Closing {
                world.oracle(|oracle| oracle.violated("G9", "a `when` or `read` panics"));
            }
            refused
        }
    };
    give_up(world, behavior);
    (None, refused)
}

/// Drops a `when` or a `read`, done or not.
pub(super) fn give_up(world: &World, behavior: Behavior) {
    world.oracle(|oracle| oracle.behavior_given_up(behavior.key));
    drop(behavior.future);
}

/// The future inside a section: a few waits.
pub(super) struct Inside {
    task: Key,
    has_begun: bool,
    waits: u32,
    pending: Option<Pending>,
}

pub(super) type Section = Pin<Box<Exclusive<Inside>>>;

impl Inside {
    /// Goes on until it waits. False if the section is over.
    fn go_on(&mut self, world: &World, cx: &mut Context<'_>) -> bool {
        if let Some(pending) = self.pending.take() {
            self.pending = crossing::look(pending, self.task, world, cx);
        }
        if self.pending.is_some() {
            return true;
        }
        if self.waits == 0 || world.phase.get() == Phase::Winding {
            return false;
        }
        self.waits -= 1;
        if world.profile.crossing != Crossing::None {
            deeds::perform(world, world.profile.deed(&world.chance), Some(self.task));
            let pending = crossing::begin(self.task, world, true);
            self.pending =
                pending.and_then(|pending| crossing::look(pending, self.task, world, cx));
        }
        if self.pending.is_none() {
            self.rest(world, cx);
        }
        true
    }

    fn rest(&self, world: &World, cx: &Context<'_>) {
        let sleeper = (self.task, cx.waker().clone());
        match world.chance.below(3) {
            0 => world.stock.wait_for_signal(&world.chance, sleeper),
            1 => {
                let timer = world.stock.wait_for_timer(sleeper);
                world.put(u64::from(world.chance.skewed(1 << 18)), Event::Ready(timer));
            }
            _ => {
                world.oracle(|oracle| oracle.wake(self.task));
                cx.waker().wake_by_ref();
            }
        }
    }
}

impl Future for Inside {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        World::with(|world| {
            if !mem::replace(&mut self.has_begun, true) {
                world.oracle(|oracle| oracle.section_begins(self.task));
            }
            let goes_on = world.has_failed() || world.alone(|| self.go_on(world, cx));
            if goes_on { Poll::Pending } else { Poll::Ready(()) }
        })
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        World::with(|world| match self.pending.take() {
            Some(pending) if !world.has_failed() => {
                world.alone(|| crossing::give_up(self.task, pending, world));
            }
            _ => {}
        });
    }
}

/// Whether a task may open a section under its color.
pub(super) fn may_enter(task: Key, world: &World) -> bool {
    let hue = world.oracle(|oracle| oracle.hue_of(task));
    world.profile.crossing != Crossing::Ordered || hue.is_some_and(|hue| is_low(world, hue))
}

/// A section, which begins with its first poll or, if it is put off, with the next one.
pub(super) fn section(task: Key, world: &World) -> Section {
    let waits = world.chance.below(4);
    Box::pin(exclusive(Inside { task, has_begun: false, waits, pending: None }))
}

/// Polls a section. False if it is over.
pub(super) fn poll_section(
    task: &mut Task,
    mut section: Section,
    world: &World,
    cx: &mut Context<'_>,
) -> bool {
    if section.as_mut().poll(cx).is_ready() {
        leave(task.key, world, section);
        return false;
    }
    if !world.has_failed() && !world.oracle(|oracle| oracle.is_in_section(task.key)) {
        let lies = world.fault.is_due(Fault::SectionAtOnce, world);
        world.oracle(|oracle| match lies {
            true => oracle.section_begins(task.key),
            false => oracle.section_is_put_off(task.key),
        });
    }
    task.wait = Wait::Section(section);
    true
}

/// Drops a section, done or not.
pub(super) fn leave(task: Key, world: &World, section: Section) {
    world.oracle(|oracle| oracle.section_ends(task));
    drop(section);
}
