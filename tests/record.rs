//! Runs that are recorded, and replays of them.

mod ends;
mod program;
mod refusals;
mod replays;

use colored::Runtime;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// A file that is removed in the end.
struct Record(PathBuf);

impl Record {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("colored-record-{}-{number}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    /// Records a run.
    fn of<F>(workers: usize, main: impl FnOnce() -> F) -> (Self, F::Output)
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let this = Self::new();
        let runtime = Runtime::builder().workers(workers).record(&this.0).build().unwrap();
        let output = runtime.run(main());
        drop(runtime);
        (this, output)
    }

    /// Replays it.
    fn replay<F>(&self, workers: usize, main: impl FnOnce() -> F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let runtime = Runtime::builder().workers(workers).replay(&self.0).build().unwrap();
        runtime.run(main())
    }

    /// The text with which a replay of another program ends.
    fn refusal<F>(&self, main: impl FnOnce() -> F) -> String
    where
        F: Future + Send + 'static,
        F::Output: Send + std::fmt::Debug + 'static,
    {
        let replay = AssertUnwindSafe(|| self.replay(2, main));
        let payload = catch_unwind(replay).expect_err("it is not the recorded program");
        match payload.downcast::<String>() {
            Ok(text) => *text,
            Err(_) => panic!("the panic has a text"),
        }
    }

    fn bytes(&self) -> Vec<u8> {
        std::fs::read(&self.0).unwrap()
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
