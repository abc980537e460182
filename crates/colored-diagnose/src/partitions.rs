//! [`Partition`]: a partition of a log that a consumer on the runtime owns, and the key that holds it back.
//!
//! A consumer registers a [`PartitionSource`], and a [`Report`](crate::report::Report) and the socket for `colored-top` read
//! it. No thread of the diagnosis waits for the consumer: it reads what the consumer last told, and asks for more.

use crate::json::Object;
use colored_core::Id;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

/// A partition of a log that a consumer owns, as the consumer last told.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Partition {
    /// Topic and number, as `orders/3`.
    pub name: String,
    /// The generation in which the consumer owns it.
    pub generation: u64,
    /// Records between the first unfinished one and the end of the log.
    pub lag: u64,
    /// Records that were read and are not done.
    pub in_flight: usize,
    /// Records that are done above the low-water mark: above the first one that is not.
    pub done_above: usize,
    /// Calls of the handler that were repeated.
    pub retries: u64,
    /// Records that were given up.
    pub dead_letters: u64,
    /// Whether the consumer reads nothing from it, because a bound is reached.
    pub is_paused: bool,
    /// The record at the low-water mark; none if nothing is in flight.
    pub first: Option<FirstRecord>,
}

/// The record that holds a partition back.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct FirstRecord {
    /// The key, for people.
    pub key: String,
    /// The offset.
    pub offset: u64,
    /// How long the low-water mark has stood there.
    pub stood: Duration,
    /// How often the handler has failed with it.
    pub attempts: u32,
    /// What it waits for. If that is its handler: also what the task of the handler does or waits for, as in a
    /// [`Dump`](crate::dump::Dump), unless the mark has stood for less than 10 ms, or there are too many tasks.
    pub waits_for: String,
    /// The task of its handler, if the handler runs.
    pub task: Option<Id>,
}

/// A consumer, for the diagnosis.
#[doc(hidden)]
pub trait PartitionSource: Send + Sync {
    /// Asks for the present state, and does not wait for it.
    fn refresh(&self);

    /// The state that the latest refresh found.
    fn latest(&self) -> Vec<Partition>;
}

/// The consumers on a runtime.
#[derive(Default)]
pub(crate) struct Sources(Mutex<Vec<Weak<dyn PartitionSource>>>);

impl Sources {
    /// Reads this source until it is dropped.
    pub(crate) fn add(&self, source: &Arc<dyn PartitionSource>) {
        let mut sources = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sources.retain(|source| source.strong_count() > 0);
        sources.push(Arc::downgrade(source));
    }

    /// Asks all sources.
    pub(crate) fn refresh(&self) {
        self.all().iter().for_each(|source| source.refresh());
    }

    /// The partitions of all sources, by name.
    pub(crate) fn latest(&self) -> Vec<Partition> {
        let mut all: Vec<_> = self.all().iter().flat_map(|source| source.latest()).collect();
        all.sort_by(|one, other| one.name.cmp(&other.name));
        all
    }

    /// A source that is dropped while its strong reference is here is dropped without the lock.
    fn all(&self) -> Vec<Arc<dyn PartitionSource>> {
        let sources = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sources.iter().filter_map(Weak::upgrade).collect()
    }
}

impl Partition {
    /// The task of the handler that holds it back.
    pub(crate) fn task(&self) -> Option<Id> {
        self.first.as_ref()?.task
    }

    /// Whether its low-water mark has stood for so long at least.
    pub(crate) fn has_stood(&self, time: Duration) -> bool {
        self.first.as_ref().is_some_and(|first| first.stood >= time)
    }

    /// The fields of a JSON object.
    pub(crate) fn write(&self, object: &mut Object<'_>) {
        object.field("partition", &self.name);
        object.field("generation", self.generation);
        object.field("lag", self.lag);
        object.field("in_flight", self.in_flight);
        object.field("done_above", self.done_above);
        object.field("retries", self.retries);
        object.field("dead_letters", self.dead_letters);
        object.field("paused", self.is_paused);
        match &self.first {
            Some(first) => object.object("first", |object| {
                object.field("key", &first.key);
                object.field("offset", first.offset);
                object.field("seconds", first.stood);
                object.field("attempts", u64::from(first.attempts));
                object.field("waits_for", &first.waits_for);
            }),
            None => object.field("first", None::<u64>),
        }
    }
}

impl fmt::Display for FirstRecord {
    /// The key, the offset, the failed attempts, and what it waits for.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, offset, attempts, waits_for, .. } = self;
        write!(f, "{key}, offset {offset}")?;
        match attempts {
            0 => {}
            1 => f.write_str(", which has failed once")?,
            more => write!(f, ", which has failed {more} times")?,
        }
        write!(f, ", waits for {waits_for}")
    }
}

#[cfg(test)]
mod tests {
    use super::{FirstRecord, Partition, PartitionSource, Sources};
    use std::sync::Arc;
    use std::time::Duration;

    struct Fixed(&'static str);

    impl PartitionSource for Fixed {
        fn refresh(&self) {}

        fn latest(&self) -> Vec<Partition> {
            vec![Partition { name: self.0.to_owned(), ..Partition::default() }]
        }
    }

    #[test]
    fn a_source_is_read_until_it_is_dropped() {
        let sources = Sources::default();
        let [one, other]: [Arc<dyn PartitionSource>; 2] =
            [Arc::new(Fixed("t/1")), Arc::new(Fixed("t/0"))];
        sources.add(&one);
        sources.add(&other);
        let names = || sources.latest().into_iter().map(|of| of.name).collect::<Vec<_>>();
        assert_eq!(names(), ["t/0", "t/1"]);
        drop(other);
        assert_eq!(names(), ["t/1"]);
    }

    #[test]
    fn the_first_record_is_named_with_its_attempts() {
        let mut first = FirstRecord {
            key: "key \"k7\"".into(),
            offset: 12,
            stood: Duration::from_secs(3),
            waits_for: "its next attempt".into(),
            ..FirstRecord::default()
        };
        assert_eq!(first.to_string(), "key \"k7\", offset 12, waits for its next attempt");
        first.attempts = 2;
        let text = "key \"k7\", offset 12, which has failed 2 times, waits for its next attempt";
        assert_eq!(first.to_string(), text);
    }
}
