//! A task of the program.

use super::moves::{self, Wait};
use super::{Move, deeds, locals};
use crate::fault::Fault;
use crate::oracle::{End, Hue, Outcome};
use crate::slab::Key;
use crate::trace::What;
use crate::world::{Phase, World};
use colored_core::Color;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The output of a task, or the payload of its panic: its own name.
#[derive(Debug)]
pub(crate) struct Output(pub(super) Key);

impl Output {
    fn new(world: &World, key: Key) -> Self {
        world.oracle(|oracle| oracle.tally.outputs += 1);
        Self(key)
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        World::with(|world| world.oracle(|oracle| oracle.tally.outputs_dropped += 1));
    }
}

/// The traits of a task.
#[derive(Clone, Copy, Debug)]
struct Nature {
    /// The task looks at its color.
    nosy: bool,
    /// The task's destructor panics.
    bad_end: bool,
}

pub(super) struct Task {
    pub(super) key: Key,
    nature: Nature,
    polls_left: u32,
    /// How many more polls do nothing but yield.
    pub(super) spins: u32,
    /// The move that the task makes again, as soon as it is over, and how often.
    pub(super) again: Option<(Move, u32)>,
    pub(super) wait: Wait,
    outcome: Outcome,
}

impl Task {
    pub(super) fn new(world: &World, key: Key) -> Self {
        let chance = &world.chance;
        Self {
            key,
            nature: Nature {
                nosy: chance.permille(world.profile.nosy),
                bad_end: chance.one_in(400),
            },
            polls_left: 1 + chance.skewed(world.profile.life),
            spins: 0,
            again: None,
            wait: Wait::Nothing,
            outcome: Outcome::Cancelled,
        }
    }

    /// The move that the task makes once more, if it does.
    pub(super) fn take_again(&mut self) -> Option<Move> {
        let (next, times) = self.again.take()?;
        self.again = times.checked_sub(1).map(|left| (next, left));
        times.checked_sub(1).map(|_| next)
    }

    fn poll_in(&mut self, world: &World, cx: &mut Context<'_>) -> Poll<Output> {
        if world.has_failed() {
            return Poll::Pending;
        }
        let hue = world.oracle(|oracle| oracle.poll_begins(self.key));
        world.note(What::Turn, hue, self.key.slot);
        check_color(world, hue, self.nature.nosy);
        locals::touch(world, hue);
        world.spend(world.moment());
        let done = match self.go_on(world, cx) {
            Some(end) => {
                world.oracle(|oracle| oracle.poll_ends(self.key, end));
                world.note(What::Ends, hue, moves::number(end));
                return Poll::Pending;
            }
            None => self.outcome,
        };
        let right = !world.fault.is_due(Fault::WrongOutcome, world);
        match (done, right) {
            (Outcome::Value, true) => Poll::Ready(Output::new(world, self.key)),
            (Outcome::Panicked, _) => resume_unwind(Box::new(self.key)),
            _ => resume_unwind(Box::new("not what was said")),
        }
    }

    /// Goes on until the task waits. `None` if it has come to its end.
    fn go_on(&mut self, world: &World, cx: &mut Context<'_>) -> Option<End> {
        if moves::still_waits(self, world, cx) {
            return Some(End::Waits);
        }
        if world.phase.get() == Phase::Winding {
            self.outcome = Outcome::Value;
            return None;
        }
        if self.spins > 0 {
            self.spins -= 1;
            return Some(moves::yield_here(cx));
        }
        if let Some(next) = self.take_again() {
            return Some(moves::make(self, next, world, cx));
        }
        for _ in 0..world.chance.below(3) {
            deeds::perform(world, world.profile.deed(&world.chance), Some(self.key));
        }
        self.polls_left = self.polls_left.saturating_sub(1);
        let next = if self.polls_left == 0 {
            if world.chance.one_in(50) { Move::Panic } else { Move::Finish }
        } else {
            world.profile.next_move(&world.chance)
        };
        self.outcome = match next {
            Move::Finish => Outcome::Value,
            Move::Panic => Outcome::Panicked,
            _ => return Some(moves::make(self, next, world, cx)),
        };
        None
    }
}

impl Future for Task {
    type Output = Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Output> {
        let this = self.get_mut();
        World::with(|world| this.poll_in(world, cx))
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        World::with(|world| {
            if world.has_failed() {
                return;
            }
            let hue = world.oracle(|oracle| oracle.drop_begins(self.key));
            check_color(world, hue, self.nature.nosy);
            moves::stop_waiting(self.key, &mut self.wait, world);
            if world.chance.one_in(8) {
                world.spend(world.moment());
            }
            world.stock.drop_abort(self.key);
            if self.nature.bad_end {
                self.outcome = Outcome::Panicked;
            }
            if world.has_failed() {
                return;
            }
            world.note(What::Complete, self.key.slot, hue);
            world.oracle(|oracle| oracle.complete(self.key, self.outcome));
            if world.fault.is_due(Fault::DroppedTwice, world) {
                world.oracle(|oracle| oracle.drop_begins(self.key));
            }
            if self.nature.bad_end {
                resume_unwind(Box::new(self.key));
            }
        });
    }
}

/// G3, G4, G8: code that runs under a color finds that color.
fn check_color(world: &World, hue: Hue, nosy: bool) {
    let expected = world.oracle(|oracle| {
        let lane = oracle.lanes.get(hue);
        (oracle.lanes.is_plain(hue) || nosy).then_some(lane.color)
    });
    let Some(expected) = expected else { return };
    let found = Color::current();
    if expected.is_none() {
        let named = world.stock.remember(hue);
        world.oracle(|oracle| oracle.lanes.name(hue, found, named));
    } else if found != expected {
        let what = format!("color {hue} is {expected:?}, and {found:?} is found");
        world.oracle(|oracle| oracle.violated("G4", what));
    }
}
