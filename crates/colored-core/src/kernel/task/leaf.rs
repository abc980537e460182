//! [`Leaf`]: a wait without a record.
//!
//! Sockets and timers wait so often that a [`WaitRecord`](super::wait_record::WaitRecord) in a list would cost them too much. Such a
//! future, a *leaf*, writes what it waits for into a slot of its task (`leaf/slot.rs`) when it returns `Pending`. Only dumps
//! read the slot, so there is none without the feature `leaves`.

#[cfg(feature = "leaves")]
mod slot;

#[cfg(feature = "leaves")]
pub(super) use self::slot::LeafSlot;

use crate::kernel::sites;
use std::panic::Location;

/// A wait without a record, as the layer that waits describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The kind of the wait: 1 to 15, as the crate above numbers its kinds.
    pub tag: u8,
    /// A detail: less than 2²⁵. Other bits are lost.
    pub arg: u32,
    /// Where the program began to wait, if known. With an argument of more than 13 bits beside it, the start of the wait is
    /// kept in seconds.
    pub site: Option<&'static Location<'static>>,
}

impl Leaf {
    /// The bits of [`arg`](Self::arg).
    pub const ARG_BITS: u32 = 25;

    /// The bits of an argument that has room beside a place.
    pub const SHORT_ARG_BITS: u32 = Self::ARG_BITS - sites::BITS;
}
