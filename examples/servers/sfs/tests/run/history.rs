//! Whether the reads and writes of several clients could have happened one after another (linearizability, Herlihy and Wing
//! 1990; the search by Wing and Gong 1993): so no read after the reply to a write has older data.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Operation {
    Write(u64),
    /// What it has returned.
    Read(u64),
}

#[derive(Clone, Copy, Debug)]
struct Call {
    operation: Operation,
    begin: usize,
    /// `None` if nobody knows whether it takes effect.
    end: Option<usize>,
}

#[derive(Debug, Default)]
struct Log {
    time: usize,
    calls: Vec<Call>,
}

/// The calls on one file, whose first value is 0.
#[derive(Clone, Debug, Default)]
pub(crate) struct History(Arc<Mutex<Log>>);

/// A write that has begun.
#[derive(Debug)]
pub(crate) struct Begun(usize);

impl History {
    pub(crate) fn clear(&self) {
        *self.0.lock().unwrap() = Log::default();
    }

    /// The present time, which rises with each call.
    pub(crate) fn now(&self) -> usize {
        let mut log = self.0.lock().unwrap();
        log.time += 1;
        log.time
    }

    /// A write begins. If its client never hears of its end, it takes effect at some time, or never.
    pub(crate) fn begin_write(&self, value: u64) -> Begun {
        let begin = self.now();
        let calls = &mut self.0.lock().unwrap().calls;
        calls.push(Call { operation: Operation::Write(value), begin, end: None });
        Begun(calls.len() - 1)
    }

    pub(crate) fn end_write(&self, write: &Begun) {
        let end = self.now();
        self.0.lock().unwrap().calls[write.0].end = Some(end);
    }

    pub(crate) fn note_read(&self, value: u64, begin: usize) {
        let end = Some(self.now());
        self.0.lock().unwrap().calls.push(Call { operation: Operation::Read(value), begin, end });
    }

    pub(crate) fn len(&self) -> usize {
        self.0.lock().unwrap().calls.len()
    }

    /// Whether there is an order of the calls, each at one time between its begin and its end, in which each read returns what
    /// the last write before it wrote.
    pub(crate) fn is_linearizable(&self) -> bool {
        let calls = self.0.lock().unwrap().calls.clone();
        is_linearizable(&calls)
    }

    /// As [`is_linearizable`](Self::is_linearizable), without the reads that have seen a write before its reply: a server that
    /// crashes then may lose the write again.
    pub(crate) fn is_linearizable_but_for_early_reads(&self) -> bool {
        let mut calls = self.0.lock().unwrap().calls.clone();
        let ends: BTreeMap<u64, Option<usize>> = calls
            .iter()
            .filter_map(|call| match call.operation {
                Operation::Write(value) => Some((value, call.end)),
                Operation::Read(_) => None,
            })
            .collect();
        calls.retain(|call| match call.operation {
            Operation::Write(_) | Operation::Read(0) => true,
            Operation::Read(value) => {
                let end = ends.get(&value).expect("somebody has written it");
                end.is_some_and(|end| end < call.end.expect("a read that is noted has ended"))
            }
        });
        is_linearizable(&calls)
    }
}

fn is_linearizable(calls: &[Call]) -> bool {
    assert!(calls.len() <= 128, "a bit for each call");
    search(calls, 0, 0, &mut BTreeSet::new())
}

/// Whether the calls that are not `done` can follow one another, from this value on.
fn search(calls: &[Call], done: u128, value: u64, seen: &mut BTreeSet<(u128, u64)>) -> bool {
    let left = || (0..calls.len()).filter(|call| done >> call & 1 == 0);
    if left().all(|call| calls[call].end.is_none()) {
        return true;
    }
    if !seen.insert((done, value)) {
        return false;
    }
    // A call that begins behind the end of another one that is left comes later.
    let first_end = left().filter_map(|call| calls[call].end).min().unwrap_or(usize::MAX);
    left().filter(|call| calls[*call].begin < first_end).any(|call| {
        let next = match calls[call].operation {
            Operation::Write(new) => Some(new),
            Operation::Read(seen) => (seen == value).then_some(value),
        };
        next.is_some_and(|next| search(calls, done | 1 << call, next, seen))
    })
}

#[test]
fn a_read_of_older_data_is_found() {
    let history = History::default();
    for value in [1, 2] {
        let write = history.begin_write(value);
        history.end_write(&write);
    }
    let begin = history.now();
    history.note_read(2, begin);
    assert!(history.is_linearizable());
    let begin = history.now();
    history.note_read(1, begin);
    assert!(!history.is_linearizable());
}

#[test]
fn a_write_without_an_end_takes_effect_later_or_never() {
    let history = History::default();
    let _lost = history.begin_write(1);
    for (value, is_right) in [(0, true), (1, true), (0, false)] {
        let begin = history.now();
        history.note_read(value, begin);
        assert_eq!(history.is_linearizable(), is_right);
    }
}
