//! What the models have to see: cells, thread-locals, and the locks and threads of the double of the switch. They are
//! `std`'s, or loom's where the cfg `colored_loom` is set, which is the only switch.

#[cfg(colored_loom)]
#[path = "sync/model.rs"]
mod imp;
#[cfg(not(colored_loom))]
#[path = "sync/real.rs"]
mod imp;

#[cfg(any(test, miri, colored_loom))]
pub(crate) use self::imp::{Arc, Condvar, JoinHandle, Mutex, spawn};
pub(crate) use self::imp::{Cell, thread_slot};
