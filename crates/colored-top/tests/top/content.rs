//! What a snapshot tells.

use crate::load::{HOT, Load, TASKS};
use colored::diagnose::Options;
use colored::{Color, Runtime};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

struct Reader(BufReader<UnixStream>);

impl Reader {
    fn connect(path: &Path) -> Self {
        Self(BufReader::new(UnixStream::connect(path).expect("the socket is open")))
    }

    fn ask(&mut self, request: &str) -> Value {
        writeln!(self.0.get_mut(), "{request}").expect("the runtime reads");
        let mut line = String::new();
        self.0.read_line(&mut line).expect("there is a reply");
        serde_json::from_str(&line).expect("it is JSON")
    }
}

fn seconds(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no time"))
}

fn of<'a>(snapshot: &'a Value, color: &str) -> &'a Value {
    let mut colors = snapshot["colors"].as_array().expect("there are colors").iter();
    colors.find(|found| found["color"] == color).expect("the color is told")
}

#[test]
fn a_snapshot_tells_totals_and_a_window_of_colors_workers_and_places() {
    let load = Load::start();
    let mut reader = Reader::connect(&load.socket());
    assert_eq!(reader.ask("level 1")["level"], 1);
    let begin = Instant::now();
    let first = reader.ask("snapshot");
    // The color has run before the second, in the time that passes.
    let [second, third] = [0; 2].map(|_| reader.ask("snapshot"));
    // Two a second at most, so the third comes a second after the first.
    assert!(begin.elapsed() >= Duration::from_millis(990), "{:?}", begin.elapsed());

    assert!(first["window"].is_null() && first["report"].is_null());
    let fourth = reader.ask("snapshot");
    assert_eq!(second["pid"], std::process::id());
    assert_eq!(second["tasks"], TASKS);
    assert_eq!(second["level"], 1);
    assert!(seconds(&second["window"]) >= 0.49);
    let name = format!("color {HOT}");
    let (before, after) = (of(&third, &name), of(&fourth, &name));
    let window = &after["window"];
    for field in ["turns", "slices"] {
        let total = |of: &Value| of["total"][field].as_u64().expect("a number");
        assert_eq!(window[field], total(after) - total(before), "{field}");
        assert!(total(after) > total(before), "{field}");
    }
    let sums = |part: &str| seconds(&after["total"][part]) - seconds(&before["total"][part]);
    for part in ["run", "wait_color", "wait_cpu"] {
        assert!((seconds(&window[part]) - sums(part)).abs() < 1e-6, "{part}");
    }
    assert!(seconds(&window["run"]) > 0.0 && seconds(&window["wait_color"]) > 0.0);
    assert_eq!(third["measures_waits"], true);
    assert!(third["report"]["sentence"].as_str().is_some_and(|text| !text.is_empty()));

    let workers = third["workers"].as_array().expect("there are workers");
    assert!(workers.iter().map(|worker| seconds(&worker["window"]["run"])).sum::<f64>() > 0.0);
    let here = |site: &Value| site["site"].as_str().is_some_and(|site| site.contains("load.rs"));
    assert!(third["sites"].as_array().expect("there are places").iter().any(here));
}

#[test]
fn a_dump_tells_what_tasks_wait_for_unless_there_are_too_many() {
    let load = Load::start();
    let path = load.directory().join("waiting");
    let waiting = Runtime::builder().workers(1).diagnose(Options::new().inspect(&path)).build();
    let waiting = waiting.expect("the runtime starts");
    let sleeps = async { colored::time::sleep(Duration::from_secs(3600)).await };
    let _detached = waiting.spawn_colored(Color::named("sleeper"), sleeps);
    let mut reader = Reader::connect(&path);
    crate::load::wait_until("the dump tells of the timer", || {
        let dump = reader.ask("dump");
        let mut tasks = dump["tasks"].as_array().expect("there are tasks").iter();
        tasks.any(|task| task["color"] == "color \"sleeper\"" && task["waits"][0]["for"] == "timer")
    });
    let many = Color::named("many");
    for _ in 0..20_000 {
        let _detached = waiting.spawn_colored(many, std::future::pending::<()>());
    }
    crate::load::wait_until("there are too many tasks", || {
        let error = &reader.ask("dump")["error"];
        error.as_str().is_some_and(|text| text.starts_with("there are 20001 tasks"))
    });
}

#[test]
fn not_all_of_many_colors_are_told() {
    let load = Load::start();
    let options = Options::new().inspect(load.directory().join("many"));
    let waiting = Runtime::builder().workers(1).diagnose(options).build();
    let waiting = waiting.expect("the runtime starts");
    let mut reader = Reader::connect(&load.directory().join("many"));
    assert_eq!(reader.ask("level 1")["level"], 1);
    for number in 1..=1000 {
        // A task that waits keeps its color in use.
        let _detached = waiting.spawn_colored(Color::new(number), std::future::pending::<()>());
    }
    let last = waiting.spawn_colored(Color::new(1000), async {});
    waiting.run(async { last.await.expect("the task ends") });
    let snapshot = reader.ask("snapshot");
    let told = snapshot["colors"].as_array().expect("there are colors").len();
    assert!((50..=200).contains(&told), "{told}");
    assert!(snapshot["colors_in_use"].as_u64().expect("a number") >= 1000);
}
