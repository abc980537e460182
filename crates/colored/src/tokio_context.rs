//! A tokio runtime beside this one, for libraries that look for tokio's.
//!
//! A library finds tokio by a thread-local, which a guard sets. So every thread that polls tasks, or runs blocking calls
//! of users, holds a guard meanwhile. The tokio runtime waits for events and timers, on a thread of its own; its wakers
//! schedule our tasks under their colors, as any waker does. It also runs what libraries hand to `tokio::spawn` and to
//! `tokio::task::spawn_blocking`, and code of the program in it may spawn tasks of ours: so the threads of the tokio runtime
//! enter ours.
//!
//! The runtime starts with ours and not at the first need, because tokio tells nobody of a need: a look-up of the
//! thread-local finds a runtime or panics.

use crate::error_context::with_source;
use crate::thread_settings::Hook;
use crate::wall;
use std::any::Any;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
#[cfg(feature = "sim")]
use std::{
    future::poll_fn,
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
    task::Poll,
};
use tokio::runtime::{Builder, EnterGuard, Handle, Runtime};

/// How long the end of a runtime waits for tokio's threads, if it has the time.
const PATIENCE: Duration = Duration::from_secs(10);

/// A turn of tokio's tasks ends after so many looks at them at most.
#[cfg(feature = "sim")]
const MOST_LOOKS: u32 = 1000;

/// So many polls of tasks lie between two looks.
#[cfg(feature = "sim")]
const POLLS: u32 = 2;

/// The tokio runtime that the threads of a runtime are in.
pub(crate) struct TokioContext {
    handle: Handle,
    /// The runtime, if it was made for this purpose and has not ended.
    own: Mutex<Option<Runtime>>,
    /// What its threads call first. It holds our runtime, which holds this: so it goes at the end.
    enter: Arc<Mutex<Option<Hook>>>,
    /// Of one without a thread: no task is runnable.
    // Ordering: one thread of a run goes on at a time, and the hand-over to the next one synchronizes.
    #[cfg(feature = "sim")]
    is_at_rest: AtomicBool,
    /// Of such a one: the polls, since the last look, of its task that is always runnable.
    #[cfg(feature = "sim")]
    idle_polls: Arc<AtomicU32>,
}

impl TokioContext {
    /// A new tokio runtime with one thread, and more for its blocking calls. Each calls `enter` when it begins, until
    /// [`shut_down`](Self::shut_down), and `leave` when it ends.
    ///
    /// # Errors
    ///
    /// When the system gives no thread, or no selector.
    pub(crate) fn start(
        prefix: &str,
        stack_size: Option<usize>,
        enter: Hook,
        leave: fn(),
    ) -> io::Result<Self> {
        let enter = Arc::new(Mutex::new(Some(enter)));
        let begin = Arc::clone(&enter);
        let name = format!("{prefix}-tokio");
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(1).thread_name(&name).enable_all();
        builder.on_thread_start(move || {
            let enter = begin.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if let Some(enter) = enter {
                enter();
            }
        });
        builder.on_thread_stop(leave);
        if let Some(bytes) = stack_size {
            builder.thread_stack_size(bytes);
        }
        let failed =
            |error: &dyn fmt::Display| format!("cannot start the thread `{name}`: {error}");
        // On a thread of its own: this one may be about to end, and then tokio's thread-locals are gone. And tokio panics,
        // which would be printed, if the system gives no thread: so this asks first. Other programs may take it since.
        let made = thread::Builder::new().name(name.clone()).spawn(move || builder.build());
        let made = made.map_err(|error| with_source(failed(&error), error))?;
        let runtime = made.join().unwrap_or_else(|payload| {
            Err(io::Error::new(io::ErrorKind::WouldBlock, failed(&text_of(&*payload))))
        })?;
        let mut this = Self::of(runtime.handle().clone());
        (this.own, this.enter) = (Mutex::new(Some(runtime)), enter);
        Ok(this)
    }

