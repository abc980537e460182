//! Threads for blocking calls.
//!
//! Threads are made when a job finds none idle, and retire when they have been
//! idle for a while. How many there are is bounded; how many jobs wait is not,
//! because a job comes from a task, which can neither block here nor do anything
//! about a refusal. A program that makes many jobs bounds them where it makes them.

mod class;
mod job;
mod name;
#[cfg(test)]
mod tests;
mod threads;

use std::{
    io,
    sync::atomic::{AtomicBool, Ordering},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak},
    time::{Duration, Instant},
};

pub(crate) use self::class::Class;
pub(crate) use self::job::{Call, Job};
pub(crate) use self::threads::Threads;
use crate::thread_settings::ThreadSettings;

/// The settings of a [`Pool`].
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// How many threads run jobs of [`Class::Work`] at most; the other classes
    /// have fewer and never more.
    pub(crate) max_threads: usize,
    /// How long a thread waits for its next job before it retires.
    pub(crate) keep_alive: Duration,
    /// How the names of the threads begin.
    pub(crate) prefix: String,
    pub(crate) thread_settings: ThreadSettings,
}

impl Default for Limits {
    /// 512 threads, which retire after ten seconds.
    fn default() -> Limits {
        Limits {
            max_threads: 512,
            keep_alive: Duration::from_secs(10),
            prefix: String::from("colored"),
            thread_settings: ThreadSettings::default(),
        }
    }
}

/// Why a job was not taken. It is given back.
pub(crate) enum Refused {
    /// The pool has been shut down.
    ShutDown(Job),
    /// There is no thread, and the system gave none.
    NoThread(Job, io::Error),
}

/// Counts of one class at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stats {
    /// Threads, whether they run a job or wait for one.
    pub(crate) threads: usize,
    /// Threads that wait for a job.
    pub(crate) idle: usize,
    /// Jobs that no thread has begun.
    pub(crate) queued: usize,
}

/// Threads that run blocking jobs, in classes.
///
/// Dropping it shuts it down without waiting.
pub(crate) struct Pool {
    /// A class is made by its first job.
    groups: [OnceLock<Arc<Threads>>; Class::ALL.len()],
    limits: Limits,
    /// The classes of users.
    others: Mutex<Others>,
    /// A job was submitted, or a class of a user was made.
    is_used: AtomicBool,
}

#[derive(Default)]
struct Others {
    /// A class lives as long as somebody can submit to it, or it has a thread.
    threads: Vec<Weak<Threads>>,
    closed: bool,
}

impl Pool {
    /// A pool without threads, so far. If it may have none, jobs wait until `run_next` runs them.
    pub(crate) fn new(limits: &Limits) -> Pool {
        Pool {
            groups: Class::ALL.map(|_| OnceLock::new()),
            limits: limits.clone(),
            others: Mutex::default(),
            is_used: AtomicBool::new(false),
        }
    }

    /// A class of a user, with so many threads at most. It ends with the pool.
    pub(crate) fn add(&self, name: &str, max_threads: usize) -> Arc<Threads> {
        // Ordering: see `has_work`.
        self.is_used.store(true, Ordering::Relaxed);
        let threads = Arc::new(Threads::new(name, true, max_threads, &self.limits));
        let mut others = self.others();
        if others.closed {
            threads.close();
        }
        others.threads.retain(|threads| threads.strong_count() > 0);
        others.threads.push(Arc::downgrade(&threads));
        threads
    }

    fn others(&self) -> MutexGuard<'_, Others> {
        self.others.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The threads of a class. One that is made when the pool is closed is closed.
    fn group(&self, class: Class) -> &Arc<Threads> {
        let group = &self.groups[class as usize];
        group.get().unwrap_or_else(|| {
            // Under the lock, so that the pool closes it, or it sees that the pool is closed.
            let others = self.others();
            group.get_or_init(|| {
                let threads = Threads::of_class(class, &self.limits);
                if others.closed {
                    threads.close();
                }
                Arc::new(threads)
            })
        })
    }

    /// The threads of all classes.
    fn all(&self) -> Vec<Arc<Threads>> {
        self.all_of(&self.others())
    }

