//! Mely's two experiments: events that all start on one worker, and a server of small files.
//!
//! Mely's question: is stealing worth its cost? libasync-smp stole a color by walking through a flat
//! queue of events, and lost throughput. *Naive* here is that queue and that walk, which reads the
//! color of every event, in an executor of its own ([`colored_lab::flat`]). Its server has the same
//! handlers.
//!
//! CPU time measures a server here. The clients of the paper were on other machines, so a saturated
//! server did as many requests as it had time for. Here the clients share its cores, and they take the
//! same time for every way. They take least over Unix sockets, where the server does not do the
//! clients' half of the network stack.

use super::{Goal, Plan, Report};
use crate::policies::Way;
use colored::runtime::Tuning;
use colored::{Color, ColorCell};
use colored_benches::chart::{Axis, Bars, number};
use colored_benches::http::load::Script;
use colored_benches::http::rows::Row;
use colored_benches::http::server::Kind;
use colored_benches::http::wire::Family;
use colored_benches::latch::Latch;
use colored_benches::measure::{Entry, Outcome, Sample, median};
use colored_benches::random::Random;
use colored_benches::rivals::{Rival, Serial, workers};
use colored_benches::spin::{PER_MICROSECOND, spin};
use colored_lab::{Events, First, Flat, Place, Places, Queues};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Events a sample, as in the paper.
const EVENTS: usize = 50_000;
/// Colors of the events.
const COLORS: usize = 512;
/// Where the colors start.
const FIRST_COLOR: u64 = 7_000_000;
/// Cycles of one step of [`spin`].
const CYCLES_A_STEP: u64 = 6;

/// The compared ways; the first is the default.
const WAYS: [&str; 4] = ["ours", "ours, no stealing", "naive stealing", "naive, no stealing"];

/// The required ratio of our work to the work of naive stealing, in the same time. Not over TCP, where the server also
/// does the clients' half of the network stack: there even scheduling without cost would hardly reach it.
const OVER_NAIVE: f64 = 1.25;

/// The index of naive stealing in [`WAYS`].
const NAIVE: usize = 2;
/// The server after the [`WAYS`]: no runtime at all.
const FLOOR: usize = WAYS.len();

/// The throughput of Mely's web server in the same ways, over libasync-smp without stealing: a quarter
/// more, and a third less with libasync-smp's stealing.
const PAPER: [Option<f64>; 4] = [Some(1.25), None, Some(0.67), Some(1.0)];

/// Runs both experiments.
///
/// # Panics
///
/// If an event is lost, or a server returns an error.
#[must_use]
pub fn run(plan: &Plan) -> Report {
    let mut report = Report::new(plan);
    let events = over_base(&events(plan, &mut report));
    let [looking, woken, tcp_looking, tcp_woken] =
        SERVERS.map(|row| over_base(&server(&row, plan, &mut report)));
    let bars = Bars {
        title: String::from("work in the same time, over that of flat queues without stealing"),
        axis: Axis::linear("over flat queues without stealing"),
        groups: WAYS.map(str::to_owned).to_vec(),
        series: vec![
            (String::from("unbalanced events"), events.to_vec()),
            (String::from("small files"), looking.to_vec()),
            (String::from("small files, clients that are woken"), woken.to_vec()),
            (String::from("small files, TCP"), tcp_looking.to_vec()),
            (String::from("small files, TCP, clients that are woken"), tcp_woken.to_vec()),
            (String::from("Mely's web server (paper)"), PAPER.to_vec()),
        ],
    };
    report.plot("mely", "work by way of stealing", bars.draw());
    report
}

/// The work of each way in the same time, over the last way's work.
fn over_base(outcomes: &[Outcome]) -> [Option<f64>; 4] {
    [0, 1, 2, 3].map(|index| Some(outcomes[3].cost / outcomes[index].cost))
}

/// The costs of the events: 98 % of some 100 cycles, 2 % of 10 to 50 thousand, the same in every run.
fn costs() -> &'static [u64] {
    let mut random = Random::new(4);
    let mut cost = || match random.below(100) {
        0 | 1 => (10_000 + random.below(40_001) as u64) / CYCLES_A_STEP,
        _ => 100 / CYCLES_A_STEP,
    };
    Vec::leak((0..EVENTS).map(|_| cost()).collect())
}

