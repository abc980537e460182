//! Entering those that stood in line before waits were recorded, and keep others waiting.
//!
//! Who finds them, and why none is missed: `lane/older.rs`. Each that is entered may close a cycle, as one
//! that gets a lane does; the last one of a cycle to be entered finds it.

use super::graph::Graph;
use crate::lane::{Known, LanePtr, LaneRef, look_again_soon};
use crate::sched::Scheduler;
use crate::sync::yield_now;
use std::task::Waker;

/// What is left to be done without the lock of the records.
#[derive(Default)]
pub(super) struct News {
    /// Of those who are to look again.
    wakers: Vec<Waker>,
    /// Held open by those who have been entered: their ushers have not looked at the line.
    pub(super) gates: Vec<LaneRef>,
    /// A producer was half done in the line of a lane that one of these has.
    rest: Vec<u64>,
}

impl News {
    /// What is left.
    fn tell(self) -> Vec<u64> {
        self.wakers.into_iter().for_each(Waker::wake);
        // Not here: an usher may come back to this, for each gate once.
        self.gates.into_iter().for_each(look_again_soon);
        self.rest
    }
}

impl Scheduler {
    /// See [`Dispatch::stands_still`](crate::lane::Dispatch::stands_still).
    ///
    /// # Safety
    ///
    /// As there.
    #[cold]
    pub(in crate::sched) unsafe fn stands_still(&self, lane: LanePtr) -> bool {
        let (is_all, news) = {
            let mut graph = self.waits.graph.lock();
            let (mut line, mut news) = (Vec::new(), News::default());
            // SAFETY: by contract.
            let lane = unsafe { lane.get() };
            // SAFETY: by contract.
            let is_all = unsafe { lane.survey(|behavior| line.push(behavior)) };
            let keys = graph.enter_all(line, &mut news);
            graph.settle(keys, &mut news);
            (is_all, news)
        };
        self.spread(news);
        is_all
    }

    /// Tells it all, and goes on where a producer was half done, which takes that one two instructions.
    pub(super) fn spread(&self, mut news: News) {
        loop {
            let rest = news.tell();
            if rest.is_empty() {
                return;
            }
            yield_now();
            news = News::default();
            self.waits.graph.lock().settle(rest, &mut news);
        }
    }
}

impl Graph {
    /// Those that stand in lines may have got some lanes: notes that, and enters all who stand behind them
    /// there, and so on.
    pub(super) fn settle(&mut self, mut keys: Vec<u64>, news: &mut News) {
        while let Some(key) = keys.pop() {
            let Some(behavior) = self.lines.behavior(key) else { continue };
            self.lines.note_lanes(key);
            news.wakers.extend(self.tell_those_shut_in(key));
            let mut line = Vec::new();
            // SAFETY: it has been entered, and says under this lock that it begins.
            if !unsafe { behavior.survey(|behavior| line.push(behavior)) } {
                news.rest.push(key);
            }
            keys.extend(self.enter_all(line, news));
        }
    }

    /// Enters those that are not entered yet. Their keys.
    pub(super) fn enter_all(&mut self, line: Vec<Known>, news: &mut News) -> Vec<u64> {
        let mut keys = Vec::new();
        for behavior in line {
            let (key, is_new) = self.key_of(behavior, None);
            if is_new {
                keys.push(key);
                news.gates.extend(behavior.gates());
            }
        }
        keys
    }
}
