//! Twice as many pairs of tasks as workers. The two tasks of a pair, each of its own color, wake each other in turn.

use super::Apart;
use crate::machine::{Load, done, work};
use colored_core::SchedulerHandle;
use colored_core::port::sync::{Arc, Mutex};
use std::future::poll_fn;
use std::task::{Poll, Waker};

pub(crate) struct Pairs {
    pub(crate) workers: usize,
    pub(crate) ops: u64,
    /// Nanoseconds of a poll.
    pub(crate) nanos: u64,
}

/// Whose turn it is, and who waits for it.
#[derive(Default)]
struct Turn {
    of: usize,
    waits: [Option<Waker>; 2],
}

impl Load for Pairs {
    fn begin(&self, handle: &SchedulerHandle) {
        let pairs = 2 * self.workers;
        let turns = self.ops / pairs as u64;
        for _ in 0..pairs {
            let turn = Arc::new(Apart(Mutex::new(Turn::default())));
            for me in 0..2 {
                let (turn, nanos) = (Arc::clone(&turn), self.nanos);
                let mine = (turns + 1 - me as u64) / 2;
                drop(handle.spawn_unique(async move {
                    for _ in 0..mine {
                        poll_fn(|cx| {
                            let mut turn = turn.0.lock();
                            if turn.of == me {
                                return Poll::Ready(());
                            }
                            turn.waits[me] = Some(cx.waker().clone());
                            Poll::Pending
                        })
                        .await;
                        work(nanos);
                        let mut turn = turn.0.lock();
                        turn.of = 1 - me;
                        let other = turn.waits[1 - me].take();
                        drop(turn);
                        if let Some(other) = other {
                            other.wake();
                        }
                        done();
                    }
                }));
            }
        }
    }
}
