//! Sleeping tasks that are cancelled, as timeouts are: insert, and remove before they fire.

use super::Row;
use crate::latch::Latch;
use crate::measure::{Case, Entry, Mode, Pace, Sample, Unit};
use crate::rivals::{Join, Rival, Runtimes};
use std::time::Duration;

/// The rows of this file.
pub const ROWS: &[Row] = &[
    Row { name: "sleeping_tasks", build: |on, mode| case(on, on.unique(), size(mode)) },
    Row { name: "sleeping_tasks_serial", build: |on, mode| case(on, on.serial(), size(mode)) },
];

/// Longer than any run: no timer fires.
const FAR: Duration = Duration::from_secs(3_600);

/// Sleepers and rounds. The row's figure is for a million sleepers; a quick run has no time for so
/// many.
const fn size(mode: Mode) -> (usize, usize) {
    match mode {
        Mode::Full => (1_000_000, 5),
        Mode::Quick => (200_000, 3),
        Mode::Smoke => (10_000, 1),
    }
}

fn case(on: Runtimes, subject: impl Rival, (count, rounds): (usize, usize)) -> Case {
    Case {
        unit: Unit::ns("ns/sleep"),
        pace: Pace::Rounds(rounds),
        entries: vec![
            Entry::subject(sampler(subject, count)),
            Entry::peer("tokio", sampler(on.tokio(), count)),
            Entry::plotted("tokio_ct", sampler(on.tokio_ct(), count)),
        ],
    }
}

fn sampler<R: Rival>(on: R, count: usize) -> impl FnMut() -> Sample {
    let latch = Latch::leaked();
    move || Sample::time(count as u64, || on.run(sleep_and_cancel(on, latch, count)))
}

async fn sleep_and_cancel<R: Rival>(on: R, latch: &'static Latch, count: usize) {
    latch.expect(count);
    let start = |index: usize| {
        // The sleeps are spread over the next hour, so that no data structure has them all in one
        // slot.
        let time = FAR + Duration::from_micros(3_600 * index as u64);
        on.spawn(async move {
            latch.hit();
            on.sleep(time).await;
        })
    };
    let tasks: Vec<_> = (0..count).map(start).collect();
    latch.wait().await;
    for task in &tasks {
        task.abort();
    }
    for task in tasks {
        task.await.expect_err("no sleep ends");
    }
}
