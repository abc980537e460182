//! [`Tuning`]: the settings that change only the speed of a runtime.

use colored_core::{Options, Policy};
use std::time::Duration;

/// The default timer resolution.
pub(super) const RESOLUTION: Duration = Duration::from_millis(1);

/// Settings of a runtime that trade latency, CPU time and memory. A program is as correct with any of
/// them, and the defaults suit most programs: measure before and after a change.
///
/// ```
/// use colored::runtime::{Builder, Tuning};
/// use std::time::Duration;
///
/// # fn main() -> std::io::Result<()> {
/// let fine = Tuning::new().timer_resolution(Duration::from_micros(200));
/// let runtime = Builder::new().tuning(fine).build()?;
/// # drop(runtime);
/// # Ok(())
/// # }
/// ```
///
/// [`Builder::build`](super::Builder::build) returns an error for a setting that is out of its range.
#[derive(Clone, Copy, Debug, Default)]
#[must_use = "settings do nothing before `Builder::tuning`"]
pub struct Tuning {
    slice: Option<(u32, Duration)>,
    pub(super) spare_workers: Option<usize>,
    timer_resolution: Option<Duration>,
    reuse: Option<bool>,
    lazy_files: Option<bool>,
    io_uring: Option<bool>,
    pub(super) policy: Option<&'static dyn Policy>,
}

impl Tuning {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// How long the turn of a color is at most: so many polls of tasks, 1 to 1,000,000, and so much
    /// time, 1 µs to 1 s, whichever comes first. A closure of a post or a call counts a 64th of a poll.
    /// A poll is not interrupted, and the time is looked at after 8 polls or closures, or after each
    /// while they are slow. Default: 64 polls, 200 µs.
    pub fn slice(mut self, polls: u32, time: Duration) -> Self {
        self.slice = Some((polls, time));
        self
    }

    /// The largest number of spare workers at a time, 0 to 64: threads that take the place of workers whose polls are
    /// long, one for each. A spare's thread starts when it is needed first, and sleeps while it is not. If more polls
    /// are long, the colors behind them wait. Default: as many as workers, but at most 4.
    pub fn spare_workers(mut self, spares: usize) -> Self {
        self.spare_workers = Some(spares);
        self
    }

    /// A sleeping worker wakes up for timers at most once in this time, 0 to 10 ms; timers that become
    /// due in between fire together. So timers that are due this often are late by up to this time,
    /// half of it on average; otherwise the setting has no effect. A busy worker checks its timers all
    /// the time. Default: 1 ms.
    ///
    /// Waking a thread costs 5 to 30 µs, firing a timer less than one. So this setting trades CPU time
    /// for lateness where many short timers run on workers with little else to do: the rows
    /// `sleeps_cpu` and `sleeps_cpu_fine` of `benches/peers` have 1 ms and 0.2 ms.
    pub fn timer_resolution(mut self, resolution: Duration) -> Self {
        self.timer_resolution = Some(resolution);
        self
    }

    /// Whether workers keep the memory of tasks, callbacks and lanes for the next ones, instead of
    /// giving it back to the global allocator. Default: yes. For comparisons.
    #[doc(hidden)]
    pub fn reuse(mut self, reuse: bool) -> Self {
        self.reuse = Some(reuse);
        self
    }

    /// Whether the operations of [`fs`](crate::fs) are tried on the worker first. With `false`, and with
    /// the environment variable `COLORED_LAZY_FILES=0`, blocking threads do everything, unless [`io_uring`](Self::io_uring)
    /// says otherwise. Default: yes.
    pub fn lazy_files(mut self, lazy: bool) -> Self {
        self.lazy_files = Some(lazy);
        self
    }

    /// Whether reads of files that would wait are left to the system's io_uring, on Linux 5.12 or later. With `false`,
    /// with the environment variable `COLORED_IO_URING=0`, and where the system or a container does not allow io_uring,
    /// blocking threads do them. Default: yes, if [`lazy_files`](Self::lazy_files) is on. The first such read makes the
    /// ring, one for 8 workers.
    ///
    /// `lazy_files(false).io_uring(true)` leaves every read to io_uring, untried: eager asynchronous reads, for comparisons.
    pub fn io_uring(mut self, uses: bool) -> Self {
        self.io_uring = Some(uses);
        self
    }

    /// The policy that places runnable colors, in place of the scheduler's own: for comparisons with other schedulers.
    #[doc(hidden)]
    pub fn policy(mut self, policy: &'static dyn Policy) -> Self {
        self.policy = Some(policy);
        self
    }

    /// These settings, and for each that is not made the one of `earlier`.
    pub(super) fn over(self, earlier: Self) -> Self {
        Self {
            slice: self.slice.or(earlier.slice),
            spare_workers: self.spare_workers.or(earlier.spare_workers),
            timer_resolution: self.timer_resolution.or(earlier.timer_resolution),
            reuse: self.reuse.or(earlier.reuse),
            lazy_files: self.lazy_files.or(earlier.lazy_files),
            io_uring: self.io_uring.or(earlier.io_uring),
            policy: self.policy.or(earlier.policy),
        }
    }

    /// The options of a scheduler with these settings, and otherwise the given ones.
    pub(super) fn options(self, mut options: Options) -> Options {
        if let Some((polls, time)) = self.slice {
            options.slice_polls = polls;
            options.slice_nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        }
        options.reuse = self.reuse.unwrap_or(options.reuse);
        options.policy = self.policy.or(options.policy);
        options
    }

    pub(super) fn resolution(self) -> Duration {
        self.timer_resolution.unwrap_or(RESOLUTION)
    }

    pub(super) fn has_lazy_files(self) -> bool {
        self.lazy_files.unwrap_or(true)
    }

    pub(super) fn has_io_uring(self, lazy_files: bool) -> bool {
        self.io_uring.unwrap_or(lazy_files)
    }
}
