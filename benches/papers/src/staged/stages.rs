//! The same ring, of `Stage`s: the cost of a bounded queue and of a stage's own batches.

use super::{EVENTS, Line, STAGES};
use colored::stage::{Batch, Builder, Stage, each};
use colored_benches::latch::Latch;
use colored_benches::measure::Sample;
use colored_benches::rivals::{Rival, Serial};
use std::sync::OnceLock;

/// The stages, and the latch for an event's last visit.
struct Ring {
    stages: Vec<OnceLock<Stage<usize>>>,
    latch: &'static Latch,
}

impl Ring {
    /// Each stage has room for all events: in a ring with less room, senders could wait for each
    /// other.
    fn leaked(on: Serial, batch: u32) -> &'static Self {
        let stages = (0..STAGES).map(|_| OnceLock::new()).collect();
        let ring: &'static Self = Box::leak(Box::new(Self { stages, latch: Latch::leaked() }));
        on.run(async move {
            for index in 0..STAGES {
                let builder = Builder::new().capacity(STAGES * EVENTS);
                let stage = builder.batch(Batch::Fixed(batch as usize)).build_with(|_| {
                    let mut line = Line::default();
                    each(move |hops| {
                        line.handle();
                        ring.pass(index, hops);
                    })
                });
                assert!(ring.stages[index].set(stage).is_ok(), "each is made once");
            }
        });
        ring
    }

    fn stage(&self, index: usize) -> &Stage<usize> {
        self.stages[index % STAGES].get().expect("all are made before the first event")
    }

    fn pass(&self, from: usize, hops: usize) {
        if hops == 0 {
            self.latch.hit();
        } else {
            self.send(from + 1, hops - 1);
        }
    }

    fn send(&self, to: usize, hops: usize) {
        assert!(self.stage(to).try_send(hops).is_ok(), "there is room for all events");
    }
}

/// As [`super::ring`].
pub(super) fn ring(on: Serial, batch: u32, hops: usize) -> impl FnMut() -> Sample {
    let ring = Ring::leaked(on, batch);
    let events = STAGES * EVENTS;
    let mut expected = 0;
    move || {
        let runs = (events * (hops + 1)) as u64;
        let sample = Sample::time(runs, || {
            on.run(async move {
                ring.latch.expect(events);
                for _ in 0..EVENTS {
                    (0..STAGES).for_each(|stage| ring.send(stage, hops));
                }
                ring.latch.wait().await;
            });
        });
        expected += runs;
        let accepted = (0..STAGES).map(|index| ring.stage(index).metrics().accepted);
        assert_eq!(accepted.sum::<u64>(), expected, "an event was lost");
        sample
    }
}
