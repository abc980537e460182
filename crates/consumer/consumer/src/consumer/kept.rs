//! A record while the consumer has it.

use crate::source::{Record, size};
use bytes::Bytes;
use std::sync::Arc;
use std::{mem, slice};

/// Names with values.
type Headers = Vec<(String, Option<Bytes>)>;

/// A record without what all of its partition have alike: so many are in memory at once that each byte counts.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) offset: u64,
    timestamp: i64,
    pub(crate) key: Option<Bytes>,
    value: Option<Bytes>,
    /// None if there are none.
    #[allow(clippy::box_collection, reason = "most have none, and it is two words less")]
    headers: Option<Box<Headers>>,
}

impl Kept {
    #[inline]
    pub(crate) fn new(record: Record) -> Kept {
        let Record { offset, timestamp, key, value, headers, .. } = record;
        let headers = if headers.is_empty() { None } else { Some(Box::new(headers)) };
        Kept { offset, timestamp, key, value, headers }
    }

    /// A copy for what the user wrote.
    #[inline]
    pub(crate) fn record(&self, topic: &Arc<str>, partition: u32) -> Record {
        let Kept { offset, timestamp, key, value, headers } = self;
        let (topic, key, value) = (Arc::clone(topic), key.clone(), value.clone());
        let headers = headers.as_deref().cloned().unwrap_or_default();
        let (offset, timestamp) = (*offset, *timestamp);
        Record { topic, partition, offset, timestamp, key, value, headers }
    }

    /// As [`Record::size`].
    #[inline]
    pub(crate) fn size(&self) -> usize {
        let headers = self.headers.as_ref().map_or(&[][..], |headers| headers);
        size(&self.key, &self.value, headers)
    }

    #[cfg(test)]
    pub(crate) fn empty(offset: u64) -> Kept {
        Kept { offset, timestamp: 0, key: None, value: None, headers: None }
    }
}

/// The records of a run: no allocation if it is one, as it is where many runs wait.
#[derive(Debug)]
pub(crate) enum Records {
    One(Kept),
    Many(Vec<Kept>),
}

impl Records {
    #[inline]
    pub(crate) fn as_slice(&self) -> &[Kept] {
        match self {
            Records::One(record) => slice::from_ref(record),
            Records::Many(records) => records,
        }
    }

    /// Takes all but the first records out.
    pub(crate) fn split_off(&mut self, first: usize) -> Vec<Kept> {
        match self {
            Records::Many(records) => records.split_off(first),
            Records::One(_) if first > 0 => Vec::new(),
            Records::One(_) => match mem::take(self) {
                Records::One(record) => vec![record],
                Records::Many(records) => records,
            },
        }
    }
}

impl Default for Records {
    fn default() -> Records {
        Records::Many(Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::super::lane::Lane;
    use super::super::run::{Letter, Run};
    use super::*;

    /// What is in memory for each record whose handler waits, and for each report that is not heard.
    #[test]
    fn a_record_in_flight_is_small() {
        let sizes = [size_of::<Kept>(), size_of::<Run>(), size_of::<Lane>(), size_of::<Letter>()];
        let most = [88, 136, 152, 48];
        assert!(sizes.iter().zip(most).all(|(size, most)| *size <= most), "{sizes:?}");
    }
}
