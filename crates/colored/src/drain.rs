//! What a runtime drains before it shuts down: the stages that were built in it.
//!
//! A sender is built after its receiver, because it needs the receiver's handle. So the last stage
//! built is closed first, and every event that it sends on finds the next stage still open: no event is
//! lost that was accepted in time.

use crate::block_on;
use colored_core::port::{Finish, Part};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

/// The list of the members in a runtime, in the order in which they were built. The list holds weak references.
#[derive(Default)]
pub(crate) struct Finishers(Mutex<List>);

#[derive(Default)]
struct List {
    members: Vec<Part>,
    /// At this length, the dropped members are removed: half of the list or more was added since the last time.
    sweep_at: usize,
}

/// Below this length no member is removed.
const SHORT: usize = 16;

impl Finishers {
    /// Adds the member that was built last.
    pub(crate) fn add(&self, member: Part) {
        let mut list = self.lock();
        if list.members.len() >= list.sweep_at {
            list.members.retain(|member| member.strong_count() > 0);
            list.sweep_at = (2 * list.members.len()).max(SHORT);
        }
        list.members.push(member);
    }

    /// Closes and drains one after another, the last first, until all are done or `deadline`. Returns
    /// how much is left. The calling thread sleeps meanwhile; the workers must not.
    pub(crate) fn finish(&self, deadline: Option<Instant>) -> u64 {
        // A handler may build more: they come next.
        while let Some(member) = self.pop() {
            let Some(member) = member.upgrade() else { continue };
            member.close();
            if block_on::block_until(member.drained().as_mut(), deadline).is_none() {
                return member.left() + self.left();
            }
        }
        0
    }

    /// How much all of them have taken that is not done.
    pub(crate) fn left(&self) -> u64 {
        // The last handle of one may be dropped here, and with it foreign code: not under the lock.
        let members = self.lock().members.clone();
        members.iter().filter_map(Weak::upgrade).map(|member: Arc<dyn Finish>| member.left()).sum()
    }

    fn pop(&self) -> Option<Part> {
        self.lock().members.pop()
    }

    fn lock(&self) -> MutexGuard<'_, List> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Finishers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Finishers").field(&self.lock().members.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::{Finishers, SHORT};
    use crate::wall;
    use colored_core::port::Finish;
    use std::future::{pending, ready};
    use std::pin::Pin;
    use std::sync::{Arc, Mutex, Weak};
    use std::time::Duration;

    /// The numbers of the members that were closed, in order.
    type Order = Arc<Mutex<Vec<u64>>>;

    /// Notes its number when it is closed; one with something left never drains.
    struct Member {
        number: u64,
        left: u64,
        closed: Order,
    }

    impl Finish for Member {
        fn close(&self) {
            self.closed.lock().unwrap().push(self.number);
        }

        fn drained(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
            if self.left == 0 { Box::pin(ready(())) } else { Box::pin(pending()) }
        }

        fn left(&self) -> u64 {
            self.left
        }
    }

    fn list(left: &[u64]) -> (Finishers, Vec<Arc<Member>>, Order) {
        let (all, closed) = (Finishers::default(), Order::default());
        let members = left.iter().zip(0..).map(|(left, number)| {
            let member = Arc::new(Member { number, left: *left, closed: Arc::clone(&closed) });
            let listed: Arc<dyn Finish> = Arc::clone(&member) as _;
            all.add(Arc::downgrade(&listed));
            member
        });
        let members = members.collect();
        (all, members, closed)
    }

    #[test]
    fn the_last_member_is_first_and_dropped_members_are_skipped() {
        let (all, mut members, closed) = list(&[0; 4]);
        drop(members.remove(2));
        assert_eq!(all.finish(None), 0);
        assert_eq!(*closed.lock().unwrap(), [3, 1, 0]);
        assert_eq!((all.finish(None), all.left()), (0, 0), "once");
    }

    #[test]
    fn a_stuck_member_is_not_waited_for_longer_and_the_rest_is_counted() {
        let (all, _members, closed) = list(&[7, 0, 5, 0]);
        assert_eq!(all.left(), 12);
        let deadline = wall::now() + Duration::from_millis(5);
        assert_eq!(all.finish(Some(deadline)), 12);
        assert!(wall::now() >= deadline);
        // The members to which the stuck one might still send stay open.
        assert_eq!(*closed.lock().unwrap(), [3, 2]);
    }

    #[test]
    fn dropped_members_do_not_pile_up() {
        let all = Finishers::default();
        let (_other, members, closed) = list(&[0; 100]);
        for number in 0..10_000 {
            let kept: Arc<dyn Finish> = match members.get(number / 100) {
                Some(member) if number % 100 == 0 => Arc::clone(member) as _,
                _ => Arc::new(Member { number: 0, left: 0, closed: Arc::clone(&closed) }),
            };
            all.add(Arc::downgrade(&kept));
        }
        let listed =
            all.lock().members.iter().filter(|member| Weak::strong_count(member) > 0).count();
        assert_eq!(listed, 100);
        assert!(all.lock().members.len() <= 2 * 100 + SHORT, "{all:?}");
    }
}
