//! G1: at most one poll or callback of a color runs at any time.

use crate::support::drops::Drops;
use crate::support::witness::Witness;
use crate::support::{Dice, run, runtime, shared};
use colored::{Color, ColorCell, Handle, hop, spawn_colored, spawn_unique, yield_now};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

const COLORS: u64 = 64;
const PRODUCERS: usize = 16;
const EVENTS: u64 = 1_000_000 / PRODUCERS as u64;

/// What one color's events see of each other.
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

/// Makes events by every way there is: a task, a callback, a hop, a yield.
async fn produce(places: Arc<[Place]>, cells: Arc<[ColorCell<()>]>, producer: usize) {
    let mut dice = Dice::new(producer as u64 + 1);
    for number in 1..=EVENTS {
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

/// Together with G2: per producer and color, the events arrive in the order of their making.
#[test]
fn a_million_events_of_64_colors_on_8_workers_under_stealing() {
    shared(|| {
        let runtime = runtime(8);
        let places: Arc<[Place]> = (0..COLORS).map(|_| Place::default()).collect();
        let ours = Arc::clone(&places);
        runtime.run(async move {
            let cells: Arc<[_]> = (0..COLORS).map(|i| ColorCell::new(Color::new(i), ())).collect();
            // One worker makes all producers: the others have to steal.
            let producers: Vec<_> = (0..PRODUCERS)
                .map(|i| spawn_unique(produce(Arc::clone(&ours), Arc::clone(&cells), i)))
                .collect();
            for producer in producers {
                producer.await.unwrap();
            }
            for color in 0..COLORS {
                // By G2 it runs behind every event.
                spawn_colored(color, async {}).await.unwrap();
            }
        });
        let events: u64 = places.iter().map(|place| place.witness.count()).sum();
        assert_eq!(events, EVENTS * PRODUCERS as u64);
        let disorder: u64 = places.iter().map(|place| place.disorder.load(Ordering::Relaxed)).sum();
        assert_eq!(disorder, 0, "events overtook each other");
        let steals: u64 = runtime.metrics().workers.iter().map(|worker| worker.steals).sum();
        assert!(steals > 0, "nothing was stolen, so nothing was tested");
    });
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

#[test]
fn hops_aborts_and_shutdown_keep_colors_apart() {
    shared(|| {
        for round in 0..10 {
            let runtime = runtime(8);
            let witnesses: Arc<[Witness]> = Witness::many(8).into_vec().into();
            let tasks: Vec<_> = (0..400)
                .map(|i| {
                    let wanderer = Wanderer(Arc::clone(&witnesses));
                    runtime.handle().spawn_colored(i % 8, wander(wanderer, round * 400 + i))
                })
                .collect();
            thread::sleep(Duration::from_millis(5));
            tasks.iter().step_by(2).for_each(|task| task.abort());
            runtime.shutdown_timeout(Duration::from_secs(60)).unwrap();
            assert!(tasks.iter().all(|task| task.is_finished()));
            assert!(Witness::total(&witnesses) >= 400, "each destructor counts");
        }
    });
}

#[test]
fn tasks_posts_and_calls_of_one_color_keep_apart() {
    let witness = Arc::new(Witness::default());
    let ours = Arc::clone(&witness);
    run(8, async move {
        let cell = ColorCell::new(Color::new(1), Drops::default());
        let handle = Handle::current();
        // A thread that the runtime does not know takes part as well.
        let foreign = {
            let (cell, witness) = (cell.clone(), Arc::clone(&ours));
            move || {
                for _ in 0..5_000 {
                    let witness = Arc::clone(&witness);
                    cell.post(move |_| witness.touch());
                }
            }
        };
        let foreign = thread::spawn(foreign);
        let callers = (0..16).map(|_| {
            let (cell, witness) = (cell.clone(), Arc::clone(&ours));
            spawn_unique(async move {
                for _ in 0..1_000 {
                    let inside = Arc::clone(&witness);
                    cell.call(move |_| inside.touch()).await;
                    let inside = Arc::clone(&witness);
                    cell.post(move |_| inside.touch());
                    let inside = Arc::clone(&witness);
                    spawn_colored(1, async move { inside.touch() }).await.unwrap();
                }
            })
        });
        for caller in callers.collect::<Vec<_>>() {
            caller.await.unwrap();
        }
        handle.spawn_blocking(|| foreign.join().unwrap()).await.unwrap();
        cell.call(|_| ()).await;
        spawn_colored(1, async {}).await.unwrap();
    });
    assert_eq!(witness.count(), 5_000 + 16 * 3_000);
}
