//! The behaviors that stand in a line, found through their lane: for the recorder of waits, which has
//! not seen those come that are older than itself.
//!
//! # Who finds them
//!
//! Nobody who waits for ever does so but behind a lane that stands still: a task keeps it in a section,
//! or a behavior has it and lacks others. Whoever lets a lane stand still, while waits are recorded,
//! walks its line once and makes all behaviors there known:
//!
//! * the holder, before a task waits and keeps the lane;
//! * whoever makes a behavior known, or gets a lane for it: the lanes that it has for itself alone;
//! * the usher of a gate that readers hold open. Who makes one known that looks at a lane has it
//!   looked at again.
//!
//! So the walk goes on from lane to lane, against the direction of the waits, and begins with a section,
//! without which there is no cycle to be told.
//!
//! # What keeps them
//!
//! What is in the line of a lane lacks it. It neither begins nor goes while the lane stands still, and
//! that is for as long as the one who walks holds the lane, or is counted at its gate, or while the
//! behavior that has it does not begin. Which it says under the lock of the records, if it is known:
//! so one that is in the records, looked up under that lock, keeps its lanes while the lock is held.
//!
//! # Nobody is missed
//!
//! The walk begins with an exchange on the end of the line. A behavior that stood there before is found,
//! or seen to be half done, and then the walk is to be done again. One that comes later acquires by its
//! own exchange that waits are recorded; it looks at that flag after it has all its places, and
//! makes itself known (`claim::enqueue`). So once is enough for a lane, and none is needed for one that
//! was made later.
//!
//! What the walk finds may get another lane at the same moment. Whether who finds it sees that, or who
//! gets it says so, is decided by the word of [`missing`](super::missing).
//!
//! # Cost
//!
//! Of a program without sections, that look: one load by each behavior that has to wait, and by each usher.
//! The walk visits every node of a line, under the lock of the records; each line that is older than the
//! first section is walked once.

use super::claim;
use super::known::Known;
use super::{Lane, LanePtr};
use crate::sync::Ordering;
use std::ptr::NonNull;

impl Lane {
    /// Shows all behaviors in the line, unless they are known; false if a producer is half done, and this
    /// is to be asked again.
    ///
    /// # Safety
    ///
    /// Waits are recorded; and the lane stands still up to the end of this call (module documentation).
    pub(crate) unsafe fn survey(&self, mut show: impl FnMut(Known)) -> bool {
        // Ordering: set under the lock of the records, or by a holder, before what is shown is entered
        // there; who does not walk relies on the one who does.
        if self.surveyed.load(Ordering::Relaxed) {
            return true;
        }
        let is_all = self.chain.survey(|node, kind| {
            // SAFETY: in the chain, and so alive.
            if let Some(behavior) = unsafe { claim::behavior_of(node, kind) } {
                // SAFETY: it lacks this lane. It is made known at once, and says when it begins.
                let behavior = unsafe { Known::new(behavior) };
                if behavior.is_all_of(&*self.port) {
                    show(behavior);
                }
            }
        });
        if is_all {
            // Ordering: as above.
            self.surveyed.store(true, Ordering::Relaxed);
        }
        is_all
    }

    /// Before the lane stands still: all who stand in its line are to be known. False if it is to be
    /// asked again, for a producer is half done.
    ///
    /// # Safety
    ///
    /// The caller holds the lane, or is the usher of its gate.
    #[inline]
    pub(super) unsafe fn makes_line_known(&self) -> bool {
        // Ordering: as in `survey`.
        if self.surveyed.load(Ordering::Relaxed) || !self.port.is_watched() {
            return true;
        }
        // SAFETY: by contract.
        unsafe { self.port.stands_still(LanePtr(NonNull::from(self))) }
    }
}
