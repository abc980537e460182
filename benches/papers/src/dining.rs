//! Dining philosophers: two philosophers want each fork.

use super::{Goal, Plan, Report};
use colored::{Color, ColorCell};
use colored_benches::chart::number;
use colored_benches::latch::Latch;
use colored_benches::measure::{Entry, Sample};
use colored_benches::rivals::{Rival, Runtimes};
use colored_benches::workload::keyed::Padded;
use std::time::Duration;
use tokio::sync::Mutex;

/// Philosophers at the table.
const SEATS: usize = 100;
/// Where the forks' colors start.
const FIRST_COLOR: u64 = 3_000_000;

/// Runs the dinner.
///
/// # Panics
///
/// If a meal is lost.
#[must_use]
pub fn run(plan: &Plan) -> Report {
    let mut report = Report::new(plan);
    let on = Runtimes::start();
    let meals = plan.pick(500, 200, 10);
    let entries = vec![
        Entry::subject(whens(on, meals)),
        Entry::peer("tokio_mutex", mutexes(on.tokio(), meals)),
    ];
    let outcomes = plan.alternate(Duration::from_secs(4), entries);
    let [ours, peer] = [0, 1].map(|index| outcomes[index].cost * 1e9);
    report.ratio("dining_vs_tokio_mutex", ours, "tokio_mutex", peer, "ns/meal");
    let rows = [("colored, when", ours), ("tokio, ordered mutexes", peer)];
    let rows = rows.map(|(name, cost)| vec![name.to_owned(), number(cost)]);
    report.text(&format!("{SEATS} philosophers, {} meals each a sample:", number(meals as f64)));
    report.table(&["", "ns/meal"], &rows);
    report.goal("a meal by `when` over one by ordered mutexes", ours / peer, Goal::AtMost(1.0));
    report
}

/// The effect of a meal on both forks.
fn eat(left: &mut u64, right: &mut u64) {
    *left += 1;
    *right += 1;
}

fn dinner<R, C, F>(on: R, latch: &'static Latch, philosopher: C)
where
    R: Rival,
    C: Fn(usize, usize) -> F + Send + Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    on.run(async move {
        latch.expect(SEATS);
        for seat in 0..SEATS {
            let dinner = philosopher(seat, (seat + 1) % SEATS);
            drop(on.spawn(async move {
                dinner.await;
                latch.hit();
            }));
        }
        latch.wait().await;
    });
}

fn whens(on: Runtimes, meals: u64) -> impl FnMut() -> Sample {
    let fork = |index: usize| on.handle.cell(Color::new(FIRST_COLOR + index as u64), 0);
    let forks: &'static [ColorCell<u64>] = Vec::leak((0..SEATS).map(fork).collect());
    let latch = Latch::leaked();
    let mut eaten = 0;
    move || {
        let sample = Sample::time(meals * SEATS as u64, || {
            dinner(on.unique(), latch, move |left, right| async move {
                for _ in 0..meals {
                    colored::when((&forks[left], &forks[right]), eat).await;
                }
            });
        });
        eaten += meals * SEATS as u64;
        let uses = on.serial().run(async move {
            let mut uses = 0;
            for fork in forks {
                uses += fork.call(|uses| *uses).await;
            }
            uses
        });
        assert_eq!(uses, 2 * eaten, "a meal was lost");
        sample
    }
}

fn mutexes<R: Rival>(on: R, meals: u64) -> impl FnMut() -> Sample {
    let forks: &'static [Padded<Mutex<u64>>] =
        Vec::leak((0..SEATS).map(|_| Padded(Mutex::new(0))).collect());
    let latch = Latch::leaked();
    let mut eaten = 0;
    move || {
        let sample = Sample::time(meals * SEATS as u64, || {
            dinner(on, latch, move |left, right| async move {
                for _ in 0..meals {
                    let mut first = forks[left.min(right)].0.lock().await;
                    let mut second = forks[left.max(right)].0.lock().await;
                    eat(&mut first, &mut second);
                }
            });
        });
        eaten += meals * SEATS as u64;
        let uses = |fork: &Padded<Mutex<u64>>| *fork.0.try_lock().expect("all have eaten");
        assert_eq!(forks.iter().map(uses).sum::<u64>(), 2 * eaten, "a meal was lost");
        sample
    }
}
