//! Those who wait, first come first served. Not a concurrent thing: it is kept under a lock.
//!
//! A waiter has a [`Ticket`], and nothing is allocated for it: tickets are numbered, the line is in
//! the order of the numbers, and whoever is before the first of the line has been called.

use std::collections::VecDeque;
use std::task::Waker;

/// Wakers, or what else is kept for those who wait, in the order in which they came.
#[derive(Debug)]
pub struct Line<W = Waker> {
    waiting: VecDeque<(u64, W)>,
    next: u64,
    /// Tickets from here on were in the line when it was dissolved.
    dissolved: Option<u64>,
}

/// A place in a [`Line`]. Whoever has one looks again, or gives it back by [`Line::leave`].
#[derive(Debug)]
#[must_use]
pub struct Ticket(u64);

/// How it stands with a ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// In the line.
    Waits,
    /// It was the first, and has been called.
    Called,
    /// The line was dissolved before it was called.
    Dismissed,
}

impl Ticket {
    pub(crate) fn number(&self) -> u64 {
        self.0
    }
}

impl<W> Default for Line<W> {
    fn default() -> Self {
        Self { waiting: VecDeque::new(), next: 0, dissolved: None }
    }
}

impl<W> Line<W> {
    /// Goes to the end of the line.
    pub fn join(&mut self, waker: W) -> Ticket {
        let number = self.next;
        self.next += 1;
        self.waiting.push_back((number, waker));
        Ticket(number)
    }

    /// How it stands with a ticket.
    #[must_use]
    pub fn standing(&self, ticket: &Ticket) -> Standing {
        match (self.waiting.front(), self.dissolved) {
            (_, Some(from)) if ticket.0 >= from => Standing::Dismissed,
            (Some((first, _)), _) if ticket.0 >= *first => Standing::Waits,
            _ => Standing::Called,
        }
    }

    /// As [`standing`](Self::standing); if the ticket waits, `waker` is the one to wake from now on.
    /// What is left over in `waker` is to be dropped after the lock: it is foreign code.
    pub fn look(&mut self, ticket: &Ticket, waker: &mut W) -> Standing {
        let standing = self.standing(ticket);
        if let Some(own) = self.waiting(ticket) {
            std::mem::swap(own, waker);
        }
        standing
    }

    /// What is kept for a ticket that waits.
    pub fn waiting(&mut self, ticket: &Ticket) -> Option<&mut W> {
        let waits = self.standing(ticket) == Standing::Waits;
        waits.then(|| self.position(ticket)).map(|at| &mut self.waiting[at].1)
    }

    /// The ticket of the first of the line, as a number.
    pub(crate) fn first(&self) -> Option<u64> {
        self.waiting.front().map(|(first, _)| *first)
    }

    /// Calls the first of the line: wake it after the lock.
    #[must_use]
    pub fn call(&mut self) -> Option<W> {
        self.waiting.pop_front().map(|(_, waker)| waker)
    }

    /// Goes away, with what stood with the ticket, and the waker to drop after the lock.
    pub fn leave(&mut self, ticket: Ticket) -> (Standing, Option<W>) {
        let standing = self.standing(&ticket);
        let waker = match standing {
            Standing::Waits => self.waiting.remove(self.position(&ticket)).map(|(_, waker)| waker),
            Standing::Called | Standing::Dismissed => None,
        };
        (standing, waker)
    }

    /// Dismisses all that wait, and returns their wakers, to be woken after the lock.
    #[must_use]
    pub fn dissolve(&mut self) -> Vec<W> {
        let first = self.waiting.front().map_or(self.next, |(first, _)| *first);
        self.dissolved.get_or_insert(first);
        self.waiting.drain(..).map(|(_, waker)| waker).collect()
    }

    /// What is kept for each of those who wait, in their order.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut W> {
        self.waiting.iter_mut().map(|(_, waker)| waker)
    }

    /// How many wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether nobody waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    fn position(&self, ticket: &Ticket) -> usize {
        let found = self.waiting.binary_search_by_key(&ticket.0, |(number, _)| *number);
        found.expect("a ticket that waits is in the line")
    }
}

#[cfg(all(test, not(colored_loom)))]
mod tests {
    use super::{Line, Standing};
    use crate::sync::Arc;
    use std::task::{Wake, Waker};

    struct Nothing;

    impl Wake for Nothing {
        fn wake(self: Arc<Self>) {}
    }

    fn waker() -> (Arc<Nothing>, Waker) {
        let nothing = Arc::new(Nothing);
        (Arc::clone(&nothing), Waker::from(nothing))
    }

    #[test]
    fn the_first_is_called_and_who_leaves_leaves_no_gap() {
        let mut line = Line::default();
        let (seen, first) = waker();
        let (a, b, c) =
            (line.join(first), line.join(Waker::noop().clone()), line.join(Waker::noop().clone()));
        assert_eq!(line.leave(b).0, Standing::Waits);
        assert_eq!(line.len(), 2);
        assert!(line.call().is_some());
        assert_eq!(Arc::strong_count(&seen), 1, "the waker called is the first's");
        assert_eq!((line.standing(&a), line.standing(&c)), (Standing::Called, Standing::Waits));
        assert!(line.call().is_some());
        assert_eq!(line.standing(&c), Standing::Called);
        assert!(line.call().is_none() && line.is_empty());
    }

    #[test]
    fn the_last_waker_is_the_one_that_is_called() {
        let mut line = Line::default();
        let ((old, first), (new, mut second)) = (waker(), waker());
        let ticket = line.join(first);
        assert_eq!(line.look(&ticket, &mut second), Standing::Waits);
        drop(second);
        assert_eq!((Arc::strong_count(&old), Arc::strong_count(&new)), (1, 2));
        let called = line.call();
        assert_eq!(Arc::strong_count(&new), 2);
        drop(called);
        let (unused, mut third) = waker();
        assert_eq!(line.look(&ticket, &mut third), Standing::Called);
        assert_eq!((Arc::strong_count(&new), Arc::strong_count(&unused)), (1, 2), "not kept");
        drop(third);
    }

    #[test]
    fn who_was_called_before_the_end_stays_called() {
        let mut line = Line::default();
        let (a, b) = (line.join(Waker::noop().clone()), line.join(Waker::noop().clone()));
        drop(line.call());
        assert_eq!(line.dissolve().len(), 1);
        assert_eq!(line.dissolve().len(), 0);
        assert_eq!((line.standing(&a), line.standing(&b)), (Standing::Called, Standing::Dismissed));
        assert_eq!(line.leave(b).0, Standing::Dismissed);
    }
}
