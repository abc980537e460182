//! Whether a history of a register is linearizable (Herlihy and Wing 1990; the search by Wing and Gong 1993).

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// The calls of all clients.
#[derive(Clone, Default)]
pub(crate) struct History(Arc<Mutex<(usize, Vec<Call>)>>);

impl History {
    /// The present time: it rises with each call of this function.
    pub(crate) fn now(&self) -> usize {
        let mut history = self.0.lock().unwrap();
        history.0 += 1;
        history.0
    }

    /// A call that began then, and has ended now, or will maybe take effect some time.
    pub(crate) fn note(&self, operation: Operation, begin: usize, has_ended: bool) {
        let end = has_ended.then(|| self.now());
        self.0.lock().unwrap().1.push(Call { operation, begin, end });
    }

    /// Whether there is an order of the calls, each at one time between its begin and its end, in which each read returns what
    /// the last write before it wrote, or 0.
    pub(crate) fn is_linearizable(&self) -> bool {
        let calls = self.0.lock().unwrap().1.clone();
        assert!(calls.len() <= 64, "a bit for each call");
        search(&calls, 0, 0, &mut HashSet::new())
    }
}

/// Whether the calls that are not `done` can follow one another, from this value of the register on.
fn search(calls: &[Call], done: u64, value: u64, seen: &mut HashSet<(u64, u64)>) -> bool {
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

#[cfg(test)]
mod tests {
    use super::{History, Operation};

    #[test]
    fn a_read_of_an_old_value_is_found() {
        let history = History::default();
        for value in [1, 2] {
            let begin = history.now();
            history.note(Operation::Write(value), begin, true);
        }
        let begin = history.now();
        history.note(Operation::Read(2), begin, true);
        assert!(history.is_linearizable());
        let begin = history.now();
        history.note(Operation::Read(1), begin, true);
        assert!(!history.is_linearizable());
    }

    #[test]
    fn calls_at_the_same_time_are_in_any_order() {
        let history = History::default();
        let (one, two) = (history.now(), history.now());
        history.note(Operation::Read(5), two, true);
        history.note(Operation::Write(5), one, false);
        assert!(history.is_linearizable());
        let begin = history.now();
        history.note(Operation::Read(0), begin, true);
        assert!(!history.is_linearizable());
    }
}
