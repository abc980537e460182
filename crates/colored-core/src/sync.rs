//! The only source of concurrency primitives: atomics, cells and locks.
//!
//! The rest of the crate names the types of this module and never `std::sync` or `loom`, so one
//! source is both the product and the model. (Two counters that only have to count, in `color.rs`
//! and `task/id.rs`, are `std`'s.) The switch is the cfg `colored_loom` alone: gating it
//! on `test` as well would leave integration tests with a model that checks nothing.
//!
//! With the cfg `colored_watched`, the types are `std`'s and tell a `watch::Watcher` of each access: the
//! program that runs the scheduler on many virtual cores charges the time of each.

#[cfg(colored_loom)]
#[path = "sync/model.rs"]
mod imp;
#[cfg(colored_watched)]
#[path = "sync/watched.rs"]
mod imp;
#[cfg(not(any(colored_loom, colored_watched)))]
#[path = "sync/real.rs"]
mod imp;
#[cfg(colored_watched)]
pub mod watch;

#[cfg(not(any(colored_loom, colored_sanitize)))]
pub(crate) use self::imp::touch;
pub use self::imp::{Arc, AtomicU64, AtomicUsize, Mutex, MutexGuard, Ordering};
pub(crate) use self::imp::{
    AtomicBool, AtomicPtr, AtomicU16, AtomicU32, Condvar, ThreadId, UnsafeCell, arc_dyn, fence,
    spin_loop, this_thread, thread_slot,
};

/// Atomics that the models do not see.
#[cfg_attr(colored_watched, path = "sync/watched/unmodelled.rs")]
pub(crate) mod unmodelled;
