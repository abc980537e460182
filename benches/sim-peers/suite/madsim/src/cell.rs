//! A cell whose calls are turns of their own.

use std::sync::{Arc, Mutex};
use tokio::task::yield_now;

/// A color, of which the kernels only want unique ones.
#[derive(Clone, Copy, Debug)]
pub struct Color;

impl Color {
    /// A color.
    #[must_use]
    pub fn unique() -> Self {
        Self
    }
}

impl From<u64> for Color {
    fn from(_: u64) -> Self {
        Self
    }
}

/// A value that one task at a time uses.
#[derive(Debug)]
pub struct ColorCell<T>(Arc<Mutex<T>>);

impl<T> Clone for ColorCell<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: Send + 'static> ColorCell<T> {
    /// A cell.
    pub fn new(_color: impl Into<Color>, value: T) -> Self {
        Self(Arc::new(Mutex::new(value)))
    }

    /// Calls `f` with the value, in another turn.
    pub async fn call<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        yield_now().await;
        self.with(f)
    }

    /// Calls `f` with the value, in this turn.
    ///
    /// # Panics
    ///
    /// If a call has.
    pub fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut self.0.lock().expect("no call has panicked"))
    }

    /// Lets a task call `f`.
    pub fn post(&self, f: impl FnOnce(&mut T) + Send + 'static) {
        let this = self.clone();
        drop(madsim::task::spawn(async move { this.with(f) }));
    }
}
