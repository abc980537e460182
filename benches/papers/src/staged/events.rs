//! The same ring, of events in one queue.

use super::{EVENTS, STAGES};
use colored_benches::latch::Latch;
use colored_benches::measure::Sample;
use colored_lab::Events;
use std::hint::black_box;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// As [`super::Line`], where the compiler does not know that only one worker uses it.
#[repr(align(32))]
#[derive(Default)]
struct Line {
    read: AtomicU64,
    written: AtomicU32,
}

impl Line {
    fn handle(&self) {
        // Ordering: events of one color come one after another; two at once would lose a count.
        let read = black_box(self.read.load(Ordering::Relaxed));
        let written = self.written.load(Ordering::Relaxed).wrapping_add(read as u32 + 1);
        self.written.store(written, Ordering::Relaxed);
    }
}

/// The stages' lines, where events have no colors: two workers may handle events of one stage at the same time, as in
/// the paper.
pub(in super::super) struct Lines(Box<[Line]>);

impl Lines {
    pub(in super::super) fn new() -> Self {
        Self((0..STAGES).map(|_| Line::default()).collect())
    }

    pub(in super::super) fn count(&self) -> usize {
        self.0.len()
    }

    /// The event with this number: its first stage in the lower half, the stages after that one in the upper.
    pub(in super::super) fn first(&self, number: usize, hops: usize) -> u64 {
        (hops as u64) << 32 | (number % self.0.len()) as u64
    }

    /// Handles an event at its stage. Returns the event for the next stage, or `None` after the last one.
    pub(in super::super) fn visit(&self, what: u64) -> Option<u64> {
        let (stage, hops) = (what as u32 as usize, what >> 32);
        self.0[stage].handle();
        (hops > 0).then(|| (hops - 1) << 32 | ((stage + 1) % self.0.len()) as u64)
    }
}

/// As [`super::ring`].
pub(super) fn ring(on: &'static Events, hops: usize) -> impl FnMut() -> Sample {
    let latch = Latch::leaked();
    let lines: &'static [Line] = Vec::leak((0..STAGES).map(|_| Line::default()).collect());
    let events = STAGES * EVENTS;
    let mut handled = 0;
    move || {
        let runs = (events * (hops + 1)) as u64;
        let sample = Sample::time(runs, || {
            on.run(STAGES as u16, async move {
                latch.expect(events);
                for _ in 0..EVENTS {
                    (0..STAGES).for_each(|stage| visit(on, lines, stage, hops, latch));
                }
                latch.wait().await;
            });
        });
        handled += runs;
        // Ordering: the latch orders it after the last event.
        let written = lines.iter().map(|line| u64::from(line.written.load(Ordering::Relaxed)));
        assert_eq!(written.sum::<u64>(), handled, "an event was lost");
        sample
    }
}

fn visit(
    on: &'static Events,
    lines: &'static [Line],
    stage: usize,
    hops: usize,
    latch: &'static Latch,
) {
    on.post(stage as u16, move || {
        lines[stage].handle();
        if hops == 0 {
            latch.hit();
        } else {
            visit(on, lines, (stage + 1) % STAGES, hops - 1, latch);
        }
    });
}
