//! What the scheduler has recorded of a run, beside what the oracle has seen.

use super::World;
use crate::oracle::Waits;
use crate::recorded::{Recorded, digest};
use colored_core::Level;

impl World {
    /// All tasks have ended: notes the sums of all waits, as measured and as the scheduler says.
    pub(crate) fn note_waits(&self) {
        let scheduler = self.handle.scheduler();
        if scheduler.level() == Level::Off {
            return;
        }
        let measured = self.oracle(|oracle| oracle.lanes.waits);
        let observed = scheduler.usage();
        let usages = observed.colors.iter().map(|color| color.usage).chain([observed.others]);
        let mut said = Waits::default();
        for usage in usages {
            said.color += usage.wait_color.as_nanos() as u64;
            said.cpu += usage.wait_cpu.as_nanos() as u64;
            said.turns += usage.waits;
        }
        self.waits.set(Some((measured, said)));
    }

    pub(crate) fn recorded(&self) -> Recorded {
        let scheduler = self.handle.scheduler();
        let seats = self.profile.policy.seats() as usize;
        let rings = (0..seats).map(|worker| scheduler.ring(worker).copy());
        let rings = rings.chain([scheduler.ring_outside().copy()]);
        Recorded { waits: self.waits.get(), digest: digest(rings) }
    }
}
