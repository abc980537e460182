//! [`Builder`]: the settings of a runtime.

use super::Runtime;
use super::handle::Handle;
use super::threads::{self, Threads};
use crate::device::Devices;
use crate::driver::Driver;
use crate::launch::Launch;
use crate::long_poll::{LongPoll, Settings};
use crate::pool::{Limits, Pool};
#[cfg(feature = "tokio-context")]
use crate::tokio_context::TokioContext;
use colored_core::{Options, Park, Policy, Scheduler};
use std::any::Any;
use std::env;
use std::io;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

/// The most workers a runtime may have.
const MAX_WORKERS: usize = 1024;

/// The most spare workers a runtime may have, and the most that it has unless the number is set.
const MAX_SPARES: usize = 64;
const SPARES: usize = 4;

/// The time after which a poll is long, unless it is set, and the shortest.
const LONG_POLL: Duration = Duration::from_millis(5);
const MIN_LONG_POLL: Duration = Duration::from_millis(1);

/// The most blocking threads a runtime may have.
const MAX_BLOCKING: usize = 1 << 16;

/// How long a blocking thread waits for another call before it ends, unless it is set.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// The smallest and the largest stack of a thread. Less than the first is not enough for a worker
/// and a future of some size.
const MIN_STACK: usize = 1 << 16;
const MAX_STACK: usize = 1 << 30;

/// The longest timer resolution, and the default one.
const MAX_RESOLUTION: Duration = Duration::from_millis(10);
const RESOLUTION: Duration = Duration::from_micros(200);

/// How long a wait in a section lasts before it is looked at, unless it is set.
const DEADLOCK_AFTER: Duration = Duration::from_millis(10);

/// The settings of a runtime. [`Builder::build`] starts the runtime, and reports wrong settings.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing before `build`"]
pub struct Builder {
    workers: Option<usize>,
    pin: bool,
    blocking_threads: usize,
    thread_name: String,
    keep_alive: Duration,
    launch: Launch,
    seed: Option<u64>,
    timer_resolution: Duration,
    deadlock_after: Duration,
    spares: Option<usize>,
    long_polls: Settings,
    lazy_files: bool,
    io_uring: bool,
    #[cfg(feature = "tokio-context")]
    tokio: Tokio,
    options: Options,
}

