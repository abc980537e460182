//! 1,000 to 16,000 clients of one server, in a closed loop: futures, callbacks, threads, stackful coroutines and tasks.
//!
//! All servers have one handler ([`numbered`](colored_benches::http::numbered)), and each is a process of its own that may use a
//! quarter of each of its cores, so that the clients are never the limit. Each request carries a number that its response repeats; a response
//! that is lost, wrong or comes twice ends the experiment.

mod home;
mod idle;
mod limits;
mod quota;

use self::quota::{PERIOD, Quota};
use super::{Goal, Plan, Report};
use colored_benches::chart::{Axis, Chart, Series, number};
use colored_benches::http::child::Server;
use colored_benches::http::numbered::{Load, Model, Outcome};
use colored_benches::http::wire::Address;
use colored_benches::placement::on_last_cores;
use std::io;
use std::net::SocketAddr;
use std::process::Command;
use std::thread::available_parallelism;
use std::time::Duration;

/// The part of each of its cores that a server may use.
const SHARE: f64 = 0.25;
/// After this time the paper's clients gave up.
const LONG: Duration = Duration::from_secs(20);

/// The servers: the names in the page, and on the command line.
const SERVERS: [(&str, &str); 6] = [
    ("colored, futures", Model::Futures.name()),
    ("mio, callbacks", Model::Callbacks.name()),
    ("tokio, futures", Model::Tokio.name()),
    ("may, coroutines", MAY),
    ("threads", Model::Threads.name()),
    ("colored, stacks", Model::Stackful.name()),
];
/// Places of `SERVERS`.
const OURS: usize = 0;
const CALLBACKS: usize = 1;
const TOKIO: usize = 2;
const MAYS: usize = 3;
const THREADS: usize = 4;
const STACKS: usize = 5;
/// The server of `benches/peers`.
const MAY: &str = "numbered:may";

/// The paper's mean delays with 16,000 clients, in seconds.
const PAPER: [(&str, f64); 2] = [("paper: threads", 25.0), ("paper: the others", 5.0)];

/// The figures of one server, cores and number of clients.
struct Point {
    server: usize,
    cores: usize,
    clients: usize,
    outcome: Outcome,
    /// Seconds of CPU time of the server for a request.
    cpu: f64,
}

/// Runs all steps on all servers.
///
/// # Panics
///
/// If one of our servers does not start, or a response of it is wrong or lost, or all limits of the system are too low.
#[must_use]
pub fn run(plan: &Plan) -> Report {
    let mut report = Report::new(plan);
    let steps = steps(plan, &mut report);
    let quota = quota(plan, &mut report);
    let available = available_parallelism().map_or(1, usize::from);
    let mut points = Vec::new();
    for cores in plan.pick(vec![1, 2], vec![1, 2], vec![1]) {
        if cores > available {
            continue;
        }
        for (server, (name, _)) in SERVERS.into_iter().enumerate() {
            let Some(command) = command(plan, server) else { continue };
            let mut of = Vec::new();
            if let Err(error) = measure(plan, command, cores, &steps, quota.as_ref(), &mut of) {
                assert!(![OURS, STACKS].contains(&server), "{name}, {cores} cores: {error}");
                let next = number(steps[of.len()] as f64);
                report.text(&format!(
                    "**{name}, {cores} cores, ends before {next} clients:** {error}."
                ));
            }
            points.extend(of.into_iter().map(|(clients, outcome, cpu)| Point {
                server,
                cores,
                clients,
                outcome,
                cpu,
            }));
        }
    }
    tables(&mut report, &points);
    goals(&mut report, &points, steps[steps.len() - 1]);
    goals_of_stacks(&mut report, &points);
    plots(&mut report, &points);
    home::run(plan, &mut report);
    idle::run(plan, &mut report);
    report
}

/// The numbers of clients that the system allows.
fn steps(plan: &Plan, report: &mut Report) -> Vec<usize> {
    let all: Vec<usize> =
        plan.pick(vec![1_000, 2_000, 4_000, 8_000, 16_000], vec![1_000, 4_000], vec![20, 50]);
    let (mut steps, mut low) = (Vec::new(), None);
    for clients in all {
        match limits::check(clients) {
            Ok(()) => steps.push(clients),
            Err(text) => low = low.or(Some((clients, text))),
        }
    }
    if let Some((clients, text)) = low {
        println!("INFO {clients} clients are too many: {text}");
        report.text(&format!("**Without {} clients:** {text}.", number(clients as f64)));
    }
    assert!(!steps.is_empty(), "the limits above are too low for any number of clients");
    steps
}

