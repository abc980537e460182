//! The callbacks of cells: posts, calls, and the destructors of values.

use super::{deeds, lies, locals};
use crate::fault::Fault;
use crate::oracle::{CallKey, CellKey, Entry, Hue, LimitKey};
use crate::slab::Key;
use crate::trace::What;
use crate::world::World;
use std::panic::resume_unwind;

/// The payload of a closure's panic.
pub(super) const PANIC: &str = "a closure panics";

/// The value of a cell: how often it was used.
#[derive(Debug)]
pub(crate) struct Value {
    cell: CellKey,
    accesses: u64,
}

impl Value {
    pub(super) fn new(cell: CellKey) -> Self {
        Self { cell, accesses: 0 }
    }

    /// Uses the value; some time goes by.
    pub(super) fn touch(&mut self, world: &World) {
        let found = self.accesses;
        world.oracle(|oracle| oracle.access(self.cell, found));
        if world.fault.is_due(Fault::ReaderBesideWriter, world) {
            lies::look_meanwhile(self.cell, self, world);
        }
        world.spend(world.moment());
        self.accesses = found + 1;
    }
}

impl Value {
    /// Looks at the value; some time goes by.
    pub(super) fn look(&self, world: &World) {
        world.oracle(|oracle| oracle.look(self.cell, self.accesses));
        world.spend(world.moment());
        world.oracle(|oracle| oracle.look(self.cell, self.accesses));
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        World::with(|world| {
            if world.has_failed() {
                return;
            }
            let at_once = world.stock.going.get() == Some(self.cell);
            if at_once {
                world.stock.going.set(None);
            }
            let hue = world.oracle(|oracle| oracle.value_drops(self.cell, at_once, self.accesses));
            world.note(What::Turn, hue, self.cell.slot);
            world.spend(world.moment());
            world.oracle(|oracle| oracle.value_dropped(self.cell, hue, at_once));
        });
    }
}

/// The token in the closure of a post. It knows whether the closure has run.
pub(super) struct PostToken {
    number: u32,
    hue: Hue,
    run: bool,
    /// The limit in which the post has a permit.
    limit: Option<LimitKey>,
}

impl PostToken {
    pub(super) fn new(number: u32, hue: Hue) -> Self {
        Self { number, hue, run: false, limit: None }
    }

    pub(super) fn inside(number: u32, hue: Hue, limit: LimitKey) -> Self {
        Self { number, hue, run: false, limit: Some(limit) }
    }

    /// The token of a post that the limit does not let in.
    pub(super) fn unused() -> Self {
        Self { number: 0, hue: 0, run: true, limit: None }
    }

    pub(super) fn run(mut self, value: &mut Value) {
        self.run = true;
        World::with(|world| {
            if world.has_failed() {
                return;
            }
            self.begin(world);
            locals::touch(world, self.hue);
            value.touch(world);
            deed(world);
            leave(world, self.limit);
            world.oracle(|oracle| oracle.callback_ends(self.hue, true));
            panic_now_and_then(world);
        });
    }

    /// Runs as a broken lane would run it.
    pub(super) fn run_on_the_spot(mut self) {
        self.run = true;
        World::with(|world| self.begin(world));
    }

    fn begin(&self, world: &World) {
        world.oracle(|oracle| oracle.turn_begins(self.hue, Entry::Post(self.number), false));
        world.note(What::Turn, self.hue, self.number);
    }
}

impl Drop for PostToken {
    fn drop(&mut self) {
        if !self.run {
            World::with(|world| {
                if !world.has_failed() {
                    world.oracle(|oracle| oracle.unrun(self.hue, Entry::Post(self.number)));
                    leave(world, self.limit);
                }
            });
        }
    }
}

/// The token in the closure of a call. It knows whether the closure has run.
pub(super) struct CallToken {
    key: CallKey,
    run: bool,
    /// The limit in which the call has a permit.
    limit: Option<LimitKey>,
}

impl CallToken {
    pub(super) fn new(key: Key) -> Self {
        Self { key, run: false, limit: None }
    }

    pub(super) fn inside(key: Key, limit: Option<LimitKey>) -> Self {
        Self { key, run: false, limit }
    }

    pub(super) fn run(mut self, value: &mut Value) {
        self.run = true;
        World::with(|world| {
            if world.has_failed() {
                return;
            }
            let posted = world.oracle(|oracle| oracle.call_begins(self.key));
            world.note(What::Inline, self.key.slot, u32::from(posted));
            value.touch(world);
            deed(world);
            leave(world, self.limit);
            world.oracle(|oracle| oracle.call_ends(self.key, posted));
            panic_now_and_then(world);
        });
    }
}

impl Drop for CallToken {
    fn drop(&mut self) {
        if !self.run {
            World::with(|world| {
                if !world.has_failed() {
                    world.oracle(|oracle| oracle.call_unrun(self.key));
                    leave(world, self.limit);
                }
            });
        }
    }
}

/// Gives back the permit of a closure that has one.
fn leave(world: &World, limit: Option<LimitKey>) {
    if let Some(limit) = limit {
        world.oracle(|oracle| oracle.limit_leave(limit));
    }
}

/// A callback does an act. The color under which it runs is not its own.
fn deed(world: &World) {
    if world.chance.one_in(4) {
        deeds::perform(world, world.profile.deed(&world.chance), None);
    }
}

fn panic_now_and_then(world: &World) {
    if world.chance.one_in(200) {
        resume_unwind(Box::new(PANIC));
    }
}
