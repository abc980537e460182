//! A timer that any thread sets and one thread waits for.
//!
//! On Linux it is a timer descriptor: who puts it off does not wake the thread. Elsewhere, and under Miri, it is a condition
//! variable: the thread wakes up at the earlier time, and sleeps again.

pub(super) use self::system::Timer;

#[cfg(all(any(target_os = "linux", target_os = "android"), not(miri)))]
mod system {
    use rustix::io::{Errno, read};
    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };
    use std::io;
    use std::os::fd::OwnedFd;
    use std::time::Duration;

    #[derive(Debug)]
    pub(in super::super) struct Timer(OwnedFd);

    impl Timer {
        /// # Errors
        ///
        /// When the system refuses a descriptor.
        pub(in super::super) fn new() -> io::Result<Self> {
            Ok(Self(timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)?))
        }

        /// It fires once after this time, and not at the time that was set before.
        pub(in super::super) fn set(&self, after: Duration) {
            // The system takes zero for never.
            let after = after.max(Duration::from_nanos(1));
            let seconds = i64::try_from(after.as_secs()).unwrap_or(i64::MAX);
            let value = Timespec { tv_sec: seconds, tv_nsec: after.subsec_nanos().into() };
            let time = Itimerspec { it_interval: Timespec::default(), it_value: value };
            timerfd_settime(&self.0, TimerfdTimerFlags::empty(), &time)
                .expect("a descriptor of a timer takes any time");
        }

        /// Waits until it fires.
        pub(in super::super) fn wait(&self) {
            while read(&self.0, &mut [0_u8; 8]) == Err(Errno::INTR) {}
        }
    }
}

#[cfg(any(miri, not(any(target_os = "linux", target_os = "android"))))]
mod system {
    use crate::wall;
    use std::io;
    use std::sync::{Condvar, Mutex, PoisonError};
    use std::time::{Duration, Instant};

    #[derive(Debug, Default)]
    pub(in super::super) struct Timer {
        at: Mutex<Option<Instant>>,
        signal: Condvar,
    }

    impl Timer {
        /// # Errors
        ///
        /// Never.
        pub(in super::super) fn new() -> io::Result<Self> {
            Ok(Self::default())
        }

        /// It fires once after this time, and not at the time that was set before.
        pub(in super::super) fn set(&self, after: Duration) {
            let new = wall::now() + after;
            let mut at = self.at.lock().unwrap_or_else(PoisonError::into_inner);
            if at.replace(new).is_none_or(|at| new < at) {
                self.signal.notify_one();
            }
        }

        /// Waits until it fires.
        pub(in super::super) fn wait(&self) {
            let mut at = self.at.lock().unwrap_or_else(PoisonError::into_inner);
            loop {
                let left = at.map(|at| at.saturating_duration_since(wall::now()));
                at = match left {
                    Some(Duration::ZERO) => break,
                    Some(left) => {
                        let waited = self.signal.wait_timeout(at, left);
                        waited.unwrap_or_else(PoisonError::into_inner).0
                    }
                    None => self.signal.wait(at).unwrap_or_else(PoisonError::into_inner),
                };
            }
            *at = None;
        }
    }
}
