//! What a program needs that spawns tasks under colors, posts and calls: tasks, lanes, workers and cells.
//!
//! | question | answer | file |
//! |---|---|---|
//! | where does a steal decide? | [`Worker::steal`](sched::worker::Worker::steal), which [`Worker::find`](sched::worker::Worker::find) calls last | `sched/worker/find.rs` |
//! | who may poll? | who has a [`TaskTurn`](task::TaskTurn): the thread that runs a slice ([`ReadyLane::run`](lane::ReadyLane::run)), for the head of the lane | `task/turn.rs`, `lane/turn.rs` |
//! | what happens to a future when its runtime shuts down? | [`Scheduler::shut_down`](sched::Scheduler::shut_down) wakes it, and [`TaskTurn::run`](task::TaskTurn::run) drops it in its turn, on its color | `sched/shutdown.rs`, `task/turn.rs` |
//! | where is first in, first out made? | [`Chain::push`](chain::Chain::push): one swap of the tail | `chain.rs` |
//! | which line frees a lane? | the last of [`Scheduler::recycle`](sched::Scheduler::recycle) | `sched.rs` |
//! | what does `when` do if one color is busy? | [`enqueue`](lane::behavior::enqueue): it puts a claim in each lane, and waits for all | `lane/behavior.rs` |
//! | where would a new counter go? | a call in [`hooks`](crate::hooks), and the counter in [`ext::observe`](crate::ext::observe) | `hooks.rs`, `ext/observe/` |

pub mod budget;
pub(crate) mod cell;
pub(crate) mod chain;
pub(crate) mod color;
pub(crate) mod lane;
pub(crate) mod memory;
pub(crate) mod sched;
pub(crate) mod spawn;
pub(crate) mod task;
pub(crate) mod wait;
