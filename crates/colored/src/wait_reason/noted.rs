//! [`Reason`] and [`TimerReason`], which a task that waits notes; [`Note`], by which it forgets a reason.

use super::Kind;
use colored_core::Leaf;
use colored_core::port::{forget, note};
use std::panic::Location;

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
}

/// What a task waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reason {
    kind: Kind,
    arg: u32,
    site: Option<&'static Location<'static>>,
    /// Whether it counts only if the task waits for nothing else that is known.
    is_guard: bool,
}

impl Reason {
    #[inline]
    pub(crate) fn new(kind: Kind, arg: u32) -> Self {
        Self { kind, arg, site: None, is_guard: false }
    }

    /// With the place where the program waits.
    #[inline]
    pub(crate) fn at(self, site: &'static Location<'static>) -> Self {
        Self { site: Some(site), ..self }
    }

    /// Counts only if the task waits for nothing else that is known.
    #[inline]
    pub(crate) fn as_guard(self) -> Self {
        Self { is_guard: true, ..self }
    }

    #[inline]
    fn leaf(self) -> Leaf {
        Leaf { site: self.site, ..self.kind.leaf(self.arg) }
    }

    /// Notes that the task waits for this, and for no other leaf that it polled before.
    #[inline]
    pub(crate) fn note(self) {
        note(self.leaf(), self.is_guard);
    }

    /// What has noted this is dropped.
    #[inline]
    pub(crate) fn forget(self) {
        forget(|leaf| leaf == self.leaf());
    }
}

/// Ticks of the driver's clock in a millisecond, and in a unit of a timer far ahead, as shifts.
pub(crate) const MILLI: u32 = 6;
pub(crate) const FAR: u32 = 16;

/// The reason of a future. Dropping this forgets it, if the last poll has noted it.
#[derive(Debug)]
pub(crate) struct Note {
    reason: Reason,
    is_noted: bool,
}

impl Note {
    #[inline]
    pub(crate) fn of(reason: Reason) -> Self {
        Self { reason, is_noted: false }
    }

    /// To be called after each poll: notes the reason if the future is pending.
    #[inline]
    pub(crate) fn record_poll(&mut self, is_pending: bool) {
        if is_pending {
            self.reason.note();
        }
        self.is_noted = is_pending;
    }
}

impl Drop for Note {
    #[inline]
    fn drop(&mut self) {
        if self.is_noted {
            self.reason.forget();
        }
    }
}

/// The timer of a sleep. Deadlines are rounded down.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimerReason(&'static Location<'static>);

impl TimerReason {
    #[inline]
    #[track_caller]
    pub(crate) fn here() -> Self {
        Self(Location::caller())
    }

    /// Notes that the task waits for the timer, whose deadline is a tick of the driver's clock that shows `now`. If it
    /// `is_guard`, it is the timer of a timeout.
    #[inline]
    pub(crate) fn note(self, deadline: u64, now: u64, is_guard: bool) {
        // A deadline in milliseconds wraps around after nine hours, and is read as the one that is nearest to the present.
        let is_far = deadline.saturating_sub(now) >> MILLI >= 1 << (Leaf::ARG_BITS - 2);
        let (kind, shift) = match (is_far, is_guard) {
            (false, false) => (Kind::Timer, MILLI),
            (true, false) => (Kind::FarTimer, FAR),
            (false, true) => (Kind::Timeout, MILLI),
            (true, true) => (Kind::FarTimeout, FAR),
        };
        // A year or so is the most that is kept.
        let most = now + (7 << (Leaf::ARG_BITS - 4 + FAR));
        let leaf = Leaf { site: Some(self.0), ..kind.leaf((deadline.min(most) >> shift) as u32) };
        let arg = leaf.arg & ((1 << Leaf::ARG_BITS) - 1);
        note(Leaf { arg, ..leaf }, is_guard);
    }

    /// The timer is dropped.
    #[inline]
    pub(crate) fn forget(self, deadline: impl FnOnce() -> u64) {
        forget(|leaf| {
            let mask = (1 << Leaf::ARG_BITS) - 1;
            let is_at = |shift: u32| leaf.arg == (deadline() >> shift) as u32 & mask;
            leaf.site == Some(self.0)
                && match Kind::of(leaf) {
                    Some(Kind::Timer | Kind::Timeout) => is_at(MILLI),
                    Some(Kind::FarTimer | Kind::FarTimeout) => is_at(FAR),
                    _ => false,
                }
        });
    }
}

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
