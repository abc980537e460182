//! [`BlockingClass`]: blocking calls with threads and a queue of their own.

use super::serial::SerialQueues;
use super::{call, cancelled_or_panic, inside};
use crate::pool::{Stats, Threads};
use crate::services::{Services, current};
use colored_core::{Color, JoinHandle, SchedulerHandle};
use std::fmt;
use std::io::{self, ErrorKind};
use std::sync::Arc;

/// The most threads that a class may have.
const MAX_THREADS: usize = 1 << 16;

/// The longest name: a thread's name has 15 bytes on Linux, and a number.
const MAX_NAME: usize = 8;

/// A class of blocking calls: at most so many threads, and a queue of its own. Calls of different
/// classes never wait for each other, and calls of a class begin in the order in which they were made.
///
/// The calls of [`spawn_blocking`](crate::spawn_blocking) are one class, and so are file operations and
/// name look-ups. Make a class for a resource that serves few calls at a time, such as a database with
/// four connections, so that other calls do not wait behind them.
///
/// A class belongs to the runtime in which it was made, and ends with it. A clone is the same class.
/// When all clones are dropped, calls that were made still run.
///
/// # Examples
///
/// ```
/// use colored::task::BlockingClass;
///
/// # #[colored::main]
/// # async fn main() -> std::io::Result<()> {
/// let thumbnails = BlockingClass::new("thumbs", 2)?;
/// let calls: Vec<_> = (0..10).map(|n| thumbnails.spawn(move || n * n)).collect();
/// let mut sum = 0;
/// for call in calls {
///     sum += call.await.unwrap();
/// }
/// assert_eq!(sum, 285);
///
/// // Calls for one color run one after the other, in order.
/// let log = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
/// let calls: Vec<_> = (0..10)
///     .map(|n| {
///         let log = log.clone();
///         thumbnails.spawn_ordered(7, move || log.lock().unwrap().push(n))
///     })
///     .collect();
/// for call in calls {
///     call.await.unwrap();
/// }
/// assert_eq!(*log.lock().unwrap(), (0..10).collect::<Vec<_>>());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct BlockingClass {
    core: SchedulerHandle,
    services: Arc<Services>,
    threads: Arc<Threads>,
    queues: Arc<SerialQueues>,
}

/// Counters of a class of blocking calls at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockingMetrics {
    /// Threads, whether they run a call or wait for one.
    pub threads: usize,
    /// Threads that wait for a call.
    pub idle: usize,
    /// Calls that no thread has begun, without those that wait for an earlier one of their color.
    pub queued: usize,
}

impl From<Stats> for BlockingMetrics {
    fn from(Stats { threads, idle, queued }: Stats) -> Self {
        Self { threads, idle, queued }
    }
}

impl BlockingClass {
    /// A class of the current runtime, with at most so many threads, 1 to 65,536, which are made when
    /// calls need them, and end when they have had none for
    /// [`Builder::thread_keep_alive`](crate::Builder::thread_keep_alive). The name, 1 to 8 bytes, is part
    /// of the names of its threads.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the name or the number is out of range; the error says what is allowed.
    ///
    /// # Panics
    ///
    /// Outside a runtime, and in a waker that the reactor calls.
    #[track_caller]
    pub fn new(name: &str, threads: usize) -> io::Result<BlockingClass> {
        let services = current::with(|context| Arc::clone(&context.services));
        let core = SchedulerHandle::with_current(|handle| handle.cloned());
        let core =
            core.expect("a waker that the reactor calls cannot make a class of blocking calls");
        let invalid = |text| Err(io::Error::new(ErrorKind::InvalidInput, text));
        if name.is_empty() || name.len() > MAX_NAME || name.contains('\0') {
            let text = format!(
                "the name of a class of blocking calls, {name:?}: allowed are 1 to {MAX_NAME} \
                 bytes, none of them NUL"
            );
            return invalid(text);
        }
        if !(1..=MAX_THREADS).contains(&threads) {
            let text = format!(
                "the class of blocking calls {name:?} with {threads} threads: allowed are 1 to \
                 {MAX_THREADS}"
            );
            return invalid(text);
        }
        let threads = services.pool.add(name, threads);
        Ok(BlockingClass { core, services, threads, queues: Arc::default() })
    }

    /// Runs `f` on a thread of the class, otherwise as [`spawn_blocking`](crate::spawn_blocking).
    ///
    /// # Panics
    ///
    /// If the system refuses a thread, and the class has none that could run the call later. A panic of
    /// `f` goes to the handle.
    #[track_caller]
    pub fn spawn<T, F>(&self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let (job, handle) = call(inside(&self.core, &self.services, f));
        cancelled_or_panic(self.threads.submit(job));
        handle
    }

    /// As [`spawn`](Self::spawn), but after all earlier calls of this class for the same color have
    /// ended. `f` runs under no color: tasks of the color run meanwhile, as at any `.await`. To keep
    /// them out, use [`exclusive`](crate::exclusive()) around a call.
    ///
    /// # Panics
    ///
    /// As [`spawn`](Self::spawn).
    #[track_caller]
    pub fn spawn_ordered<T, F>(&self, color: impl Into<Color>, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let (job, handle) = call(inside(&self.core, &self.services, f));
        cancelled_or_panic(self.queues.submit(&self.threads, color.into(), job));
        handle
    }

    /// The counters of the class.
    #[must_use]
    pub fn metrics(&self) -> BlockingMetrics {
        self.threads.stats().into()
    }
}

impl fmt::Debug for BlockingClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockingClass").field("threads", &self.threads).finish_non_exhaustive()
    }
}
