//! A tokio runtime beside this one, for libraries that look for tokio's.
//!
//! A library finds tokio by a thread-local, which a guard sets. So every thread that polls tasks, or runs blocking calls
//! of users, holds a guard meanwhile. The tokio runtime only waits for events and timers, on a thread of its own; its
//! wakers schedule our tasks under their colors, as any waker does.

use crate::wall;
use std::fmt;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, EnterGuard, Handle, Runtime};

/// How long the end of a runtime waits for tokio's threads, if it has the time.
const PATIENCE: Duration = Duration::from_secs(10);

/// The tokio runtime that the threads of a runtime are in.
pub(crate) struct TokioContext {
    handle: Handle,
    /// The runtime, if it was made for this purpose and has not ended.
    own: Mutex<Option<Runtime>>,
}

impl TokioContext {
    /// A new tokio runtime with one thread.
    ///
    /// # Errors
    ///
    /// When the system gives no thread, or no selector.
    pub(crate) fn start(prefix: &str) -> io::Result<Self> {
        let name = format!("{prefix}-tokio");
        let failed =
            |error: &dyn fmt::Display| format!("cannot start the thread `{name}`: {error}");
        // tokio panics if the system gives no thread, and its panic would be printed: so this asks first.
        let asked = thread::Builder::new().name(name.clone()).spawn(|| ());
        let asked = asked.map_err(|error| io::Error::new(error.kind(), failed(&error)))?;
        let _ = asked.join();
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(1).thread_name(name.clone()).enable_all();
        // Other programs may have taken the thread since.
        let built = panic::catch_unwind(AssertUnwindSafe(|| builder.build()));
        let runtime = built.map_err(|payload| {
            let text = payload.downcast_ref::<String>().map_or("tokio panicked", String::as_str);
            io::Error::new(io::ErrorKind::WouldBlock, failed(&text))
        })??;
        Ok(Self { handle: runtime.handle().clone(), own: Mutex::new(Some(runtime)) })
    }

    /// Somebody else's tokio runtime.
    pub(crate) fn of(handle: Handle) -> Self {
        Self { handle, own: Mutex::new(None) }
    }

    /// Lets this thread be in the tokio runtime until the guard is dropped.
    pub(crate) fn enter(&self) -> EnterGuard<'_> {
        self.handle.enter()
    }

    /// Ends the tokio runtime, if it is our own, and waits for its threads until `deadline`.
    pub(crate) fn shut_down(&self, deadline: Option<Instant>) {
        let own = self.own.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(runtime) = own else { return };
        let left = deadline.map_or(PATIENCE, |at| at.saturating_duration_since(wall::now()));
        if left.is_zero() {
            return runtime.shutdown_background();
        }
        // tokio does not wait on a thread that is inside a task of its own, and panics. Another thread may wait for it. If
        // there is none, nobody waits.
        let place = Arc::new(Mutex::new(Some(runtime)));
        let taken = Arc::clone(&place);
        let take = move |place: &Mutex<Option<Runtime>>| {
            place.lock().unwrap_or_else(PoisonError::into_inner).take()
        };
        let body = move || {
            if let Some(runtime) = take(&taken) {
                runtime.shutdown_timeout(left.min(PATIENCE));
            }
        };
        match thread::Builder::new().spawn(body) {
            Ok(ended) => drop(ended.join()),
            Err(_) => {
                if let Some(runtime) = take(&place) {
                    runtime.shutdown_background();
                }
            }
        }
    }
}

impl Drop for TokioContext {
    fn drop(&mut self) {
        self.shut_down(Some(wall::now()));
    }
}

impl fmt::Debug for TokioContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokioContext").finish_non_exhaustive()
    }
}
