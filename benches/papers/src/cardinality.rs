//! Serial work by key, from one key to as many as there are tasks.
//!
//! 10,000 tasks sleep 0 to 5 ms each. Tasks of one key run one after another, in order, and at most 100
//! tasks at a time. So the longest sum over a key, and the sum of all over 100 places, are lower bounds of
//! the time. A task takes a place only when it is its key's turn.
//!
//! Sleeps are whole milliseconds, as in the peer's own bench. A sleep is late by the time of the timer and
//! of the system's waking of a thread, and tokio's timers tick in milliseconds. So there are two bounds:
//! one of the requested sleeps, and one of the real sleeps. The time over the second bound is the cost of
//! serializing. A thread that only sleeps shows the time that the system takes.

use super::{Goal, Plan, Report};
use colored::runtime::Tuning;
use colored::{Color, ColorCell};
use colored_benches::chart::{Axis, Chart, Series, number};
use colored_benches::latch::Latch;
use colored_benches::measure::median;
use colored_benches::random::Random;
use colored_benches::rivals::{Rival, Runtimes, Serial, Tokio, workers};
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, Semaphore, mpsc};

/// Where the keys' colors start.
const FIRST_COLOR: u64 = 9_000_000;
/// Tasks that may sleep at the same time.
const PLACES: usize = 100;
/// The longest sleep, in milliseconds.
const LONGEST: usize = 5;
/// Keys, step by step.
const KEYS: [usize; 8] = [1, 2, 5, 10, 20, 100, 1_000, 10_000];
/// Up to this number of keys a run is nearly all sleep, and the rivals run at the same time.
const TOGETHER: usize = 10;
/// confluent parallel-consumer's README, in seconds: 10,000 messages, concurrency 100.
const PEER: [(usize, f64); 7] =
    [(1, 26.7), (2, 13.6), (5, 5.9), (10, 3.3), (20, 2.24), (100, 2.18), (10_000, 2.13)];

/// Timers that are due within one step are late together, by half of it in the mean. These steps are shorter than the
/// default of 1 ms; a program pays for them in CPU time.
const STEPS: [Duration; 2] = [Duration::from_micros(200), Duration::from_micros(20)];

/// The runtimes.
#[derive(Clone, Copy)]
struct On {
    ours: Serial,
    fine: Serial,
    tokio: Tokio,
}

/// How the order within a key is kept.
#[derive(Clone, Copy)]
enum Way {
    /// A `colored` task for each item, which holds its key's color while it sleeps.
    Exclusive,
    /// The same with timers of the shorter step.
    Fine,
    /// A tokio task for each item, behind the key's mutex.
    Mutexes,
    /// A tokio task for each key, behind its channel.
    Actors,
    /// The same on `colored`.
    ColoredActors,
}

const WAYS: [(Way, &str); 5] = [
    (Way::Exclusive, "colored, exclusive"),
    (Way::Fine, "the same, steps of 20 us"),
    (Way::ColoredActors, "colored, task a key"),
    (Way::Mutexes, "tokio, mutex a key"),
    (Way::Actors, "tokio, task a key"),
];

/// The key and the sleep of each task.
struct Load {
    tasks: Vec<(usize, Duration)>,
    keys: usize,
}

impl Load {
    /// Makes a load with keys in turn and random sleeps, the same in every run.
    fn leaked(tasks: usize, keys: usize) -> &'static Self {
        let mut random = Random::new(1);
        let mut sleep = || Duration::from_millis(random.below(LONGEST + 1) as u64);
        let tasks = (0..tasks).map(|index| (index % keys, sleep())).collect();
        Box::leak(Box::new(Self { tasks, keys }))
    }

    /// The bound of the requested sleeps, in seconds.
    fn bound(&self) -> f64 {
        let mut keys = vec![Duration::ZERO; self.keys];
        for (key, sleep) in &self.tasks {
            keys[*key] += *sleep;
        }
        bound(&keys)
    }
}

/// The least time of any scheduler, by the time slept under each key: the longest key's time, or the sum of all sleeps
/// over the places.
fn bound(keys: &[Duration]) -> f64 {
    let longest = keys.iter().max().copied().unwrap_or_default();
    let all: Duration = keys.iter().sum();
    longest.as_secs_f64().max(all.as_secs_f64() / PLACES as f64)
}

/// The run of one way.
#[derive(Clone, Copy)]
struct Run {
    /// From the first task to the last one's end.
    seconds: f64,
    /// The bound of the real sleeps.
    bound: f64,
}

/// The work under one key.
#[derive(Clone, Copy, Default)]
struct Done {
    tasks: usize,
    slept: Duration,
}

