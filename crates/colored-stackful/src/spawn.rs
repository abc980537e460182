//! [`spawn`] and [`Builder`]: tasks whose code runs on a stack of its own.

use crate::fiber::{Fiber, Name, Settings};
use crate::size::{DEFAULT, LARGEST, SMALLEST};
use colored::Color;
use colored::task::JoinHandle;
use colored_core::port::refuse;
use colored_core::{Origin, SchedulerHandle, TaskName};
use std::panic::Location;

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
    Builder::new().unique().spawn(f)
}

/// The settings of one stackful task.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing before `spawn`"]
pub struct Builder<'a> {
    /// A fresh one, if there is none.
    color: Option<Color>,
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
        Self { color: Some(Color::DEFAULT), name: None, size: DEFAULT }
    }

    /// The color that the task runs under. Default: [`Color::DEFAULT`].
    pub fn color(mut self, color: impl Into<Color>) -> Self {
        self.color = Some(color.into());
        self
    }

    /// A fresh color that equals no other.
    pub fn unique(mut self) -> Self {
        self.color = None;
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
        let origin = Origin { site: Location::caller(), name: self.name };
        refuse("a task with a stack of its own");
        let spawned = SchedulerHandle::with_current(|handle| {
            handle.map(|handle| self.spawn_on(handle, origin, f))
        });
        spawned.unwrap_or_else(|| panic!(
            "`stackful::spawn` outside a runtime: call it inside `#[colored::main]`, `Runtime::run`, \
             `Runtime::block_on`, or while the guard of `Handle::enter` lives"
        ))
    }

    fn spawn_on<F, T>(&self, handle: &SchedulerHandle, origin: Origin<'_>, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let mut settings = Settings { size: self.size, name: None, site: origin.site };
        let Some(text) = self.name else {
            return handle.spawn_settling_from(origin, self.color, move || Fiber::new(f, settings));
        };
        let (kept, name) = TaskName::reserve(text);
        settings.name = Some(Name { text: text.into(), kept });
        let task = handle.spawn_settling_from(origin, self.color, move || Fiber::new(f, settings));
        name.give(task.id());
        task
    }
}