    fn all_of(&self, others: &Others) -> Vec<Arc<Threads>> {
        let others = others.threads.iter().filter_map(Weak::upgrade);
        self.groups.iter().filter_map(OnceLock::get).cloned().chain(others).collect()
    }

    fn close(&self) -> Vec<Arc<Threads>> {
        let mut others = self.others();
        others.closed = true;
        let all = self.all_of(&others);
        drop(others);
        all.iter().for_each(|threads| threads.close());
        all
    }

    /// Hands a job to a thread of its class: an idle one, the last that became so,
    /// or else a new one, or else, at the limit, the first that is done with its
    /// job. Jobs of a class begin in the order in which they were submitted.
    ///
    /// A job that panics ends alone; its thread goes on.
    ///
    /// # Errors
    ///
    /// [`Refused::ShutDown`] after [`shutdown`](Self::shutdown). When the system gives no new
    /// thread the job waits for one of the existing threads; if there is none in its class, it is
    /// [`Refused::NoThread`].
    pub(crate) fn submit(&self, class: Class, job: Job) -> Result<(), Refused> {
        // Ordering: see `has_work`.
        self.is_used.store(true, Ordering::Relaxed);
        self.group(class).submit(job)
    }

    /// The calls that threads are in, with the names of their classes: without the calls that the end of the pool does
    /// not wait for.
    pub(crate) fn running(&self) -> Vec<(String, Call)> {
        self.all()
            .iter()
            .filter(|threads| threads.is_waited_for())
            .flat_map(|threads| {
                let calls = threads.running();
                calls.into_iter().map(|call| (threads.title().to_owned(), call))
            })
            .collect()
    }

    /// Runs the job of the first class that has one, on this thread: for a pool that may have no threads. False if there
    /// is none.
    #[cfg(feature = "sim")]
    pub(crate) fn run_next(&self) -> bool {
        let job = self.all().iter().find_map(|threads| threads.take_job());
        job.map(|job| colored_core::contain(|| job.run())).is_some()
    }

    /// The counts of a class.
    pub(crate) fn stats(&self, class: Class) -> Stats {
        self.groups[class as usize].get().map_or_else(Stats::default, |threads| threads.stats())
    }

    /// Whether a job is queued or runs, except of the classes that wait for a peer. A simulation asks before each turn.
    #[inline]
    pub(crate) fn has_work(&self) -> bool {
        // Ordering: who asks after a job was submitted knows of that by other means, as for the job.
        self.is_used.load(Ordering::Relaxed) && self.has_jobs()
    }

    fn has_jobs(&self) -> bool {
        let own = Class::ALL.into_iter().filter(|class| !class.waits_for_a_peer());
        let mut own = own.filter_map(|class| self.groups[class as usize].get());
        own.any(|threads| threads.has_work()) || {
            let others = self.others();
            others.threads.iter().filter_map(Weak::upgrade).any(|threads| threads.has_work())
        }
    }

    /// Ends the pool, and waits until its threads are gone or `deadline` has come.
    /// True when they are gone. Without a deadline it may wait for ever. It does
    /// not wait for name look-ups, nor for what may never end, such as a read of a
    /// terminal ([`Class::is_waited_for`]): the tasks that wanted the answers are
    /// gone.
    ///
    /// No job is taken any more, jobs that no thread has begun are dropped, on this
    /// thread, and jobs that run are waited for. When the deadline comes first,
    /// their threads are left to end by themselves.
    ///
    /// A job may call this. Its own thread is not waited for, and the answer is
    /// then false.
    pub(crate) fn shutdown(&self, deadline: Option<Instant>) -> bool {
        // All of them first, so that they end side by side.
        self.close().iter().map(|threads| threads.join(deadline)).fold(true, |all, gone| all & gone)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        drop(self.close());
    }
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(Class::ALL.map(|class| (class, self.stats(class)))).finish()
    }
}

impl std::fmt::Debug for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refused::ShutDown(_) => f.write_str("ShutDown"),
            Refused::NoThread(_, error) => f.debug_tuple("NoThread").field(error).finish(),
        }
    }
}
