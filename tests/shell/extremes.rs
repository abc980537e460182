//! Every public duration, count and size at its ends.
//!
//! A row calls one function with each of the values 0, 1, the largest but one and the largest. It works, or it is refused,
//! by an error of the system, or by an error of ours or a documented panic, whose text has the value. `tests/layers/extremes.rs` finds the public functions in
//! the sources, and asks for a row of each.

mod durations;
mod numbers;

use colored::Runtime;
use colored::net::{ConnectOptions, TcpListener, TcpStream};
use colored::runtime::Tuning;
use colored::time::{Duration, Instant};
use colored_tests::polls::at_once;
use colored_tests::{alone, message, runtime};
use std::fs::File;
use std::io;
use std::path::PathBuf;

type Done = io::Result<()>;

/// Runs the future on the worker of a runtime. Its panic goes on here.
fn on<F: Future>(future: F) -> F::Output {
    runtime(1).block_on(future)
}

/// As [`on`], on a runtime whose clock is paused.
fn paused<F: Future>(future: F) -> F::Output {
    let builder =
        Runtime::builder().workers(1).tuning(Tuning::new().spare_workers(0)).start_paused(true);
    builder.build().unwrap().block_on(future)
}

/// Polls the future once, and drops it.
async fn once<F: Future>(future: F) {
    drop(at_once(future).await);
}

/// Connects to a listener of this machine, which does not accept.
fn connect(options: ConnectOptions) -> Done {
    on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        options.connect(listener.local_addr().unwrap()).await.map(drop)
    })
}

/// A connection of this machine.
async fn connection() -> TcpStream {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    TcpStream::connect(listener.local_addr().unwrap()).await.unwrap()
}

/// So much after now, or the last time that the system can represent.
fn after(duration: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(duration).unwrap_or_else(|| {
        let steps = (0..64).rev().map(|bit| Duration::from_secs(1 << bit));
        steps.fold(now, |at, step| at.checked_add(step).unwrap_or(at))
    })
}

const YEAR: u64 = 365 * 24 * 3600;

/// Whether so much time has passed, or, for what a clock cannot show, some decades.
fn has_passed(since: Instant, duration: Duration) -> bool {
    let is_shown = duration < Duration::from_secs(500 * YEAR);
    since.elapsed() >= if is_shown { duration } else { Duration::from_secs(29 * YEAR) }
}

/// A file of four bytes, and its path, which only this test uses.
fn file() -> (PathBuf, File) {
    let path = std::env::temp_dir().join(format!("colored-extremes-{}", std::process::id()));
    std::fs::write(&path, "text").unwrap();
    let file = File::options().read(true).write(true).open(&path).unwrap();
    (path, file)
}

/// Calls the function, which must work, or say why not and name the value by one of these.
fn check(name: &str, value: &str, forms: &[String], call: impl FnOnce() -> Done) {
    let text = match std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)) {
        Ok(Ok(())) => return,
        // The system's own error keeps its number, and `io::named` names the call.
        Ok(Err(error)) if error.raw_os_error().is_some() => return,
        Ok(Err(error)) => error.to_string(),
        Err(payload) => message(&*payload),
    };
    let is_clear = forms.iter().any(|form| text.contains(form));
    assert!(is_clear, "{name} with {value}: {text:?} does not name the value");
}

#[test]
fn each_duration_is_taken_or_refused_by_name() {
    alone(|| {
        let nano = Duration::from_nanos(1);
        // And one that is longer than the 2^48 ticks of a timer were once.
        let long = Duration::from_secs(200 * YEAR);
        for (name, call) in durations::ROWS {
            for value in [Duration::ZERO, nano, long, Duration::MAX - nano, Duration::MAX] {
                let nanos = u64::try_from(value.as_nanos()).unwrap_or(u64::MAX);
                let forms = [format!("{value:?}"), format!("{nanos} ns")];
                check(name, &forms[0], &forms, || call(value));
            }
        }
    });
}

#[test]
fn each_number_is_taken_or_refused_by_name() {
    alone(|| {
        for (name, max, call) in numbers::ROWS {
            let middle = [i32::MAX as u64, u64::from(u32::MAX), i64::MAX as u64];
            let middle = middle.into_iter().filter(|value| value < max);
            for value in [0, 1].into_iter().chain(middle).chain([max - 1, *max]) {
                check(name, &value.to_string(), &[value.to_string()], || call(value));
            }
        }
    });
}
