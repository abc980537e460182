//! [`ThreadSettings`]: the stack size and the hooks of the threads of a runtime.

use colored_core::contain;
use std::fmt;
use std::sync::Arc;
use std::thread;

/// A function that a thread calls when it begins, or when it ends.
pub(crate) type Hook = Arc<dyn Fn() + Send + Sync>;

/// The settings that all threads of a runtime share.
#[derive(Clone, Default)]
pub(crate) struct ThreadSettings {
    /// In bytes; none is the standard library's default.
    pub(crate) stack_size: Option<usize>,
    pub(crate) on_start: Option<Hook>,
    pub(crate) on_stop: Option<Hook>,
}

impl ThreadSettings {
    /// A thread that is about to be spawned.
    pub(crate) fn thread(&self, name: String) -> thread::Builder {
        let thread = thread::Builder::new().name(name);
        match self.stack_size {
            Some(bytes) => thread.stack_size(bytes),
            None => thread,
        }
    }

    /// The body of a thread with the hooks before and after it. The second hook runs also if the body
    /// panics; neither runs if this is never run.
    pub(crate) fn around<F>(&self, body: F) -> impl FnOnce() + Send + use<F>
    where
        F: FnOnce() + Send + 'static,
    {
        let (on_start, on_stop) = (self.on_start.clone(), self.on_stop.clone());
        move || {
            let _last = Last(on_stop);
            if let Some(hook) = on_start {
                contain(|| hook());
            }
            body();
        }
    }
}

/// Calls the hook when it is dropped.
struct Last(Option<Hook>);

impl Drop for Last {
    fn drop(&mut self) {
        if let Some(hook) = self.0.take() {
            contain(|| hook());
        }
    }
}

impl fmt::Debug for ThreadSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadSettings")
            .field("stack_size", &self.stack_size)
            .field("on_start", &self.on_start.is_some())
            .field("on_stop", &self.on_stop.is_some())
            .finish()
    }
}
