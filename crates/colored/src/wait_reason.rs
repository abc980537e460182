//! The reasons of waits that have no wait record. Sockets, timers and files note them in the waiting task, and dumps show
//! them.

mod labeled;

pub(crate) use self::labeled::labeled;

use colored_core::Leaf;
use std::panic::Location;
use std::ptr;

/// The kind of a wait. Its number is the tag of the [`Leaf`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A socket, pipe or other descriptor has nothing to read; the argument is the descriptor.
    Readable = 1,
    /// It has no room to write; the argument is the descriptor.
    Writable = 2,
    /// A timer; the argument is its deadline in milliseconds of the driver's clock.
    Timer = 3,
    /// A timer more than two hours ahead; the argument is in units of 1024 ms.
    FarTimer = 4,
    /// The timer of a timeout, when the task waits for nothing else that is known.
    Timeout = 5,
    /// The same, as far ahead.
    FarTimeout = 6,
    /// An operation of a file, which a blocking thread or the system does.
    File = 7,
    /// The end of a child process; the argument is its number.
    #[cfg(unix)]
    Child = 8,
    /// A signal; the argument is its number.
    #[cfg(unix)]
    Signal = 9,
    /// A listener has no connection; the argument is the descriptor.
    Accept = 10,
    /// The other side has not answered an attempt to connect; the argument is the descriptor.
    Connect = 11,
    /// A lock, or a permit of a semaphore; the argument is [`number_of_lock`], with [`IS_PERMIT`] for a semaphore.
    Lock = 12,
    /// A channel has no value.
    Receive = 13,
    /// A channel has no room.
    Send = 14,
    /// Another task's signal: a notification, a barrier, the end of the other side of a channel.
    Notified = 15,
}

impl Kind {
    const ALL: &[Self] = &[
        Self::Readable,
        Self::Writable,
        Self::Timer,
        Self::FarTimer,
        Self::Timeout,
        Self::FarTimeout,
        Self::File,
        #[cfg(unix)]
        Self::Child,
        #[cfg(unix)]
        Self::Signal,
        Self::Accept,
        Self::Connect,
        Self::Lock,
        Self::Receive,
        Self::Send,
        Self::Notified,
    ];

    pub(crate) fn of(leaf: Leaf) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| *kind as u8 == leaf.tag)
    }

    /// A wait of this kind.
    #[inline]
    pub(crate) fn leaf(self, arg: u32) -> Leaf {
        Leaf { tag: self as u8, arg, site: None }
    }

    /// Notes that the task waits for this, and for no other leaf that it polled before.
    #[inline]
    pub(crate) fn note(self, arg: u32) {
        colored_core::port::note(self.leaf(arg), false);
    }

    /// What has noted this is dropped.
    pub(crate) fn forget(self, arg: u32) {
        colored_core::port::forget(|leaf| leaf == self.leaf(arg));
    }
}

/// Ticks of the driver's clock in a millisecond, and in a unit of a timer far ahead, as shifts.
pub(crate) const MILLI: u32 = 6;
pub(crate) const FAR: u32 = 16;

/// The timer of a sleep or, if it `is_guard`, of a timeout. Deadlines are rounded down.
#[derive(Clone, Copy)]
pub(crate) struct TimerLeaf {
    pub(crate) site: &'static Location<'static>,
    pub(crate) is_guard: bool,
}

impl TimerLeaf {
    /// Notes that the task waits for the timer, whose deadline is a tick of the driver's clock that shows `now`.
    #[inline]
    pub(crate) fn note(self, deadline: u64, now: u64) {
        // A deadline in milliseconds wraps around after nine hours, and is read as the one that is nearest to the present.
        let is_far = deadline.saturating_sub(now) >> MILLI >= 1 << (Leaf::ARG_BITS - 2);
        let (kind, shift) = match (is_far, self.is_guard) {
            (false, false) => (Kind::Timer, MILLI),
            (true, false) => (Kind::FarTimer, FAR),
            (false, true) => (Kind::Timeout, MILLI),
            (true, true) => (Kind::FarTimeout, FAR),
        };
        // A year or so is the most that is kept.
        let most = now + (7 << (Leaf::ARG_BITS - 4 + FAR));
        let leaf =
            Leaf { site: Some(self.site), ..kind.leaf((deadline.min(most) >> shift) as u32) };
        let arg = leaf.arg & ((1 << Leaf::ARG_BITS) - 1);
        colored_core::port::note(Leaf { arg, ..leaf }, self.is_guard);
    }

    /// The timer is dropped.
    #[inline]
    pub(crate) fn forget(self, deadline: impl FnOnce() -> u64) {
        colored_core::port::forget(|leaf| {
            let mask = (1 << Leaf::ARG_BITS) - 1;
            let is_at = |shift: u32| leaf.arg == (deadline() >> shift) as u32 & mask;
            leaf.site == Some(self.site)
                && match Kind::of(leaf) {
                    Some(Kind::Timer | Kind::Timeout) => is_at(MILLI),
                    Some(Kind::FarTimer | Kind::FarTimeout) => is_at(FAR),
                    _ => false,
                }
        });
    }
}

/// In the argument of a lock: it is a semaphore.
pub(crate) const IS_PERMIT: u32 = 1 << (Leaf::SHORT_ARG_BITS - 1);

/// A number that tells one lock from another, as a rule, as long as both live: of one place in the program, tasks may wait
/// for many locks.
#[inline]
pub(crate) fn number_of_lock<T: ?Sized>(lock: &T) -> u32 {
    let address = ptr::from_ref(lock).cast::<()>().addr() as u64;
    // The product spreads addresses that are multiples of the size.
    let spread = address.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (spread >> (u64::BITS - (Leaf::SHORT_ARG_BITS - 1))) as u32
}

/// The argument where the descriptor is unknown.
#[cfg(not(unix))]
pub(crate) const NO_DESCRIPTOR: u32 = (1 << Leaf::ARG_BITS) - 1;

#[cfg(test)]
mod tests {
    use super::Kind;

    #[test]
    fn every_kind_is_found_by_its_tag() {
        for kind in Kind::ALL {
            assert_eq!(Kind::of(kind.leaf(0)), Some(*kind));
        }
    }
}