/// The group of the servers, if there can be one.
fn quota(plan: &Plan, report: &mut Report) -> Option<Quota> {
    // A smoke run shows that it works.
    if plan.pick(false, false, true) {
        return None;
    }
    match Quota::new() {
        Ok(quota) => {
            report.text(&format!(
                "A server may use {} % of each of its cores, by a control group, in periods of {} ms.",
                SHARE * 100.0,
                PERIOD / 1_000
            ));
            Some(quota)
        }
        Err(error) => {
            report.text(&format!(
                "**Without a limit of the servers' CPU time**, since there can be no control group: {error}. The clients, a \
                 thread of one of the same cores, are the limit then."
            ));
            None
        }
    }
}

fn command(plan: &Plan, server: usize) -> Option<Command> {
    let name = SERVERS[server].1;
    if name != MAY {
        let mut command = Command::new(&plan.server);
        command.arg(name);
        return Some(command);
    }
    let mut command = Command::new(plan.peers.as_ref()?);
    command.arg(format!("--serve={name}"));
    Some(command)
}

/// Starts a server on its cores.
fn start(command: Command, cores: usize) -> io::Result<(Server, SocketAddr)> {
    let server = on_last_cores(cores, || Server::spawn(command, None))?;
    match server.address {
        Address::Tcp(address) => Ok((server, address)),
        Address::Unix(_) => Err(io::ErrorKind::AddrNotAvailable.into()),
    }
}

/// Loads one server with more and more clients, and adds what it finds to `found`. The server is limited while it is measured,
/// not while connections are opened.
///
/// # Errors
///
/// If the server does not start, or a response is wrong or does not come; what was found before stays.
fn measure(
    plan: &Plan,
    command: Command,
    cores: usize,
    steps: &[usize],
    quota: Option<&Quota>,
    found: &mut Vec<(usize, Outcome, f64)>,
) -> io::Result<()> {
    let limit = |cores: Option<f64>| quota.map_or(Ok(()), |quota| quota.limit(cores));
    let (mut server, address) = start(command, cores)?;
    quota.map_or(Ok(()), |quota| quota.add(server.id()))?;
    let mut load = Load::new(address)?;
    for &clients in steps {
        limit(None)?;
        load.open(clients)?;
        limit(Some(SHARE * cores as f64))?;
        // A response takes longer the more clients wait; each shall have several.
        let full = 2_000 + clients as u64 / 5;
        let time = Duration::from_millis(plan.pick(full, 250, 20));
        let before = server.cpu_time()?;
        let outcome = load.run(time)?;
        let cpu = (server.cpu_time()? - before).as_secs_f64() / outcome.delays.len() as f64;
        found.push((clients, outcome, cpu));
    }
    Ok(())
}

const HEAD: [&str; 8] = [
    "server",
    "clients",
    "requests/s",
    "mean, ms",
    "p99, ms",
    "deviation, ms",
    "over 20 s",
    "CPU a request, us",
];

fn tables(report: &mut Report, points: &[Point]) {
    for cores in [1, 2] {
        let rows: Vec<Vec<String>> =
            points.iter().filter(|point| point.cores == cores).map(row).collect();
        if !rows.is_empty() {
            let workers = if cores == 1 { "1 worker" } else { "2 workers" };
            report.text(&format!("{workers}:"));
            report.table(&HEAD, &rows);
        }
    }
    if points.iter().all(|point| SERVERS[point.server].1 != MAY) {
        report.text("`may` did not run: `benches/peers` is not built (`--peers=<program>`).");
    }
}

fn row(point: &Point) -> Vec<String> {
    let outcome = &point.outcome;
    let (mean, deviation) = outcome.mean_and_deviation();
    vec![
        SERVERS[point.server].0.to_owned(),
        number(point.clients as f64),
        number(outcome.rate),
        number(mean * 1e3),
        number(outcome.delay(0.99).as_secs_f64() * 1e3),
        number(deviation * 1e3),
        format!("{:.1} %", 100.0 * outcome.over(LONG)),
        number(point.cpu * 1e6),
    ]
}

