mod reader;

use super::{LIMITS, Limits, write};
use crate::trace::{Event, Record, Snapshot, ThreadTrace};
use colored_core::Color;
use colored_core::trace::{Ring, task};
use reader::{Slice, Trace};
use std::collections::BTreeMap;
use std::iter;
use std::time::Duration;

fn record(nanos: u64, event: Event) -> Record {
    Record { nanos, event }
}

fn slice(color: u64, nanos: u64, ran: u64) -> Record {
    record(nanos, Event::Slice { color: Color::new(color), ran, queued: 0, polls: 1 })
}

fn snapshot(threads: Vec<Vec<Record>>) -> Snapshot {
    let name = |index| format!("worker-{index}");
    let threads = (0..).zip(threads).map(|(index, records)| ThreadTrace {
        name: name(index),
        records,
        ..ThreadTrace::default()
    });
    Snapshot::new(threads.collect(), 1_000_000, Duration::from_secs(1_800_000_000))
}

fn bytes(snapshot: &Snapshot) -> Vec<u8> {
    let mut file = Vec::new();
    snapshot.write_perfetto(&mut file).expect("memory takes all");
    file
}

fn texts(slices: &[Slice]) -> Vec<(&str, u64, u64, usize)> {
    slices.iter().map(|slice| (&*slice.name, slice.begin, slice.end, slice.depth)).collect()
}

#[test]
fn a_thread_has_slices_by_color_with_polls_and_instants_in_them() {
    let [one, two] = [1025, 1026].map(|number| task(number).expect("not 0"));
    let color = Color::named("orders");
    let trace = Trace::read(&bytes(&snapshot(vec![vec![
        record(90, Event::Parked { slept: 40 }),
        record(95, Event::Steal { color, from: 3 }),
        record(112, Event::Wake { by: Some(one), task: two }),
        record(120, Event::Poll { task: one, ran: 20 }),
        record(130, Event::Poll { task: two, ran: 10 }),
        record(130, Event::Slice { color, ran: 30, queued: 7, polls: 2 }),
        record(150, Event::Io { took: 15, events: 4 }),
    ]])));
    let slices = trace.on("worker-0");
    let expected = [
        ("parked", 50, 90, 0),
        ("stole orders", 95, 95, 0),
        ("orders", 100, 130, 0),
        ("task 1025", 100, 120, 1),
        ("wake", 112, 112, 2),
        ("task 1026", 120, 130, 1),
        ("I/O", 135, 150, 0),
    ];
    assert_eq!(texts(&slices), expected);
    assert_eq!(slices[1].numbers["from worker"], 3);
    assert_eq!(slices[2].numbers["polls"], 2);
    assert_eq!(
        slices[4].numbers,
        BTreeMap::from([("task".into(), 1026), ("by task".into(), 1025)])
    );
    assert_eq!(slices[6].numbers["events"], 4);
    assert_eq!(trace.flows.values().collect::<Vec<_>>(), [&(112, Some(120))]);
    let of_color = trace.on("orders");
    assert_eq!(texts(&of_color), [("queued", 93, 100, 0), ("runs on worker-0", 100, 130, 0)]);
    let correlations = of_color.iter().chain([&slices[1], &slices[2]]);
    assert!(correlations.clone().all(|slice| slice.correlation == of_color[0].correlation));
    assert!(of_color[0].correlation.is_some());
    assert_eq!(trace.wall, Some((1_000_000, 1_800_000_000_000_000_000)));
}

#[test]
fn what_overlaps_on_a_color_has_a_further_track_of_the_same_name() {
    let (color, name) = (Color::new(7), "0x7");
    let trace = Trace::read(&bytes(&snapshot(vec![
        vec![slice(7, 30, 20), record(60, Event::Kept { color, kept: 55 })],
        vec![
            record(15, Event::Depth { color, depth: 9 }),
            record(25, Event::Depth { color, depth: 4 }),
            slice(7, 40, 20),
        ],
    ])));
    let slices = trace.on(name);
    let expected =
        [("kept", 5, 60, 0), ("runs on worker-0", 10, 30, 0), ("runs on worker-1", 20, 40, 0)];
    assert_eq!(texts(&slices), expected);
    assert_eq!(trace.named(name).len(), 3);
    let counts: Vec<_> = trace.counts.iter().map(|(_, nanos, value)| (*nanos, *value)).collect();
    assert_eq!(counts, [(15, 9), (25, 4)]);
    let depth = &trace.tracks[&trace.counts[0].0];
    assert_eq!((&*depth.name, &*trace.tracks[&depth.parent].name), ("depth", name));
}

