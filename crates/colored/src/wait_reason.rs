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

    fn of(leaf: Leaf) -> Option<Self> {
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
const MILLI: u32 = 6;
const FAR: u32 = 16;

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

/// What a leaf says, in words and in parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) kind: Kind,
    arg: u32,
    /// For a timer: the milliseconds until its deadline.
    pub(crate) millis_left: Option<u64>,
}

impl Told {
    /// `now` is the tick of the driver's clock.
    pub(crate) fn of(leaf: Leaf, now: u64) -> Option<Self> {
        let kind = Kind::of(leaf)?;
        let left = |shift: u32, unit: u64| {
            let now = (now >> shift) as u32;
            // The difference of two numbers of `ARG_BITS` bits, with its sign.
            let unused = u32::BITS - Leaf::ARG_BITS;
            let left = (leaf.arg.wrapping_sub(now) << unused).cast_signed() >> unused;
            Some(u64::from(left.max(0).unsigned_abs()) * unit)
        };
        let millis_left = match kind {
            Kind::Timer | Kind::Timeout => left(MILLI, 1),
            Kind::FarTimer | Kind::FarTimeout => left(FAR, 1024),
            _ => None,
        };
        Some(Self { kind, arg: leaf.arg, millis_left })
    }

    /// The descriptor that the task waits for, if it is one.
    pub(crate) fn descriptor(self) -> Option<u32> {
        let is_one =
            matches!(self.kind, Kind::Readable | Kind::Writable | Kind::Accept | Kind::Connect);
        (is_one && self.arg != NO_DESCRIPTOR).then_some(self.arg)
    }

    /// The words of a text in front of the argument.
    pub(crate) fn text(self) -> &'static str {
        match self.kind {
            Kind::Readable => "waits until there is something to read",
            Kind::Writable => "waits until there is room to write",
            Kind::Timer | Kind::FarTimer => "sleeps",
            Kind::Timeout | Kind::FarTimeout => "waits for something of its own, with a timeout",
            Kind::File => "waits for an operation of a file",
            #[cfg(unix)]
            Kind::Child => "waits for the end of the process",
            #[cfg(unix)]
            Kind::Signal => "waits for the signal",
            Kind::Accept => "waits for a connection",
            Kind::Connect => "waits for the answer to an attempt to connect",
            Kind::Lock if self.arg & IS_PERMIT != 0 => "waits for a permit",
            Kind::Lock => "waits for a lock",
            Kind::Receive => "waits for a value of a channel",
            Kind::Send => "waits for room in a channel",
            Kind::Notified => "waits for a signal of another task",
        }
    }

    /// A word for the kind.
    pub(crate) fn name(self) -> &'static str {
        match self.kind {
            Kind::Readable => "readable",
            Kind::Writable => "writable",
            Kind::Timer | Kind::FarTimer => "timer",
            Kind::Timeout | Kind::FarTimeout => "timeout",
            Kind::File => "file",
            #[cfg(unix)]
            Kind::Child => "child",
            #[cfg(unix)]
            Kind::Signal => "signal",
            Kind::Accept => "accept",
            Kind::Connect => "connect",
            Kind::Lock if self.arg & IS_PERMIT != 0 => "permit",
            Kind::Lock => "lock",
            Kind::Receive => "receive",
            Kind::Send => "send",
            Kind::Notified => "notified",
        }
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
pub(crate) const NO_DESCRIPTOR: u32 = (1 << Leaf::ARG_BITS) - 1;

#[cfg(test)]
mod tests {
    use super::{Kind, Told};
    use colored_core::Leaf;

    fn timer(kind: Kind, deadline: u64) -> Leaf {
        kind.leaf(deadline as u32 & ((1 << Leaf::ARG_BITS) - 1))
    }

    #[test]
    fn a_deadline_is_read_as_the_one_nearest_to_the_present() {
        // Ticks of 1/64 ms; the clock has run for 40 hours.
        let now = 40 * 3600 * 1000 * 64;
        let left = |kind, deadline: u64, shift: u32| {
            Told::of(timer(kind, deadline >> shift), now).and_then(|told| told.millis_left)
        };
        assert_eq!(left(Kind::Timer, now + 64 * 1500, 6), Some(1500));
        assert_eq!(left(Kind::Timeout, now + 64 * 3_600_000, 6), Some(3_600_000));
        assert_eq!(left(Kind::Timer, now - 64 * 5, 6), Some(0), "it is due");
        let day = 24 * 3600 * 1000;
        let far = left(Kind::FarTimer, now + 64 * 30 * day, 16).expect("it is a timer");
        assert!(far.abs_diff(30 * day) <= 1024, "{far}");
        assert_eq!(Told::of(Kind::Readable.leaf(7), now).and_then(Told::descriptor), Some(7));
    }

    #[test]
    fn every_kind_is_found_by_its_tag() {
        for kind in Kind::ALL {
            assert_eq!(Kind::of(kind.leaf(0)), Some(*kind));
        }
    }
}
