//! [`Builder`]: the settings of a runtime.

mod build;
mod hooks;
mod tuning;

pub use self::tuning::Tuning;

use super::park::PanicHook;
use super::tokio_threads::Tokio;
use crate::diagnose;
use crate::driver::simulated::Machine;
use crate::thread_settings::ThreadSettings;
use colored_core::Options;
use std::fmt;
use std::time::Duration;

/// How long a blocking thread waits for another call before it ends, unless it is set.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// How long a wait in a section lasts before it is looked at, unless it is set.
const DEADLOCK_AFTER: Duration = Duration::from_millis(10);

/// The settings of a runtime. [`Builder::build`] starts the runtime, and reports wrong settings.
///
/// # Environment variables
///
/// The operator of a program can change these defaults. A setting that the program makes itself is kept, and its
/// variable is not read; the two switches at the end turn something off in any case. A value that is not allowed is an
/// error of [`build`](Builder::build), which names the variable, the value, and what is allowed. The feature `diagnose` adds
/// variables of its own.
///
/// | variable | in place of the default of | allowed |
/// |---|---|---|
/// | `COLORED_WORKERS` | [`workers`](Builder::workers) | 1 to 1024 |
/// | `COLORED_PIN` | [`pin`](Builder::pin) | 0, 1 |
/// | `COLORED_BLOCKING_THREADS` | [`blocking_threads`](Builder::blocking_threads) | 1 to 65536 |
/// | `COLORED_LONG_POLL_MS` | [`long_poll`](Builder::long_poll), in milliseconds | 1 to 86400000, which is a day |
/// | `COLORED_LAZY_FILES` | 0 acts as [`lazy_files(false)`](Tuning::lazy_files) | 0, 1 |
/// | `COLORED_IO_URING` | 0 acts as [`io_uring(false)`](Tuning::io_uring) | 0, 1 |
#[derive(Clone)]
#[must_use = "a builder does nothing before `build`"]
pub struct Builder {
    workers: Option<usize>,
    pin: Option<bool>,
    blocking_threads: Option<usize>,
    thread_name: String,
    keep_alive: Duration,
    thread_settings: ThreadSettings,
    seed: Option<u64>,
    deadlock_after: Duration,
    long_poll: Option<Duration>,
    on_task_panic: Option<PanicHook>,
    start_paused: bool,
    /// The machine of a simulated runtime.
    machine: Option<Machine>,
    pub(super) diagnose: diagnose::Options,
    tokio: Tokio,
    tuning: Tuning,
    options: Options,
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    /// The defaults: one worker per available CPU, not pinned; up to 512 blocking threads.
    pub fn new() -> Self {
        Self {
            workers: None,
            pin: None,
            blocking_threads: None,
            thread_name: String::from("colored"),
            keep_alive: KEEP_ALIVE,
            thread_settings: ThreadSettings::default(),
            seed: None,
            deadlock_after: DEADLOCK_AFTER,
            long_poll: None,
            on_task_panic: None,
            start_paused: false,
            machine: None,
            diagnose: diagnose::Options::default(),
            tokio: Tokio::default(),
            tuning: Tuning::default(),
            options: Options::default(),
        }
    }

