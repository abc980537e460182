//! Stages: handlers with a bounded queue each, wired into a pipeline or a graph.
//!
//! In a program that is a network of stages, all queues are visible: each stage reports how many events
//! wait, bounds its queue, and decides how many events it handles at once. A [`Stage`] is the sending
//! end; its [`Handler`] gets the events in batches.
//!
//! ```
//! use colored::stage::{Batch, Builder, Events, Graph, each};
//!
//! # #[colored::main(workers = 2)]
//! # async fn main() {
//! let mut graph = Graph::new();
//!
//! // Serial: a closure with state, and no lock.
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
//! // Senders end before receivers: no accepted event is lost.
//! for (name, done) in graph.drain().await {
//!     assert_eq!(done.handled, 100, "{name}");
//! }
//! # }
//! ```
//!
//! The module needs the feature `stage`.
//!
//! # Guarantees
//!
//! * **Serial.** A stage handles one batch at a time, also while its handler waits. With
//!   [`parallel`](Builder::parallel), each partition handles one batch at a time.
//! * **Order.** A partition handles its events in the order in which it accepted them. It accepts the
//!   events of one sender, and events in causal order, in that order. Between partitions there is no
//!   order.
//! * **Bounded.** The queue holds no more events than the capacity. A further sender waits in line, or
//!   gets the event back. A handler that sends to its own stage does not wait: the stage accepts its
//!   events over the capacity, because there would be room only after the handler is done. (Two stages
//!   whose handlers wait for room in each other's queues can wait for ever; one of them needs
//!   [`try_send`](Stage::try_send).)
//! * **No loss.** The stage handles every accepted event, unless the handler of its batch panics, or
//!   the runtime ends without waiting (see below). After [`close`](Stage::close) the stage accepts no
//!   more events, but still handles the accepted ones; [`drained`](Stage::drained) waits for these.
//! * **Panics** cost the events of one batch. The panic hook reports them, the [`Metrics`] count them,
//!   and the stage goes on.
//!
//! # The end of the runtime
//!
//! A runtime that ends closes and drains its stages first, the last one built first, whether or not
//! they are in a [`Graph`]. A stage is built after the stages that it sends to, because its handler has
//! their handles. So while a stage drains, the stages that it sends to are still open. (A stage that
//! sends in a circle, to a stage that its handler builds itself, or by a handle that it got later, may
//! find that stage closed: the event comes back to the handler, and [`Metrics::refused`] counts it.)
//! The caller decides how long this may take:
//!
//! | the end | waits for stages | remaining events |
//! |---|---|---|
//! | [`graph.drain().await`](Graph::drain), before the end | until all events are handled | none; it returns the metrics of each stage |
//! | of `#[colored::main]`, a drop of the [`Runtime`](crate::Runtime) | until all events are handled | none |
//! | [`Runtime::shutdown_timeout`](crate::Runtime::shutdown_timeout) | at most that long | are lost, and counted in its error |
//! | [`Runtime::shutdown_background`](crate::Runtime::shutdown_background) | no | are lost |
//! | a drop while the thread panics, or inside a task; a process that exits or is killed | no | are lost |
//!
//! So a program whose handler waits for something that never comes does not end by itself: use
//! `shutdown_timeout`, or a [`timeout`](crate::time::timeout) in the handler. The closed stages do not
//! accept events that tasks send later. If a task must send all of its events, await the task before
//! the main future ends.
//!
//! # Costs
//!
//! A send costs a lock, which is two read-modify-writes if uncontended, and a wake-up if the partition
//! was idle. A batch of any size costs a lock and a yield of the partition's task; its events move into
//! a buffer that is reused. One event in 16 is timed. A partition takes a task and 128 or 256 bytes
//! beside its queue, which grows to the capacity as needed. Building a stage takes a lock of its
//! runtime once.
//!
//! # Sources
//!
//! Stages, their batching controller and its goal, the smallest batch with nearly the best
//! throughput: M. Welsh, "An Architecture for Highly Concurrent, Well-Conditioned Internet
//! Services", 2002 (SEDA).

#[doc(inline)]
pub use crate::limit::{Closed, TrySendError};
#[doc(inline)]
pub use colored_stage::stage::{
    Batch, Builder, Each, Events, Graph, Handler, Metrics, Sending, Stage, each,
};
