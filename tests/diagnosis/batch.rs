//! [`colored::trace::Snapshot::batch`]: what it says of a color, beside what the split of that color gains.
//!
//! The tasks block their threads, so two workers run two of them at a time whatever else the machine does.

use crate::support::{alone, attempts, block};
use colored::trace::{Batch, Blame, Level};
use colored::{Builder, Color, Handle, JoinHandle, hop, spawn_colored};
use std::time::Duration;

const ORDERS: Color = Color::new(7);
const OTHERS: Color = Color::new(8);
const STEP: Duration = Duration::from_millis(5);

/// The color of a task of `ORDERS`: a fresh one, if that color is split.
fn orders(is_split: bool) -> Color {
    if is_split { Color::unique() } else { ORDERS }
}

async fn all(tasks: Vec<JoinHandle<()>>) {
    for task in tasks {
        task.await.expect("the task ends");
    }
}

fn tasks(color: impl Fn() -> Color, count: usize, steps: u32) -> Vec<JoinHandle<()>> {
    (0..count).map(|_| spawn_colored(color(), async move { block(STEP * steps) })).collect()
}

async fn one_color(is_split: bool) {
    all(tasks(|| orders(is_split), 8, 1)).await;
}

async fn a_large_and_a_small_color(is_split: bool) {
    let mut both = tasks(|| orders(is_split), 9, 1);
    both.extend(tasks(|| OTHERS, 3, 1));
    all(both).await;
}

/// The color that is not split has one poll. If it had five, it would take turns with the tasks of the other one, and end later.
async fn two_equal_colors(is_split: bool) {
    let mut both = tasks(|| orders(is_split), 5, 1);
    both.extend(tasks(|| OTHERS, 1, 5));
    all(both).await;
}

async fn a_pipeline(is_split: bool) {
    let stages = |_| {
        spawn_colored(orders(is_split), async {
            block(STEP * 2);
            hop(Color::unique()).await;
            block(STEP);
        })
    };
    all((0..12).map(stages).collect()).await;
}

async fn a_chain(is_split: bool) {
    for _ in 0..6 {
        all(tasks(|| orders(is_split), 1, 1)).await;
    }
}

fn measure<F>(load: F) -> Batch
where
    F: Future<Output = ()> + Send + 'static,
{
    let builder = Builder::new().workers(2).spare_workers(0).trace_level(Level::Tasks);
    let runtime = builder.build().expect("the runtime starts");
    runtime.run(load);
    let handle: &Handle = runtime.handle();
    handle.trace().batch().expect("there were polls")
}

/// Compares what the batch says of the color with what its split gains. Both figures must be right in an attempt, in which
/// `also` holds of the batch.
#[track_caller]
fn compare<F>(load: fn(bool) -> F, also: fn(&Batch) -> bool)
where
    F: Future<Output = ()> + Send + 'static,
{
    attempts::some(|| {
        let (before, after) = (measure(load(false)), measure(load(true)));
        // A step takes as long as the system lets it: the times are compared in units of the work.
        let in_work = |batch: &Batch| batch.time.as_secs_f64() / batch.work.as_secs_f64();
        let gain = in_work(&before) / in_work(&after);
        let split = before.colors.iter().find(|split| split.color == ORDERS).expect("it has run");
        let is_right = gain <= split.at_most * 1.05 && (split.estimate / gain - 1.0).abs() <= 0.2;
        let is_met = is_right && also(&before);
        if !is_met {
            println!("gain {gain}: {before:?}");
        }
        is_met
    });
}

fn share(batch: &Batch, of: Blame) -> f64 {
    let time: Duration =
        batch.blame.iter().filter(|(blame, _)| *blame == of).map(|(_, time)| *time).sum();
    time.as_secs_f64() / batch.time.as_secs_f64()
}

#[test]
fn the_split_of_the_only_color_gains_both_workers() {
    alone(|| {
        compare(one_color, |batch| {
            let first = &batch.colors[0];
            let share = share(batch, Blame::Color(ORDERS));
            first.color == ORDERS && first.at_most > 1.8 && share > 0.7
        });
    });
}

#[test]
fn the_split_of_a_color_beside_a_smaller_one_gains_the_rest() {
    alone(|| compare(a_large_and_a_small_color, |_| true));
}

#[test]
fn the_split_of_one_of_two_equal_colors_gains_nothing() {
    alone(|| {
        compare(two_equal_colors, |batch| batch.colors.iter().all(|split| split.at_most < 1.4));
    });
}

#[test]
fn the_split_of_the_first_stage_of_a_pipeline() {
    alone(|| compare(a_pipeline, |_| true));
}

#[test]
fn the_split_of_a_chain_gains_nothing() {
    alone(|| {
        compare(a_chain, |batch| batch.longest_chain > STEP * 6 && share(batch, Blame::Work) > 0.7);
    });
}
