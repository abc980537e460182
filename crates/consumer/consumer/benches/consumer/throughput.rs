//! How fast records are handled, and for how much CPU time.

use crate::support::{Directory, cpu as cpu_time, open, quantile, runtime, zipf};
use colored::time::{Duration, Instant};
use colored_consumer::{Consumer, Event, Room, Source};
use std::sync::atomic::{AtomicU64, Ordering};

fn spin(time: Duration) {
    let start = std::time::Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// Handles `count` records of a filled directory by 100 at a time; returns the time and the CPU time. That takes `least`;
/// then the count is looked at each millisecond, which costs time itself.
fn handle(
    directory: &Directory,
    (group, held): (&str, usize),
    (workers, count, least): (usize, u64, Duration),
    work: fn(&colored_consumer::Record) -> Option<Duration>,
) -> [Duration; 2] {
    let (path, group) = (directory.path().to_owned(), group.to_owned());
    runtime(workers).run(async move {
        let engine = open(path).await;
        let member = engine.member(&group, ["t"]).join().await.expect("a member");
        let (start, before) = (Instant::now(), cpu_time());
        let builder = Consumer::builder(member).concurrency(100).records(held);
        let consumer = builder.start(move |record, _| async move {
            if let Some(time) = work(&record) {
                colored::time::sleep(time).await;
            }
            Ok(())
        });
        let consumer = consumer.expect("the settings are good");
        colored::time::sleep(least).await;
        while consumer.metrics().await.done < count {
            colored::time::sleep(Duration::from_millis(1)).await;
        }
        let times = [start.elapsed(), cpu_time() - before];
        consumer.stop().await.expect("the engine works");
        times
    })
}

pub(crate) fn sleep() {
    for keys in [10_000, 100, 1] {
        let directory = Directory::new("sleep");
        directory.fill((0..10_000).map(move |number| number % keys));
        // A hundred at a time, and the records of a key one after the other.
        let bound = Duration::from_millis(2 * 10_000 / keys.min(100) as u64);
        let [time, _] = handle(&directory, ("g", 100_000), (2, 10_000, bound), |_| {
            Some(Duration::from_millis(2))
        });
        let seconds = time.as_secs_f64();
        println!(
            "sleep {keys} keys: {seconds:.3} s, {:.3} of the bound",
            seconds / bound.as_secs_f64()
        );
    }
}

pub(crate) fn cpu() {
    const COUNT: u64 = 300_000;
    let directory = Directory::new("cpu");
    directory.fill(zipf(COUNT as usize, 1_000));
    let floor = poll_all(&directory, COUNT);
    // The handlers alone take as long on two cores.
    let least = Duration::from_micros(COUNT / 2);
    let [time, own] = handle(&directory, ("g", 100_000), (2, COUNT, least), |_| {
        spin(Duration::from_micros(1));
        None
    });
    let each = |time: Duration| time.as_secs_f64() * 1e6 / COUNT as f64;
    println!(
        "cpu: {:.2} us a record with 1 us of the handler, {:.2} us of polling alone; {:.2} us of time",
        each(own),
        each(floor),
        each(time)
    );
}

/// What is in flight is bounded by the default, so that reading stops and goes on all the time.
pub(crate) fn partitions() {
    const COUNT: u64 = 300_000;
    for partitions in [12, 1_000] {
        let directory = Directory::new("partitions");
        directory.fill_partitions(partitions, (0..COUNT as usize).map(|key| key % 10_000));
        let [time, own] = handle(&directory, ("g", 20_000), (2, COUNT, Duration::ZERO), |_| None);
        let each = |time: Duration| time.as_secs_f64() * 1e6 / COUNT as f64;
        println!(
            "partitions, {partitions}: {:.2} us of CPU a record, {:.2} us of time",
            each(own),
            each(time)
        );
    }
}

/// The CPU time of polling so many records.
fn poll_all(directory: &Directory, count: u64) -> Duration {
    let path = directory.path().to_owned();
    runtime(2).run(async move {
        let engine = open(path).await;
        let mut member = engine.member("floor", ["t"]).join().await.expect("a member");
        let (before, mut polled) = (cpu_time(), 0);
        while polled < count {
            let room = Room { records: 20_000, bytes: 1 << 20 };
            match member.poll(room).await.expect("the engine works") {
                Event::Assigned(all) => {
                    all.iter().for_each(|of| member.begin(&of.owned, of.log.start));
                }
                Event::Records { records, .. } => polled += records.len() as u64,
                _ => {}
            }
        }
        cpu_time() - before
    })
}

/// Computes so many rounds. No clock: a program that takes the core meanwhile takes none of the work.
fn compute_rounds(rounds: u64) {
    let mut state = 1_u64;
    for _ in 0..rounds {
        state = std::hint::black_box(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
    }
}

/// The rounds of this time, where nothing else takes the core.
fn rounds_of(time: Duration) -> u64 {
    const TRIED: u64 = 20_000;
    let least = (0..200).map(|_| {
        let start = std::time::Instant::now();
        compute_rounds(TRIED);
        start.elapsed()
    });
    let least = least.min().expect("there are some");
    (TRIED as f64 * time.as_secs_f64() / least.as_secs_f64()) as u64
}

static ROUNDS: AtomicU64 = AtomicU64::new(0);

/// So many workers are measured, as far as the machine has them.
const WORKERS: [usize; 4] = [1, 2, 8, 16];

/// Of Zipf keys the hottest has an eighth of the records. It gets no more time than another key, and so is the last: the first
/// three quarters tell what two workers do while many keys have records. Even keys tell what many workers do. By turns, medians. What
/// more workers add to the CPU time of a record is told on a machine with other work, too: it bounds how much faster they are.
pub(crate) fn compute() {
    const COUNT: u64 = 100_000;
    let rounds = rounds_of(Duration::from_micros(20));
    // Ordering: before all that uses it.
    ROUNDS.store(rounds, Ordering::Relaxed);
    let directory = Directory::new("compute");
    directory.fill(zipf(COUNT as usize, 1_000));
    compute_with("all", &directory, COUNT);
    compute_with("three quarters", &directory, COUNT * 3 / 4);
    let directory = Directory::new("compute-even");
    directory.fill((0..COUNT as usize).map(|number| number % 10_000));
    compute_with("even keys", &directory, COUNT);
}

fn compute_with(what: &str, directory: &Directory, count: u64) {
    const TURNS: usize = 5;
    let cores = std::thread::available_parallelism().map_or(2, usize::from).max(2);
    let workers: Vec<_> = WORKERS.into_iter().filter(|workers| *workers <= cores).collect();
    let mut times = vec![[(); 2].map(|()| Vec::new()); workers.len()];
    for turn in 0..TURNS {
        for (workers, times) in workers.iter().zip(&mut times) {
            let group = format!("g{workers}-{count}-{turn}");
            let least = Duration::from_micros(20 * count / *workers as u64);
            let of = handle(directory, (&group, 100_000), (*workers, count, least), |_| {
                // Ordering: as above.
                compute_rounds(ROUNDS.load(Ordering::Relaxed));
                None
            });
            (0..2).for_each(|at| times[at].push(of[at]));
        }
    }
    let median = |mut all: Vec<Duration>| quantile(&mut all, 0.5).as_secs_f64();
    let medians: Vec<_> = times.into_iter().map(|of| of.map(median)).collect();
    let [one, cpu_one] = medians[0];
    for (workers, [time, cpu]) in workers.iter().zip(&medians) {
        let (each, most) = (cpu * 1e6 / count as f64, *workers as f64 * cpu_one / cpu);
        println!(
            "compute, {what}, workers {workers}: {time:.2} s, {:.2} times as fast as one; {each:.2} us of CPU a record: at most {most:.2} times",
            one / time
        );
    }
}
