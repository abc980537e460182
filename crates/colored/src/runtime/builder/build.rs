//! From settings to a runtime: the checks, the defaults, and what is started.

use super::Builder;
use super::tuning::RESOLUTION;
use crate::device::Devices;
use crate::drain::Finishers;
use crate::driver::clock::Clock;
use crate::driver::shards::Shards;
#[cfg(feature = "sim")]
use crate::driver::simulated::Simulated;
use crate::driver::{self, Driver};
use crate::environment;
use crate::long_poll::LongPolls;
use crate::pool::{Limits, Pool};
use crate::runtime::handle::Handle;
use crate::runtime::park::RuntimePark;
#[cfg(feature = "sim")]
use crate::runtime::simulated::SimulatedRuntime;
use crate::runtime::threads::{self, Threads};
#[cfg(feature = "sim")]
use crate::runtime::tokio_threads::Tokio;
use crate::runtime::unstarted::{Form, Unstarted};
use crate::runtime::{EmbeddedRuntime, Runtime};
use crate::services::Services;
use crate::services::Size;
use crate::services::observer::Observer;
use crate::services::tokio_place::TokioPlace;
use crate::wall;
use colored_core::{Options, Scheduler, WorkerMemory};
#[cfg(feature = "sim")]
use colored_sim::sim::Settings;
use std::fmt;
use std::io;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

/// The most workers a runtime may have.
const MAX_WORKERS: usize = 1024;

/// The most spare workers a runtime may have, and the most that it has unless the number is set.
const MAX_SPARES: usize = 64;
const SPARES: usize = 4;

/// The time after which a poll is long, unless it is set, the shortest, and the longest of the variable: a day.
const LONG_POLL: Duration = Duration::from_millis(5);
const MIN_LONG_POLL: Duration = Duration::from_millis(1);
const MAX_LONG_POLL_MS: usize = 86_400_000;

/// The most blocking threads a runtime may have, and the most that it has unless the number is set.
const MAX_BLOCKING: usize = 1 << 16;
const BLOCKING: usize = 512;

/// The smallest and the largest stack of a thread. Less than the first is not enough for a worker
/// and a future of some size.
const MIN_STACK: usize = 1 << 16;
const MAX_STACK: usize = 1 << 30;

/// The longest timer resolution.
const MAX_RESOLUTION: Duration = Duration::from_millis(10);

impl Builder {
    /// Starts the runtime.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if a setting is out of its range, or two settings contradict each other; the
    /// error names them and the allowed values. And the system's error, if the system refuses a thread
    /// or a selector.
    pub fn build(self) -> io::Result<Runtime> {
        let workers = self.number_of_workers()?;
        let size = Size { workers, spares: self.number_of_spares(workers)? };
        let pin = match self.pin {
            Some(pin) => pin,
            None => environment::switch("COLORED_PIN", false)?,
        };
        let unstarted = self.prepare(size, Form::Threaded, &mut WorkerMemory::default())?;
        let handle = unstarted.handle.clone();
        let started = Threads::start(unstarted, threads::cpus_to_pin(pin));
        let threads = or_end(&handle, started)?;
        Ok(Runtime { handle, threads })
    }

    /// Makes a runtime for an event loop of the program: its only worker is the thread that calls this. Other than by
    /// [`build`](Builder::build), the runtime starts no thread, except for blocking calls, for
    /// `tokio_context(true)`, and for the diagnosis if it is to answer on a socket.
    ///
    /// The settings of threads ([`pin`](Builder::pin), [`spare_workers`](super::Tuning::spare_workers) and
    /// [`on_thread_park`](Builder::on_thread_park)), and of [long polls](Builder::long_poll), have no effect;
    /// `COLORED_WORKERS` and `COLORED_PIN` are not read.
    ///
    /// # Errors
    ///
    /// As for `build`; and if [`workers`](Builder::workers) has been given another number than 1.
    pub fn build_embedded(self) -> io::Result<EmbeddedRuntime> {
        if let Some(workers) = self.workers.filter(|workers| *workers != 1) {
            return invalid(format_args!(
                "workers({workers}): the only worker of an embedded runtime is the thread that makes it; leave \
                 it out"
            ));
        }
        let (size, memory) = (Size { workers: 1, spares: 0 }, &mut WorkerMemory::default());
        Ok(EmbeddedRuntime::new(self.prepare(size, Form::Embedded, memory)?))
    }

