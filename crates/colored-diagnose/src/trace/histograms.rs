//! [`Histograms`]: how the times of a snapshot are distributed.

use super::{Event, Snapshot};
use colored_core::{Color, Id};
use hdrhistogram::Histogram;
use std::collections::HashMap;

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
    /// Costs some microseconds for each poll.
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
        for poll in recorded_polls(self).into_iter().filter(|poll| wanted(poll.color)) {
            record_time(&mut polls, poll.ran);
            if let Some(waited) = poll.waited {
                record_time(&mut waits, waited);
            }
        }
        Histograms { slices, queued, polls, waits }
    }
}

/// A poll of a task, in nanoseconds.
struct Polled {
    task: Id,
    color: Color,
    begin: u64,
    ran: u64,
    /// From the wake-up to the poll; none if no wake-up is recorded.
    waited: Option<u64>,
}

/// The polls of tasks whose slice is recorded.
fn recorded_polls(snapshot: &Snapshot) -> Vec<Polled> {
    let mut wakes = HashMap::<Id, Vec<u64>>::new();
    let mut polls = Vec::new();
    for thread in &snapshot.threads {
        // A poll is recorded before the slice around it.
        let mut before = Vec::new();
        for record in &thread.records {
            match record.event {
                Event::Wake { task, .. } | Event::Spawn { task, .. } => {
                    wakes.entry(task).or_default().push(record.nanos);
                }
                Event::Poll { task, ran } => {
                    before.push((task, record.nanos.saturating_sub(ran), ran))
                }
                Event::Slice { color, ran, .. } => {
                    let start = record.nanos.saturating_sub(ran);
                    // Polls of an older slice, whose record is lost, are in none.
                    let inside = before.drain(..).filter(|(_, begin, _)| *begin >= start);
                    let polled =
                        |(task, begin, ran)| Polled { task, color, begin, ran, waited: None };
                    polls.extend(inside.map(polled));
                }
                _ => {}
            }
        }
    }
    wakes.values_mut().for_each(|wakes| wakes.sort_unstable());
    polls.sort_by_key(|poll| poll.begin);
    let mut last = HashMap::<Id, u64>::new();
    for poll in &mut polls {
        let since = last.insert(poll.task, poll.begin);
        // The first wake since the last poll of the task has made it runnable.
        let first = wakes
            .get(&poll.task)
            .and_then(|wakes| wakes.get(wakes.partition_point(|wake| Some(*wake) <= since)));
        poll.waited = first.and_then(|wake| poll.begin.checked_sub(*wake));
    }
    polls
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