/// Runs all steps.
///
/// # Panics
///
/// If a task is lost, or two tasks of a key overlap.
#[must_use]
pub fn run(plan: &Plan) -> Report {
    let mut report = Report::new(plan);
    let [ours, fine] = STEPS.map(|step| {
        let builder = colored::Runtime::builder().workers(workers());
        Serial::start(builder.tuning(Tuning::new().timer_resolution(step)))
    });
    let on = On { ours, fine, tokio: Runtimes::start().tokio() };
    let tasks = plan.pick(10_000, 1_000, 200);
    let mut rows = Vec::new();
    let mut curves: Vec<Vec<(f64, f64)>> = vec![Vec::new(); WAYS.len() + 1];
    for keys in KEYS.into_iter().filter(|&keys| keys <= tasks) {
        let load = Load::leaked(tasks, keys);
        let bound = load.bound();
        let (runs, alone) = if keys <= TOGETHER {
            together(on, load)
        } else {
            // Runs with many keys are short.
            in_turn(on, load, if keys < 100 { plan.pick(3, 2, 1) } else { plan.pick(9, 2, 1) })
        };
        curves[0].push((keys as f64, bound));
        for (curve, run) in curves[1..].iter_mut().zip(&runs) {
            curve.push((keys as f64, run.seconds));
        }
        let (ours, fine) = (runs[0], runs[1]);
        for (peer, run) in ["tokio_mutex", "tokio_actor"].into_iter().zip(&runs[3..]) {
            let name = format!("keys_{keys}_vs_{peer}");
            report.ratio(&name, ours.seconds, peer, run.seconds, "s");
        }
        let over = ours.seconds / ours.bound;
        if keys == 1 || keys == 100 || keys == tasks {
            // Of the three numbers of keys the worst counts.
            let what =
                "time over the bound of the sleeps as they were; the most of 1, 100 and all keys";
            report.goal(what, over, Goal::AtMost(1.1));
            let what =
                "time over the bound of the sleeps asked for; the most of 1, 100 and all keys";
            report.goal(what, ours.seconds / bound, Goal::AtMost(1.1));
            let what = "the same with steps of 20 us; the most of 1, 100 and all keys";
            report.goal(what, fine.seconds / bound, Goal::AtMost(1.1));
        }
        let mut row = vec![number(keys as f64), number(bound)];
        row.extend(runs.iter().map(|run| number(run.seconds)));
        row.extend([number(over), number(alone), peer_figure(keys, tasks)]);
        rows.push(row);
    }
    let mut head = vec!["keys", "bound, s"];
    head.extend(WAYS.map(|(_, name)| name));
    head.extend(["ours over its sleeps", "a thread's own sleeps", "parallel-consumer, s"]);
    report.table(&head, &rows);
    report.plot("cardinality", "time by number of keys", chart(&curves, tasks));
    report
}

fn peer_figure(keys: usize, tasks: usize) -> String {
    let found = PEER.iter().find(|(at, _)| *at == keys && tasks == 10_000);
    found.map_or(String::from("-"), |(_, seconds)| number(*seconds))
}

fn chart(curves: &[Vec<(f64, f64)>], tasks: usize) -> String {
    let mut series: Vec<_> = WAYS
        .iter()
        .zip(&curves[1..])
        .map(|((_, name), points)| Series::measured(name, points.clone()))
        .collect();
    series.push(Series::reference("bound", curves[0].clone()));
    if tasks == 10_000 {
        let points = PEER.map(|(keys, seconds)| (keys as f64, seconds));
        series.push(Series::reference("parallel-consumer", points.to_vec()));
    }
    let title = format!("{} sleeps of 0 to 5 ms, serial by key, 100 at a time", tasks);
    Chart { title, x: Axis::log("keys"), y: Axis::log("seconds"), series }.draw()
}

/// Runs all ways once, at the same time, together with the sleeps of a thread.
fn together(on: On, load: &'static Load) -> (Vec<Run>, f64) {
    thread::scope(|scope| {
        let runs = WAYS.map(|(way, _)| scope.spawn(move || once(on, way, load)));
        let alone = alone(load);
        (runs.map(|run| run.join().expect("its assertions hold")).to_vec(), alone)
    })
}

/// Runs one way after the other, and the sleeps of a thread; returns the medians of some rounds.
fn in_turn(on: On, load: &'static Load, rounds: usize) -> (Vec<Run>, f64) {
    let mut runs = vec![Vec::new(); WAYS.len()];
    let mut own = Vec::new();
    for _ in 0..rounds {
        own.push(alone(load));
        for (runs, (way, _)) in runs.iter_mut().zip(WAYS) {
            runs.push(once(on, way, load));
        }
    }
    let medians = |runs: Vec<Run>| Run {
        seconds: median(runs.iter().map(|run| run.seconds)),
        bound: median(runs.iter().map(|run| run.bound)),
    };
    (runs.into_iter().map(medians).collect(), median(own.into_iter()))
}