    /// Makes the runtime of a machine, with this number of workers on one thread and without threads. Its policy is that of
    /// the simulation.
    #[cfg(feature = "sim")]
    pub(crate) fn build_simulated(
        mut self,
        settings: Settings,
        memory: &mut WorkerMemory,
    ) -> io::Result<SimulatedRuntime> {
        let Settings { workers, policy, machine, tokio } = settings;
        if tokio {
            self.tokio = Tokio::stepped()?;
        }
        self.machine = Some(Simulated::new(machine));
        self.seed = Some(0);
        self.tuning = self.tuning.policy(policy).io_uring(false).reuse(false);
        let size = Size { workers, spares: 0 };
        Ok(SimulatedRuntime::new(self.prepare(size, Form::Simulated, memory)?))
    }

    fn number_of_workers(&self) -> io::Result<usize> {
        let (allowed, default) = (1..=MAX_WORKERS, "one per available CPU");
        match self.workers {
            Some(workers) => in_range("workers", workers, allowed, default),
            None => match environment::number("COLORED_WORKERS", allowed, default)? {
                Some(workers) => Ok(workers),
                None => Ok(available_parallelism().map_or(1, usize::from).min(MAX_WORKERS)),
            },
        }
    }

    fn number_of_spares(&self, workers: usize) -> io::Result<usize> {
        match self.tuning.spare_workers {
            Some(spares) => {
                in_range("spare_workers", spares, 0..=MAX_SPARES, "as many as workers, at most 4")
            }
            // A policy need not let another worker take what a long poll holds up.
            None if self.tuning.policy.is_some() => Ok(0),
            None => Ok(workers.min(SPARES)),
        }
    }

    fn number_of_blocking_threads(&self) -> io::Result<usize> {
        let (allowed, default) = (1..=MAX_BLOCKING, "512");
        match self.blocking_threads {
            Some(threads) => in_range("blocking_threads", threads, allowed, default),
            None => {
                let threads = environment::number("COLORED_BLOCKING_THREADS", allowed, default)?;
                Ok(threads.unwrap_or(BLOCKING))
            }
        }
    }

    fn time_of_long_poll(&self) -> io::Result<Duration> {
        match self.long_poll {
            Some(after) if after < MIN_LONG_POLL => invalid(format_args!(
                "long_poll({after:?}): allowed are {MIN_LONG_POLL:?} and more; leave it out for {LONG_POLL:?}"
            )),
            Some(after) => Ok(after),
            None => {
                let (name, allowed) = ("COLORED_LONG_POLL_MS", 1..=MAX_LONG_POLL_MS);
                let millis = environment::number(name, allowed, "5")?;
                Ok(millis.map_or(LONG_POLL, |millis| Duration::from_millis(millis as u64)))
            }
        }
    }

    /// Checks what has a range, and has no other function here.
    fn check(&self) -> io::Result<()> {
        if let Some(bytes) = self.thread_settings.stack_size {
            in_range("thread_stack_size", bytes, MIN_STACK..=MAX_STACK, "the standard library's")?;
        }
        if self.thread_name.contains('\0') {
            let name = &self.thread_name;
            return invalid(format_args!("thread_name({name:?}): a name has no NUL byte"));
        }
        let resolution = self.tuning.resolution();
        if resolution > MAX_RESOLUTION {
            return invalid(format_args!(
                "timer_resolution({resolution:?}): allowed are 0 ns to {MAX_RESOLUTION:?}; leave it out for \
                 {RESOLUTION:?}"
            ));
        }
        let mut options = self.tuning.options(self.options);
        self.diagnose.add_to(&mut options);
        options.check().or_else(|unsuitable| invalid(format_args!("{unsuitable}")))
    }

