use super::Exporter;
use crate::diagnose::usage::Level;
use crate::runtime::Tuning;
use crate::{Color, Runtime};
use ::metrics::with_local_recorder;
use metrics_util::debugging::{DebugValue, DebuggingRecorder};
use std::collections::BTreeMap;
use std::hint;
use std::thread;
use std::time::{Duration, Instant};

/// By name and labels, as `name{label=value}`.
type Published = BTreeMap<String, f64>;

/// A recorder, and what it has been told so far: each snapshot takes the values out of it.
struct Recorded {
    recorder: DebuggingRecorder,
    values: Published,
}

impl Recorded {
    fn new() -> Self {
        Self { recorder: DebuggingRecorder::new(), values: Published::new() }
    }

    /// The values behind `f`.
    fn after(&mut self, f: impl FnOnce()) -> Published {
        with_local_recorder(&self.recorder, f);
        for (key, _, text, value) in self.recorder.snapshotter().snapshot().into_vec() {
            let key = key.key();
            assert!(text.is_some(), "{} has a description", key.name());
            let labels: Vec<_> =
                key.labels().map(|label| format!("{}={}", label.key(), label.value())).collect();
            let value = match value {
                DebugValue::Counter(count) => count as f64,
                DebugValue::Gauge(value) => value.into_inner(),
                DebugValue::Histogram(_) => panic!("there is no histogram"),
            };
            let place = self.values.entry(format!("{}{{{}}}", key.name(), labels.join(",")));
            // These two are set; what is added to the others has been taken out.
            match key.name() {
                "colored_default_color_busy_ratio" | "colored_recorder_level" => {
                    place.insert_entry(value);
                }
                _ => *place.or_default() += value,
            }
        }
        self.values.clone()
    }

    fn publish(&mut self, exporter: &mut Exporter) -> Published {
        self.after(|| exporter.publish())
    }
}

fn wait_until(condition: impl Fn() -> bool) {
    while !condition() {
        thread::sleep(Duration::from_millis(1));
    }
}

fn runtime() -> Runtime {
    Runtime::builder().workers(2).tuning(Tuning::new().spare_workers(0)).build().unwrap()
}

/// Runs so many tasks under the color.
fn run(runtime: &Runtime, color: Color, tasks: u32) {
    runtime.run(async move {
        let tasks: Vec<_> = (0..tasks)
            .map(|_| crate::spawn_colored(color, async { hint::black_box(()) }))
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
}

#[test]
fn counters_and_times_are_published_without_colors() {
    let runtime = runtime();
    runtime.handle().set_trace_level(Level::Slices);
    let mut recorder = Recorded::new();
    let mut exporter = Exporter::new(runtime.handle());
    run(&runtime, Color::named("exported"), 100);
    // As below.
    wait_until(|| runtime.metrics().parked == 2);
    let usage = runtime.handle().usage();
    let first = recorder.publish(&mut exporter);
    let polls: u64 = usage.workers.iter().map(|worker| worker.polls).sum();
    assert!(polls >= 100 && first["colored_polls_total{}"] >= polls as f64, "{first:#?}");
    for worker in 0..2 {
        let states = ["run", "search", "io", "timer", "park"];
        let name =
            |state| format!("colored_worker_time_seconds_total{{worker={worker},state={state}}}");
        let sum: f64 = states.map(|state| first[&name(state)]).iter().sum();
        assert!(sum > 0.0, "{first:#?}");
    }
    assert!(first["colored_wait_seconds_total{for=color}"] > 0.0);
    assert!((0.0..=1.0).contains(&first["colored_default_color_busy_ratio{}"]));
    assert_eq!(first["colored_recorder_level{}"], 1.0);
    assert_eq!(first["colored_tasks{}"], 0.0);
    assert!(first.keys().all(|name| !name.contains("color_run") && !name.contains("{color=")));

    run(&runtime, Color::named("exported"), 100);
    let second = recorder.publish(&mut exporter);
    assert!(second["colored_polls_total{}"] >= first["colored_polls_total{}"] + 100.0);
    let grows = first.keys().filter(|name| name.contains("_total"));
    assert!(grows.into_iter().all(|name| second[name] >= first[name]), "{first:#?} {second:#?}");
}

#[test]
fn the_colors_with_the_most_work_have_labels_and_lose_their_depth_with_their_place() {
    let runtime = runtime();
    runtime.handle().set_trace_level(Level::Slices);
    let mut recorder = Recorded::new();
    let mut exporter = Exporter::new(runtime.handle()).colors(1);
    let label = |color: &str| format!("colored_color_depth{{color={color}}}");
    let (small, large) = (Color::named("exported small"), Color::named("exported large"));
    // For so long, and returns how long it took with its waits.
    let compute = |color, time: Duration| {
        let begin = Instant::now();
        let task = runtime.spawn_colored(color, async move {
            let begin = Instant::now();
            while begin.elapsed() < time {
                hint::spin_loop();
            }
        });
        wait_until(|| task.is_finished());
        begin.elapsed()
    };
    let took = compute(small, Duration::from_millis(5));
    let first = recorder.publish(&mut exporter);
    assert!(first.contains_key(&label("exported small")), "{first:#?}");
    assert!(first["colored_color_run_seconds_total{color=exported small}"] > 0.0);
    assert!(first.contains_key("colored_color_wait_seconds_total{color=exported small,for=cpu}"));

    // A depth that would stay for ever.
    let depth = vec![::metrics::Label::new("color", "exported small")];
    let stays = recorder.after(|| exporter.share.set("colored_color_depth", depth, 7.0));
    assert_eq!(stays[&label("exported small")], 7.0);
    compute(large, 3 * took);
    let second = recorder.publish(&mut exporter);
    assert!(second.contains_key(&label("exported large")), "{second:#?}");
    assert_eq!(second[&label("exported small")], 0.0);
}

#[test]
fn the_values_of_two_runtimes_add_up() {
    let (large, small) = (runtime(), runtime());
    let mut recorder = Recorded::new();
    let mut of_large = Exporter::new(large.handle());
    let mut of_small = Exporter::new(small.handle());
    let polls = |runtime: &Runtime| -> u64 {
        runtime.handle().usage().workers.iter().map(|worker| worker.polls).sum()
    };
    let [mut tasks, mut seconds] = [0.0; 2];
    for round in 1..=3 {
        run(&large, Color::new(1), 1000);
        run(&small, Color::new(1), 10);
        // A worker counts the polls of a slice behind it, and then parks: the numbers stay.
        wait_until(|| [&large, &small].iter().all(|one| one.metrics().parked == 2));
        recorder.publish(&mut of_large);
        let both = recorder.publish(&mut of_small);
        let expected = polls(&large) + polls(&small);
        assert!(polls(&small) >= 10 * round, "{}", polls(&small));
        assert_eq!(both["colored_polls_total{}"], expected as f64, "round {round}");
        assert!(both["colored_run_seconds_total{}"] > seconds);
        seconds = both["colored_run_seconds_total{}"];
        tasks = both["colored_tasks{}"];
    }
    assert_eq!(tasks, 0.0);

    // A level is the sum of both, and a runtime that is not published any more is no part of it.
    let waits = [&large, &small].map(|runtime| runtime.spawn(std::future::pending::<()>()));
    recorder.publish(&mut of_large);
    assert_eq!(recorder.publish(&mut of_small)["colored_tasks{}"], 2.0);
    assert_eq!(recorder.after(|| drop(of_small))["colored_tasks{}"], 1.0);
    waits.into_iter().for_each(|task| task.abort());
}
