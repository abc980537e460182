//! The colors' own values.

use crate::oracle::Hue;
use crate::world::World;
use colored_core::ColorLocal;
use std::cell::Cell;

static POSSESSION: ColorLocal<Possession> = ColorLocal::__new("POSSESSION", Possession::new);

/// A second value beside it: how often a turn has used it.
static CHARM: ColorLocal<Cell<u64>> = ColorLocal::__new("CHARM", || Cell::new(0));

/// The value of a color: how often a turn has used it, and the charm.
struct Possession {
    hue: Hue,
    uses: Cell<u64>,
    charms: Cell<u64>,
}

impl Possession {
    fn new() -> Self {
        World::with(|world| {
            let hue = world.stock.possessor.get();
            world.oracle(|oracle| oracle.local_made(hue));
            Self { hue, uses: Cell::new(0), charms: Cell::new(0) }
        })
    }
}

impl Drop for Possession {
    fn drop(&mut self) {
        World::with(|world| {
            if world.has_failed() {
                return;
            }
            world.oracle(|oracle| oracle.local_drops(self.hue, self.uses.get()));
            world.spend(world.moment());
            world.oracle(|oracle| oracle.local_dropped(self.hue));
        });
    }
}

/// Uses the value of the color that runs here, now and then.
pub(super) fn touch(world: &World, hue: Hue) {
    if !world.chance.permille(world.profile.possessive) {
        return;
    }
    world.stock.possessor.set(hue);
    POSSESSION.with(|own| {
        world.oracle(|oracle| oracle.local_used(hue, own.hue, own.uses.get()));
        own.uses.set(own.uses.get() + 1);
    });
    if world.chance.one_in(2) {
        let uses = CHARM.with(|charm| charm.replace(charm.get() + 1));
        let before = POSSESSION.with(|own| own.charms.replace(own.charms.get() + 1));
        world.oracle(|oracle| oracle.charm_used(hue, uses, before));
    }
}