/// The real sleeps of a thread that only sleeps, over the requested ones.
fn alone(load: &Load) -> f64 {
    let sleeps = (load.tasks.len() / load.keys).max(PLACES).min(load.tasks.len());
    let sleeps = load.tasks[..sleeps].iter().map(|(_, sleep)| *sleep);
    let start = Instant::now();
    sleeps.clone().filter(|sleep| !sleep.is_zero()).for_each(thread::sleep);
    start.elapsed().as_secs_f64() / sleeps.sum::<Duration>().as_secs_f64()
}

fn once(on: On, way: Way, load: &'static Load) -> Run {
    let start = Instant::now();
    let keys = match way {
        Way::Exclusive => exclusive(on.ours, load),
        Way::Fine => exclusive(on.fine, load),
        Way::ColoredActors => actors(on.ours.unique(), load),
        Way::Actors => actors(on.tokio, load),
        Way::Mutexes => mutexes(on.tokio, load),
    };
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!(keys.iter().map(|key| key.tasks).sum::<usize>(), load.tasks.len());
    let slept: Vec<_> = keys.iter().map(|key| key.slept).collect();
    Run { seconds, bound: bound(&slept) }
}

/// One task's work at its turn: it takes a place and sleeps.
async fn work<R: Rival>(on: R, places: &'static Semaphore, sleep: Duration, done: &mut Done) {
    let _place = places.acquire().await.expect("nobody closes it");
    let start = Instant::now();
    on.sleep(sleep).await;
    done.slept += start.elapsed();
    done.tasks += 1;
}

fn places() -> &'static Semaphore {
    Box::leak(Box::new(Semaphore::new(PLACES)))
}

fn exclusive(on: Serial, load: &'static Load) -> Vec<Done> {
    let (latch, places) = (Latch::leaked(), places());
    let color = |key: usize| Color::new(FIRST_COLOR + key as u64);
    let cell = |key| on.handle().cell(color(key), Done::default());
    let cells: &'static [ColorCell<Done>] = Vec::leak((0..load.keys).map(cell).collect());
    on.run(async move {
        latch.expect(load.tasks.len());
        for &(key, sleep) in &load.tasks {
            drop(colored::spawn_colored(color(key), async move {
                let work = async |done: &mut Done| work(on, places, sleep, done).await;
                cells[key].exclusive(work).await;
                latch.hit();
            }));
        }
        latch.wait().await;
    });
    on.run(async move {
        let mut done = Vec::with_capacity(load.keys);
        for cell in cells {
            done.push(cell.call(|done| *done).await);
        }
        done
    })
}

fn mutexes<R: Rival>(on: R, load: &'static Load) -> Vec<Done> {
    let (latch, places) = (Latch::leaked(), places());
    let keys: &'static [Mutex<Done>] =
        Vec::leak((0..load.keys).map(|_| Mutex::default()).collect());
    on.run(async move {
        latch.expect(load.tasks.len());
        for &(key, sleep) in &load.tasks {
            drop(on.spawn(async move {
                work(on, places, sleep, &mut *keys[key].lock().await).await;
                latch.hit();
            }));
        }
        latch.wait().await;
    });
    keys.iter().map(|key| *key.try_lock().expect("all are done")).collect()
}

fn actors<R: Rival>(on: R, load: &'static Load) -> Vec<Done> {
    let places = places();
    on.run(async move {
        let mut keys = Vec::with_capacity(load.keys);
        let mut actors = Vec::with_capacity(load.keys);
        for _ in 0..load.keys {
            let (send, mut receive) = mpsc::unbounded_channel();
            keys.push(send);
            actors.push(on.spawn(async move {
                let mut done = Done::default();
                while let Some(sleep) = receive.recv().await {
                    work(on, places, sleep, &mut done).await;
                }
                done
            }));
        }
        for &(key, sleep) in &load.tasks {
            keys[key].send(sleep).expect("the actor lives");
        }
        drop(keys);
        let mut done = Vec::with_capacity(load.keys);
        for actor in actors {
            done.push(actor.await.expect("an actor does not panic"));
        }
        done
    })
}

#[cfg(test)]
mod tests {
    use super::Load;

    #[test]
    fn the_bound_is_the_longest_key_or_all_places() {
        let all = |keys| Load::leaked(10_000, keys).bound();
        assert!((24.0..26.0).contains(&all(1)), "{}", all(1));
        assert!((all(1) / 100.0 - all(10_000)).abs() < 1e-9);
        assert!(all(10) > all(1) / 10.0);
    }
}
