//! The programs that run in the world: tasks and threads with random acts.
//!
//! | to add | where |
//! |---|---|
//! | an act that needs no waiting | [`Deed`], [`DEEDS`], `program/deeds.rs` |
//! | the end of a task's poll, or a wait | [`Move`], [`MOVES`], `program/moves.rs` |
//! | a rule that follows | the oracle: tell it what is scheduled when, and what runs |

mod admission;
mod callbacks;
mod crossing;
mod deeds;
mod lies;
mod limited;
mod locals;
mod moves;
mod rally;
mod several;
mod stock;
mod task;

pub(crate) use self::stock::Stock;

use crate::oracle::Hue;
use crate::profile::{Crossing, Spread};
use crate::trace::What;
use crate::world::{Phase, World};

/// An act that a task, a callback or any other thread can do without waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    SpawnColored,
    SpawnUnique,
    SpawnHere,
    SpawnLocal,
    Post,
    Wake,
    WakeForNothing,
    Abort,
    Detach,
    NewCell,
    DropCell,
    TryWith,
    LongPoll,
    LookAtHandle,
    Limit,
    Classify,
    SpawnUrgent,
}

/// All acts, and how often each happens.
pub(crate) const DEEDS: [(Deed, u32); 17] = [
    (Deed::SpawnColored, 8),
    (Deed::SpawnUnique, 3),
    (Deed::SpawnHere, 2),
    (Deed::SpawnLocal, 1),
    (Deed::Post, 8),
    (Deed::Wake, 10),
    (Deed::WakeForNothing, 2),
    (Deed::Abort, 2),
    (Deed::Detach, 3),
    (Deed::NewCell, 1),
    (Deed::DropCell, 1),
    (Deed::TryWith, 1),
    (Deed::LongPoll, 1),
    (Deed::LookAtHandle, 1),
    (Deed::Limit, 5),
    (Deed::Classify, 1),
    (Deed::SpawnUrgent, 1),
];

/// The end of a poll of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Move {
    Signal,
    Yield,
    WakeSelf,
    Spin,
    Hop,
    HopTwice,
    Sleep,
    Join,
    Call,
    GiveUpCall,
    When,
    Read,
    GiveUpWhen,
    Section,
    Again,
    Admission,
    Rally,
    Cross,
    Finish,
    Panic,
}

/// All ends of a poll, and how often each happens.
pub(crate) const MOVES: [(Move, u32); 17] = [
    (Move::Signal, 10),
    (Move::Yield, 8),
    (Move::WakeSelf, 4),
    (Move::Spin, 1),
    (Move::Hop, 8),
    (Move::HopTwice, 1),
    (Move::Sleep, 8),
    (Move::Join, 5),
    (Move::Call, 8),
    (Move::GiveUpCall, 2),
    (Move::When, 6),
    (Move::Read, 6),
    (Move::GiveUpWhen, 1),
    (Move::Section, 4),
    (Move::Admission, 4),
    (Move::Finish, 8),
    (Move::Panic, 1),
];

impl World {
    /// Nanoseconds of a short act.
    fn moment(&self) -> u64 {
        u64::from(self.chance.skewed(self.profile.poll_nanos))
    }

    /// Some color of the palette, or a unique one that the program remembers.
    fn some_hue(&self) -> Hue {
        let palette = self.profile.palette;
        let known = self.stock.known.borrow();
        if !known.is_empty() && self.chance.one_in(8) {
            return self.chance.of(&known);
        }
        match self.profile.spread {
            Spread::Uniform => self.chance.below(palette),
            Spread::Skewed => self.chance.skewed(palette),
            Spread::OneHot if self.chance.permille(900) => palette / 2,
            Spread::OneHot => self.chance.below(palette),
        }
    }
}

/// A thread that is no worker comes by.
pub(crate) fn visit(world: &World) {
    match world.phase.get() {
        Phase::Winding => return wind_up(world),
        Phase::Closing => {
            // Late visits go on for a while.
            if world.chance.one_in(4) {
                deeds::spawn(world, world.some_hue(), None);
            }
            return;
        }
        Phase::Active | Phase::EndIsDue => {}
    }
    let population = world.profile.population as usize;
    let missing = population.saturating_sub(world.oracle(|oracle| oracle.tasks.len()));
    for _ in 0..missing.min(1 + world.chance.skewed(32) as usize) {
        deeds::spawn(world, world.some_hue(), None);
    }
    for _ in 0..world.chance.below(4) {
        deeds::perform(world, world.profile.deed(&world.chance), None);
    }
}

/// Brings all tasks to their ends: some end on their own, the rest by an abort.
fn wind_up(world: &World) {
    for (key, waker) in world.stock.take_signals(&world.chance, usize::MAX) {
        world.note(What::Wake, key.slot, 0);
        world.oracle(|oracle| oracle.wake(key));
        waker.wake();
    }
    // Where a cycle could keep tasks, all must come to their ends on their own.
    let most = if world.profile.crossing == Crossing::None { 64 } else { 0 };
    for (key, handle) in world.stock.some_aborts(&world.chance, most) {
        world.oracle(|oracle| oracle.abort(key));
        world.note(What::Abort, key.slot, 0);
        handle.abort();
    }
    deeds::let_go(world, 16);
    if world.oracle(|oracle| oracle.is_calm()) {
        deeds::let_lasting_go(world);
    }
}

/// Wakes the tasks whose timers are due.
pub(crate) fn wake_due(world: &World) {
    let due = world.stock.due.take();
    for (key, waker) in due {
        world.note(What::Wake, key.slot, 0);
        world.oracle(|oracle| oracle.wake(key));
        waker.wake();
    }
}

/// Lets go of all things that the program keeps, when the scheduler has stopped.
pub(crate) fn let_all_go(world: &World) {
    wake_due(world);
    world.stock.forget_wakers();
    deeds::let_go(world, usize::MAX);
    deeds::let_lasting_go(world);
}
