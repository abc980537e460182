//! What a program needs that spawns tasks under colors, posts and calls: tasks, lanes, workers and cells.
//!
//! | question | answer |
//! |---|---|
//! | where does a steal decide? | [`Worker::find`](sched::worker::Worker), in `sched/worker/find.rs` |
//! | who may poll? | the owner of a [`ReadyLane`](lane::ReadyLane), by [`ReadyLane::run`](lane::ReadyLane::run) in `lane/slice.rs` |
//! | what happens to a future when its runtime shuts down? | `sched/shutdown.rs`: its lane's holder drops it |
//! | where is first in, first out made? | [`Chain::push`](queue::Chain::push), one swap of the tail |
//! | which line frees a lane? | `Scheduler::recycle`, in `sched/retire.rs` |
//! | what does `when` do if one color is busy? | [`enqueue`](lane::behavior::enqueue): a claim in each lane |
//! | where would a new counter go? | [`hooks`](crate::hooks), and a file of [`ext::observe`](crate::ext::observe) |

pub mod budget;
pub(crate) mod cell;
pub(crate) mod color;
pub(crate) mod contain;
pub(crate) mod counter;
pub(crate) mod entries;
pub(crate) mod join;
pub(crate) mod lane;
pub(crate) mod memory;
pub(crate) mod queue;
pub(crate) mod rng;
pub(crate) mod sched;
pub(crate) mod sites;
pub(crate) mod spawn;
pub(crate) mod table;
pub(crate) mod task;
pub(crate) mod wait;
