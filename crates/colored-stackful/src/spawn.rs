//! [`spawn`] and [`Builder`]: tasks whose code runs on a stack of its own.

mod migrating;

use self::migrating::Migrating;
use crate::fiber::{Fiber, Name, Settings};
use crate::size::{DEFAULT, LARGEST, SMALLEST};
use colored::Color;
use colored::task::JoinHandle;
use colored_core::{Origin, SchedulerHandle, TaskName};
use std::panic::Location;

/// Spawns a closure as a task under a color, on a stack of its own.
///
/// The task is scheduled behind all work of that color, as a task of [`spawn_colored`](colored::spawn_colored), and runs
/// whether or not the handle is awaited. Any worker takes its first turn; from then on it stays on the thread of that
/// worker. While a later turn is due, the color waits for that worker.
///
/// An abort before the first turn drops the closure; a later one unwinds the stack, once, under the task's color and on its
/// thread. A panic goes to the handle.
///
/// Costs an allocation more than the spawn of a future, and a stack of the pool at the first turn. [`Builder`] has other
/// sizes of stacks.
///
/// # Panics
///
/// Outside a runtime. The task panics at its first turn, without running the closure, if the system has no memory for the
/// stack; the text says what is short.
#[track_caller]
pub fn spawn<F, T>(color: impl Into<Color>, f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static, // what the closure makes itself need not be `Send`
    T: Send + 'static,
{
    Builder::new().color(color).spawn(f)
}

/// Spawns a closure as a task under a fresh color that equals no other: in parallel with everything. Otherwise as
/// [`spawn`].
///
/// # Panics
///
/// As [`spawn`].
#[track_caller]
pub fn spawn_unique<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static, // what the closure makes itself need not be `Send`
    T: Send + 'static,
{
    Builder::new().unique().spawn(f)
}

/// Spawns a closure as a task under a color, whose stack may move to another thread at each wait. It costs less than
/// [`spawn`] where many threads wake the task, and workers steal it as any other.
///
/// # Safety
///
/// At each [`wait`](crate::wait()) the stack may go on on another thread. So wherever the closure, or code that it calls,
/// waits,
///
/// * all values on the stack are `Send`, the values of other crates' functions too;
/// * nothing on the stack borrows from a thread-local, or belongs to the thread, such as the guard of a lock of std;
/// * no function that waits uses a thread-local before and after the wait, be it in code that is inlined into it: the
///   compiler may keep the address of the thread-local. Most functions of the runtime use thread-locals. So call them in
///   futures that are waited for, or in functions that are not inlined and do not wait.
///
/// # Panics
///
/// As [`spawn`].
#[track_caller]
pub unsafe fn spawn_migrating<F, T>(color: impl Into<Color>, f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    // SAFETY: the caller promises the same.
    unsafe { Builder::new().color(color).spawn_migrating(f) }
}

/// The settings of one stackful task.
///
/// ```
/// use colored_stackful as stackful;
///
/// # #[colored::main(workers = 2)]
/// # async fn main() {
/// let parser = stackful::Builder::new().color(7).name("parser").stack_size(8 << 20);
/// let depth = parser.spawn(|| 1_000_000); // recursion that takes megabytes
/// assert_eq!(depth.await.unwrap(), 1_000_000);
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
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

    /// A fresh color that equals no other, in place of [`color`](Self::color).
    pub fn unique(mut self) -> Self {
        self.color = None;
        self
    }

    /// A name for the task, which dumps, long polls, deadlocks, panics and an overflow of its stack show. Several tasks may
    /// have one name. Default: none. Costs what [`colored::task::Builder::name`] costs.
    pub fn name(mut self, name: &'a str) -> Self {
        self.name = Some(name);
        self
    }

    /// The bytes of the stack, rounded up to a power of two. Default: 256 KiB. A size takes addresses; only the pages that
    /// the task touches take memory.
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

    /// Spawns the task on the current runtime; see [`spawn`].
    ///
    /// # Panics
    ///
    /// As [`spawn`].
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static, // what the closure makes itself need not be `Send`
        T: Send + 'static,
    {
        self.spawn_at(Location::caller(), |handle, origin, settings| {
            handle.spawn_settling_from(origin, self.color, move || Fiber::new(f, settings))
        })
    }

    /// Spawns a task whose stack may move to another thread at each wait; see [`spawn_migrating`].
    ///
    /// # Safety
    ///
    /// As for [`spawn_migrating`].
    ///
    /// # Panics
    ///
    /// As [`spawn`].
    #[track_caller]
    pub unsafe fn spawn_migrating<F, T>(self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.spawn_at(Location::caller(), |handle, origin, settings| {
            // SAFETY: the caller promises it.
            let fiber = unsafe { Migrating::new(f, settings) };
            match self.color {
                Some(color) => handle.spawn_colored_from(origin, color, fiber),
                None => handle.spawn_unique_from(origin.site, fiber),
            }
        })
    }

    #[track_caller]
    fn spawn_at<T>(
        &self,
        site: &'static Location<'static>,
        spawn: impl FnOnce(&SchedulerHandle, Origin<'_>, Settings) -> JoinHandle<T>,
    ) -> JoinHandle<T> {
        let spawn = |handle: Option<&SchedulerHandle>| Some(self.spawn_on(handle?, site, spawn));
        // The panic is outside the closure, and so at the caller's.
        match SchedulerHandle::with_current(spawn) {
            Some(task) => task,
            None => panic!(
                "`stackful::spawn` outside a runtime: call it inside `#[colored::main]`, `Runtime::run`, \
                 `Runtime::block_on`, or while the guard of `Handle::enter` lives"
            ),
        }
    }

    fn spawn_on<T>(
        &self,
        handle: &SchedulerHandle,
        site: &'static Location<'static>,
        spawn: impl FnOnce(&SchedulerHandle, Origin<'_>, Settings) -> JoinHandle<T>,
    ) -> JoinHandle<T> {
        let origin = Origin { site, name: self.name };
        let mut settings = Settings { size: self.size, name: None, site, moves: false };
        let Some(text) = self.name else { return spawn(handle, origin, settings) };
        let (kept, name) = TaskName::reserve(text);
        settings.name = Some(Name { text: text.into(), kept });
        let task = spawn(handle, origin, settings);
        name.give(task.id());
        task
    }
}
