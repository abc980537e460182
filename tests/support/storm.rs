//! Tasks, callbacks, hops and yields of many producers and colors, and what each color sees of them.

use super::Dice;
use super::witness::Witness;
use crate::join_all;
use colored::{Color, ColorCell, Runtime, hop, spawn_colored, spawn_unique, yield_now};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const COLORS: u64 = 64;
const PRODUCERS: usize = 16;

/// State that the events of one color share.
#[derive(Default)]
struct Place {
    witness: Witness,
    /// By producer, the number of its last event here.
    last: [AtomicU64; PRODUCERS],
    disorder: AtomicU64,
}

impl Place {
    fn event(&self, producer: usize, number: u64) {
        self.witness.enter(|| {
            let last = &self.last[producer];
            if last.load(Ordering::Relaxed) >= number {
                self.disorder.fetch_add(1, Ordering::Relaxed);
            }
            last.store(number, Ordering::Relaxed);
        });
    }
}

/// Makes events in every way: by a task, a callback, a hop and a yield.
async fn produce(places: Arc<[Place]>, cells: Arc<[ColorCell<()>]>, producer: usize, events: u64) {
    let mut dice = Dice::new(producer as u64 + 1);
    for number in 1..=events {
        let color = dice.below(COLORS);
        let place = color as usize;
        let shared = Arc::clone(&places);
        match number % 16 {
            0 => {
                if Color::current() == Some(Color::new(color)) {
                    // A hop to where the task is schedules nothing, and so is behind nothing.
                    yield_now().await;
                }
                hop(Color::new(color)).await;
                places[place].event(producer, number);
            }
            1..=5 => cells[place].post(move |()| shared[place].event(producer, number)),
            _ => {
                let event = async move { shared[place].event(producer, number) };
                drop(spawn_colored(color, event));
            }
        }
    }
}

/// Runs that many events, and asserts G1 (no event overlaps another of its color) and G2 (the events of a producer and
/// a color run in the order of their making).
pub fn rage(runtime: &Runtime, events: u64) {
    let places: Arc<[Place]> = (0..COLORS).map(|_| Place::default()).collect();
    let ours = Arc::clone(&places);
    let of_each = events / PRODUCERS as u64;
    runtime.run(async move {
        let cells: Arc<[_]> = (0..COLORS).map(|i| ColorCell::new(Color::new(i), ())).collect();
        // One worker spawns all producers: the others have to steal them.
        join_all(
            (0..PRODUCERS)
                .map(|i| spawn_unique(produce(Arc::clone(&ours), Arc::clone(&cells), i, of_each))),
        )
        .await;
        for color in 0..COLORS {
            // By G2 it runs behind every event.
            spawn_colored(color, async {}).await.unwrap();
        }
    });
    let seen: u64 = places.iter().map(|place| place.witness.count()).sum();
    assert_eq!(seen, of_each * PRODUCERS as u64);
    let disorder: u64 = places.iter().map(|place| place.disorder.load(Ordering::Relaxed)).sum();
    assert_eq!(disorder, 0, "events overtook each other");
}

/// Destructors are under the color too, so they count as inside.
struct Wanderer(Arc<[Witness]>);

impl Wanderer {
    fn touch(&self) {
        let color = Color::current().expect("a task has a color");
        self.0[color.number() as usize].touch();
    }
}

impl Drop for Wanderer {
    fn drop(&mut self) {
        self.touch();
    }
}

async fn wander(wanderer: Wanderer, seed: u64) {
    let mut dice = Dice::new(seed);
    loop {
        wanderer.touch();
        match dice.below(3) {
            0 => yield_now().await,
            _ => hop(Color::new(dice.below(8))).await,
        }
    }
}

/// So many tasks hop among eight colors for ever; half of them are aborted, the rest is cancelled by
/// the shutdown. Asserts G1, and that each task ends.
pub fn wander_until_shutdown(runtime: Runtime, tasks: u64, seed: u64) {
    let witnesses: Arc<[Witness]> = Witness::many(8).into_vec().into();
    let wanderers: Vec<_> = (0..tasks)
        .map(|i| {
            let wanderer = Wanderer(Arc::clone(&witnesses));
            runtime.handle().spawn_colored(i % 8, wander(wanderer, seed + i))
        })
        .collect();
    std::thread::sleep(std::time::Duration::from_millis(5));
    wanderers.iter().step_by(2).for_each(|task| task.abort());
    runtime.shutdown_timeout(std::time::Duration::from_secs(60)).unwrap();
    assert!(wanderers.iter().all(|task| task.is_finished()));
    assert!(Witness::total(&witnesses) >= tasks, "each destructor counts");
}
