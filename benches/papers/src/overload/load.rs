//! One load: requests at random times from a thread of their own, and their results.

use super::STEPS;
use colored::admission::Admission;
use colored_benches::random::Random;
use colored_benches::rivals::Serial;
use colored_benches::spin::spin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The interval at which the generator wakes. It then offers the requests that have become due.
const TICK: Duration = Duration::from_micros(250);
/// The longest time that admitted requests may take at the end.
const GRACE: Duration = Duration::from_secs(60);

/// The offered requests.
pub(super) struct Load {
    /// Requests a second.
    pub(super) rate: f64,
    /// The duration of the load.
    pub(super) window: Duration,
    /// Seconds of a core for each request.
    pub(super) service: f64,
    /// The target delay.
    pub(super) target: Duration,
}

/// The results of a load.
pub(super) struct Figures {
    /// Requests that came.
    pub(super) came: usize,
    /// Requests that were refused when they were offered.
    pub(super) refused: usize,
    /// Requests that were admitted, and dropped at their turn.
    pub(super) shed: usize,
    /// Good requests a second.
    pub(super) goodput: f64,
    /// Delays from the time at which requests were due until they began.
    pub(super) from_due: Delays,
    /// Delays from the offer of requests until they began.
    pub(super) from_offer: Delays,
    /// The seconds by which 99 of 100 offers were late at most.
    pub(super) late: f64,
    /// The most requests that waited and ran at once.
    pub(super) most: usize,
}

/// Seconds until the requests that were done had begun.
pub(super) struct Delays {
    /// The delay that half of the requests did not exceed.
    pub(super) p50: f64,
    /// The delay that 99 of 100 requests did not exceed.
    pub(super) p99: f64,
}

impl Delays {
    fn of(seconds: Vec<f64>) -> Self {
        let seconds = sorted(seconds);
        Self { p50: part(&seconds, 0.5), p99: part(&seconds, 0.99) }
    }
}

/// A request's times, in nanoseconds.
#[derive(Default)]
struct Times {
    /// From the time at which it was due to its offer.
    late: AtomicU64,
    /// From the offer to the beginning of its work.
    delay: AtomicU64,
    /// From the time at which it was due to the end of its work; zero if it was not done.
    done: AtomicU64,
}

/// The state that all requests share.
struct Shared {
    times: Vec<Times>,
    inside: AtomicUsize,
}

/// Counts a request as inside while it exists, until it is done, refused or dropped.
struct Inside(Arc<Shared>);

impl Inside {
    fn enter(shared: &Arc<Shared>) -> (Self, usize) {
        // Ordering: Relaxed, a count; the thread that waits for zero acquires.
        let before = shared.inside.fetch_add(1, Ordering::Relaxed);
        (Self(Arc::clone(shared)), before + 1)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        // Ordering: Release, so that the thread that sees zero sees the times.
        self.0.inside.fetch_sub(1, Ordering::Release);
    }
}

impl Load {
    /// Offers the load to the runtime and waits for the end of all admitted requests.
    pub(super) fn run(&self, on: Serial, with_admission: bool) -> Figures {
        let dues = self.dues();
        let admission = with_admission.then(|| Admission::new(self.target));
        let times = dues.iter().map(|_| Times::default()).collect();
        let shared = Arc::new(Shared { times, inside: AtomicUsize::new(0) });
        let (mut next, mut most) = (0, 0);
        let mut refused = 0;
        let start = Instant::now();
        while next < dues.len() {
            let now = start.elapsed();
            while next < dues.len() && dues[next] <= now {
                let (inside, count) = Inside::enter(&shared);
                most = most.max(count);
                refused +=
                    usize::from(!offer(on, admission.as_ref(), start + dues[next], next, inside));
                next += 1;
            }
            thread::sleep(TICK);
        }
        let last = Instant::now();
        // Ordering: Acquire, pairs with the release of the last request inside.
        while shared.inside.load(Ordering::Acquire) > 0 {
            assert!(last.elapsed() < GRACE, "requests are neither done nor refused");
            thread::sleep(TICK);
        }
        self.figures(&shared.times, refused, most)
    }

    /// The times at which requests are due, independent of each other.
    fn dues(&self) -> Vec<Duration> {
        let mut random = Random::new(6);
        let mut due = 0.0;
        let next = || {
            due += random.exponential(1.0 / self.rate);
            Some(Duration::from_secs_f64(due))
        };
        std::iter::from_fn(next).take_while(|&due| due < self.window).collect()
    }

    fn figures(&self, times: &[Times], refused: usize, most: usize) -> Figures {
        let limit = self.target.as_secs_f64() * 2.0 + self.service;
        // Ordering: Relaxed, ordered by the count of requests inside.
        let seconds = |nanos: &AtomicU64| nanos.load(Ordering::Relaxed) as f64 / 1e9;
        let done = || times.iter().filter(|times| seconds(&times.done) > 0.0);
        let good = done().filter(|times| seconds(&times.done) <= limit).count();
        let from_offer: Vec<f64> = done().map(|times| seconds(&times.delay)).collect();
        let from_due = done().map(|times| seconds(&times.late) + seconds(&times.delay)).collect();
        let late = sorted(times.iter().map(|times| seconds(&times.late)).collect());
        Figures {
            came: times.len(),
            refused,
            shed: times.len() - refused - from_offer.len(),
            goodput: good as f64 / self.window.as_secs_f64(),
            from_due: Delays::of(from_due),
            from_offer: Delays::of(from_offer),
            late: part(&late, 0.99),
            most,
        }
    }
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

/// The value that `part` of the values do not exceed; zero if there are no values.
fn part(sorted: &[f64], part: f64) -> f64 {
    sorted.get((sorted.len() as f64 * part) as usize).copied().unwrap_or(0.0)
}

/// Gives a request to the runtime, unless it is refused.
fn offer(
    on: Serial,
    admission: Option<&Admission>,
    due: Instant,
    index: usize,
    inside: Inside,
) -> bool {
    let offered = Instant::now();
    let late = offered.saturating_duration_since(due);
    // Ordering: Relaxed, ordered by the count of requests inside, as all times are.
    inside.0.times[index].late.store(late.as_nanos() as u64, Ordering::Relaxed);
    let work = async move {
        let times = &inside.0.times[index];
        // Ordering: Relaxed, as above.
        times.delay.store(nanos(offered), Ordering::Relaxed);
        spin(STEPS);
        // Ordering: Relaxed, as above.
        times.done.store(nanos(due), Ordering::Relaxed);
        drop(inside);
    };
    match admission.map(|admission| admission.admit_since(due)) {
        None => drop(on.handle().spawn_unique(work)),
        Some(Ok(admitted)) => drop(on.handle().spawn_unique(admitted.run(work))),
        Some(Err(_)) => return false,
    }
    true
}

/// The nanoseconds since `then`; never zero.
fn nanos(then: Instant) -> u64 {
    (then.elapsed().as_nanos() as u64).max(1)
}