fn goals(report: &mut Report, points: &[Point], most: usize) {
    let of = |server: usize| points.iter().filter(move |point| point.server == server);
    for cores in [1, 2].into_iter().filter(|&cores| points.iter().any(|one| one.cores == cores)) {
        let rates =
            |server: usize| of(server).filter(|one| one.cores == cores).map(|one| one.outcome.rate);
        let peak = rates(OURS).fold(0.0, f64::max);
        let least = rates(OURS).fold(f64::INFINITY, f64::min);
        let what = "clients of one server: least requests a second over the most, 1,000 to 16,000 clients (paper: about constant)";
        report.goal(what, least / peak, Goal::AtLeast(0.9));
        let over_tokio = rates(OURS).zip(rates(TOKIO)).map(|(ours, tokio)| ours / tokio);
        let what = "clients of one server: requests a second over tokio's; the least of all numbers of clients";
        report.goal(what, over_tokio.fold(f64::INFINITY, f64::min), Goal::AtLeast(0.95));
        let mean = |server: usize| {
            let point = of(server).find(|one| one.cores == cores && one.clients == most);
            point.map(|one| one.outcome.mean_and_deviation().0)
        };
        let [ours, tokio, callbacks] =
            [OURS, TOKIO, CALLBACKS].map(|server| mean(server).expect("all ran"));
        report.ratio(&format!("connections_{cores}"), ours * 1e3, "tokio", tokio * 1e3, "ms, mean");
        let what = "the most clients: mean delay over tokio's";
        report.goal(what, ours / tokio, Goal::AtMost(1.1));
        let what = "the most clients: mean delay over that of callbacks (paper: somewhat above 1)";
        report.goal(what, ours / callbacks, Goal::AtMost(1.5));
        let what = "the most clients: mean delay over that of threads (paper: 0.2)";
        // A delay without end is more than any.
        report.goal(what, ours / mean(THREADS).unwrap_or(f64::INFINITY), Goal::AtMost(0.5));
    }
    let long = of(OURS).map(|point| point.outcome.over(LONG)).fold(0.0, f64::max);
    report.goal("requests that take more than 20 s", long, Goal::AtMost(0.0));
}

/// Stacks beside futures, and beside the peer's stacks.
fn goals_of_stacks(report: &mut Report, points: &[Point]) {
    let of = |server: usize| points.iter().filter(move |point| point.server == server);
    let most_over = |server: usize| {
        let ratios = of(STACKS).filter_map(|own| {
            let same = |one: &&Point| (one.cores, one.clients) == (own.cores, own.clients);
            of(server).find(same).map(|other| own.cpu / other.cpu)
        });
        ratios.reduce(f64::max)
    };
    for (server, name, most) in [(OURS, "futures", 1.15), (MAYS, "`may`", 1.0)] {
        if let Some(ratio) = most_over(server) {
            let what = format!(
                "tasks with a stack: CPU time of a request over that of {name}; the most of all numbers of clients"
            );
            report.goal(&what, ratio, Goal::AtMost(most));
        }
    }
}

fn plots(report: &mut Report, points: &[Point]) {
    let least = points.iter().map(|point| point.cores).min().unwrap_or(1);
    let curves = |value: &dyn Fn(&Outcome) -> f64| -> Vec<Series> {
        let curve = |server: usize| {
            let of = points.iter().filter(|one| one.server == server && one.cores == least);
            let points = of.map(|one| (one.clients as f64, value(&one.outcome)));
            Series::measured(SERVERS[server].0, points.collect())
        };
        (0..SERVERS.len()).map(curve).filter(|series| !series.points.is_empty()).collect()
    };
    let mut series = curves(&|outcome| outcome.mean_and_deviation().0 * 1e3);
    if points.iter().any(|point| point.clients == 16_000) {
        let paper = PAPER.map(|(name, mean)| Series::reference(name, vec![(16_000.0, mean * 1e3)]));
        series.extend(paper);
    }
    let x = || Axis::log("clients");
    let title = String::from("mean delay of a request, one worker with a quarter of a core");
    let chart = Chart { title, x: x(), y: Axis::log("milliseconds"), series };
    report.plot("connections_delay", "mean delay by number of clients", chart.draw());
    let title = String::from("requests a second, one worker with a quarter of a core");
    let series = curves(&|outcome| outcome.rate);
    let chart = Chart { title, x: x(), y: Axis::linear("requests a second"), series };
    report.plot("connections_rate", "requests a second by number of clients", chart.draw());
}
