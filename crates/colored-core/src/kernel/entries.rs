//! [`Entries`]: the runtimes and contexts that a thread has entered and not left.

use std::cell::RefCell;
use std::mem::{ManuallyDrop, needs_drop};

/// The values that a thread has entered and not left, each with its key. The innermost one counts, and
/// any of them may be the next to leave.
///
/// It is made for a thread-local, and has no destructor: the destructors of other thread-locals run in
/// any order when a thread ends, and may enter, ask and leave then. So an entry that is never taken out
/// is leaked.
#[derive(Debug)]
pub struct Entries<T>(ManuallyDrop<RefCell<List<T>>>);

#[derive(Debug)]
struct List<T> {
    innermost: Option<(u64, T)>,
    /// The outer entries, from the outermost.
    outer: Vec<(u64, T)>,
    next_key: u64,
}

impl<T> Entries<T> {
    /// None.
    #[must_use]
    #[expect(
        clippy::new_without_default,
        reason = "a thread-local without a destructor is a constant"
    )]
    pub const fn new() -> Self {
        const { assert!(!needs_drop::<Self>(), "it can be used until the thread has ended") }
        let list = List { innermost: None, outer: Vec::new(), next_key: 0 };
        Self(ManuallyDrop::new(RefCell::new(list)))
    }

    /// Enters; the key takes it out again.
    pub fn enter(&self, entry: T) -> u64 {
        let mut list = self.0.borrow_mut();
        let key = list.next_key;
        list.next_key += 1;
        if let Some(outer) = list.innermost.replace((key, entry)) {
            list.outer.push(outer);
        }
        key
    }

    /// Takes an entry out, wherever it is.
    pub fn leave(&self, key: u64) -> Option<T> {
        let list = &mut *self.0.borrow_mut();
        let left = match list.outer.iter().position(|(other, _)| *other == key) {
            Some(place) => Some(list.outer.remove(place)),
            None => {
                let left = list.innermost.take_if(|(other, _)| *other == key)?;
                list.innermost = list.outer.pop();
                Some(left)
            }
        };
        if list.outer.is_empty() {
            // Nothing frees it when the thread ends.
            list.outer = Vec::new();
        }
        left.map(|(_, entry)| entry)
    }

    /// Exchanges all entries, with their keys, for the others.
    pub fn exchange(&self, others: &Self) {
        self.0.swap(&others.0);
    }

    /// Calls `f` with the innermost entry. `f` must neither enter nor leave, nor call code that might.
    #[inline]
    pub fn innermost<R>(&self, f: impl FnOnce(Option<&T>) -> R) -> R {
        f(self.0.borrow().innermost.as_ref().map(|(_, entry)| entry))
    }
}

#[cfg(all(test, not(colored_loom)))]
mod tests {
    use super::Entries;
    use std::rc::Rc;

    #[test]
    fn any_order_of_leaving_ends_with_none() {
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let entries = Entries::new();
            let values = [Rc::new(0), Rc::new(1), Rc::new(2)];
            let keys = values.clone().map(|value| entries.enter(value));
            let mut left = vec![0, 1, 2];
            for number in order {
                assert_eq!(
                    entries.innermost(|value| value.map(|value| **value)),
                    left.last().copied()
                );
                assert_eq!(entries.leave(keys[number]).as_deref(), Some(&number));
                left.retain(|other| *other != number);
                assert_eq!(Rc::strong_count(&values[number]), 1, "it is gone from the list");
            }
            assert!(entries.innermost(|value| value.is_none()));
            assert_eq!(entries.0.borrow().outer.capacity(), 0, "nothing is left to free");
            assert_eq!(entries.leave(keys[0]), None);
        }
    }
}
