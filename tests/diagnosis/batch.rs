//! [`colored::trace::Snapshot::batch`]: what it says of a color, beside what the split of that color gains.
//!
//! The tasks block their threads, so two workers run two of them at a time whatever else the machine does.

use colored::trace::{Batch, Blame, Level, Split};
use colored::{Builder, Color, Handle, JoinHandle, hop, spawn_colored, yield_now};
use colored_tests::{Dice, alone, attempts, block};
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

async fn two_equal_colors(is_split: bool) {
    let mut both = tasks(|| orders(is_split), 5, 1);
    both.extend(tasks(|| OTHERS, 5, 1));
    all(both).await;
}

/// A chain of polls beside many tasks of one color: as long as all of them, so that its turns decide.
async fn a_chain_beside_many_tasks(is_split: bool) {
    let mut both = tasks(|| orders(is_split), 10, 1);
    both.push(spawn_colored(OTHERS, async {
        for _ in 0..10 {
            block(STEP);
            yield_now().await;
        }
    }));
    all(both).await;
}

/// The tasks have keys, and some keys have more tasks than others, as some customers have more orders.
async fn skewed_keys(is_split: bool) {
    let mut tasks = tasks(|| orders(is_split), 8, 1);
    for (key, count) in [(1, 4), (2, 3), (3, 2), (4, 1)] {
        tasks.extend(self::tasks(|| Color::new(100 + key), count, 1));
    }
    all(tasks).await;
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

/// Colors with a few tasks each, which have a few polls, and may change the color between them.
async fn generated(seed: u64, is_split: bool) {
    let mut dice = Dice::new(seed);
    let colors = 2 + dice.below(5);
    let mut tasks = Vec::new();
    for color in 0..colors {
        for _ in 0..1 + dice.below(if color == 0 { 14 } else { 6 }) {
            let (polls, step) = (1 + dice.below(3), STEP * (1 + dice.below(2) as u32) / 2);
            let hops = dice.below(4) == 0;
            let next = Color::new(100 + dice.below(colors));
            let color = if color == 0 { orders(is_split) } else { Color::new(100 + color) };
            tasks.push(spawn_colored(color, async move {
                for _ in 0..polls {
                    block(step);
                    if hops { hop(next).await } else { yield_now().await }
                }
            }));
        }
    }
    all(tasks).await;
}

fn measure<F>(workers: usize, load: F) -> Batch
where
    F: Future<Output = ()> + Send + 'static,
{
    let builder = Builder::new().workers(workers).spare_workers(0).trace_level(Level::Tasks);
    let runtime = builder.build().expect("the runtime starts");
    runtime.run(load);
    let handle: &Handle = runtime.handle();
    handle.trace().batch().expect("there were polls")
}

/// What the split of a color was said to gain, and what it gained.
struct Compared {
    split: Split,
    gain: f64,
    before: Batch,
}

impl Compared {
    fn of<F>(workers: usize, load: impl Fn(bool) -> F) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let [before, after] = [false, true].map(|is_split| measure(workers, load(is_split)));
        // A step takes as long as the system lets it: the times are compared in units of the work.
        let in_work = |batch: &Batch| batch.time.as_secs_f64() / batch.work.as_secs_f64();
        let gain = in_work(&before) / in_work(&after);
        let split = *before.colors.iter().find(|split| split.color == ORDERS).expect("it has run");
        println!("gain {gain:.3}, estimate {:.3}, at most {:.3}", split.estimate, split.at_most);
        Self { split, gain, before }
    }

    fn is_bounded(&self) -> bool {
        self.gain <= self.split.at_most * 1.05
    }

    /// By how much the estimate was wrong.
    fn error(&self) -> f64 {
        (self.split.estimate / self.gain - 1.0).abs()
    }
}

/// Compares what the batch says of the color with what its split gains. Both figures must be right in an attempt, in which
/// `also` holds of the batch.
#[track_caller]
fn compare<F>(load: fn(bool) -> F, also: fn(&Batch) -> bool)
where
    F: Future<Output = ()> + Send + 'static,
{
    attempts::some(|| {
        let compared = Compared::of(2, load);
        compared.is_bounded() && compared.error() <= 0.2 && also(&compared.before)
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
fn the_split_of_a_color_beside_a_chain_that_takes_turns() {
    alone(|| compare(a_chain_beside_many_tasks, |_| true));
}

#[test]
fn the_split_of_the_most_frequent_key() {
    alone(|| compare(skewed_keys, |_| true));
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

/// The order in which workers steal is chance, and so is the gain of a program.
#[test]
fn the_estimates_of_generated_programs_are_right_on_average() {
    const PROGRAMS: u64 = 15;
    alone(|| {
        attempts::some(|| {
            let of = |seed| {
                let workers = [2, 4, 8][seed as usize % 3];
                Compared::of(workers, |is_split| generated(seed, is_split))
            };
            let compared: Vec<Compared> = (1..=PROGRAMS).map(of).collect();
            let errors = compared.iter().map(Compared::error);
            let mean = errors.sum::<f64>() / PROGRAMS as f64;
            println!("mean error {mean:.3}");
            compared.iter().all(Compared::is_bounded) && mean <= 0.1
        });
    });
}
