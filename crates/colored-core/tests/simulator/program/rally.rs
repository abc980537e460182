//! Tasks that wake each other for ever, two or three in a circle. Each is the one that its worker runs next, and
//! all other tasks must still have their turns.

use super::stock::Sleeper;
use super::task::Task;
use crate::slab::Key;
use crate::trace::What;
use crate::world::{Phase, World};
use std::collections::VecDeque;
use std::task::Context;

/// The number of players, and the players that wait for the ball.
#[derive(Default)]
pub(super) struct Rally {
    players: usize,
    waiting: VecDeque<Sleeper>,
}

/// The rally to which a player belongs.
#[derive(Clone, Copy)]
pub(super) struct Seat(usize);

/// Takes a seat, if one is free: there are two of one kind and three of the other.
pub(super) fn join(world: &World) -> Option<Seat> {
    let mut rallies = world.stock.rallies.borrow_mut();
    let place = world.chance.index(rallies.len());
    let rally = &mut rallies[place];
    let free = rally.players < 2 + place;
    rally.players += usize::from(free);
    free.then_some(Seat(place))
}

/// Wakes the player that has waited longest, and waits. False when the rally is over.
pub(super) fn play(task: &mut Task, seat: Seat, world: &World, cx: &Context<'_>) -> bool {
    if world.phase.get() == Phase::Winding {
        leave(task.key, seat, world);
        return false;
    }
    let waits = |rally: &Rally| rally.waiting.iter().any(|(key, _)| *key == task.key);
    if !waits(&world.stock.rallies.borrow()[seat.0]) {
        pass(seat, world);
        let sleeper = (task.key, cx.waker().clone());
        world.stock.rallies.borrow_mut()[seat.0].waiting.push_back(sleeper);
    }
    task.wait = super::moves::Wait::Rally(seat);
    true
}

/// Leaves the rally, and passes the ball on to the next player.
pub(super) fn leave(task: Key, seat: Seat, world: &World) {
    let mut rallies = world.stock.rallies.borrow_mut();
    let rally = &mut rallies[seat.0];
    rally.players -= 1;
    let place = rally.waiting.iter().position(|(key, _)| *key == task);
    let own = place.and_then(|place| rally.waiting.remove(place));
    drop(rallies);
    drop(own);
    pass(seat, world);
}

fn pass(seat: Seat, world: &World) {
    let next = world.stock.rallies.borrow_mut()[seat.0].waiting.pop_front();
    if let Some((key, waker)) = next {
        world.note(What::Wake, key.slot, 0);
        world.oracle(|oracle| oracle.wake(key));
        waker.wake();
    }
}
