//! The scheduler of the `colored` runtime, with no operating system in it.
//!
pub mod budget;
mod cell;
mod color;
mod contain;
mod lane;
mod memory;
#[cfg(all(test, colored_loom))]
mod model;
mod queue;
mod rng;
mod sched;
mod spawn;
mod sync;
mod table;
mod task;

pub use self::cell::{AccessError, Call, ColorCell};
pub use self::color::Color;
pub use self::contain::contain;
pub use self::sched::{Entered, Handle, Nested, Park, Scheduler, Step, Worker, WorkerMetrics};
pub use self::spawn::{
    AbortHandle, Hop, Job, JoinHandle, YieldNow, blocking, current_task, hop, spawn_here,
    spawn_local, yield_now,
};
pub use self::task::{Id, JoinError};
