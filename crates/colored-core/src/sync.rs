//! The only source of concurrency primitives: atomics, cells, locks and deques.
//!
//! The rest of the crate names the types of this module and never `std::sync` or `loom`, so one
//! source is both the product and the model. (Two counters that only have to count, in `color.rs`
//! and `task/id.rs`, are `std`'s.) The switch is the cfg `colored_loom` alone: gating it
//! on `test` as well would leave integration tests with a model that checks nothing.

#[cfg_attr(colored_loom, path = "sync/deque_model.rs")]
mod deque;
#[cfg(colored_loom)]
#[path = "sync/model.rs"]
mod imp;
#[cfg(not(colored_loom))]
#[path = "sync/real.rs"]
mod imp;

pub(crate) use self::deque::{Deque, Injector, Stealer};
pub use self::imp::{Arc, AtomicU64, AtomicUsize, Mutex, MutexGuard, Ordering};
pub(crate) use self::imp::{
    AtomicBool, AtomicPtr, AtomicU16, AtomicU32, Condvar, ThreadId, UnsafeCell, arc_dyn, fence,
    spin_loop, this_thread, thread_slot,
};
