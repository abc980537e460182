//! Ends the process when a test hangs: a hang is a lost wake-up, or a condition that never becomes true. The report
//! names the waits of tests that have not ended, and the system's figures of every thread.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::panic::Location;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The longest test takes half a minute, and a machine may be busy.
const LIMIT: Duration = Duration::from_secs(300);

/// The present waits of tests.
static WAITS: Mutex<Vec<Wait>> = Mutex::new(Vec::new());

/// A test that runs, or a condition that a thread waits for.
#[derive(Debug)]
struct Wait {
    thread: String,
    at: &'static Location<'static>,
    since: Instant,
}

fn waits() -> MutexGuard<'static, Vec<Wait>> {
    WAITS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// While it lives, the report names the place that made it.
pub(super) struct Place {
    at: &'static Location<'static>,
    since: Instant,
}

impl Place {
    #[track_caller]
    pub(super) fn enter() -> Self {
        let (at, since) = (Location::caller(), Instant::now());
        waits().push(Wait { thread: name(), at, since });
        Self { at, since }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut waits = waits();
        let own = |wait: &Wait| wait.at == self.at && wait.since == self.since;
        if let Some(place) = waits.iter().position(own) {
            waits.swap_remove(place);
        }
    }
}

fn name() -> String {
    thread::current().name().unwrap_or("a thread").to_owned()
}

/// Watches the calling test until the guard is dropped.
#[track_caller]
pub(super) fn arm() -> Guard {
    let test = name();
    let (done, over) = mpsc::channel::<()>();
    let watch = move || {
        if over.recv_timeout(LIMIT) == Err(RecvTimeoutError::Timeout) {
            // Not by `eprintln`: the harness captures the output of a test's threads, and would lose the report.
            let text = format!("watchdog: `{test}` has not ended after {LIMIT:?}\n{}", report());
            let _ = std::io::stderr().write_all(text.as_bytes());
            std::process::abort();
        }
    };
    let thread = thread::Builder::new().name("watchdog".into()).spawn(watch);
    let thread = thread.expect("a thread for the watchdog");
    Guard { done: Some(done), thread: Some(thread), _place: Place::enter() }
}

pub(super) struct Guard {
    done: Option<Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
    _place: Place,
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.done.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The report on a process that hangs.
fn report() -> String {
    let mut text = String::from("tests that run, and conditions that they wait for:\n");
    for Wait { thread, at, since } in &*waits() {
        let _ = writeln!(text, "  {thread}: {at}, for {:?}", since.elapsed());
    }
    text.push_str("threads (state and CPU: twice, a tenth of a second apart):\n");
    let before = cpu_times();
    thread::sleep(Duration::from_millis(100));
    for (number, cpu) in cpu_times() {
        let read = |file: &str| {
            let text = fs::read_to_string(format!("/proc/self/task/{number}/{file}"));
            text.map_or_else(|error| format!("({error})"), |text| text.trim().to_owned())
        };
        let earlier = before.iter().find(|(other, _)| *other == number);
        let _ = writeln!(
            text,
            "  {number} {}: {} then {cpu}, in {}, syscall {}, stack {}",
            read("comm"),
            earlier.map_or("new", |(_, cpu)| cpu),
            read("wchan"),
            read("syscall"),
            read("stack").replace('\n', " < "),
        );
    }
    text
}

/// The state of every thread, and the ticks that it has run.
fn cpu_times() -> Vec<(u32, String)> {
    let Ok(tasks) = fs::read_dir("/proc/self/task") else { return Vec::new() };
    let numbers = tasks.filter_map(|task| task.ok()?.file_name().to_str()?.parse().ok());
    let time = |number: u32| {
        let stat = fs::read_to_string(format!("/proc/self/task/{number}/stat")).ok()?;
        // After the name, which may contain anything.
        let fields: Vec<_> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        Some((number, format!("{} {}+{}", fields.first()?, fields.get(11)?, fields.get(12)?)))
    };
    numbers.filter_map(time).collect()
}

#[test]
fn the_report_names_the_waiting_tests_and_their_places() {
    let place = Place::enter();
    let (begin, begun) = mpsc::channel();
    let sleep = move || {
        begin.send(()).unwrap();
        thread::park();
    };
    let sleeper = thread::Builder::new().name("a sleeper".into()).spawn(sleep).unwrap();
    // A thread names itself.
    begun.recv().unwrap();
    let text = report();
    sleeper.thread().unpark();
    sleeper.join().unwrap();
    let own =
        |text: &str| text.lines().any(|line| line.contains(&name()) && line.contains(file!()));
    assert!(own(&text), "{text}");
    assert!(text.contains("a sleeper: "), "{text}");
    drop(place);
    assert!(!own(&report()));
}
