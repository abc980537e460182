//! Ends a poll at a point in time.
//!
//! Linux counts the timeout of a poll in milliseconds, and `epoll_pwait2`, which does not, may be
//! late by the 50 µs of the thread's timer slack and must set its timer again for every poll. So
//! there the alarm is a timer descriptor among the sockets. A sleep of 300 µs ends 0.8 ms late by
//! the timeout, 95 µs by `epoll_pwait2` and 45 µs by the descriptor, at the same 30 µs of CPU. Other
//! systems get a timeout, as fine as they take it, and so does Miri, which has no timer descriptors.

pub(super) use self::system::Alarm;

#[cfg(all(any(target_os = "linux", target_os = "android"), not(miri)))]
mod system {
    use crate::wall;
    use mio::event::Source;
    use mio::unix::SourceFd;
    use mio::{Interest, Registry, Token};
    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };
    use std::io;
    use std::os::fd::{AsRawFd, OwnedFd};
    use std::time::{Duration, Instant};

    /// A timer that the selector watches.
    ///
    /// It is edge-triggered and never read: setting the timer again clears the expirations.
    pub(in super::super) struct Alarm {
        descriptor: OwnedFd,
        /// Until then no poll sleeps. `None` if it is not set, or has rung.
        set: Option<Instant>,
    }

    impl Alarm {
        /// # Errors
        ///
        /// When the system refuses a descriptor.
        pub(in super::super) fn new(registry: &Registry, token: Token) -> io::Result<Self> {
            let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
            // `Instant` counts by this clock.
            let descriptor = timerfd_create(TimerfdClockId::Monotonic, flags)?;
            SourceFd(&descriptor.as_raw_fd()).register(registry, token, Interest::READABLE)?;
            Ok(Self { descriptor, set: None })
        }

        /// Makes the next poll end at `deadline` or before: not after the timeout that is given
        /// back.
        ///
        /// An alarm that is set for an earlier time is left. It ends a poll for nothing, once; that
        /// is cheaper than setting it whenever another worker takes the turn.
        ///
        /// # Errors
        ///
        /// None is known.
        pub(in super::super) fn set(&mut self, deadline: Instant) -> io::Result<Option<Duration>> {
            if self.set.is_some_and(|set| set <= deadline) {
                return Ok(None);
            }
            let left = deadline.saturating_duration_since(wall::now());
            let Some(value) = timespec(left) else { return Ok(Some(Duration::ZERO)) };
            let time = Itimerspec { it_interval: Timespec::default(), it_value: value };
            timerfd_settime(&self.descriptor, TimerfdTimerFlags::empty(), &time)?;
            self.set = Some(deadline);
            Ok(None)
        }

        /// A poll was ended by it.
        pub(in super::super) fn rang(&mut self) {
            self.set = None;
        }
    }

    /// `None` for zero, which the system takes for *never*.
    fn timespec(time: Duration) -> Option<Timespec> {
        let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
        let time = Timespec { tv_sec: seconds, tv_nsec: time.subsec_nanos().into() };
        (time != Timespec::default()).then_some(time)
    }
}

#[cfg(any(miri, not(any(target_os = "linux", target_os = "android"))))]
mod system {
    use crate::wall;
    use mio::{Registry, Token};
    use std::io;
    use std::time::{Duration, Instant};

    /// Nothing but the poll's own timeout.
    pub(in super::super) struct Alarm;

    impl Alarm {
        /// # Errors
        ///
        /// Never.
        pub(in super::super) fn new(_: &Registry, _: Token) -> io::Result<Self> {
            Ok(Self)
        }

        /// The timeout with which the next poll ends at `deadline`.
        ///
        /// # Errors
        ///
        /// Never.
        pub(in super::super) fn set(&mut self, deadline: Instant) -> io::Result<Option<Duration>> {
            Ok(Some(deadline.saturating_duration_since(wall::now())))
        }

        /// No event comes from it.
        pub(in super::super) fn rang(&mut self) {}
    }
}
