//! [`Builder`]: the settings of a runtime.

mod build;
mod dumps;
mod hooks;
mod trace;
mod tuning;

pub use self::tuning::Tuning;

use self::dumps::Dumps;
use self::trace::Trace;
use super::park::PanicHook;
use super::tokio_threads::Tokio;
use super::warnings;
use super::worker_hooks::WorkerHooks;
use crate::long_poll::Hook;
use crate::thread_settings::ThreadSettings;
use colored_core::Options;
use std::fmt;
use std::path::PathBuf;
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
/// variable is not read; the three switches at the end turn something off in any case. A value that is not allowed is an
/// error of [`build`](Builder::build), which names the variable, the value, and what is allowed.
///
/// | variable | in place of the default of | allowed |
/// |---|---|---|
/// | `COLORED_WORKERS` | [`workers`](Builder::workers) | 1 to 1024 |
/// | `COLORED_PIN` | [`pin`](Builder::pin) | 0, 1 |
/// | `COLORED_BLOCKING_THREADS` | [`blocking_threads`](Builder::blocking_threads) | 1 to 65536 |
/// | `COLORED_LONG_POLL_MS` | [`long_poll`](Builder::long_poll), in milliseconds | 1 to 86400000, which is a day |
/// | `COLORED_WARNINGS` | 0 acts as [`warnings(false)`](Builder::warnings) | 0, 1 |
/// | `COLORED_NAMES` | [`Color::remember_keys`](crate::Color::remember_keys), of the whole process, from the build on | 0, 1 |
/// | `COLORED_TRACE` | [`trace_level`](Builder::trace_level): the number of a [`Level`](crate::trace::Level) | 0 to 3 |
/// | `COLORED_TRACE_FILE` | [`trace_file`](Builder::trace_file), which is then written at the end, too | a path, in which `{pid}` is the number of the process |
/// | `COLORED_INSPECT` | [`inspect`](Builder::inspect) | a path, in which `{pid}` is the number of the process |
/// | `COLORED_LAZY_FILES` | 0 acts as [`lazy_files(false)`](Tuning::lazy_files) | 0, 1 |
/// | `COLORED_IO_URING` | 0 acts as [`io_uring(false)`](Tuning::io_uring) | 0, 1 |
#[derive(Clone)]
#[must_use = "a builder does nothing before `build`"]
pub struct Builder {
    workers: Option<usize>,
    max_workers: Option<usize>,
    pin: Option<bool>,
    blocking_threads: Option<usize>,
    thread_name: String,
    keep_alive: Duration,
    thread_settings: ThreadSettings,
    seed: Option<u64>,
    deadlock_after: Duration,
    long_poll: Option<Duration>,
    on_long_poll: Option<Hook>,
    warnings: bool,
    on_warning: Option<warnings::Hook>,
    warning_pace: warnings::Pace,
    on_task_panic: Option<PanicHook>,
    worker_hooks: WorkerHooks,
    dumps: Dumps,
    start_paused: bool,
    trace: Trace,
    inspect: Option<PathBuf>,
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
            max_workers: None,
            pin: None,
            blocking_threads: None,
            thread_name: String::from("colored"),
            keep_alive: KEEP_ALIVE,
            thread_settings: ThreadSettings::default(),
            seed: None,
            deadlock_after: DEADLOCK_AFTER,
            long_poll: None,
            on_long_poll: None,
            warnings: true,
            on_warning: None,
            warning_pace: warnings::Pace::DEFAULT,
            on_task_panic: None,
            worker_hooks: WorkerHooks::default(),
            dumps: Dumps::default(),
            start_paused: false,
            trace: Trace::default(),
            inspect: None,
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

    /// The most workers that [`Handle::set_workers`](super::Handle::set_workers) may set, from
    /// [`workers`](Builder::workers) to 1024. Default: no more than `workers`, so the number is fixed. A worker above
    /// `workers` takes a kilobyte or so, and has a thread from the moment when it is wanted first.
    pub fn max_workers(mut self, workers: usize) -> Self {
        self.max_workers = Some(workers);
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

    /// A fixed seed for the scheduler's random choices. Default: a random one.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
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
    /// or a parked one, takes the worker's place: it runs the worker's other colors, and cares for its timers and
    /// sockets. The color of the poll stays with the poll. The runtime notices up to 5 ms later. It counts long polls
    /// ([`LongPollMetrics`](crate::metrics::LongPollMetrics)) and reports them
    /// ([`on_long_poll`](Builder::on_long_poll)). With [`Duration::MAX`] no poll is long. Default: the
    /// environment variable `COLORED_LONG_POLL_MS`; without it 5 ms.
    ///
    /// A worker that the system takes its CPU from, because other programs are busy, looks as if its poll were long.
    /// The watch takes 0.2 to 0.4 % of a core while the runtime works (an echo server with 1 to 256 clients on two
    /// workers), and nothing while it is idle.
    pub fn long_poll(mut self, time: Duration) -> Self {
        self.long_poll = Some(time);
        self
    }

    /// Whether the runtime warns of faults that it finds in the program, such as a color that limits it. With `false`, and
    /// with the environment variable `COLORED_WARNINGS=0`, it does not. Default: yes.
    ///
    /// After its first 10 s, the runtime observes a second of each minute, as [`Handle::observe`](super::Handle::observe)
    /// does, while something runs: an idle runtime is not looked at, nor is one with more than 100,000 colors in use; and with
    /// more than 10,000 tasks it does not look at what they wait for. It
    /// warns of a [kind of fault](crate::report::Fault) once, and again only after two observations in a row have not
    /// found the fault, and a minute later at the earliest. Where the warnings go:
    /// [`on_warning`](Builder::on_warning).
    ///
    /// Long polls have a hook and a line of their own, whatever is set here: [`on_long_poll`](Builder::on_long_poll).
    pub fn warnings(mut self, warns: bool) -> Self {
        self.warnings = warns;
        self
    }

    /// How often the runtime is observed, when first, and for how long, in place of 60, 10 and 1 s: for tests.
    #[doc(hidden)]
    pub fn warning_pace(mut self, every: Duration, first: Duration, length: Duration) -> Self {
        self.warning_pace = warnings::Pace { first, every, length };
        self
    }

    /// Whether the runtime begins with its clock paused, as by [`time::pause`](crate::time::pause()) before everything
    /// else: for tests. [The module](crate::time#paused-time) says when time moves then. Default: no.
    pub fn start_paused(mut self, paused: bool) -> Self {
        self.start_paused = paused;
        self
    }

    /// The path of a Unix socket on which the runtime tells what it does, to the program `colored-top` and to scripts;
    /// [`inspect`](super::inspect) describes the requests, the replies, who may read, and what it costs. A thread
    /// answers, `colored-inspect`. Default: the environment variable `COLORED_INSPECT`; without it there is neither the
    /// thread nor the socket.
    ///
    /// [`build`](Builder::build) makes the file, with the mode 0600, and the end of the runtime removes it. It replaces the
    /// socket of a process that has ended. If a process listens there, also this one for another runtime, or the file is
    /// of another kind, `build` returns an error that names the path. The path has 80 bytes at most on most systems.
    /// Where the system has no Unix sockets, `build` returns an error.
    ///
    /// ```no_run
    /// # fn main() -> std::io::Result<()> {
    /// let runtime = colored::Builder::new().inspect("/run/user/1000/orders.sock").build()?;
    /// # drop(runtime);
    /// # Ok(())
    /// # }
    /// ```
    pub fn inspect(mut self, path: impl Into<PathBuf>) -> Self {
        self.inspect = Some(path.into());
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
