//! [`Histograms`]: how the times of a snapshot are distributed.

use super::{Event, Snapshot};
use colored_core::Color;
use hdrhistogram::Histogram;

/// How the times of a snapshot are distributed, in nanoseconds, each within 1 %.
///
/// They are made from the records, when one asks for them: no histogram is kept while the program runs, and what the rings
/// have lost is not in them ([`ThreadTrace::overwritten`](crate::trace::ThreadTrace::overwritten)).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Histograms {
    /// How long each slice ran: from [`Level::Slices`](crate::trace::Level::Slices) on.
    pub slices: Histogram<u64>,
    /// How long a color was runnable before each slice, and waited for a worker. Without slices of which that is unknown.
    pub queued: Histogram<u64>,
    /// How long each poll of a task ran: from [`Level::Tasks`](crate::trace::Level::Tasks) on.
    pub polls: Histogram<u64>,
    /// How long each task waited from the wake-up to the poll, for its color and for a worker. Without polls whose wake-up
    /// is not recorded.
    pub waits: Histogram<u64>,
}

impl Snapshot {
    /// The times of all colors; with the feature `hdrhistogram`.
    ///
    /// Costs some microseconds for each poll, as [`batch`](Self::batch).
    #[must_use]
    pub fn histograms(&self) -> Histograms {
        self.histograms_if(|_| true)
    }

    /// The times of one color: see [`histograms`](Self::histograms).
    #[must_use]
    pub fn histograms_of(&self, color: impl Into<Color>) -> Histograms {
        let color = color.into();
        self.histograms_if(|of| of == color)
    }

    fn histograms_if(&self, wanted: impl Fn(Color) -> bool) -> Histograms {
        let [mut slices, mut queued, mut polls, mut waits] = [(); 4].map(|()| empty());
        for record in self.threads.iter().flat_map(|thread| &thread.records) {
            if let Event::Slice { color, ran, queued: before, .. } = record.event
                && wanted(color)
            {
                record_time(&mut slices, ran);
                if before > 0 {
                    record_time(&mut queued, before);
                }
            }
        }
        for poll in self.polls().into_iter().filter(|poll| wanted(poll.color)) {
            record_time(&mut polls, poll.ran);
            if let Some(waited) = poll.waited {
                record_time(&mut waits, waited);
            }
        }
        Histograms { slices, queued, polls, waits }
    }
}

fn empty() -> Histogram<u64> {
    Histogram::new(2).expect("0 to 5 digits are allowed")
}

fn record_time(times: &mut Histogram<u64>, nanos: u64) {
    times.record(nanos).expect("it grows as far as it has to");
}

#[cfg(test)]
mod tests {
    use super::{Histograms, Snapshot};
    use crate::trace::{Event, Record, ThreadTrace};
    use colored_core::Color;
    use colored_core::trace::task;
    use std::time::Duration;

    const RED: Color = Color::new(1);
    const BLUE: Color = Color::new(2);

    /// A task that is polled a hundred times under red: each poll lasts as many microseconds as its number, after a wait of
    /// twice that; and a slice of blue without a poll.
    fn snapshot() -> Snapshot {
        let id = task(1).unwrap();
        let mut records = Vec::new();
        let mut now = 0;
        for number in 1..=100 {
            records.push(Record { nanos: now, event: Event::Wake { by: None, task: id } });
            let ran = 1_000 * number;
            now += 3 * ran;
            records.push(Record { nanos: now, event: Event::Poll { task: id, ran } });
            let slice = Event::Slice { color: RED, ran, queued: ran, polls: 1 };
            records.push(Record { nanos: now, event: slice });
            now += 1;
        }
        let slice = Event::Slice { color: BLUE, ran: 5_000_000, queued: 0, polls: 1 };
        records.push(Record { nanos: now + 5_000_000, event: slice });
        let thread = ThreadTrace { records, ..ThreadTrace::default() };
        Snapshot::new(vec![thread], now + 5_000_000, Duration::ZERO)
    }

    fn about(value: u64, expected: u64) -> bool {
        value.abs_diff(expected) * 50 <= expected
    }

    #[test]
    fn times_of_a_color_and_of_all() {
        let snapshot = snapshot();
        let Histograms { slices, queued, polls, waits } = snapshot.histograms_of(RED);
        assert_eq!([slices.len(), queued.len(), polls.len(), waits.len()], [100; 4]);
        for (times, factor) in [(&slices, 1), (&queued, 1), (&polls, 1), (&waits, 2)] {
            assert!(about(times.value_at_quantile(0.5), 50_000 * factor), "{times:?}");
            assert!(about(times.value_at_quantile(0.99), 99_000 * factor), "{times:?}");
            assert!(about(times.max(), 100_000 * factor), "{times:?}");
        }
        let all = snapshot.histograms();
        assert_eq!([all.slices.len(), all.queued.len(), all.polls.len()], [101, 100, 100]);
        assert!(about(all.slices.max(), 5_000_000));
        let none = snapshot.histograms_of(Color::new(3));
        assert_eq!([none.slices.len(), none.polls.len(), none.waits.len()], [0; 3]);
    }
}
