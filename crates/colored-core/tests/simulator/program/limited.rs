//! Cells with a limit: posts and calls that wait for room, or are sent away.

use super::admission;
use super::callbacks::{PostToken, Value};
use super::deeds;
use crate::oracle::{Answer, CallKey, CellKey, Hue, LimitKey};
use crate::slab::Key;
use crate::trace::What;
use crate::world::World;
use colored_limit::{LimitedCell, TrySendError};

/// How many of them the program keeps, up to the end.
const KEPT: usize = 3;

/// A cell and its limit.
pub(crate) type Limited = (LimitKey, CellKey, LimitedCell<Value>);

/// A clone of some limited cell. All of them stay up to the end, so no clone is the last.
pub(super) fn some(world: &World) -> Option<Limited> {
    let kept = world.stock.limited.borrow();
    (!kept.is_empty()).then(|| kept[world.chance.index(kept.len())].clone())
}

/// Posts to a limited cell, or makes one. `here` is the color of the task that does it.
pub(super) fn deed(world: &World, here: Option<Hue>) {
    match some(world) {
        Some(limited) if !world.chance.one_in(16) => post(world, here, &limited),
        _ => make(world),
    }
}

fn make(world: &World) {
    if world.stock.limited.borrow().len() >= KEPT {
        return;
    }
    let Some((limit_key, limit)) = admission::some_limit(world) else { return };
    let key = world.oracle(|oracle| {
        let hue = oracle.limit_hue(limit_key);
        oracle.new_cell(hue)
    });
    let cell = limit.cell(Value::new(key));
    // The cell keeps the clone's place in the count.
    drop(limit);
    world.stock.limited.borrow_mut().push((limit_key, key, cell));
}

fn post(world: &World, here: Option<Hue>, (limit, key, cell): &Limited) {
    let expected = world.oracle(|oracle| oracle.limit_enter(*limit, here));
    let token = if expected == Answer::Inside {
        scheduled(world, *limit, *key)
    } else {
        PostToken::unused()
    };
    let found = match cell.try_post(move |value| token.run(value)) {
        Ok(()) => Answer::Inside,
        Err(TrySendError::Full(_)) => Answer::Full,
        Err(TrySendError::Closed(_)) => Answer::Closed,
    };
    admission::check(world, *limit, found, expected);
}

/// The token of a post that the limit has let in, and that the program makes next.
pub(super) fn scheduled(world: &World, limit: LimitKey, cell: CellKey) -> PostToken {
    let number = world.stock.posts.replace(world.stock.posts.get() + 1);
    let hue = world.oracle(|oracle| oracle.post(cell, number));
    world.note(What::Post, hue, number);
    PostToken::inside(number, hue, limit)
}

/// The key of a call that the limit has let in, and that the program makes next.
pub(super) fn called(world: &World, cell: CellKey, waiter: Key) -> CallKey {
    world.oracle(|oracle| oracle.call(cell, waiter))
}

/// Lets go of all limited cells.
pub(super) fn let_go(world: &World) {
    for (limit, key, cell) in world.stock.limited.take() {
        world.oracle(|oracle| oracle.clone_gone(key, false));
        deeds::last_owner(world, key, || drop(cell));
        world.oracle(|oracle| oracle.limit_clone_gone(limit));
    }
}
