//! Channels, locks and signals between tasks: tokio's, which need no runtime.
//!
//! They work under every color and between colors. What they do not know is our cooperative budget: a
//! loop over a channel that is never empty returns from its poll only if it says
//! [`consume_budget`](crate::task::consume_budget) now and then.
//!
//! State of one color needs none of the locks: see [`ColorCell`](crate::ColorCell).

pub use tokio::sync::{
    AcquireError, Barrier, BarrierWaitResult, MappedMutexGuard, Mutex, MutexGuard, Notify,
    OnceCell, OwnedMappedMutexGuard, OwnedMutexGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard,
    OwnedSemaphorePermit, RwLock, RwLockReadGuard, RwLockWriteGuard, Semaphore, SemaphorePermit,
    SetError, SetOnce, TryAcquireError, TryLockError, broadcast, mpsc, oneshot, watch,
};
