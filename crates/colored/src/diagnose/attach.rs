//! [`Attached`]: the diagnosis of a runtime, from its build to its end.

use super::environment::path;
use super::options::Options;
use super::view::View;
use crate::environment;
use crate::pool::{Class, Job};
use crate::services::Services;
use crate::services::observer::{Look, Observer};
use crate::thread_settings::ThreadSettings;
use colored_core::{Color, Level, LongPoll, RunningSlice, Scheduler, SchedulerHandle};
use colored_diagnose::inspect::Server;
use colored_diagnose::trace::{Trigger, write_file};
use colored_diagnose::{
    Diagnosis, OnSignal, Pace, Settings, StallSettings, Stalls, WarningHook, Warnings,
};
use std::any::Any;
use std::io;
use std::mem;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The diagnosis that observes a runtime.
pub(crate) struct Attached {
    pub(crate) diagnosis: Diagnosis,
    /// None if they are off.
    warnings: Option<(Option<WarningHook>, Pace)>,
    stalls: Option<StallSettings>,
    threads: Mutex<Threads>,
}

/// The threads of the diagnosis. They keep the runtime, and it keeps them, until its end.
#[derive(Default)]
struct Threads {
    inspector: Option<Server>,
    on_signal: Option<OnSignal>,
}

impl Attached {
    /// The diagnosis of this runtime.
    pub(crate) fn of(services: &Services) -> &Self {
        let observer: &dyn Any = &*services.observer;
        observer.downcast_ref().expect("`Options::prepare` makes the observer of each runtime")
    }

    /// Keeps the records, if the program wants that.
    fn freeze(&self, trigger: Trigger, scheduler: &Scheduler, services: &Services) {
        let Some(snapshot) = self.diagnosis.freeze(trigger, scheduler) else { return };
        if let Some(path) = self.diagnosis.file() {
            // The file would hold up this thread, which may be a worker or the reactor thread. If the pool has been shut
            // down, or has no thread, there is no file.
            let job = Job::new(move || write_file(&snapshot, &path));
            let _ = services.pool.submit(Class::File, job);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Threads> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Attached {
    fn on_worker_start(&self, worker: usize) {
        self.diagnosis.note_worker(worker);
    }

    fn on_reactor_start(&self) -> Look {
        let mut warnings = self.warnings.clone().map(|(hook, pace)| Warnings::new(hook, pace));
        let mut stalls = self.stalls.clone().map(Stalls::new);
        let mut subject = None;
        Box::new(move |core: &SchedulerHandle, services: &Arc<Services>| {
            let make = || View::of(core, services);
            let subject = subject.get_or_insert_with(make);
            if let Some(stalls) = &mut stalls {
                stalls.look(subject);
            }
            warnings.as_mut()?.look(subject)
        })
    }

    fn on_slow_slice(
        &self,
        worker: usize,
        slice: &RunningSlice,
        scheduler: &Scheduler,
    ) -> Option<(Duration, Duration)> {
        self.diagnosis.measure(worker, slice, scheduler)
    }

    fn on_long_poll(
        &self,
        poll: &LongPoll,
        is_new: bool,
        scheduler: &Scheduler,
        services: &Services,
    ) {
        if is_new {
            self.freeze(Trigger::LongPoll, scheduler, services);
        }
        self.diagnosis.report_long_poll(poll, is_new);
    }

    fn on_panic(&self, scheduler: &Scheduler, services: &Services) {
        self.freeze(Trigger::Panic, scheduler, services);
    }

    fn on_deadlock(&self, scheduler: &Scheduler, services: &Services) {
        self.freeze(Trigger::Deadlock, scheduler, services);
    }

    fn on_overload(&self, scheduler: &Scheduler, services: &Services) {
        self.freeze(Trigger::Overload, scheduler, services);
    }

    fn on_shutdown(&self, scheduler: &Scheduler, waits: bool) {
        if let Some(path) = self.diagnosis.file_at_end().filter(|_| waits) {
            write_file(&self.diagnosis.trace(scheduler), &path);
        }
        let Threads { inspector, on_signal } = mem::take(&mut *self.lock());
        if let Some(on_signal) = on_signal {
            on_signal.stop(waits);
        }
        // The last: until now it can tell what the shutdown waits for.
        if let Some(inspector) = inspector {
            inspector.stop(waits);
        }
    }
}

/// What is started when the runtime is there.
pub(crate) struct Start {
    level: Level,
    inspect: Option<PathBuf>,
    options: Options,
}

impl Options {
    /// Changes the settings of the scheduler.
    pub(crate) fn add_to(&self, options: &mut colored_core::Options) {
        self.trace.add_to(options);
    }

    /// Makes the observer of a runtime whose threads have names with this prefix, and which has so many workers, with the
    /// spare ones.
    ///
    /// # Errors
    ///
    /// If an environment variable has a value that is not allowed.
    pub(crate) fn prepare(
        self,
        prefix: &str,
        workers: usize,
    ) -> io::Result<(Box<dyn Observer>, Start)> {
        let level = self.trace.level()?;
        if let Some(names) = environment::choice("COLORED_NAMES", cfg!(debug_assertions))? {
            Color::remember_keys(names);
        }
        let warns = self.warnings && environment::switch("COLORED_WARNINGS", true)?;
        let inspect = match &self.inspect {
            Some(path) => Some(path.clone()),
            None => path("COLORED_INSPECT", "no socket")?,
        };
        let (file, writes_at_end) = self.trace.file()?;
        let diagnosis = Diagnosis::new(Settings {
            workers,
            prefix: prefix.to_owned(),
            on_long_poll: self.on_long_poll.clone(),
            triggers: self.trace.triggers.clone(),
            file,
            writes_at_end,
        });
        let attached = Attached {
            diagnosis,
            warnings: warns.then(|| (self.on_warning.clone(), self.pace)),
            stalls: self.dumps.on_stall(),
            threads: Mutex::default(),
        };
        Ok((Box::new(attached), Start { level, inspect, options: self }))
    }
}

impl Start {
    /// Begins to record, and starts the threads of the diagnosis. An embedded runtime makes no dumps by itself.
    ///
    /// # Errors
    ///
    /// If the socket cannot be opened, the signal cannot be handled, or the system refuses a thread.
    pub(crate) fn start(
        self,
        core: &SchedulerHandle,
        services: &Arc<Services>,
        launch: &ThreadSettings,
        name: &str,
        is_embedded: bool,
    ) -> io::Result<()> {
        let attached = Attached::of(services);
        core.scheduler().set_level(self.level);
        if let Some(path) = self.inspect {
            let start = |name: String, body: Box<dyn FnOnce() + Send>| {
                launch.thread(name).spawn(launch.around(body))
            };
            let server = Server::start(&path, View::of(core, services), name, &start)?;
            attached.lock().inspector = Some(server);
        }
        if !is_embedded {
            attached.lock().on_signal =
                self.options.dumps.on_signal(View::of(core, services), name)?;
        }
        Ok(())
    }
}
