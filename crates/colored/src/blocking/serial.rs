//! [`SerialQueues`]: blocking calls that run one at a time for each color.
//!
//! A color has an entry while one of its calls is in the queue of the threads or runs; the entry holds
//! the calls behind it. When a thread has run that call, or has dropped it, the thread submits the next
//! one, or removes the entry. So a color has at most one call among the threads, and no call is left behind.

use crate::pool::{Job, Refused, Threads};
use colored_core::Color;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The calls that wait for an earlier one of their color.
#[derive(Default)]
pub(super) struct SerialQueues(Mutex<HashMap<Color, VecDeque<Job>>>);

impl SerialQueues {
    /// Runs the job on a thread after all earlier ones of the color.
    pub(super) fn submit(
        self: &Arc<Self>,
        threads: &Arc<Threads>,
        color: Color,
        job: Job,
    ) -> Result<(), Refused> {
        match self.lock().entry(color) {
            Entry::Occupied(entry) => {
                entry.into_mut().push_back(job);
                return Ok(());
            }
            Entry::Vacant(entry) => entry.insert(VecDeque::new()),
        };
        self.begin(threads, color, job)
    }

    fn begin(
        self: &Arc<Self>,
        threads: &Arc<Threads>,
        color: Color,
        job: Job,
    ) -> Result<(), Refused> {
        let submitted = Submitted { queues: Arc::clone(self), threads: Arc::clone(threads), color };
        threads.submit(job.with(move |job| {
            let _submitted = submitted;
            job.run();
        }))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Color, VecDeque<Job>>> {
        // No code of a user runs under the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for SerialQueues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SerialQueues").field("colors", &self.lock().len()).finish()
    }
}

/// The call of a color that is among the threads. Dropping it lets the next one follow.
struct Submitted {
    queues: Arc<SerialQueues>,
    threads: Arc<Threads>,
    color: Color,
}

impl Drop for Submitted {
    fn drop(&mut self) {
        let next = {
            let mut colors = self.queues.lock();
            let next = colors.get_mut(&self.color).and_then(VecDeque::pop_front);
            if next.is_none() {
                colors.remove(&self.color);
            }
            next
        };
        let Some(job) = next else { return };
        if let Err(refused) = self.queues.begin(&self.threads, self.color, job) {
            // The pool has ended, and all calls behind are cancelled too: here, and not each by the one
            // before, which would need a stack as deep as they are many.
            let behind = self.queues.lock().remove(&self.color);
            drop(refused);
            drop(behind);
        }
    }
}
