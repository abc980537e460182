//! Times, and what a handler does.

use colored::time::{Duration, Instant, sleep};

/// What a handler does.
#[derive(Clone, Copy)]
pub(crate) struct Work {
    pub(crate) sleep: Duration,
    pub(crate) compute: Duration,
}

impl Work {
    pub(crate) async fn run(self) {
        if !self.sleep.is_zero() {
            sleep(self.sleep).await;
        }
        compute(self.compute);
    }
}

pub(crate) fn compute(time: Duration) {
    let start = std::time::Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// How long all records took, and how much CPU time.
#[derive(Clone, Copy)]
pub(crate) struct Took {
    pub(crate) time: Duration,
    pub(crate) cpu: Duration,
}

/// A moment, and the CPU time of the process until then.
pub(crate) type Moment = (Instant, Duration);

pub(crate) fn now() -> Moment {
    (Instant::now(), cpu())
}

pub(crate) fn took(first: Moment, last: Moment) -> Took {
    Took { time: last.0 - first.0, cpu: last.1.saturating_sub(first.1) }
}

/// The CPU time of this process, in ticks of 10 ms. Linux only.
fn cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let (_, rest) = text.rsplit_once(')').unwrap_or_default();
    let words: Vec<_> = rest.split_whitespace().collect();
    let ticks = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
    Duration::from_millis(10 * (ticks(11) + ticks(12)))
}

pub(crate) fn median(all: impl IntoIterator<Item = f64>) -> f64 {
    let mut all: Vec<_> = all.into_iter().collect();
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}
