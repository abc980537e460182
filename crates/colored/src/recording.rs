//! [`Setting`], [`Recording`]: a runtime that writes the record of its run, or follows one.

use crate::error_context::with_source;
use crate::wall;
use colored_core::port::Order;
use colored_core::port::order::{self, Damage};
use std::fs::File;
use std::future::poll_fn;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// How often a replay looks whether something waits to be woken.
const TICK: Duration = Duration::from_millis(1);

/// How long nothing must run before what is missing is reported: long enough for a thread that the system keeps waiting.
const QUIET: Duration = Duration::from_secs(2);

/// What the builder has been told.
#[derive(Clone, Debug, Default)]
pub(crate) enum Setting {
    #[default]
    Off,
    Record(PathBuf),
    Replay(PathBuf),
}

impl Setting {
    pub(crate) fn is_replay(&self) -> bool {
        matches!(self, Self::Replay(_))
    }

    pub(crate) fn is_off(&self) -> bool {
        matches!(self, Self::Off)
    }

    /// Opens the file. The calling thread is the one whose pushes the record covers.
    pub(crate) fn open(&self) -> io::Result<Recording> {
        let order = match self {
            Self::Off => Order::default(),
            Self::Record(path) => Order::record(Box::new(FileSink::create(path)?)),
            Self::Replay(path) => {
                let bytes = std::fs::read(path).map_err(|error| name(path, "replay", error))?;
                let file = order::File::parse(&bytes).map_err(|damage| damaged(path, damage))?;
                Order::replay(file, Box::new(Shell))
            }
        };
        Ok(Recording { order, state: Arc::default() })
    }
}

fn name(path: &Path, what: &str, error: io::Error) -> io::Error {
    with_source(format!("cannot {what} {}: {error}", path.display()), error)
}

fn damaged(path: &Path, damage: Damage) -> io::Error {
    let text = format!("cannot replay {}: {damage}", path.display());
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// The record or the replay of a runtime, if there is one.
#[derive(Clone, Debug)]
pub(crate) struct Recording {
    order: Order,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    is_over: AtomicBool,
    /// Calls of `block_on` and `run` that are not over.
    inside: AtomicUsize,
}

impl Recording {
    pub(crate) fn order(&self) -> Order {
        self.order.clone()
    }

    /// Starts the thread that watches a replay.
    pub(crate) fn start(&self) -> io::Result<()> {
        if !self.order.is_replay() {
            return Ok(());
        }
        let this = self.clone();
        thread::Builder::new().name("colored-replay".to_owned()).spawn(move || this.watch())?;
        Ok(())
    }

    fn watch(&self) {
        let (mut quiet_since, mut said) = (None, None);
        // Ordering: a request; a tick more does no harm.
        while !self.state.is_over.load(Ordering::Relaxed) {
            thread::sleep(TICK);
            if !self.order.wake_waiting() {
                quiet_since = None;
                continue;
            }
            let since = *quiet_since.get_or_insert_with(wall::now);
            if wall::now().saturating_duration_since(since) < QUIET {
                continue;
            }
            quiet_since = None;
            // Ordering: a hint: the main thread is inside for long when it counts.
            let waits = self.order.report_missing(self.state.inside.load(Ordering::Relaxed) > 0);
            if let Some(text) = waits.filter(|text| said.as_ref() != Some(text)) {
                eprintln!("colored: the replay waits: {text}");
                said = Some(text);
            }
        }
    }

    /// The runtime has shut down.
    pub(crate) fn finish(&self) {
        // Ordering: as in `watch`.
        self.state.is_over.store(true, Ordering::Relaxed);
        self.order.finish();
    }

    /// The calling thread waits for the runtime, until the guard is dropped.
    pub(crate) fn enter(&self) -> Inside<'_> {
        // Ordering: a hint.
        self.state.inside.fetch_add(1, Ordering::Relaxed);
        Inside(&self.state)
    }

    /// `future`, which panics when the replay has stopped.
    pub(crate) async fn watched<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        poll_fn(|cx| {
            if let Some(reason) = self.order.reason(cx.waker()) {
                panic!("{reason}");
            }
            future.as_mut().poll(cx)
        })
        .await
    }

    /// Panics if the replay has stopped.
    #[track_caller]
    pub(crate) fn raise(&self) {
        if let Some(reason) = self.order.stopped() {
            panic!("{reason}");
        }
    }
}

/// The guard of [`Recording::enter`].
pub(crate) struct Inside<'a>(&'a State);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        // Ordering: a hint.
        self.0.inside.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The services of a replay.
struct Shell;

impl order::Shell for Shell {
    fn pause(&self) {
        thread::sleep(Duration::from_micros(100));
    }

    fn stopped(&self, reason: &str) {
        eprintln!("colored: the replay has stopped: {reason}");
    }
}

/// The file of a record.
struct FileSink {
    path: PathBuf,
    /// `None` after an error.
    file: Option<BufWriter<File>>,
}

impl FileSink {
    fn create(path: &Path) -> io::Result<Self> {
        let created = File::create(path).map_err(|error| name(path, "record into", error))?;
        let mut this = Self { path: path.to_owned(), file: Some(BufWriter::new(created)) };
        this.attempt(|file| file.write_all(&order::head()));
        Ok(this)
    }

    /// The first error ends the record, which has no end then.
    fn attempt(&mut self, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) {
        let Some(file) = &mut self.file else { return };
        if let Err(error) = write(file) {
            eprintln!("colored: {}", name(&self.path, "record into", error));
            self.file = None;
        }
    }
}

impl order::Sink for FileSink {
    fn write(&mut self, bytes: &[u8]) {
        self.attempt(|file| file.write_all(bytes));
    }

    fn end(&mut self) {
        self.attempt(|file| file.flush());
    }

    fn warn(&mut self, text: &str) {
        eprintln!("colored: {text}");
    }
}
