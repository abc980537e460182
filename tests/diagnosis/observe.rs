//! [`colored::Handle::observe`], and the warnings that come unasked.

use colored::report::{Fault, Report};
use colored::usage::Level;
use colored::{Builder, Color, Runtime, spawn_colored, spawn_unique, yield_now};
use colored_tests::{alone, attempts, child};
use std::sync::mpsc;
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

/// The level is that of the waits until the last of several observations is over.
#[test]
fn observations_may_overlap() {
    alone(|| {
        let runtime = builder().build().unwrap();
        let handle = runtime.handle().clone();
        let (begun, begins) = mpsc::channel();
        let long = thread::spawn(move || {
            begun.send(()).unwrap();
            handle.observe_blocking(2 * SHORT)
        });
        begins.recv().unwrap();
        attempts::within(SHORT, || {
            let start = Instant::now();
            drop(runtime.handle().observe_blocking(SHORT / 10));
            start.elapsed()
        });
        let level = runtime.handle().trace_level();
        assert!(level == Level::Slices || long.is_finished());
        long.join().unwrap();
        assert_eq!(runtime.handle().trace_level(), Level::Off);
    });
}

#[test]
fn a_runtime_whose_workers_are_all_stuck_is_observed_from_outside() {
    alone(|| {
        attempts::some(|| {
            let runtime = builder().spare_workers(0).build().unwrap();
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
fn warnings(builder: Builder) -> Vec<(Fault, Option<Color>)> {
    let (warn, warned) = mpsc::channel();
    let builder = builder.on_warning(move |finding| {
        // The receiver may be gone.
        let _ = warn.send((finding.fault, finding.color));
    });
    let pace = Duration::from_millis(50);
    let runtime = builder.warning_pace(pace, pace, SHORT).build().unwrap();
    runtime.run(async { fill(Color::new(3)) });
    thread::sleep(Duration::from_secs(2));
    runtime.shutdown_background();
    warned.try_iter().collect()
}

#[test]
fn the_runtime_warns_by_itself_once() {
    alone(|| {
        attempts::some(|| warnings(builder()) == [(Fault::HotColor, Some(Color::new(3)))]);
    });
}

#[test]
fn warnings_can_be_switched_off() {
    alone(|| {
        assert_eq!(warnings(builder().warnings(false)), []);
        let test = "warnings_can_be_switched_off";
        child::run_after("export COLORED_WARNINGS=0", module_path!(), test, || {
            assert_eq!(warnings(builder()), []);
        });
    });
}

/// An observation begins with the work of a moment, and ends with the rest: it keeps no thread awake.
#[test]
fn an_idle_runtime_is_not_observed() {
    alone(|| {
        let pace = Duration::from_millis(20);
        let runtime: Runtime = builder().warning_pace(pace, pace, pace).build().unwrap();
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
