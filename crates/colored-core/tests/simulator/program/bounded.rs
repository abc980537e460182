//! Cells with a bound: posts and calls that wait for room, or are sent away.

use super::admission;
use super::callbacks::{PostToken, Value};
use super::deeds;
use crate::oracle::{Answer, BoundKey, CallKey, CellKey, Hue};
use crate::slab::Key;
use crate::trace::What;
use crate::world::World;
use colored_core::{BoundedCell, TrySendError};

/// How many of them the program keeps, up to the end.
const KEPT: usize = 3;

/// A cell and its bound.
pub(crate) type Bounded = (BoundKey, CellKey, BoundedCell<Value>);

/// A clone of some bounded cell. All of them stay up to the end, so no clone is the last.
pub(super) fn some(world: &World) -> Option<Bounded> {
    let kept = world.stock.bounded.borrow();
    (!kept.is_empty()).then(|| kept[world.chance.index(kept.len())].clone())
}

/// Posts to a bounded cell, or makes one. `here` is the color of the task that does it.
pub(super) fn deed(world: &World, here: Option<Hue>) {
    match some(world) {
        Some(bounded) if !world.chance.one_in(16) => post(world, here, &bounded),
        _ => make(world),
    }
}

fn make(world: &World) {
    if world.stock.bounded.borrow().len() >= KEPT {
        return;
    }
    let Some((bound_key, bound)) = admission::some_bound(world) else { return };
    let key = world.oracle(|oracle| {
        let hue = oracle.bound_hue(bound_key);
        oracle.new_cell(hue)
    });
    let cell = bound.cell(Value::new(key));
    // The cell keeps the clone's place in the count.
    drop(bound);
    world.stock.bounded.borrow_mut().push((bound_key, key, cell));
}

fn post(world: &World, here: Option<Hue>, (bound, key, cell): &Bounded) {
    let expected = world.oracle(|oracle| oracle.bound_enter(*bound, here));
    let token = if expected == Answer::Inside {
        scheduled(world, *bound, *key)
    } else {
        PostToken::unused()
    };
    let found = match cell.try_post(move |value| token.run(value)) {
        Ok(()) => Answer::Inside,
        Err(TrySendError::Full(_)) => Answer::Full,
        Err(TrySendError::Closed(_)) => Answer::Closed,
    };
    admission::check(world, *bound, found, expected);
}

/// The token of a post that the bound has let in, and that the program makes next.
pub(super) fn scheduled(world: &World, bound: BoundKey, cell: CellKey) -> PostToken {
    let number = world.stock.posts.replace(world.stock.posts.get() + 1);
    let hue = world.oracle(|oracle| oracle.post(cell, number));
    world.note(What::Post, hue, number);
    PostToken::inside(number, hue, bound)
}

/// The key of a call that the bound has let in, and that the program makes next.
pub(super) fn called(world: &World, cell: CellKey, waiter: Key) -> CallKey {
    world.oracle(|oracle| oracle.call(cell, waiter))
}

/// Lets go of all bounded cells.
pub(super) fn let_go(world: &World) {
    for (bound, key, cell) in world.stock.bounded.take() {
        world.oracle(|oracle| oracle.clone_gone(key, false));
        deeds::last_owner(world, key, || drop(cell));
        world.oracle(|oracle| oracle.bound_clone_gone(bound));
    }
}
