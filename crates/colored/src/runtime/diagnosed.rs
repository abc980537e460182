//! What the feature `diagnose` adds to [`Builder`] and [`Handle`].

use super::{Builder, Handle, resume};
use crate::blocking;
use crate::diagnose::{Attached, Options, View};
use colored_diagnose::dump::Dump;
use colored_diagnose::partitions::PartitionSource;
use colored_diagnose::report::Report;
use colored_diagnose::trace;
use colored_diagnose::usage::{Level, Snapshot};
use colored_diagnose::{make_dump, observe_blocking, snapshot};
use std::sync::Arc;
use std::time::Duration;

/// # Diagnosis
impl Builder {
    /// How the runtime observes itself, and what it tells; with the feature `diagnose`. A second call replaces the first.
    /// Default: [`Options::new`].
    pub fn diagnose(mut self, options: Options) -> Self {
        self.diagnose = options;
        self
    }
}

/// # Diagnosis
///
/// With the feature `diagnose`: see [`diagnose`](crate::diagnose).
impl Handle {
    /// Observes the runtime for so long, a second or two, and reports what limits it.
    ///
    /// Meanwhile the runtime records at [`Level::Slices`], or the higher level that it is set to; afterwards it has the
    /// level that it had. That costs what the level costs, and ten times some 50 ns for each color in use. Up to fifty times a
    /// second it also looks at what the tasks wait for, as a dump does: some 0.7 µs a task, and a twentieth of the time at
    /// most; not, if there are more than 300,000 tasks. If the program has called
    /// `diagnose::dump::install_stack_handler` (feature `native-stacks`), it interrupts each worker inside a poll every
    /// 5 ms, for some 25 µs, and the report names the functions in which polls spend their time.
    ///
    /// A thread of [`spawn_blocking`](crate::spawn_blocking) observes, so the future may be awaited anywhere, and the
    /// workers cannot delay the observation. Where the task that awaits it may be held up itself, because every worker is
    /// stuck, call [`observe_blocking`](Self::observe_blocking) from a thread of your own.
    ///
    /// Cancel safe: the observation ends in its time, and the report is lost. The end of the runtime waits for it.
    ///
    /// ```no_run
    /// use std::time::Duration;
    ///
    /// # async fn f() {
    /// let report = colored::Handle::current().observe(Duration::from_secs(1)).await;
    /// println!("{report}");
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// When it is polled, if the runtime has shut down; when it is called, as
    /// [`spawn_blocking`](Self::spawn_blocking) does.
    #[track_caller]
    pub fn observe(&self, length: Duration) -> impl Future<Output = Report> + Send + use<> {
        let handle = self.clone();
        let report = blocking::submit_within(&self.core, &self.services, move || {
            handle.observe_blocking(length)
        });
        async move {
            match report.await {
                Ok(report) => report,
                Err(error) => resume(error, "observe"),
            }
        }
    }

    /// Reports, and the socket for `colored-top`, tell of the partitions of this source until it is dropped.
    #[doc(hidden)]
    pub fn register_partitions(&self, source: &Arc<dyn PartitionSource>) {
        Attached::of(&self.services).diagnosis.register_partitions(source);
    }

    /// As [`observe`](Self::observe), on this thread, which sleeps meanwhile: call it from a thread that is no worker. It
    /// needs no worker, and works while all of them are stuck.
    #[must_use]
    pub fn observe_blocking(&self, length: Duration) -> Report {
        observe_blocking(View::of(&self.core, &self.services), length)
    }

    /// Where the runtime's time has gone, by worker, by color and by the place of the spawn. Any thread may call it.
    ///
    /// It looks at every color in use, some 50 ns each, and holds the locks of a 64th of the table of colors at a time:
    /// with a million colors, a spawn under a named one may wait for a millisecond.
    #[must_use]
    pub fn usage(&self) -> Snapshot {
        snapshot(&*View::of(&self.core, &self.services))
    }

    /// What the runtime records at the moment.
    #[must_use]
    pub fn trace_level(&self) -> Level {
        self.core.scheduler().level()
    }

    /// Changes what the runtime records, and returns what it recorded before. It takes effect with the next slice of
    /// each worker. See [`Level`] for what each level costs.
    pub fn set_trace_level(&self, level: Level) -> Level {
        self.core.scheduler().set_level(level)
    }

    /// The records that the flight recorder has at the moment, of all threads: see [`trace`]. Any thread may
    /// call it, and delays no other. Some 2 ms for each full ring of 1 MiB.
    ///
    /// The rings are copied one after another, the one of the threads outside last: records of the last microseconds may
    /// be there of one thread, and missing of another.
    #[must_use]
    pub fn trace(&self) -> trace::Snapshot {
        Attached::of(&self.services).diagnosis.trace(self.core.scheduler())
    }

    /// Takes the copy that was made at the first event since the last call: see
    /// [`Options::freeze_on`](crate::diagnose::Options::freeze_on). `None` if there was no event.
    #[must_use]
    pub fn frozen(&self) -> Option<trace::Snapshot> {
        Attached::of(&self.services).diagnosis.take_frozen()
    }

    /// Lists the tasks of the runtime, what each waits for and since when, what the workers do, and cycles of waits.
    ///
    /// The call polls no task, runs no code of the program and needs no worker, so it answers while every worker is stuck.
    /// Any thread may call it. It blocks the caller: about 0.5 µs for each task that waits, and some 10 ms more if a worker
    /// is stuck; 250 ms more at most, if colors are in long queues, and longer only while pages of them come. Other threads go on meanwhile: each page of 256 tasks delays
    /// its color for 50 µs or so. One dump is made at a time, and a second caller waits.
    ///
    /// A task that calls it is in the dump as a task that runs. Its worker runs nothing else meanwhile, and with one
    /// worker the colors in its queue are not read: then call it in [`spawn_blocking`](crate::spawn_blocking), or on a
    /// thread that runs no tasks.
    ///
    /// On a runtime that shuts down, or has, the dump has no waiting tasks: only the workers and the blocking calls.
    ///
    /// ```
    /// # fn main() -> std::io::Result<()> {
    /// let runtime = colored::Runtime::builder().workers(1).build()?;
    /// let waits = runtime.spawn_colored(7, std::future::pending::<()>());
    /// # while runtime.handle().dump().tasks().all(|task| task.id() != waits.id() || task.waits().is_empty()) {}
    /// let dump = runtime.handle().dump();
    /// assert!(dump.tasks().any(|task| task.id() == waits.id()));
    /// println!("{dump}");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn dump(&self) -> Dump {
        make_dump(&*View::of(&self.core, &self.services))
    }
}