    /// Makes the services of a runtime of this size.
    fn services(
        &self,
        size: Size,
        form: Form,
        observer: Box<dyn Observer>,
    ) -> io::Result<Services> {
        let is_simulated = form == Form::Simulated;
        let pool = Pool::new(&Limits {
            max_threads: if is_simulated { 0 } else { self.number_of_blocking_threads()? },
            keep_alive: self.keep_alive,
            prefix: self.thread_name.clone(),
            thread_settings: self.thread_settings.clone(),
        });
        let tuning = &self.tuning;
        // No variable decides a choice of a run. The diagnosis reads its own, which change only what the run tells.
        let switch = |name| if is_simulated { Ok(true) } else { environment::switch(name, true) };
        let lazy_files = tuning.has_lazy_files() && switch("COLORED_LAZY_FILES")?;
        let has_rings = tuning.has_io_uring(lazy_files) && switch("COLORED_IO_URING")?;
        let long_polls =
            LongPolls::new(if is_simulated { LONG_POLL } else { self.time_of_long_poll()? });
        let (clock, shards) = match &self.machine {
            Some(machine) => {
                (Clock::standing(machine.origin(), machine.now()), Shards::simulated(machine))
            }
            None => (Clock::new(), Shards::new(size.workers, has_rings)?),
        };
        let driver = Driver::new(
            clock,
            shards,
            &driver::Settings {
                workers: size.workers,
                seats: size.workers + size.spares,
                timer_rest: tuning.resolution(),
                is_checked: !is_simulated,
            },
        )?;
        if self.start_paused {
            driver.pause();
        }
        Ok(Services {
            driver: Arc::new(driver),
            size,
            deadlock_after: self.deadlock_after,
            long_polls,
            observer,
            finishers: Finishers::default(),
            pool,
            devices: Devices::new(lazy_files),
            tokio: TokioPlace::default(),
            machine: self.machine.clone(),
        })
    }

    /// Makes a runtime of this size, without its threads.
    fn prepare(self, size: Size, form: Form, memory: &mut WorkerMemory) -> io::Result<Unstarted> {
        self.check()?;
        let is_embedded = form != Form::Threaded;
        let (workers, spares) = (size.workers, size.spares);
        let single_turns = form == Form::Simulated;
        let mut options = Options { spares, single_turns, ..self.tuning.options(self.options) };
        self.diagnose.add_to(&mut options);
        let diagnose = self.diagnose.clone();
        let (observer, diagnosis) = diagnose.prepare(&self.thread_name, workers + spares)?;
        let services = Arc::new(self.services(size, form, observer)?);
        let park = RuntimePark {
            services: Arc::clone(&services),
            start: wall::now(),
            form,
            on_task_panic: self.on_task_panic,
        };
        let seed = self.seed.unwrap_or_else(random_seed);
        let (core, cores) = Scheduler::with_memory(memory, workers, seed, Box::new(park), options);
        let handle = Handle::new(core, services);
        // Last, because the threads of tokio keep the runtime until they are told to end.
        self.tokio.start(&handle, &self.thread_name, &self.thread_settings, is_embedded)?;
        let (name, settings) = (&self.thread_name, &self.thread_settings);
        or_end(
            &handle,
            diagnosis.start(&handle.core, &handle.services, settings, name, is_embedded),
        )?;
        Ok(Unstarted {
            handle,
            workers: cores,
            name: self.thread_name,
            thread_settings: self.thread_settings,
        })
    }
}

/// Ends the tokio runtime and the diagnosis, whose threads keep this runtime, if it does not start.
fn or_end<T>(handle: &Handle, started: io::Result<T>) -> io::Result<T> {
    started.inspect_err(|_| {
        handle.services.tokio.shut_down(Some(wall::now()));
        handle.services.observer.on_shutdown(handle.core.scheduler(), false);
    })
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
    invalid(format_args!("{name}({value}): allowed are {min} to {max}; leave it out for {default}"))
}

/// The error of a setting.
fn invalid<T>(text: fmt::Arguments<'_>) -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::InvalidInput, text.to_string()))
}

fn random_seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0)
}
