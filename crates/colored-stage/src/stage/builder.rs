//! [`Builder`]: the settings of a stage.

use super::Stage;
use super::batching::Batch;
use super::handler::Handler;
use super::partition::Partition;
use super::run;
use super::shared::{Route, Shared};
use crate::wall;
use colored_core::port::Finish;
use colored_core::{Color, SchedulerHandle};
use std::fmt;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash};
use std::panic::Location;
use std::sync::Arc;

const CAPACITY: usize = 1024;
const BATCH: usize = 64;
const PARTITIONS: usize = 65_536;

/// The settings of a stage.
#[must_use = "a stage begins with `build`"]
pub struct Builder<E> {
    capacity: usize,
    color: Option<Color>,
    partitions: usize,
    route: Option<Route<E>>,
    batch: Batch,
}

impl<E: Send + 'static> Builder<E> {
    /// A serial stage under a color of its own, with room for 1024 events and batches of up to 64.
    pub fn new() -> Self {
        let batch = Batch::Fixed(BATCH);
        Self { capacity: CAPACITY, color: None, partitions: 1, route: None, batch }
    }

    /// How many accepted events may wait for a batch, from 1. Each partition has an equal share of this
    /// capacity, rounded up, so that none takes the room of others.
    pub fn capacity(mut self, events: usize) -> Self {
        self.capacity = events;
        self
    }

    /// Handles events under this color in place of a fresh one, serially with all other work of the
    /// color: state of the color needs no lock. Partitions of one color overlap only while their
    /// handlers wait.
    pub fn color(mut self, color: impl Into<Color>) -> Self {
        self.color = Some(color.into());
        self
    }

    /// Handles events in up to `partitions` batches at once, from 1 to 65536, each partition under a
    /// fresh color unless [`color`](Self::color) names one. Events with equal keys go to one partition,
    /// and keep their order. The sender calls `key` once for each event, in its call of
    /// [`send`](Stage::send) or [`try_send`](Stage::try_send); a panic of `key` is a panic of that
    /// call, and loses the event.
    ///
    /// Keys are hashed, in the same way in every run, so with few keys some partitions get no work.
    /// With as many keys as partitions, about a third of the partitions has none on average; with four
    /// keys for each partition, one in fifty. To choose the partitions yourself, use
    /// [`parallel_by`](Self::parallel_by).
    pub fn parallel<K, F>(self, partitions: usize, key: F) -> Self
    where
        K: Hash,
        F: Fn(&E) -> K + Send + Sync + 'static,
    {
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        let builder = self.parallel_by(partitions, move |event| {
            // The high bits of the product: every part of the hash counts, and nothing is divided.
            let scaled = u128::from(hasher.hash_one(key(event))) * partitions as u128;
            (scaled >> 64) as usize
        });
        // One partition needs no key.
        Self { route: builder.route.filter(|_| partitions != 1), ..builder }
    }

    /// As [`parallel`](Self::parallel), but `index` returns the partition of an event, from 0 to
    /// `partitions - 1`. Events of one partition keep their order. The sender calls `index` as it calls
    /// the key there, and a comparison checks the result.
    ///
    /// If `index` returns another number, the [`send`](Stage::send) or [`try_send`](Stage::try_send)
    /// drops the event and panics; the message names the number, the partitions, and where the stage
    /// was built. The stage goes on as if the event had not been sent.
    ///
    /// ```
    /// # use colored_core::{Color, Park, Scheduler, Step};
    /// # use colored_stage as colored;
    /// use colored::stage::{Builder, each};
    ///
    /// # struct NoPark;
    /// # impl Park for NoPark { fn unpark(&self, _: usize) {} fn now(&self) -> u64 { 0 } }
    /// # let (handle, mut workers) = Scheduler::with_workers(1, 1, Box::new(NoPark));
    /// # let mut main = handle.spawn_colored(Color::DEFAULT, async {
    /// // All four shards have work; a hash of their numbers might leave some without.
    /// let shards = Builder::new()
    ///     .parallel_by(4, |(shard, _): &(usize, &str)| *shard)
    ///     .build_with(|shard| each(move |(to, _)| assert_eq!(to, shard)));
    /// for shard in 0..4 {
    ///     shards.send((shard, "a row")).await.unwrap();
    /// }
    /// # shards.close();
    /// # shards.drained().await;
    /// # assert_eq!(shards.metrics().handled, 4);
    /// # });
    /// # while workers[0].step() == Step::Ran {}
    /// # assert!(main.is_finished());
    /// ```
    pub fn parallel_by<F>(mut self, partitions: usize, index: F) -> Self
    where
        F: Fn(&E) -> usize + Send + Sync + 'static,
    {
        self.partitions = partitions;
        self.route = Some(Box::new(index));
        self
    }

    /// The largest number of events in a batch.
    pub fn batch(mut self, batch: Batch) -> Self {
        self.batch = batch;
        self
    }

    /// Starts the stage, in the runtime that the calling thread works for. Each partition gets a clone
    /// of the handler.
    ///
    /// # Panics
    ///
    /// As [`build_with`](Self::build_with).
    #[track_caller]
    pub fn build<H: Handler<E> + Clone>(self, handler: H) -> Stage<E> {
        self.build_with(|_| handler.clone())
    }

    /// As [`build`](Self::build), but `make` makes the handler of each partition from the partition's
    /// number.
    ///
    /// # Panics
    ///
    /// Outside a runtime; and if a number is out of range.
    #[track_caller]
    pub fn build_with<H: Handler<E>>(self, make: impl FnMut(usize) -> H) -> Stage<E> {
        self.assert_in_range();
        let Some(handle) = SchedulerHandle::with_current(|handle| handle.cloned()) else {
            panic!(
                "`stage::Builder::build` outside a runtime: call it inside one, or while the guard \
                 of `Handle::enter` lives"
            )
        };
        let (room, origin) = (self.capacity.div_ceil(self.partitions), wall::now());
        let partitions = (0..self.partitions).map(|_| Partition::new(room, self.batch, origin));
        let shared = Shared::new(partitions.collect(), self.route, Location::caller());
        let shared = Arc::new(shared);
        let tasks = (0..self.partitions).map(make).enumerate();
        // All handlers exist before the first task begins: a panic of `make` leaves nothing behind.
        let tasks: Vec<_> =
            tasks.map(|(index, handler)| run::task(&shared, index, handler)).collect();
        let part: Arc<dyn Finish> = Arc::clone(&shared) as _;
        handle.scheduler().finish_first(Arc::downgrade(&part));
        for task in tasks {
            drop(match self.color {
                Some(color) => handle.spawn_colored(color, task),
                None => handle.spawn_unique(task),
            });
        }
        Stage::new(shared)
    }

    #[track_caller]
    fn assert_in_range(&self) {
        let (partitions, capacity) = (self.partitions, self.capacity);
        assert!(
            (1..=PARTITIONS).contains(&partitions),
            "a stage with {partitions} partitions: it must be from 1 to {PARTITIONS}"
        );
        assert!(capacity > 0, "a stage with capacity 0: it must be 1 or more");
        let (Batch::Fixed(size) | Batch::Adaptive { max: size }) = self.batch;
        assert!(size > 0, "a stage with batches of 0 events: it must be 1 or more");
    }
}

impl<E: Send + 'static> Default for Builder<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E> fmt::Debug for Builder<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("capacity", &self.capacity)
            .field("color", &self.color)
            .field("partitions", &self.partitions)
            .field("batch", &self.batch)
            .finish_non_exhaustive()
    }
}
