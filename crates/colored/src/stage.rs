//! Stages: handlers with a bounded queue each, wired into a pipeline or a graph.
//!
//! A program as a network of stages has its queues where one can see them: each says how much waits,
//! each is bounded, and each decides how many of its events are handled at once. A [`Stage`] is the
//! sending end; its [`Handler`] gets the events in batches.
//!
//! ```
//! use colored::stage::{Batch, Builder, Events, Graph, each};
//!
//! # #[colored::main(workers = 2)]
//! # async fn main() {
//! let mut graph = Graph::new();
//!
//! // One after another: a closure with state, and no lock.
//! let mut total = 0;
//! let sum = graph.add("sum", Builder::new().build(each(move |n: u64| total += n)));
//!
//! // Four at once; events of one account stay in order.
//! let parse = move |lines: Events<(u32, String)>| {
//!     let sum = sum.clone();
//!     async move {
//!         for (_account, line) in lines {
//!             if let Ok(amount) = line.parse() {
//!                 let _ = sum.send(amount).await; // waits while the queue of `sum` is full
//!             }
//!         }
//!     }
//! };
//! let parse = Builder::new()
//!     .capacity(256)
//!     .parallel(4, |(account, _): &(u32, String)| *account)
//!     .batch(Batch::Adaptive { max: 64 })
//!     .build(parse);
//! let parse = graph.add("parse", parse);
//!
//! for n in 0..100 {
//!     parse.send((n % 7, n.to_string())).await.unwrap();
//! }
//! // Whoever sends ends before whoever receives: nothing that was accepted is lost.
//! for (name, done) in graph.drain().await {
//!     assert_eq!(done.handled, 100, "{name}");
//! }
//! # }
//! ```
//!
//! # What is promised
//!
//! * **Serial.** A stage handles one batch at a time, also while its handler waits. With
//!   [`parallel`](Builder::parallel), each of its partitions does.
//! * **Order.** A partition's events are handled in the order in which they were accepted; those of
//!   one sender, or in causal order, were accepted in that order. Nothing is promised between
//!   partitions.
//! * **Bounded.** No more events are queued than the capacity. Whoever sends more waits in line, or
//!   gets the event back. A handler that sends to its own stage does not wait: its events are accepted
//!   over the capacity, since room would come only after it. (Two stages whose handlers wait for room
//!   in each other's queues can wait for ever; one of them needs [`try_send`](Stage::try_send).)
//! * **Nothing is lost.** What has been accepted is handled, unless the handler of its batch panics,
//!   or the runtime is ended in a way that does not wait (see below). [`close`](Stage::close) ends what
//!   is accepted, not what is handled; [`drained`](Stage::drained) waits for the rest.
//! * **Panics** cost the events of one batch. The panic hook reports them, the [`Metrics`] count them,
//!   and the stage goes on.
//!
//! # The end of the runtime
//!
//! A runtime that ends closes and drains its stages first, the one that was built last first, whether
//! or not they are in a [`Graph`]. A stage is built after those that it sends to, since its handler has
//! their handles: so what one still sends finds the next one open. (Stages that send in a circle, to
//! one that their handler builds itself, or by a handle that came later, may find it closed: the event
//! comes back to the handler, and [`Metrics::refused`] counts it.) How long that may take is for the
//! caller of the end to say:
//!
//! | the end | waits for stages | what is left is |
//! |---|---|---|
//! | [`graph.drain().await`](Graph::drain), before the end | until all is handled | nothing; it returns what each has done |
//! | of `#[colored::main]`, a drop of the [`Runtime`](crate::Runtime) | until all is handled | nothing |
//! | [`Runtime::shutdown_timeout`](crate::Runtime::shutdown_timeout) | at most that long | lost, and counted in its error |
//! | [`Runtime::shutdown_background`](crate::Runtime::shutdown_background) | no | lost |
//! | a drop while the thread panics, or inside a task; a process that exits or is killed | no | lost |
//!
//! So a program whose handler waits for something that never comes does not end by itself: give it a
//! `shutdown_timeout`, or the handler a [`timeout`](crate::time::timeout). What a task has not sent by
//! then is not accepted: a task that must send all it has ends before the main future does.
//!
//! # Costs
//!
//! A send is a lock, uncontended two read-modify-writes; and a wake-up if the partition was idle. A
//! batch costs a lock and a yield of the partition's task, whatever its size; its events are moved
//! into a buffer that is used again. One event in 16 is timed. A partition is a task and 128 bytes
//! or two beside its queue, which grows to the capacity as needed. A stage that is built takes a lock
//! of its runtime, once.
//!
//! # Sources
//!
//! Stages, their batching controller and its goal, the smallest batch with nearly the best
//! throughput: M. Welsh, "An Architecture for Highly Concurrent, Well-Conditioned Internet
//! Services", 2002 (SEDA).

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
pub use crate::limit::{Closed, TrySendError};

use self::partition::{Partition, Refused};
use self::shared::Shared;
use std::fmt;
use std::sync::Arc;

/// The sending end of a stage. Clones send to the same stage; when the last one is dropped, the stage
/// is closed.
pub struct Stage<E> {
    sender: Arc<Sender<E>>,
}

/// What all clones share; its end is theirs.
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
    /// handler of this stage it does not wait.
    ///
    /// Cancel safe: dropped before it is ready, it has sent nothing; the event is dropped with it.
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

    /// Sends an event if there is room and nobody waits for it, or inside a handler of this stage.
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

    /// Accepts nothing any more, from any clone. Senders that wait get their events back; what has
    /// been accepted is handled.
    pub fn close(&self) {
        self.shared().close();
    }

    /// Whether it has been closed, or ended with its runtime.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared().partitions.iter().all(Partition::is_closed)
    }

    /// Waits until the stage has been closed, everything that it accepted has been handled, and its
    /// handlers have been dropped. Does not close it: see [`close`](Self::close). Cancel safe; any
    /// number may wait.
    pub async fn drained(&self) {
        self.shared().drained().await;
    }

    /// Events that are queued, or in a batch that is being handled.
    #[must_use]
    pub fn depth(&self) -> u64 {
        self.metrics().depth()
    }

    /// What it has done so far, and how it stands. Takes the lock of each partition.
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
