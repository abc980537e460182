//! [`spawn`] and [`Builder`]: tasks whose code runs on a stack of its own.

use crate::fiber::{Fiber, Settings};
use crate::size::{DEFAULT, LARGEST, SMALLEST};
use colored::task::JoinHandle;
use colored::{Color, Handle};
use std::panic::Location;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Spawns a closure as a task under a color, on a stack of its own.
///
/// # Panics
///
/// Outside a runtime.
#[track_caller]
pub fn spawn<F, T>(color: impl Into<Color>, f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    Builder::new().color(color).spawn(f)
}

/// Spawns a closure as a task under a fresh color that equals no other: in parallel with everything.
///
/// # Panics
///
/// Outside a runtime.
#[track_caller]
pub fn spawn_unique<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    Builder::new().color(Color::unique()).spawn(f)
}

/// The settings of one stackful task.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing before `spawn`"]
pub struct Builder<'a> {
    color: Color,
    name: Option<&'a str>,
    size: usize,
}

impl Default for Builder<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a> Builder<'a> {
    /// The default color, 256 KiB of stack, no name.
    pub fn new() -> Self {
        Self { color: Color::DEFAULT, name: None, size: DEFAULT }
    }

    /// The color that the task runs under. Default: [`Color::DEFAULT`].
    pub fn color(mut self, color: impl Into<Color>) -> Self {
        self.color = color.into();
        self
    }

    /// A name for the task, which an overflow of its stack shows. Default: none.
    pub fn name(mut self, name: &'a str) -> Self {
        self.name = Some(name);
        self
    }

    /// The bytes of the stack, rounded up to a power of two. Default: 256 KiB. Only pages that the task touches take
    /// memory.
    ///
    /// # Panics
    ///
    /// Below 16 KiB and above 1 GiB.
    #[track_caller]
    pub fn stack_size(mut self, bytes: usize) -> Self {
        assert!(
            (SMALLEST..=LARGEST).contains(&bytes),
            "`stack_size({bytes})`: allowed are {SMALLEST} to {LARGEST} bytes"
        );
        self.size = bytes;
        self
    }

    /// Spawns the task on the current runtime.
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let Some(handle) = Handle::try_current() else {
            panic!(
                "`stackful::spawn` outside a runtime: call it inside `#[colored::main]`, `Runtime::run`, \
                 `Runtime::block_on`, or while the guard of `Handle::enter` lives"
            )
        };
        // Ordering: each number is taken by one thread, and orders nothing.
        let worker = NEXT.fetch_add(1, Ordering::Relaxed) % handle.workers();
        let settings = self.settings(Location::caller());
        let spawned = handle.spawn_pinned(worker, self.color, move || Fiber::new(f, settings));
        spawned.expect("the runtime has that worker")
    }

    fn settings(&self, site: &'static Location<'static>) -> Settings {
        Settings { size: self.size, name: self.name.map(Into::into), site }
    }
}
