//! Signals, handled by tasks. Each test has a process of its own, since a signal comes to a process.

use colored::signal::ctrl_c;
use colored::signal::unix::{Signal, SignalKind, signal};
use colored::time::{Duration, timeout};
use colored::{Color, ColorCell, Runtime, spawn_colored};
use colored_tests::{child, run, shared, wait_until};
use rustix::process::{Signal as Number, getpid, kill_process};
use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const RED: u64 = 1;

fn raise(signal: Number) {
    kill_process(getpid(), signal).unwrap();
}

/// A thousand signals are handled one at a time under their color, and the last one is never lost.
#[test]
fn a_thousand_signals_are_handled_serially_and_the_last_is_not_lost() {
    child::run(
        module_path!(),
        "a_thousand_signals_are_handled_serially_and_the_last_is_not_lost",
        || {
            run(2, async {
                let sent = Arc::new(AtomicUsize::new(0));
                let seen = ColorCell::new(RED, (0, 0));
                for _ in 0..2 {
                    let mut signals = signal(SignalKind::user_defined1()).unwrap();
                    let (sent, seen) = (Arc::clone(&sent), seen.clone());
                    drop(spawn_colored(RED, async move {
                        while signals.recv().await == Some(()) {
                            // No lock: both tasks have the color of the cell.
                            seen.with(|(handled, last)| {
                                *handled += 1;
                                *last = sent.load(Ordering::SeqCst);
                            });
                        }
                    }));
                }
                for number in 1..=1000 {
                    sent.store(number, Ordering::SeqCst);
                    raise(Number::USR1);
                    if number % 100 == 0 {
                        colored::yield_now().await;
                    }
                }
                let (mut handled, mut last) = (0, 0);
                while last < 1000 {
                    colored::time::sleep(Duration::from_millis(1)).await;
                    (handled, last) = seen.call(|seen| *seen).await;
                }
                assert!((1..=2000).contains(&handled), "{handled}");
            });
        },
    );
}

#[test]
fn every_listener_hears_of_a_signal_also_in_another_runtime() {
    child::run(module_path!(), "every_listener_hears_of_a_signal_also_in_another_runtime", || {
        shared(|| {
            let runtimes = [1, 2].map(|n| Runtime::builder().workers(n).build().unwrap());
            let heard = Arc::new(AtomicUsize::new(0));
            let mut ready = Vec::new();
            for runtime in &runtimes {
                for _ in 0..2 {
                    let inside = runtime.enter();
                    let mut hangup: Signal = signal(SignalKind::hangup()).unwrap();
                    drop(inside);
                    let heard = Arc::clone(&heard);
                    ready.push(runtime.handle().spawn_unique(async move {
                        hangup.recv().await.unwrap();
                        heard.fetch_add(1, Ordering::SeqCst);
                    }));
                }
            }
            raise(Number::HUP);
            wait_until(|| heard.load(Ordering::SeqCst) == 4);
        });
    });
}

#[test]
fn ctrl_c_ends_a_wait_and_not_the_program() {
    child::run(module_path!(), "ctrl_c_ends_a_wait_and_not_the_program", || {
        run(1, async {
            let waiting = spawn_colored(RED, ctrl_c());
            // It listens from its first poll on.
            spawn_colored(RED, async {}).await.unwrap();
            raise(Number::INT);
            waiting.await.unwrap().unwrap();
            // A signal before the one who listens is not his.
            let mut late = signal(SignalKind::interrupt()).unwrap();
            assert!(timeout(Duration::from_millis(20), late.recv()).await.is_err());
            raise(Number::INT);
            raise(Number::INT);
            assert_eq!(late.recv().await, Some(()));
            drop(late);
            // Nobody listens, and the program goes on.
            raise(Number::INT);
        });
    });
}

#[test]
fn a_signal_that_cannot_be_handled_is_named() {
    run(1, async {
        assert_eq!(Color::current(), Some(Color::DEFAULT));
        for (number, name) in [(9, "SIGKILL"), (11, "SIGSEGV"), (4000, "no signal's number")] {
            let error = signal(SignalKind::from_raw(number)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            let text = format!("cannot listen for signal {number} ({name}): ");
            assert!(error.to_string().starts_with(&text), "{error}");
        }
    });
}
