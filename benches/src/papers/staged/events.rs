//! The same ring, of events in one flat queue.

use super::{EVENTS, STAGES};
use crate::latch::Latch;
use crate::measure::Sample;
use colored_lab::Events;
use std::hint::black_box;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// As [`super::Line`]. Only its color uses it, so loads and stores are enough.
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
