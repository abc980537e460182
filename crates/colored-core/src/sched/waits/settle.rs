//! What a `when` keeps from others, as a fact: it has a lane, and lacks others.

use super::older::News;
use crate::lane::claim::Header;
use crate::lane::{Known, LanePtr};
use crate::sched::Scheduler;
use std::ptr::NonNull;
use std::task::Waker;

impl Scheduler {
    /// See [`Dispatch::has_got`](crate::lane::Dispatch::has_got).
    ///
    /// # Safety
    ///
    /// As there.
    #[cold]
    pub(in crate::sched) unsafe fn has_got(&self, behavior: NonNull<Header>) {
        // SAFETY: it tells when it begins, and that is not before this returns.
        let behavior = unsafe { Known::new(behavior) };
        let mut news = News::default();
        {
            let mut graph = self.waits.graph.lock();
            let (key, is_new) = graph.key_of(behavior, None);
            news.gates.extend(is_new.then(|| behavior.gates()).into_iter().flatten());
            graph.settle(vec![key], &mut news);
        }
        self.spread(news);
    }

    /// As [`has_got`](Self::has_got), if it has been entered and has not begun.
    pub(super) fn settle(&self, behavior: Known) {
        let mut news = News::default();
        {
            let mut graph = self.waits.graph.lock();
            let Some(key) = graph.lines.key_of(behavior) else { return };
            news.gates.extend(behavior.gates());
            graph.settle(vec![key], &mut news);
        }
        self.spread(news);
    }

    /// See [`Dispatch::begins`](crate::lane::Dispatch::begins).
    #[cold]
    pub(in crate::sched) fn begins(&self, behavior: NonNull<Header>) {
        // SAFETY: the caller keeps it, and it is forgotten here.
        let behavior = unsafe { Known::new(behavior) };
        let lines = &mut self.waits.graph.lock().lines;
        if let Some(key) = lines.key_of(behavior) {
            lines.leave(key);
        }
    }

    /// See [`Dispatch::is_shut`](crate::lane::Dispatch::is_shut).
    #[cold]
    pub(in crate::sched) fn is_shut(&self, lane: LanePtr) {
        let wakers: Vec<Waker> = {
            let mut graph = self.waits.graph.lock();
            let inside = graph.lines.shut(lane);
            inside.into_iter().flat_map(|key| graph.tell_those_shut_in(key)).collect()
        };
        wakers.into_iter().for_each(Waker::wake);
    }
}