fn events(plan: &Plan, report: &mut Report) -> Vec<Outcome> {
    let costs = &costs()[..plan.pick(EVENTS, EVENTS, EVENTS / 20)];
    let ours = || colored::Runtime::builder().workers(workers());
    let still = ours().tuning(Tuning::new().policy(&Places { place: Place::Usual, steals: false }));
    let naive = |steals| {
        let queues = Queues::PerWorker { first: First::Poster, steals };
        Flat::start(workers(), queues, |_| ()).leak()
    };
    let entries = vec![
        Entry::subject(unbalanced(Serial::start(ours()), costs)),
        Entry::peer(WAYS[1], unbalanced(Serial::start(still), costs)),
        Entry::peer(WAYS[2], unbalanced_flat(naive(true), costs)),
        Entry::peer(WAYS[3], unbalanced_flat(naive(false), costs)),
    ];
    let outcomes = plan.alternate(Duration::from_secs(8), entries);
    let spun: u64 = costs.iter().sum();
    let ideal = spun as f64 / (PER_MICROSECOND as f64 * 1e6) / workers() as f64;
    report.text(&format!(
        "{} events of {COLORS} colors, born on one worker; their own work alone takes some {} ms on \
         {} workers:",
        number(costs.len() as f64),
        number(ideal * 1e3),
        workers()
    ));
    table(report, "mely_events", "ns/event", 1e9, OVER_NAIVE, &outcomes);
    outcomes
}

/// One task posts all events, so that they start on the worker that runs it.
fn unbalanced(on: Serial, costs: &'static [u64]) -> impl FnMut() -> Sample {
    let latch = Latch::leaked();
    let cell = move |index: usize| on.handle().cell(Color::new(FIRST_COLOR + index as u64), 0_u64);
    move || {
        // Each sample has new colors, because the colors of the last sample have homes on all workers.
        let cells: Arc<[ColorCell<u64>]> = (0..COLORS).map(cell).collect();
        let used = Arc::clone(&cells);
        let sample = Sample::time(costs.len() as u64, || {
            let cells = used;
            on.run(async move {
                latch.expect(COLORS);
                for (index, &steps) in costs.iter().enumerate() {
                    cells[index % COLORS].post(move |handled| {
                        spin(steps);
                        *handled += 1;
                    });
                }
                // Each of these events is the last of its color.
                cells.iter().for_each(|cell| cell.post(|_| latch.hit()));
                latch.wait().await;
            });
        });
        let handled = on.run(async move {
            let mut handled = 0;
            for cell in cells.iter() {
                handled += cell.call(|handled| *handled).await;
            }
            handled
        });
        assert_eq!(handled, costs.len() as u64, "an event was lost");
        sample
    }
}