    /// The number of worker threads, 1 to 1024. Default: the environment variable `COLORED_WORKERS`; without it
    /// [`std::thread::available_parallelism`], which respects the affinity mask and the cgroup quota of the process.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = Some(workers);
        self
    }

    /// Whether each worker stays on one CPU. Default: the environment variable `COLORED_PIN`; without it no. Pinned workers that share their CPUs with
    /// other programs cost up to a quarter more CPU per request; on a dedicated machine they keep their
    /// caches.
    ///
    /// Some kernels, as in a virtual machine, wake a thread on its waker's CPU although another CPU is
    /// idle. Then the second worker starts late: in a third of bursts of 2 ms on two such CPUs it ran
    /// less than a third of the tasks, or none. With pinned workers this happened in none of 50 bursts.
    pub fn pin(mut self, pin: bool) -> Self {
        self.pin = Some(pin);
        self
    }

    /// The largest number of threads for [`spawn_blocking`](crate::spawn_blocking), 1 to 65,536.
    /// Default: the environment variable `COLORED_BLOCKING_THREADS`; without it 512.
    pub fn blocking_threads(mut self, threads: usize) -> Self {
        self.blocking_threads = Some(threads);
        self
    }

    /// The prefix of the thread names. Linux shows 15 bytes of a name; the suffix takes up to 8.
    /// Default: `colored`.
    pub fn thread_name(mut self, name: impl Into<String>) -> Self {
        self.thread_name = name.into();
        self
    }

    /// The stack of each thread of the runtime, in bytes, 65,536 to 2³⁰. Default: the standard
    /// library's default, which is 2 MiB unless the variable `RUST_MIN_STACK` sets another.
    pub fn thread_stack_size(mut self, bytes: usize) -> Self {
        self.thread_settings.stack_size = Some(bytes);
        self
    }

    /// How long an idle blocking thread waits for another call before it ends. Default: 10 s.
    pub fn thread_keep_alive(mut self, time: Duration) -> Self {
        self.keep_alive = time;
        self
    }

    /// Settings that change only the speed. Those that `tuning` does not make stay as they are.
    pub fn tuning(mut self, tuning: Tuning) -> Self {
        self.tuning = tuning.over(self.tuning);
        self
    }

    /// How long a wait inside a section ([`exclusive`](crate::exclusive())) lasts before the runtime
    /// checks whether it can ever end. A wait that cannot end becomes an error, up to 5 ms later. With
    /// 0 the runtime checks every wait, with [`Duration::MAX`] none. The delay is real time, also where
    /// a test stops its clock. Default: 10 ms.
    ///
    /// A runtime without sections never searches. Otherwise each search, at most once in 5 ms while
    /// something runs, visits the waiting sections and the work in line behind them. The searches take
    /// at most a fiftieth of one core, so they are less frequent if very many sections wait.
    pub fn deadlock_after(mut self, time: Duration) -> Self {
        self.deadlock_after = time;
        self
    }

    /// The time after which a poll is long, 1 ms or more: it blocks, or computes without a break. Then a spare worker,
    /// or a parked one, takes the worker's place: it runs the worker's other colors, and serves its timers and
    /// sockets. The color of the poll stays with the poll. The runtime notices up to 5 ms later, and counts long polls
    /// ([`LongPollMetrics`](crate::metrics::LongPollMetrics)); with the feature `diagnose`, it also reports them. With
    /// [`Duration::MAX`] no poll is long. Default: the environment variable `COLORED_LONG_POLL_MS`; without it 5 ms.
    ///
    /// A worker that the system takes its CPU from, because other programs are busy, looks as if its poll were long.
    /// The watch takes 0.2 to 0.4 % of a core while the runtime works (an echo server with 1 to 256 clients on two
    /// workers), and nothing while it is idle.
    pub fn long_poll(mut self, time: Duration) -> Self {
        self.long_poll = Some(time);
        self
    }

    /// Whether the runtime begins with its clock paused, as by [`time::pause`](crate::time::pause()) before everything
    /// else: for tests. [The module](crate::time#paused-time) says when time moves then. Default: no.
    pub fn start_paused(mut self, paused: bool) -> Self {
        self.start_paused = paused;
        self
    }

    /// Whether libraries that need tokio's runtime find one. It is made for this purpose, and ends with this runtime. Default:
    /// yes, and no for an [embedded](Self::build_embedded) runtime, which has no threads.
    ///
    /// Tasks, blocking calls, and futures of [`Runtime::block_on`](super::Runtime::block_on) then use `tokio::net`, `time`,
    /// `fs`, `process` and `signal`, and libraries that are built on them. They stay our tasks: what tokio wakes is polled
    /// by our workers, under its color. What such a library hands to `tokio::spawn` is no task of ours: it runs on tokio's
    /// thread, under no color, beside everything else. It may use this runtime all the same, since tokio's threads are
    /// inside of it: [`spawn`](crate::spawn()), [`net`](crate::net) and [`time`](crate::time) work there, and what needs a
    /// color, such as [`spawn_here`](crate::spawn_here), panics. A wake by tokio costs a thread switch more than one of
    /// ours, so use our sockets and timers where you have the choice. The guard of [`Handle::enter`](super::Handle::enter)
    /// does not enter tokio.
    ///
    /// The tokio runtime has one thread, which sleeps while no library uses it, and four descriptors, beside two for all
    /// runtimes of the process. To start and end it takes some 0.3 ms. A blocking call of `tokio::task::spawn_blocking` that
    /// never ends keeps this runtime's descriptors open.
    #[cfg(feature = "tokio-context")]
    pub fn tokio_context(mut self, enters: bool) -> Self {
        self.tokio = if enters { Tokio::Own } else { Tokio::None };
        self
    }

    /// As [`tokio_context`](Self::tokio_context), with a tokio runtime of the program, which it ends itself, and after this
    /// one. Its threads are not inside of this runtime: pass a [`Handle`](super::Handle) to what runs there.
    #[cfg(feature = "tokio-context")]
    pub fn tokio_handle(mut self, handle: tokio::runtime::Handle) -> Self {
        self.tokio = Tokio::Of(handle);
        self
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("workers", &self.workers)
            .field("pin", &self.pin)
            .field("blocking_threads", &self.blocking_threads)
            .field("thread_name", &self.thread_name)
            .field("tuning", &self.tuning)
            .finish_non_exhaustive()
    }
}
