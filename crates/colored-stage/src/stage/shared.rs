//! The state that the handles and the tasks of a stage share.

use super::metrics::Metrics;
use super::partition::Partition;
use std::any::type_name;
use std::panic::Location;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Notify;

/// The function from an event to its partition. It is foreign code, so callers check its result.
pub(super) type Route<E> = Box<dyn Fn(&E) -> usize + Send + Sync>;

pub(super) struct Shared<E> {
    pub(super) partitions: Box<[Partition<E>]>,
    /// None if all events belong to the first.
    route: Option<Route<E>>,
    /// Where it was built: its name in messages.
    site: &'static Location<'static>,
    /// Partitions whose task lives.
    live: AtomicUsize,
    drained: Notify,
}

impl<E> Shared<E> {
    pub(super) fn new(
        partitions: Box<[Partition<E>]>,
        route: Option<Route<E>>,
        site: &'static Location<'static>,
    ) -> Self {
        let live = AtomicUsize::new(partitions.len());
        Self { partitions, route, site, live, drained: Notify::new() }
    }

    /// The partition of an event.
    ///
    /// # Panics
    ///
    /// If there is no such partition.
    #[inline]
    #[track_caller]
    pub(super) fn index_of(&self, event: &E) -> usize {
        let Some(route) = &self.route else { return 0 };
        let index = route(event);
        if index >= self.partitions.len() {
            self.no_such_partition(index);
        }
        index
    }

    #[cold]
    #[track_caller]
    fn no_such_partition(&self, index: usize) -> ! {
        panic!(
            "`parallel_by` gave partition {index} for an event `{}`, but the stage built at {} has {} \
             partitions, counted from 0",
            type_name::<E>(),
            self.site,
            self.partitions.len()
        )
    }

    pub(super) fn close(&self) {
        self.partitions.iter().for_each(Partition::close);
    }

    pub(super) fn partition_has_ended(&self) {
        // Ordering: all that the handlers did happens before the return of `drained`: Release here,
        // Acquire there.
        if self.live.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.drained.notify_waiters();
        }
    }

    pub(super) async fn drained(&self) {
        let mut notified = pin!(self.drained.notified());
        // Waits from here on; the count is looked at afterwards.
        notified.as_mut().enable();
        // Ordering: as in `partition_has_ended`.
        if self.live.load(Ordering::Acquire) > 0 {
            notified.await;
        }
    }

    pub(super) fn metrics(&self) -> Metrics {
        Metrics::of(self.partitions.iter().map(Partition::counts))
    }
}
