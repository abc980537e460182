//! `cargo bench -p colored-core --bench instructions`: the instructions of an operation, as valgrind's callgrind counts them.
//!
//! One worker is stepped on one thread, and its clock stands still: so two runs of a build have the same counts, whatever
//! else the machine does. Each row runs in a process of its own, with two numbers of operations; the difference is the row's,
//! without start and end. How the compiler divides the crate moves a row by up to 12 %, so compare two trees with
//! `CARGO_PROFILE_BENCH_CODEGEN_UNITS=1 CARGO_PROFILE_BENCH_LTO=off`. `-- <text>` counts the rows whose names contain it.

use colored_core::{Color, ColorCell, Park, Scheduler, SchedulerHandle, Step, when, yield_now};
use std::env;
use std::future::{pending, poll_fn};
use std::process::{Command, exit};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

struct NoSystem;

impl Park for NoSystem {
    fn unpark(&self, _: usize) {}

    fn now(&self) -> u64 {
        0
    }
}

/// Runs that many operations, from a task of color 1.
type Run = fn(SchedulerHandle, u32);

const ROWS: [(&str, Run); 9] = [
    ("yield", |on, times| {
        on_color_1(&on, async move {
            for _ in 0..times {
                yield_now().await;
            }
        });
    }),
    ("post_and_turn", |on, times| {
        let cell = cell(&on, 2);
        on_color_1(&on, async move {
            for nth in 0..times {
                cell.post(|sum| *sum += 1);
                if nth % 64 == 0 {
                    yield_now().await;
                }
            }
        });
    }),
    ("call_idle", |on, times| {
        let cell = cell(&on, 2);
        on_color_1(&on, async move {
            for _ in 0..times {
                cell.call(|sum| *sum += 1).await;
            }
        });
    }),
    ("read_idle", |on, times| {
        let cell = cell(&on, 2);
        on_color_1(&on, async move {
            for _ in 0..times {
                cell.read(|sum| *sum).await;
            }
        });
    }),
    ("when_two_idle", |on, times| {
        let (one, other) = (cell(&on, 2), cell(&on, 3));
        on_color_1(&on, async move {
            for _ in 0..times {
                when((&one, &other), |one, other| *one += *other).await;
            }
        });
    }),
    ("wake_and_turn", |on, times| {
        let wakers = Arc::new(Mutex::new([const { None::<Waker> }; 2]));
        for side in 0..2 {
            let wakers = Arc::clone(&wakers);
            drop(on.spawn_colored(Color::new(2 + side as u64), ping(wakers, side, times / 2)));
        }
    }),
    ("spawn_and_join_colored", |on, times| {
        on_color_1(&on.clone(), async move {
            for _ in 0..times {
                on.spawn_colored(Color::new(2), async {}).await.expect("it ends");
            }
        });
    }),
    ("spawn_and_join_unique", |on, times| {
        on_color_1(&on.clone(), async move {
            for _ in 0..times {
                on.spawn_unique(async {}).await.expect("it ends");
            }
        });
    }),
    ("wait_and_abort_unique", |on, times| {
        on_color_1(&on.clone(), async move {
            let tasks: Vec<_> = (0..times).map(|_| on.spawn_unique(pending::<()>())).collect();
            // A slice has 64 polls, and all tasks come before the next one.
            for _ in 0..64 {
                yield_now().await;
            }
            tasks.iter().for_each(|task| task.abort());
            for task in tasks {
                task.await.expect_err("no task ends");
            }
        });
    }),
];

fn cell(on: &SchedulerHandle, color: u64) -> ColorCell<u64> {
    ColorCell::new_in(on, Color::new(color), 0)
}

fn on_color_1(on: &SchedulerHandle, future: impl Future<Output = ()> + Send + 'static) {
    drop(on.spawn_colored(Color::new(1), future));
}

/// Wakes the other side, and waits for it, that many times.
async fn ping(wakers: Arc<Mutex<[Option<Waker>; 2]>>, side: usize, times: u32) {
    for _ in 0..times {
        let mut has_waited = false;
        poll_fn(|cx| {
            if std::mem::replace(&mut has_waited, true) {
                return Poll::Ready(());
            }
            let other = {
                let mut wakers = wakers.lock().expect("no side panics");
                wakers[side] = Some(cx.waker().clone());
                wakers[1 - side].take()
            };
            other.into_iter().for_each(Waker::wake);
            Poll::Pending
        })
        .await;
    }
}

fn run(row: &str, times: u32) {
    let (_, run) = ROWS.iter().find(|(name, _)| *name == row).expect("a row");
    let (handle, mut workers) = Scheduler::with_workers(1, 1, Box::new(NoSystem));
    run(handle, times);
    while workers[0].step() == Step::Ran {}
}

/// The instructions of a process that runs this row.
fn count(row: &str, times: u32) -> u64 {
    let program = env::current_exe().expect("this program has a path");
    let valgrind = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(["run", row, &times.to_string()])
        .output();
    let output = valgrind.unwrap_or_else(|error| {
        eprintln!("valgrind: {error}; it counts the instructions");
        exit(1);
    });
    let text = String::from_utf8_lossy(&output.stderr);
    let counted = text.lines().find_map(|line| line.split_once("Collected : "));
    let counted = counted.and_then(|(_, counted)| counted.trim().parse().ok());
    counted.unwrap_or_else(|| panic!("{row}: {text}"))
}

fn main() {
    let arguments: Vec<_> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [first, row, times] = &arguments[..]
        && first == "run"
    {
        return run(row, times.parse().expect("a number"));
    }
    let (few, many) = (1_000, 11_000);
    println!("{:<26}{:>14}", "operation", "instructions");
    for (row, _) in ROWS {
        if arguments.iter().all(|text| row.contains(text.as_str())) {
            let counted = count(row, many) - count(row, few);
            println!("{row:<26}{:>14.1}", counted as f64 / f64::from(many - few));
        }
    }
}
