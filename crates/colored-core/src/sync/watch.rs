//! The port to a program that watches the accesses to memory that threads share.

use std::sync::OnceLock;

/// The kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A load.
    Read,
    /// A store.
    Write,
    /// An atomic read-modify-write.
    Exchange,
}

/// Hears of each access before it takes place, on the thread that accesses. It may keep the thread waiting meanwhile, but
/// must not call the scheduler.
///
/// `place` is the source file of the access, or the name of a queue.
pub trait Watcher: Sync {
    /// An access to the line of this address.
    fn access(&self, address: usize, access: Access, place: &'static str);

    /// A sequentially consistent fence.
    fn fence(&self, place: &'static str);

    /// The thread waits for another one in a loop.
    fn spin(&self, place: &'static str);

    /// The thread has found the lock of this address taken. It tries again when this returns.
    fn wait_for_lock(&self, address: usize, place: &'static str);

    /// The thread has given the lock of this address back.
    fn record_unlock(&self, address: usize, place: &'static str);
}

static WATCHER: OnceLock<&'static dyn Watcher> = OnceLock::new();

/// Sets the watcher of the process. The first one stays.
pub fn set_watcher(watcher: &'static dyn Watcher) {
    let _ = WATCHER.set(watcher);
}

#[inline]
pub(crate) fn tell(f: impl FnOnce(&dyn Watcher)) {
    if let Some(watcher) = WATCHER.get() {
        f(*watcher);
    }
}
