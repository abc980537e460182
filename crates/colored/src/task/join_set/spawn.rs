//! The tasks and calls that a set takes in.

use super::super::{AbortHandle, LocalSet};
use super::JoinSet;
use crate::task;
use colored_core::Color;

impl<T: 'static> JoinSet<T> {
    /// Spawns a task under [`Color::DEFAULT`], as [`spawn`](crate::task::spawn()).
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    #[track_caller]
    pub fn spawn(&mut self, future: impl Future<Output = T> + Send + 'static) -> AbortHandle
    where
        T: Send,
    {
        let future = self.ending(future);
        self.insert(task::spawn(future))
    }

    /// Spawns a task under `color`, as [`spawn_colored`](crate::task::spawn_colored).
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    #[track_caller]
    pub fn spawn_colored(
        &mut self,
        color: impl Into<Color>,
        future: impl Future<Output = T> + Send + 'static,
    ) -> AbortHandle
    where
        T: Send,
    {
        let future = self.ending(future);
        self.insert(task::spawn_colored(color, future))
    }

    /// Spawns a task under a color of its own, as [`spawn_unique`](crate::task::spawn_unique).
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    #[track_caller]
    pub fn spawn_unique(&mut self, future: impl Future<Output = T> + Send + 'static) -> AbortHandle
    where
        T: Send,
    {
        let future = self.ending(future);
        self.insert(task::spawn_unique(future))
    }

    /// Runs `f` on a thread that may block, as [`spawn_blocking`](crate::task::spawn_blocking()). Aborting it has an effect only
    /// before it begins.
    ///
    /// # Panics
    ///
    /// As there.
    #[track_caller]
    pub fn spawn_blocking(&mut self, f: impl FnOnce() -> T + Send + 'static) -> AbortHandle
    where
        T: Send,
    {
        let f = self.ending_call(f);
        self.insert(task::spawn_blocking(f))
    }

    /// Spawns a future that need not be `Send` on this thread, as [`spawn_local`](crate::task::spawn_local()).
    ///
    /// # Panics
    ///
    /// As there.
    #[track_caller]
    pub fn spawn_local(&mut self, future: impl Future<Output = T> + 'static) -> AbortHandle {
        let future = self.ending(future);
        self.insert(task::spawn_local(future))
    }

    /// As [`spawn_local`](Self::spawn_local), in a [`LocalSet`] as well.
    ///
    /// # Panics
    ///
    /// As [`LocalSet::spawn_local`].
    #[track_caller]
    pub fn spawn_local_on(
        &mut self,
        future: impl Future<Output = T> + 'static,
        local_set: &LocalSet,
    ) -> AbortHandle {
        let future = self.ending(future);
        self.insert(local_set.spawn_local(future))
    }
}

/// Spawns each future by [`spawn`](JoinSet::spawn): serially, under the default color.
impl<T: Send + 'static, F: Future<Output = T> + Send + 'static> Extend<F> for JoinSet<T> {
    fn extend<I: IntoIterator<Item = F>>(&mut self, futures: I) {
        futures.into_iter().for_each(|future| drop(self.spawn(future)));
    }
}

/// As [`extend`](Extend::extend), in a new set.
impl<T: Send + 'static, F: Future<Output = T> + Send + 'static> FromIterator<F> for JoinSet<T> {
    fn from_iter<I: IntoIterator<Item = F>>(futures: I) -> Self {
        let mut set = Self::new();
        set.extend(futures);
        set
    }
}