#[test]
fn the_longest_running_colors_have_tracks_and_the_others_share_one() {
    let default = Event::Slice { color: Color::DEFAULT, ran: 5, queued: 0, polls: 1 };
    let numbered = (0..10).map(|color| slice(color, color * 100 + 50, 10 + color));
    let records = iter::once(record(20, default)).chain(numbered).collect();
    let mut file = Vec::new();
    write(&snapshot(vec![records]), Limits { colors: 3, ..LIMITS }, &mut file).expect("memory");
    let trace = Trace::read(&file);
    for color in 0..10u64 {
        let own = usize::from(color >= 7);
        assert_eq!(trace.on(&format!("{color:#x}")).len(), own, "color {color}");
    }
    let others = trace.on("other colors");
    let names: Vec<_> = others.iter().map(|slice| &*slice.name).collect();
    assert_eq!(names, ["default", "0x0", "0x1", "0x2", "0x3", "0x4", "0x5", "0x6"]);
}

#[test]
fn a_time_that_goes_back_moves_the_later_event_up() {
    let task = task(5).expect("not 0");
    let trace = Trace::read(&bytes(&snapshot(vec![vec![
        slice(1, 100, 50),
        record(85, Event::Poll { task, ran: 5 }),
        slice(2, 90, 20),
        slice(3, 120, 1000),
    ]])));
    let expected =
        [("0x1", 50, 100, 0), ("0x2", 100, 100, 0), ("0x3", 100, 120, 0), ("task 5", 100, 100, 1)];
    assert_eq!(texts(&trace.on("worker-0")), expected);
}

#[test]
fn lost_records_are_shown_on_their_thread() {
    let mut snapshot = snapshot(vec![vec![slice(1, 100, 50)], vec![]]);
    snapshot.threads[0].overwritten = 17;
    snapshot.threads[1].dropped = 4;
    let trace = Trace::read(&bytes(&snapshot));
    let lost = trace.on("worker-0").into_iter().find(|slice| slice.name == "lost records");
    assert_eq!(lost.expect("it is shown").numbers["overwritten"], 17);
    let lost = trace.on("worker-1").remove(0);
    assert_eq!((&*lost.name, lost.numbers["dropped"]), ("lost records", 4));
}

#[test]
fn a_slice_takes_at_most_40_bytes() {
    let records = |thread: u64| {
        let slice = move |number: u64| {
            let event = Event::Slice {
                color: Color::of(number % 60),
                ran: 2_000 + number % 7_000,
                queued: 500,
                polls: 3,
            };
            record(1_000_000_000_000 + (number * 2 + thread) * 10_000, event)
        };
        (0..5_000).map(slice).collect()
    };
    let file = bytes(&snapshot(vec![records(0), records(1)]));
    let slices = Trace::read(&file).slices.len();
    assert_eq!(slices, 3 * 10_000, "on the worker, queued, and on the color");
    let each = file.len() as f64 / slices as f64;
    assert!(each <= 40.0, "{each} bytes a slice");
}

#[test]
fn a_file_that_would_be_too_large_has_the_newest_records_and_says_so() {
    let records = |first: u64| (0..5_000).map(|n| slice(n % 9, 1000 + n * 20 + first, 5)).collect();
    let snapshot = snapshot(vec![records(0), records(10)]);
    let limits = Limits { bytes: 100_000, ..LIMITS };
    let mut file = Vec::new();
    write(&snapshot, limits, &mut file).expect("memory takes all");
    assert!(file.len() <= 100_000 && file.len() > 50_000, "{} bytes", file.len());
    let trace = Trace::read(&file);
    let cut = trace.on("cut").remove(0).numbers["left out of the file"];
    let kept = |name| trace.on(name).iter().filter(|slice| !slice.is_instant).count() as u64;
    assert_eq!(cut + kept("worker-0") + kept("worker-1"), 10_000);
    let last = trace.on("worker-1").pop().expect("the newest record is there");
    assert_eq!(last.end, 1000 + 4999 * 20 + 10);
    let lost = trace.on("worker-0").remove(0);
    assert_eq!(lost.name, "lost records");
    assert!(lost.numbers["left out of the file"] * 2 - cut < 2, "{lost:?} of {cut}");
}

struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn event(&mut self) -> Event {
        let color = Color::new(self.below(9));
        let [one, by] = [self.below(20) + 1, self.below(20)].map(task);
        let one = one.expect("not 0");
        let took = self.below(300);
        match self.below(17) {
            0..3 => Event::Slice { color, ran: took, queued: self.below(100), polls: 2 },
            3 => Event::Steal { color, from: 1 },
            4 => Event::Parked { slept: took },
            5 => Event::Io { took, events: 2 },
            6 => Event::Timers { took, fired: 2 },
            7 => Event::Kept { color, kept: took },
            8 => Event::LongPoll { color, ran: took, task: by },
            9 => Event::Depth { color, depth: 5 },
            10 => Event::Wake { by, task: one },
            11 => Event::Spawn { by, task: one, site: Some(std::panic::Location::caller()) },
            12 => Event::End { task: one },
            13 => Event::Hop { task: one, to: color },
            14 => Event::Post { color },
            15 => Event::Call { color },
            _ => Event::Poll { task: one, ran: took },
        }
    }
}

/// Records in an order that makes no sense, from clocks that go back, through rings that overwrite most of them: the reader
/// panics at the first contradiction.
#[test]
fn no_records_make_a_file_that_contradicts_itself() {
    for seed in 0..30 {
        let mut chance = Chance(seed);
        let mut threads = Vec::new();
        for index in 0..3 {
            let (ring, mut nanos) = (Ring::new(4096), 10_000u64);
            for _ in 0..chance.below(600) {
                nanos = nanos + chance.below(200) - if chance.below(9) == 0 { 150 } else { 0 };
                ring.push(record(nanos, chance.event()));
            }
            let copied = ring.copy();
            threads.push(ThreadTrace {
                name: format!("worker-{index}"),
                records: copied.records,
                overwritten: copied.overwritten,
                dropped: chance.below(2),
            });
        }
        let snapshot = Snapshot::new(threads, 5_000, Duration::ZERO);
        let file = bytes(&snapshot);
        assert!(file == bytes(&snapshot), "equal snapshots, other bytes");
        let trace = Trace::read(&file);
        let on_threads =
            |name: &str| trace.on(name).iter().filter(|s| s.name != "lost records").count();
        for thread in &snapshot.threads {
            let elsewhere = |record: &&Record| {
                !matches!(record.event, Event::Kept { .. } | Event::Depth { .. })
            };
            let expected = thread.records.iter().filter(elsewhere).count();
            assert_eq!(on_threads(&thread.name), expected, "seed {seed}");
        }
        let mut small = Vec::new();
        write(&snapshot, Limits { bytes: 9_000, colors: 2 }, &mut small).expect("memory");
        assert!(small.len() <= 9_000, "{} bytes", small.len());
        Trace::read(&small);
    }
}

/// Sane records: each color's slices last as long in the file as in the records.
#[test]
fn the_slices_of_a_color_add_up() {
    let mut chance = Chance(7);
    let mut sums = BTreeMap::<u64, u64>::new();
    let thread = |chance: &mut Chance, sums: &mut BTreeMap<u64, u64>, first: u64| {
        let mut nanos = 0;
        let record = |_| {
            let (color, ran) = (first + chance.below(6), chance.below(1_000));
            nanos += ran + chance.below(50);
            *sums.entry(color).or_default() += ran;
            slice(color, nanos, ran)
        };
        (0..2_000).map(record).collect::<Vec<_>>()
    };
    let records = vec![thread(&mut chance, &mut sums, 1), thread(&mut chance, &mut sums, 7)];
    let trace = Trace::read(&bytes(&snapshot(records)));
    for (color, sum) in sums {
        let name = format!("{color:#x}");
        let length = |slices: Vec<Slice>| slices.iter().map(|s| s.end - s.begin).sum::<u64>();
        assert_eq!(length(trace.on(&name)), sum, "on the track of {name}");
        let mut on_threads = trace.on("worker-0");
        on_threads.extend(trace.on("worker-1"));
        on_threads.retain(|slice| slice.name == name);
        assert_eq!(length(on_threads), sum, "on the threads: {name}");
    }
}
