//! [`OnceCell`].

use super::waiting::Wait;
use super::wrapper::{convert, debug, deref};
use crate::wait_reason::Kind;
use tokio::sync;

/// A value that the first task that wants it makes: [`tokio::sync::OnceCell`].
#[derive(Clone, PartialEq, Eq)]
pub struct OnceCell<T>(sync::OnceCell<T>);

deref!([T] OnceCell<T> => sync::OnceCell<T>);
convert!([T] OnceCell<T> => sync::OnceCell<T>);
debug!([T: std::fmt::Debug] OnceCell<T>);

impl<T> OnceCell<T> {
    /// An empty cell.
    #[must_use]
    pub fn new() -> Self {
        Self(sync::OnceCell::new())
    }

    /// A cell that may have a value.
    #[must_use]
    pub fn new_with(value: Option<T>) -> Self {
        Self(sync::OnceCell::new_with(value))
    }

    /// As [`new`](Self::new), for a `static`.
    #[must_use]
    pub const fn const_new() -> Self {
        Self(sync::OnceCell::const_new())
    }

    /// A cell that has a value, for a `static`.
    #[must_use]
    pub const fn const_new_with(value: T) -> Self {
        Self(sync::OnceCell::const_new_with(value))
    }

    /// Returns the value, which `make` makes if there is none and no other task is making it; else waits for that one.
    ///
    /// Cancel safe if `make` is: a task that is making the value and is dropped leaves this to the next one.
    #[track_caller]
    pub fn get_or_init<F, Made>(&self, make: F) -> impl Future<Output = &T>
    where
        F: FnOnce() -> Made,
        Made: Future<Output = T>,
    {
        Wait::around(Kind::Notified).until(self.0.get_or_init(make))
    }

    /// As [`get_or_init`](Self::get_or_init), and as cancel safe, if `make` can fail.
    ///
    /// # Errors
    ///
    /// What `make` returns. The cell is empty then, and the next task makes the value.
    #[track_caller]
    pub fn get_or_try_init<E, F, Made>(&self, make: F) -> impl Future<Output = Result<&T, E>>
    where
        F: FnOnce() -> Made,
        Made: Future<Output = Result<T, E>>,
    {
        Wait::around(Kind::Notified).until(self.0.get_or_try_init(make))
    }

    /// The value, if there is one.
    pub fn into_inner(self) -> Option<T> {
        self.0.into_inner()
    }
}

impl<T> Default for OnceCell<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> From<T> for OnceCell<T> {
    fn from(value: T) -> Self {
        Self(value.into())
    }
}
