//! The reasons of waits that have no wait record. Sockets, timers and files note them in the waiting task, and dumps show
//! them. Without the feature `diagnose` nobody reads them, and a [`Reason`] is nothing.

#[cfg(not(feature = "diagnose"))]
mod absent;
mod labeled;
#[cfg(feature = "diagnose")]
mod noted;

#[cfg(not(feature = "diagnose"))]
pub(crate) use self::absent::{Note, Reason, TimerReason};
pub(crate) use self::labeled::labeled;
#[cfg(feature = "diagnose")]
pub(crate) use self::noted::{FAR, MILLI, Note, Reason, TimerReason};

use colored_core::Leaf;
use std::ptr;

/// The kind of a wait. Its number is the tag of the [`Leaf`].
#[cfg_attr(
    not(feature = "diagnose"),
    expect(dead_code, reason = "timers choose theirs when they note it")
)]
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
