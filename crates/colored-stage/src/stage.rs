//! Handlers with a bounded queue each: [`Stage`], its [`Builder`], and the [`Graph`] of several.

mod batching;
mod builder;
mod graph;
mod handler;
mod metrics;
mod partition;
mod run;
mod send;
mod shared;

pub use self::batching::Batch;
pub use self::builder::Builder;
pub use self::graph::Graph;
pub use self::handler::{Each, Events, Handler, each};
pub use self::metrics::Metrics;
pub use self::send::Sending;
#[doc(inline)]
pub use colored_limit::{Closed, TrySendError};

use self::partition::{Partition, Refused};
use self::shared::Shared;
use std::fmt;
use std::sync::Arc;

/// The sending end of a stage. Clones send to the same stage; dropping the last one closes the stage.
pub struct Stage<E> {
    sender: Arc<Sender<E>>,
}

/// The part that all clones share; it ends with the last of them.
struct Sender<E>(Arc<Shared<E>>);

impl<E> Drop for Sender<E> {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl<E> Stage<E> {
    fn new(shared: Arc<Shared<E>>) -> Self {
        Self { sender: Arc::new(Sender(shared)) }
    }

    fn shared(&self) -> &Arc<Shared<E>> {
        &self.sender.0
    }

    /// Sends an event, and waits for room if there is none, in the order of the first polls. Inside a
    /// handler of this stage the send does not wait.
    ///
    /// Cancel safe: a future that is dropped before it is ready has sent nothing; the event is dropped
    /// with it.
    ///
    /// # Errors
    ///
    /// [`Closed`], with the event, if the stage is closed before there is room.
    ///
    /// # Panics
    ///
    /// If [`parallel_by`](Builder::parallel_by) names no partition of the stage.
    #[track_caller]
    pub fn send(&self, event: E) -> Sending<'_, E> {
        Sending::new(self, event)
    }

    /// Sends an event if there is room and no other sender waits for it, or inside a handler of this
    /// stage.
    ///
    /// # Errors
    ///
    /// [`TrySendError`], with the event.
    ///
    /// # Panics
    ///
    /// As [`send`](Self::send).
    #[track_caller]
    pub fn try_send(&self, event: E) -> Result<(), TrySendError<E>> {
        let shared = self.shared();
        let partition = &shared.partitions[shared.index_of(&event)];
        partition.push(event, || run::is_inside(shared)).map_err(|(event, refused)| match refused {
            Refused::Full => TrySendError::Full(event),
            Refused::Closed => TrySendError::Closed(event),
        })
    }

    /// Closes the stage for all clones: it accepts no more events. Waiting senders get their events
    /// back; the stage still handles the events that it has accepted.
    pub fn close(&self) {
        self.shared().close();
    }

    /// Whether the stage has been closed, or has ended with its runtime.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared().partitions.iter().all(Partition::is_closed)
    }

    /// Waits until the stage has been closed, everything that it accepted has been handled, and its
    /// handlers have been dropped. Does not close the stage: see [`close`](Self::close). Cancel safe;
    /// any number of tasks may wait.
    pub async fn drained(&self) {
        self.shared().drained().await;
    }

    /// Events that are queued, or in a batch that is being handled.
    #[must_use]
    pub fn depth(&self) -> u64 {
        self.metrics().depth()
    }

    /// Returns the counters and the state of the stage. Takes the lock of each partition.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        self.shared().metrics()
    }
}

impl<E> Clone for Stage<E> {
    fn clone(&self) -> Self {
        Self { sender: Arc::clone(&self.sender) }
    }
}

impl<E> fmt::Debug for Stage<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stage")
            .field("partitions", &self.shared().partitions.len())
            .field("metrics", &self.metrics())
            .finish_non_exhaustive()
    }
}
