//! [`ThreadClock`]: how long a thread has had a CPU, read by another thread.
//!
//! A poll that computes is told from one that blocks by this, and from one that the system has taken the CPU from.

// Miri does not have the files in which Linux says so.
#[cfg(all(any(target_os = "linux", target_os = "android"), not(miri)))]
#[path = "thread_time/linux.rs"]
mod system;
#[cfg(not(all(any(target_os = "linux", target_os = "android"), not(miri))))]
#[path = "thread_time/other.rs"]
mod system;

use std::time::Duration;

/// What the system counts for a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThreadTime {
    /// The thread had a CPU.
    pub(crate) cpu: Duration,
    /// The thread could have run, and other threads had the CPUs.
    pub(crate) delayed: Duration,
    /// The thread has a CPU, or waits for one: since when it has waited is in none of the two times.
    pub(crate) is_runnable: bool,
}

impl ThreadTime {
    /// What has been added since `earlier`.
    pub(crate) fn since(self, earlier: Self) -> Self {
        Self {
            cpu: self.cpu.saturating_sub(earlier.cpu),
            delayed: self.delayed.saturating_sub(earlier.delayed),
            is_runnable: self.is_runnable,
        }
    }
}

/// A thread whose time can be read from anywhere while it lives.
#[derive(Debug)]
pub(crate) struct ThreadClock(system::Thread);

impl ThreadClock {
    /// Of the calling thread.
    pub(crate) fn of_this_thread() -> Self {
        Self(system::Thread::current())
    }

    /// None where the system does not say, and after the end of the thread. While the thread runs, the value may be late
    /// by a tick of the system, up to 10 ms. Costs some microseconds.
    pub(crate) fn read(&self) -> Option<ThreadTime> {
        self.0.time()
    }
}
