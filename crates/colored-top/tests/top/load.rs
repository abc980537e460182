//! A runtime whose color "orders" limits it.

use colored::diagnose::Options;
use colored::{Color, Runtime};
use std::fs;
use std::hint;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The name of the color, as texts have it.
pub(crate) const HOT: &str = "\"orders\"";

/// The tasks of the color.
pub(crate) const TASKS: usize = 8;

pub(crate) struct Load {
    runtime: Option<Runtime>,
    ends: Arc<AtomicBool>,
    directory: PathBuf,
}

impl Load {
    pub(crate) fn start() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        // Ordering: the numbers are different, whatever their order.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("colored-top-tests-{}-{number}", process::id());
        let directory = std::env::temp_dir().join(name);
        fs::create_dir(&directory).expect("the directory is new");
        let options = Options::new().inspect(directory.join("socket"));
        let runtime = Runtime::builder().workers(2).diagnose(options).build();
        let runtime = runtime.expect("the runtime starts");
        let ends = Arc::new(AtomicBool::new(false));
        let orders = Color::named("orders");
        for _ in 0..TASKS {
            let ends = Arc::clone(&ends);
            let _detached = runtime.spawn_colored(orders, async move {
                // Ordering: a flag alone.
                while !ends.load(Ordering::Relaxed) {
                    compute(Duration::from_micros(100));
                    colored::yield_now().await;
                }
            });
        }
        Self { runtime: Some(runtime), ends, directory }
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.directory.join("socket")
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        self.runtime.as_ref().expect("it has not ended")
    }

    /// Ends the runtime, as a program that ends.
    pub(crate) fn end(&mut self) {
        // Ordering: a flag alone.
        self.ends.store(true, Ordering::Relaxed);
        self.runtime = None;
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.end();
        let _ = fs::remove_dir_all(&self.directory);
    }
}

fn compute(time: Duration) {
    let since = Instant::now();
    while since.elapsed() < time {
        hint::spin_loop();
    }
}

/// Waits for up to a minute.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let since = Instant::now();
    while !condition() {
        assert!(since.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