/// The same on flat queues. An event changes only data of its color.
fn unbalanced_flat(on: &'static Events, costs: &'static [u64]) -> impl FnMut() -> Sample {
    let latch = Latch::leaked();
    let handled: &'static [AtomicU64] = Vec::leak((0..COLORS).map(|_| AtomicU64::new(0)).collect());
    // The colors after the task's color.
    let color = |index: usize| (1 + index % COLORS) as u16;
    let mut expected = 0;
    move || {
        let sample = Sample::time(costs.len() as u64, || {
            on.run(0, async move {
                latch.expect(COLORS);
                for (index, &steps) in costs.iter().enumerate() {
                    on.post(color(index), move || {
                        spin(steps);
                        // Ordering: only events of this color use it. Two at once would lose a count.
                        let handled = &handled[index % COLORS];
                        handled.store(handled.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                    });
                }
                // Each of these events is the last of its color.
                (0..COLORS).for_each(|index| on.post(color(index), move || latch.hit()));
                latch.wait().await;
            });
        });
        expected += costs.len() as u64;
        // Ordering: the latch orders it after the last event.
        let handled: u64 = handled.iter().map(|handled| handled.load(Ordering::Relaxed)).sum();
        assert_eq!(handled, expected, "an event was lost");
        sample
    }
}

/// Clients of the server, as many as the most in the paper, where the server was saturated.
const CLIENTS: usize = 2_000;
/// Requests of a client before it connects anew, as in the paper.
const VISIT: u32 = 150;

/// The servers: the default one, the others in the order of [`WAYS`], and [`FLOOR`]. Each runs first
/// with clients that act as if they were on other machines, then with clients that every answer wakes.
const SERVERS: [Row; 4] = [
    row("mely_server", Family::Unix, Script::file(VISIT).looking()),
    row("mely_server_woken", Family::Unix, Script::file(VISIT)),
    row("mely_server_tcp", Family::Tcp, Script::file(VISIT).looking()),
    row("mely_server_tcp_woken", Family::Tcp, Script::file(VISIT)),
];

const fn row(name: &'static str, family: Family, script: Script) -> Row {
    Row {
        name,
        connections: CLIENTS,
        script,
        family,
        workers: None,
        subject: Kind::ColoredFile,
        peers: const {
            &[Way::NoSteal.kind(), Way::Naive.kind(), Way::NaiveNoSteal.kind(), Kind::FloorFile]
        },
    }
}

fn server(row: &Row, plan: &Plan, report: &mut Report) -> Vec<Outcome> {
    let case = row.build(&plan.server, plan.mode).expect("the servers start");
    let outcomes = case.alternate(plan.mode);
    let clients = if row.script.is_looking() {
        "look for answers every 250 us"
    } else {
        "are woken by each answer that finds them asleep"
    };
    let over = match row.family {
        Family::Unix => "Unix sockets",
        Family::Tcp => "TCP",
    };
    report.text(&format!(
        "Files of a kibibyte over {over}; {} clients, which {clients}. CPU time of the server's process a \
         request, and requests a second:",
        number(CLIENTS as f64)
    ));
    let over_naive = match row.family {
        Family::Unix => OVER_NAIVE,
        Family::Tcp => 1.0,
    };
    table(report, row.name, "us-cpu/request", 1e6, over_naive, &outcomes);
    above_floor(report, row.name, &outcomes);
    outcomes
}

/// If the system takes most of a request's time, ways of scheduling differ little in the total.
fn above_floor(report: &mut Report, name: &str, outcomes: &[Outcome]) {
    let above = |way: usize| {
        let pairs = outcomes[way].samples.iter().zip(&outcomes[FLOOR].samples);
        median(pairs.map(|(one, floor)| one.per_op() - floor.per_op()))
    };
    let [ours, naive] = [0, NAIVE].map(above);
    report.text(&format!(
        "A poll loop takes {} us a request; beyond that, ours takes {} us and naive stealing {}. \
         Scheduling that cost nothing would do {} times what naive stealing does.",
        number(outcomes[FLOOR].cost * 1e6),
        number(ours * 1e6),
        number(naive * 1e6),
        number(outcomes[NAIVE].cost / outcomes[FLOOR].cost),
    ));
    let what = format!("{name}: time beyond a poll loop's, of naive stealing over ours");
    report.goal(&what, naive / ours, Goal::AtLeast(OVER_NAIVE));
}

/// The rows of both experiments, which have the same goals.
fn table(
    report: &mut Report,
    name: &str,
    unit: &str,
    scale: f64,
    over_naive: f64,
    outcomes: &[Outcome],
) {
    let keys = ["ours", "off", "naive", "naive_off"];
    for (key, other) in keys.iter().zip(outcomes).skip(1) {
        let ours = outcomes[0].cost * scale;
        report.ratio(&format!("{name}_vs_{key}"), ours, key, other.cost * scale, unit);
    }
    let rows: Vec<_> = WAYS
        .into_iter()
        .zip(outcomes)
        .zip(over_base(outcomes).into_iter().flatten())
        .map(|((way, one), over)| {
            vec![way.to_owned(), number(one.cost * scale), number(one.rate), number(over)]
        })
        .collect();
    report.table(&["", unit, "a second", "over the last"], &rows);
    // A round has one sample of each way, so noise that affects all of them cancels.
    let over = |other: usize| 1.0 / outcomes[other].paired;
    for (way, other, least) in [("without", 1, 1.0), ("with naive", NAIVE, over_naive)] {
        let what = format!("{name}: work in the same time, over that {way} stealing");
        report.goal(&what, over(other), Goal::AtLeast(least));
    }
}