    /// A tokio runtime without a thread, without timers and without I/O: [`run_tasks`](Self::run_tasks) runs its tasks. A blocking
    /// call of tokio panics, because a thread of the system would run it.
    ///
    /// # Errors
    ///
    /// None is known.
    #[cfg(feature = "sim")]
    pub(crate) fn stepped() -> io::Result<Self> {
        let mut builder = Builder::new_current_thread();
        // What is woken outside of a turn comes first, so that the task that is always runnable keeps nothing waiting.
        builder.event_interval(POLLS).global_queue_interval(1);
        // The caller of `spawn_blocking` asks for the name of the thread that it begins.
        builder.thread_name_fn(|| -> String {
            panic!(
                "a blocking call of tokio, as by `tokio::task::spawn_blocking` or `tokio::fs`, has no thread in a simulation; \
                 use `colored::spawn_blocking`"
            )
        });
        let runtime = builder.build()?;
        let mut this = Self::of(runtime.handle().clone());
        let polls = Arc::clone(&this.idle_polls);
        drop(runtime.spawn(poll_fn(move |cx| {
            polls.fetch_add(1, Ordering::Relaxed);
            cx.waker().wake_by_ref();
            Poll::<()>::Pending
        })));
        this.own = Mutex::new(Some(runtime));
        // That task goes from tokio's queue, where it would look like work, into that of the turns.
        this.run_tasks();
        Ok(this)
    }

    /// Whether such a runtime has tasks to run: `run_tasks` has left some, or some have been woken or spawned outside of it, which
    /// come into tokio's queue.
    #[cfg(feature = "sim")]
    pub(crate) fn has_tasks(&self) -> bool {
        !self.is_at_rest.load(Ordering::Relaxed) || self.handle.metrics().global_queue_depth() > 0
    }

    /// Runs tasks, on this thread, until none is runnable, or for a while: what they wait for may be the turn of somebody else.
    #[cfg(feature = "sim")]
    pub(crate) fn run_tasks(&self) {
        let own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(runtime) = &*own else { return };
        self.idle_polls.store(0, Ordering::Relaxed);
        // The runtime polls this future first, and then behind each two polls of tasks, as it is always woken. If both were of
        // the task that is always runnable, no other one is: else that one would have had its turn between them.
        let mut looks = 0;
        let is_at_rest = runtime.block_on(poll_fn(|cx| {
            let is_at_rest = self.idle_polls.swap(0, Ordering::Relaxed) == POLLS;
            if is_at_rest || looks == MOST_LOOKS {
                return Poll::Ready(is_at_rest);
            }
            looks += 1;
            cx.waker().wake_by_ref();
            Poll::Pending
        }));
        self.is_at_rest.store(is_at_rest, Ordering::Relaxed);
    }

    /// Somebody else's tokio runtime.
    pub(crate) fn of(handle: Handle) -> Self {
        Self {
            handle,
            own: Mutex::new(None),
            enter: Arc::default(),
            #[cfg(feature = "sim")]
            is_at_rest: AtomicBool::new(true),
            #[cfg(feature = "sim")]
            idle_polls: Arc::default(),
        }
    }

    /// Lets this thread be in the tokio runtime until the guard is dropped. `None` if the thread is about to end, and
    /// tokio's thread-locals are gone: no library finds a tokio runtime there any more.
    pub(crate) fn enter(&self) -> Option<EnterGuard<'_>> {
        let found = Handle::try_current();
        let is_gone = found.is_err_and(|error| error.is_thread_local_destroyed());
        (!is_gone).then(|| self.handle.enter())
    }

    /// Ends the tokio runtime, if it is our own, and waits for its threads until `deadline`.
    pub(crate) fn shut_down(&self, deadline: Option<Instant>) {
        let enter = self.enter.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(enter);
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

fn text_of(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&'static str>().copied()).unwrap_or("it panicked")
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
