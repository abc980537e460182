//! Tasks with a stack of their own beside futures: a switch, a wake, a spawn, the memory of a task that waits.
//!
//! `cargo bench -p colored-rt-stackful` prints a line for each row: nanoseconds for each operation, the best of several
//! rounds, and the ratio.

use colored::sync::mpsc;
use colored::{Color, Runtime};
use colored_stackful as stackful;
use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Waker};
use std::time::Instant;

const ROUNDS: usize = 9;
const TASKS: usize = 100_000;

/// The best of several rounds, in nanoseconds for each of `operations`.
fn best(operations: usize, mut run: impl FnMut()) -> f64 {
    let round = |_| {
        let start = Instant::now();
        run();
        start.elapsed().as_nanos() as f64 / operations as f64
    };
    (0..ROUNDS).map(round).fold(f64::INFINITY, f64::min)
}

fn row(name: &str, ours: f64, other: f64) {
    println!(
        "{name:<34} stackful {ours:>8.1} ns   future {other:>8.1} ns   ratio {:.2}",
        ours / other
    );
}

fn yields(runtime: &Runtime) {
    const STEPS: usize = 200_000;
    let ours = best(STEPS, || {
        let steps = || (0..STEPS).for_each(|_| stackful::yield_now());
        runtime.run(async move { stackful::spawn(1, steps).await.unwrap() });
    });
    let other = best(STEPS, || {
        let steps = async {
            for _ in 0..STEPS {
                colored::yield_now().await;
            }
        };
        runtime.run(async move { colored::spawn_colored(1, steps).await.unwrap() });
    });
    row("a yield", ours, other);
}

/// Two tasks send a number to and fro.
fn ping_pong(runtime: &Runtime, name: &str, colors: [Color; 2]) {
    const STEPS: usize = 50_000;
    type Ends = (mpsc::Sender<usize>, mpsc::Receiver<usize>);
    fn ends() -> (Ends, Ends) {
        let ((to_b, from_a), (to_a, from_b)) = (mpsc::channel(1), mpsc::channel(1));
        ((to_b, from_b), (to_a, from_a))
    }
    let ours = best(STEPS * 2, || {
        let (a, b) = ends();
        let echo = |(send, mut receive): Ends, first: bool| {
            move || {
                for step in 0..STEPS {
                    if !first || step > 0 {
                        stackful::wait(receive.recv()).unwrap();
                    }
                    let _ = stackful::wait(send.send(step));
                }
            }
        };
        runtime.run(async move {
            let a = stackful::spawn(colors[0], echo(a, true));
            let b = stackful::spawn(colors[1], echo(b, false));
            a.await.unwrap();
            b.await.unwrap();
        });
    });
    let other = best(STEPS * 2, || {
        let (a, b) = ends();
        let echo = |(send, mut receive): Ends, first: bool| async move {
            for step in 0..STEPS {
                if !first || step > 0 {
                    receive.recv().await.unwrap();
                }
                let _ = send.send(step).await;
            }
        };
        runtime.run(async move {
            let a = colored::spawn_colored(colors[0], echo(a, true));
            let b = colored::spawn_colored(colors[1], echo(b, false));
            a.await.unwrap();
            b.await.unwrap();
        });
    });
    row(name, ours, other);
}

/// The same between two threads of the system.
fn threads_ping_pong() {
    const STEPS: usize = 20_000;
    let taken = best(STEPS * 2, || {
        let (to_b, from_a) = std::sync::mpsc::sync_channel(1);
        let (to_a, from_b) = std::sync::mpsc::sync_channel(1);
        let echo = std::thread::spawn(move || {
            while let Ok(step) = from_a.recv() {
                to_a.send(step).unwrap();
            }
        });
        for step in 0..STEPS {
            to_b.send(step).unwrap();
            from_b.recv().unwrap();
        }
        drop(to_b);
        echo.join().unwrap();
    });
    println!("a message between threads of the system: {taken:.1} ns");
}

fn spawns(runtime: &Runtime) {
    const STEPS: usize = 50_000;
    let ours = best(STEPS, || {
        runtime.run(async {
            for step in 0..STEPS {
                assert_eq!(stackful::spawn_unique(move || step).await.unwrap(), step);
            }
        });
    });
    let other = best(STEPS, || {
        runtime.run(async {
            for step in 0..STEPS {
                assert_eq!(colored::spawn_unique(async move { step }).await.unwrap(), step);
            }
        });
    });
    row("a spawn and a join", ours, other);
    let thread = best(1000, || {
        (0..1000)
            .for_each(|step| assert_eq!(std::thread::spawn(move || step).join().unwrap(), step));
    });
    println!("a spawn and a join of a thread of the system: {thread:.1} ns");
}

fn fibers() {
    const STEPS: usize = 100_000;
    let mut cx = Context::from_waker(Waker::noop());
    let whole = best(STEPS, || {
        for step in 0..STEPS {
            let mut fiber = pin!(stackful::future(move || step));
            assert!(fiber.as_mut().poll(&mut cx).is_ready());
        }
    });
    println!("a closure on a stack of the pool, without a task: {whole:.1} ns");
}

/// Resident KiB of this process.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
}

fn memory(runtime: &Runtime) {
    let (before, begun) = (resident(), Arc::new(AtomicUsize::new(0)));
    let counts = Arc::clone(&begun);
    let handles = runtime.run(async move {
        let spawn = |_| {
            let begun = Arc::clone(&counts);
            stackful::spawn_unique(move || {
                begun.fetch_add(1, Ordering::Relaxed);
                stackful::wait(pending::<()>());
            })
        };
        (0..TASKS).map(spawn).collect::<Vec<_>>()
    });
    while begun.load(Ordering::Relaxed) < TASKS {
        std::thread::yield_now();
    }
    let each = (resident() - before) as f64 / TASKS as f64;
    println!("{TASKS} tasks that wait: {each:.2} KiB each, resident");
    let start = Instant::now();
    runtime.run(async move {
        handles.iter().for_each(stackful::JoinHandle::abort);
        for handle in handles {
            drop(handle.await);
        }
    });
    let each = start.elapsed().as_nanos() as f64 / TASKS as f64;
    println!(
        "an abort of one of them, with its unwinding: {each:.0} ns; {} KiB are left",
        resident() - before
    );
}

fn main() {
    let runtime = Runtime::builder().workers(1).build().expect("the runtime starts");
    yields(&runtime);
    ping_pong(&runtime, "a message, one color", [Color::new(1), Color::new(1)]);
    ping_pong(&runtime, "a message, two colors", [Color::new(1), Color::new(2)]);
    threads_ping_pong();
    spawns(&runtime);
    fibers();
    memory(&runtime);
}