/// The tokio runtime that threads are in.
#[cfg(feature = "tokio-context")]
#[derive(Clone, Debug)]
enum Tokio {
    None,
    Own,
    Of(tokio::runtime::Handle),
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
            pin: false,
            blocking_threads: 512,
            thread_name: String::from("colored"),
            keep_alive: KEEP_ALIVE,
            launch: Launch::default(),
            seed: None,
            timer_resolution: RESOLUTION,
            deadlock_after: DEADLOCK_AFTER,
            spares: None,
            long_polls: Settings { after: LONG_POLL, hook: None },
            lazy_files: true,
            io_uring: true,
            #[cfg(feature = "tokio-context")]
            tokio: Tokio::None,
            options: Options::default(),
        }
    }

    /// The number of worker threads, 1 to 1024. Default: the environment variable `COLORED_WORKERS`; without it
    /// [`std::thread::available_parallelism`], which respects the affinity mask and the cgroup quota of the process.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = Some(workers);
        self
    }

    /// Whether each worker stays on one CPU. Default: no. Pinned workers that share their CPUs with
    /// other programs cost up to a quarter more CPU per request; on a dedicated machine they keep their
    /// caches.
    ///
    /// Some kernels, as in a virtual machine, wake a thread on its waker's CPU although another CPU is
    /// idle. Then the second worker starts late: in a third of bursts of 2 ms on two such CPUs it ran
    /// less than a third of the tasks, or none. With pinned workers this happened in none of 50 bursts.
    pub fn pin(mut self, pin: bool) -> Self {
        self.pin = pin;
        self
    }

    /// The largest number of threads for [`spawn_blocking`](crate::spawn_blocking), 1 to 65,536.
    /// Default: 512.
    pub fn blocking_threads(mut self, threads: usize) -> Self {
        self.blocking_threads = threads;
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
        self.launch.stack_size = Some(bytes);
        self
    }

    /// How long an idle blocking thread waits for another call before it ends. Default: 10 s.
    pub fn thread_keep_alive(mut self, time: Duration) -> Self {
        self.keep_alive = time;
        self
    }

    /// Each thread of the runtime calls `f` when it begins, before it runs anything else: workers, the
    /// reactor thread, blocking threads. The threads may call `f` at the same time, and some may call
    /// it after [`build`](Builder::build) has returned. `f` runs outside the runtime, so it cannot
    /// spawn. The panic hook reports a panic of `f`, which goes no further. A second call replaces the
    /// first.
    pub fn on_thread_start(mut self, f: impl Fn() + Send + Sync + 'static) -> Self {
        self.launch.on_start = Some(Arc::new(f));
        self
    }

    /// Each thread of the runtime calls `f` when it ends, after everything else that it runs; otherwise
    /// as [`on_thread_start`](Builder::on_thread_start). A shutdown that waits for the threads waits
    /// for these calls.
    pub fn on_thread_stop(mut self, f: impl Fn() + Send + Sync + 'static) -> Self {
        self.launch.on_stop = Some(Arc::new(f));
        self
    }

    /// A fixed seed for the scheduler's random choices. Default: a random one.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// A sleeping worker wakes up for timers at most once in this time, 0 to 10 ms; timers that become
    /// due in between fire together. So timers that are due this often are late by up to this time,
    /// half of it on average; otherwise the setting has no effect. A busy worker checks its timers all
    /// the time. Default: 0.2 ms.
    ///
    /// Waking a thread costs 5 to 30 µs, firing a timer less than one. So this setting trades CPU time
    /// for lateness where many short timers run on workers with little else to do. For 100 tasks that
    /// sleep for 1 to 5 ms, again and again, on a virtual machine where waking a thread takes 30 µs, a
    /// sleep takes 6.4 µs of CPU time and is 0.11 ms late; with a resolution of 1 ms it takes 2.3 µs
    /// and is 0.55 ms late (`papers sleeps`).
    pub fn timer_resolution(mut self, resolution: Duration) -> Self {
        self.timer_resolution = resolution;
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
    /// ([`on_long_poll`](Builder::on_long_poll)). With [`Duration::MAX`] no poll is long. Default: 5 ms.
    ///
    /// A worker that the system takes its CPU from, because other programs are busy, looks as if its poll were long.
    /// The watch takes 0.2 to 0.4 % of a core while the runtime works (an echo server with 1 to 256 clients on two
    /// workers), and nothing while it is idle.
    pub fn long_poll(mut self, time: Duration) -> Self {
        self.long_polls.after = time;
        self
    }

    /// The reactor thread calls `f` once for each long poll that it sees, while the poll goes on. `f` must be quick:
    /// sockets and timers wait for it. The panic hook reports a panic of `f`, which goes no further. A second call
    /// replaces the first. Default: long polls are counted only.
    ///
    /// ```
    /// # fn main() -> std::io::Result<()> {
    /// let runtime = colored::Builder::new().on_long_poll(|poll| eprintln!("{poll}")).build()?;
    /// # drop(runtime);
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_long_poll(mut self, f: impl Fn(&LongPoll) + Send + Sync + 'static) -> Self {
        self.long_polls.hook = Some(Arc::new(f));
        self
    }

    /// The largest number of spare workers at a time, 0 to 64: threads that take the place of workers whose polls are
    /// long, one for each. A spare's thread starts when it is needed first, and sleeps while it is not. If more polls
    /// are long, the colors behind them wait. Default: as many as workers, but at most 4.
    pub fn spare_workers(mut self, spares: usize) -> Self {
        self.spares = Some(spares);
        self
    }

    /// Whether the operations of [`fs`](crate::fs) are tried on the worker first. With `false`, and with
    /// the environment variable `COLORED_LAZY_FILES=0`, blocking threads do everything. Default: yes.
    pub fn lazy_files(mut self, lazy: bool) -> Self {
        self.lazy_files = lazy;
        self
    }

    /// Whether reads of files that would wait are left to the system's io_uring, on Linux 5.12 or later. With `false`,
    /// with the environment variable `COLORED_IO_URING=0`, and where the system or a container does not allow io_uring,
    /// blocking threads do them. Default: yes. The first such read makes the ring, one for 8 workers.
    pub fn io_uring(mut self, uses: bool) -> Self {
        self.io_uring = uses;
        self
    }

    /// Whether libraries that need tokio's runtime find one, as in `#[colored::main(tokio)]`; default false. It is made for
    /// this purpose, has one thread, which waits for events and timers, and ends with this runtime.
    ///
    /// Tasks, blocking calls, and futures of [`Runtime::block_on`](super::Runtime::block_on) then use `tokio::net`, `time`,
    /// `fs`, `process` and `signal`, and libraries that are built on them. They stay our tasks: what tokio wakes is polled
    /// by our workers, under its color. What such a library hands to `tokio::spawn` is no task of ours: it runs on tokio's
    /// thread, under no color, beside everything else. A wake by tokio costs a thread switch more than one of ours, so use
    /// [`net`](crate::net) and [`time`](crate::time) where you have the choice. The guard of
    /// [`Handle::enter`](super::Handle::enter) does not enter tokio.
    #[cfg(feature = "tokio-context")]
    pub fn tokio_context(mut self, enters: bool) -> Self {
        self.tokio = if enters { Tokio::Own } else { Tokio::None };
        self
    }

    /// As [`tokio_context`](Self::tokio_context), with a tokio runtime of the program, which it ends itself, and after this
    /// one.
    #[cfg(feature = "tokio-context")]
    pub fn tokio_handle(mut self, handle: tokio::runtime::Handle) -> Self {
        self.tokio = Tokio::Of(handle);
        self
    }

    /// How long the turn of a color is at most: so many polls of tasks and runs of callbacks, 1 to
    /// 1,000,000, and so much time, 1 µs to 1 s, whichever comes first. A poll is not interrupted,
    /// and the time is looked at after 8 of them, or after each while they are slow. Default: 64
    /// polls, 200 µs.
    pub fn slice(mut self, polls: u32, time: Duration) -> Self {
        self.options.slice_polls = polls;
        self.options.slice_nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self
    }

    /// Whether workers keep the memory of tasks, callbacks and lanes for the next ones, instead of
    /// giving it back to the global allocator. Default: yes.
    pub fn reuse(mut self, reuse: bool) -> Self {
        self.options.reuse = reuse;
        self
    }

    /// The policy that places runnable colors, in place of the scheduler's own: for comparisons with other schedulers.
    #[doc(hidden)]
    pub fn policy(mut self, policy: &'static dyn Policy) -> Self {
        self.options.policy = Some(policy);
        self
    }

    /// Starts the runtime.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if a setting is out of its range, or two settings contradict each other; the
    /// error names them and the allowed values. And the system's error, if the system refuses a thread
    /// or a selector.
    pub fn build(self) -> io::Result<Runtime> {
        let workers = match self.workers {
            Some(workers) => {
                in_range("workers", workers, 1..=MAX_WORKERS, "one per available CPU")?
            }
            None => match workers_variable()? {
                Some(workers) => workers,
                None => available_parallelism().map_or(1, usize::from).min(MAX_WORKERS),
            },
        };
        let blocking =
            in_range("blocking_threads", self.blocking_threads, 1..=MAX_BLOCKING, "512")?;
        if let Some(bytes) = self.launch.stack_size {
            in_range("thread_stack_size", bytes, MIN_STACK..=MAX_STACK, "the standard library's")?;
        }
        if self.thread_name.contains('\0') {
            let text = format!("thread_name({:?}): a name has no NUL byte", self.thread_name);
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let resolution = self.timer_resolution;
        if resolution > MAX_RESOLUTION {
            let text = format!(
                "timer_resolution({resolution:?}): allowed are 0 ns to {MAX_RESOLUTION:?}; leave \
                 it out for {RESOLUTION:?}"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let spares = match self.spares {
            Some(spares) => {
                in_range("spare_workers", spares, 0..=MAX_SPARES, "as many as workers, at most 4")?
            }
            // A policy need not let another worker take what a long poll holds up.
            None if self.options.policy.is_some() => 0,
            None => workers.min(SPARES),
        };
        let after = self.long_polls.after;
        if after < MIN_LONG_POLL {
            let text = format!(
                "long_poll({after:?}): allowed are {MIN_LONG_POLL:?} and more; leave it out for {LONG_POLL:?}"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        self.options.check().map_err(|text| io::Error::new(io::ErrorKind::InvalidInput, text))?;
        let pool = Pool::new(&Limits {
            max_threads: blocking,
            keep_alive: self.keep_alive,
            prefix: self.thread_name.clone(),
            launch: self.launch.clone(),
        });
        let lazy_files = self.lazy_files && variable("COLORED_LAZY_FILES")?;
        let has_rings = lazy_files && self.io_uring && variable("COLORED_IO_URING")?;
        let devices = Devices::new(lazy_files, has_rings);
        #[cfg(feature = "tokio-context")]
        let tokio = match self.tokio {
            Tokio::None => None,
            Tokio::Own => Some(TokioContext::start(&self.thread_name)?),
            Tokio::Of(handle) => Some(TokioContext::of(handle)),
        };
        let driver = Driver::new(
            workers,
            spares,
            resolution,
            self.deadlock_after,
            self.long_polls,
            devices,
            pool,
        )?;
        #[cfg(feature = "tokio-context")]
        let driver = driver.with_tokio(tokio);
        let driver = Arc::new(driver);
        let port = Port { driver: Arc::clone(&driver), start: Instant::now() };
        let seed = self.seed.unwrap_or_else(random_seed);
        let (core, cores) = Scheduler::with_options(
            workers,
            seed,
            Box::new(port),
            Options { spares, ..self.options },
        );
        let handle = Handle::new(core, driver);
        let pins = threads::pins(self.pin);
        let threads = Threads::start(&handle, cores, &self.thread_name, pins, self.launch)?;
        Ok(Runtime { handle, threads })
    }
}

fn in_range(
    name: &str,
    value: usize,
    allowed: RangeInclusive<usize>,
    default: &str,
) -> io::Result<usize> {
    if allowed.contains(&value) {
        return Ok(value);
    }
    let (min, max) = allowed.into_inner();
    let text = format!("{name}({value}): allowed are {min} to {max}; leave it out for {default}");
    Err(io::Error::new(io::ErrorKind::InvalidInput, text))
}

/// The environment variable `COLORED_WORKERS`, if it is set.
fn workers_variable() -> io::Result<Option<usize>> {
    const NAME: &str = "COLORED_WORKERS";
    let Some(value) = env::var_os(NAME) else { return Ok(None) };
    let workers = value.to_str().and_then(|value| value.parse().ok());
    match workers.filter(|workers| (1..=MAX_WORKERS).contains(workers)) {
        Some(workers) => Ok(Some(workers)),
        None => {
            let text = format!(
                "the environment variable {NAME} is {value:?}: allowed are 1 to {MAX_WORKERS}; unset it for one \
                 per available CPU"
            );
            Err(io::Error::new(io::ErrorKind::InvalidInput, text))
        }
    }
}

/// An environment variable that switches something off: true unless it says so.
fn variable(name: &str) -> io::Result<bool> {
    match env::var_os(name) {
        None => Ok(true),
        Some(value) if value == "1" => Ok(true),
        Some(value) if value == "0" => Ok(false),
        Some(value) => {
            let text = format!(
                "the environment variable {name} is {value:?}: allowed are 0 and 1; unset it for 1"
            );
            Err(io::Error::new(io::ErrorKind::InvalidInput, text))
        }
    }
}

fn random_seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0)
}

/// The scheduler's view of the operating system.
struct Port {
    driver: Arc<Driver>,
    start: Instant,
}

impl Park for Port {
    fn unpark(&self, worker: usize) {
        self.driver.unpark(worker);
    }

    fn now(&self) -> u64 {
        // 584 years fit.
        self.start.elapsed().as_nanos() as u64
    }

    fn stir(&self) {
        self.driver.bell.stir();
    }

    fn shell(&self) -> Option<&(dyn Any + Send + Sync)> {
        Some(&self.driver)
    }
}
