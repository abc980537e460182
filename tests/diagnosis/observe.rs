//! [`colored::Handle::observe`], and the warnings that come unasked.

use colored::diagnose::Options;
use colored::diagnose::report::{Fault, Report};
use colored::diagnose::usage::Level;
use colored::runtime::Tuning;
use colored::{Builder, Color, ColorCell, Runtime, spawn_colored, spawn_unique, yield_now};
use colored_tests::{alone, attempts, child, wait_until};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

const SHORT: Duration = Duration::from_millis(300);

fn compute(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// Twenty tasks of one color, which always have something to run.
fn fill(color: Color) {
    for _ in 0..20 {
        let _detached = spawn_colored(color, async {
            loop {
                compute(Duration::from_micros(100));
                yield_now().await;
            }
        });
    }
}

fn builder() -> Builder {
    Builder::new().workers(2)
}

#[test]
fn a_report_names_the_color_and_the_level_is_as_before() {
    alone(|| {
        attempts::some(|| {
            let runtime = builder().build().unwrap();
            let color = Color::named("full");
            let report: Report = runtime.run(async move {
                fill(color);
                colored::Handle::current().observe(SHORT).await
            });
            assert_eq!(runtime.handle().trace_level(), Level::Off);
            assert!(report.measures_waits && report.length >= SHORT);
            runtime.handle().set_trace_level(Level::Tasks);
            drop(runtime.handle().observe_blocking(Duration::from_millis(10)));
            assert_eq!(runtime.handle().trace_level(), Level::Tasks);
            runtime.shutdown_background();
            report.fault() == Some(Fault::HotColor) && report.findings[0].color == Some(color)
        });
    });
}

/// Programs whose one color limits them: calls of a cell, tasks that other tasks await, and tasks that take turns. The callers
/// compute, too: where the system runs one worker at a time, the color is busy for two thirds of the time only.
fn full_of(kind: usize, color: Color) {
    let compute = || compute(Duration::from_micros(30));
    let look = || self::compute(Duration::from_micros(15));
    let total = ColorCell::new(color, 0_u64);
    for _ in 0..40 {
        let total = total.clone();
        let _detached = match kind {
            0 => spawn_unique(async move {
                loop {
                    look();
                    total.call(move |total| (compute(), *total += 1)).await;
                }
            }),
            1 => spawn_unique(async move {
                loop {
                    look();
                    spawn_colored(color, async move { compute() }).await.unwrap();
                }
            }),
            _ => spawn_colored(color, async move {
                loop {
                    compute();
                    yield_now().await;
                }
            }),
        };
    }
}

/// What the machine does beside a program does not hide its fault: each report names it, without another attempt.
#[test]
fn a_hot_color_is_named_beside_busy_loops() {
    const ROUNDS: usize = 6;
    alone(|| {
        let ends = Arc::new(AtomicBool::new(false));
        let burners = (0..2 * thread::available_parallelism().unwrap().get()).map(|_| {
            let ends = Arc::clone(&ends);
            thread::spawn(move || {
                while !ends.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            })
        });
        let burners: Vec<_> = burners.collect();
        let color = Color::named("full");
        let mut missed = Vec::new();
        for round in 0..ROUNDS {
            let runtime = builder().build().unwrap();
            runtime.run(async move { full_of(round % 3, color) });
            let report = runtime.handle().observe_blocking(2 * SHORT);
            runtime.shutdown_background();
            let is_named = report.fault() == Some(Fault::HotColor);
            if !is_named || report.findings[0].color != Some(color) {
                missed.push(format!("{}: {report}", round % 3));
            }
        }
        ends.store(true, Ordering::Relaxed);
        burners.into_iter().for_each(|burner| burner.join().unwrap());
        assert!(missed.is_empty(), "{} of {ROUNDS}:\n{}", missed.len(), missed.join("\n"));
    });
}

/// The level is that of the waits until the last of several observations is over.
#[test]
fn observations_may_overlap() {
    alone(|| {
        let runtime = builder().build().unwrap();
        let handle = runtime.handle().clone();
        let begin = Instant::now();
        let long = thread::spawn(move || handle.observe_blocking(2 * SHORT));
        wait_until(|| runtime.handle().trace_level() == Level::Slices || long.is_finished());
        attempts::within(SHORT, || {
            let start = Instant::now();
            drop(runtime.handle().observe_blocking(SHORT / 10));
            start.elapsed()
        });
        let level = runtime.handle().trace_level();
        assert!(level == Level::Slices || begin.elapsed() >= 2 * SHORT);
        long.join().unwrap();
        assert_eq!(runtime.handle().trace_level(), Level::Off);
    });
}

#[test]
fn a_runtime_whose_workers_are_all_stuck_is_observed_from_outside() {
    alone(|| {
        attempts::some(|| {
            let runtime = builder().tuning(Tuning::new().spare_workers(0)).build().unwrap();
            let (stuck, get_stuck) = mpsc::channel();
            let gates: Vec<mpsc::Sender<()>> = (0..2)
                .map(|_| {
                    let (open, gate) = mpsc::channel();
                    let stuck = stuck.clone();
                    let _detached = runtime.handle().spawn_unique(async move {
                        stuck.send(()).unwrap();
                        let _ = gate.recv();
                    });
                    open
                })
                .collect();
            get_stuck.iter().take(2).for_each(drop);
            let report = runtime.handle().observe_blocking(SHORT);
            drop(gates);
            println!("{report}");
            // Where the system does not tell, they may compute.
            let expected =
                if cfg!(target_os = "linux") { Fault::BlockedWorker } else { Fault::LongPoll };
            report.fault() == Some(expected)
        });
    });
}

/// The faults that a runtime with a hook warns of within two seconds, while one color is full.
fn warnings(options: Options) -> Vec<(Fault, Option<Color>)> {
    let (warn, warned) = mpsc::channel();
    let options = options.on_warning(move |finding| {
        // The receiver may be gone.
        let _ = warn.send((finding.fault, finding.color));
    });
    let pace = Duration::from_millis(50);
    let options = options.warning_pace(pace, pace, SHORT);
    let runtime = builder().diagnose(options).build().unwrap();
    runtime.run(async { fill(Color::new(3)) });
    thread::sleep(Duration::from_secs(2));
    runtime.shutdown_background();
    warned.try_iter().collect()
}

#[test]
fn the_runtime_warns_by_itself_once() {
    alone(|| {
        attempts::some(|| warnings(Options::new()) == [(Fault::HotColor, Some(Color::new(3)))]);
    });
}

#[test]
fn warnings_can_be_switched_off() {
    alone(|| {
        assert_eq!(warnings(Options::new().warnings(false)), []);
        let test = "warnings_can_be_switched_off";
        child::run_after("export COLORED_WARNINGS=0", module_path!(), test, || {
            assert_eq!(warnings(Options::new()), []);
        });
    });
}

/// An observation begins with the work of a moment, and ends with the rest: it keeps no thread awake.
#[test]
fn an_idle_runtime_is_not_observed() {
    alone(|| {
        let pace = Duration::from_millis(20);
        let options = Options::new().warning_pace(pace, pace, pace);
        let runtime: Runtime = builder().diagnose(options).build().unwrap();
        runtime.run(async { spawn_unique(async {}).await.unwrap() });
        // Until all threads are asleep; an observation that has begun ends before.
        attempts::some(|| {
            let before = runtime.handle().trace_level();
            thread::sleep(Duration::from_millis(300));
            before == Level::Off
                && (0..20).all(|_| {
                    thread::sleep(Duration::from_millis(10));
                    runtime.handle().trace_level() == Level::Off
                })
        });
    });
}
