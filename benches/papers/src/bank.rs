//! Transfers between two random accounts. The sum of all money does not change.

mod ways;

use super::clients::CLIENTS;
use super::{Goal, Plan, Report};
use colored_benches::chart::{Axis, Chart, Series, number};
use colored_benches::measure::{Entry, Outcome};
use colored_benches::random::Random;
use colored_benches::rivals::Runtimes;
use std::time::{Duration, Instant};

/// The initial money of each account.
const START: u64 = 1_000;
/// Accounts, step by step: from two that all clients want to enough for all clients.
const ACCOUNTS: [usize; 5] = [2, 10, 100, 1_000, 10_000];
/// Steps that also run with a task for each transfer.
const TASK_EACH: [usize; 4] = [2, 10, 100, 1_000];
/// The step of the long run. The papers' banks do not state their contention.
const USUAL: usize = 1_000;

/// Transfers (from, to, amount), and the number of clients that do them.
struct Load {
    transfers: Vec<(usize, usize, u64)>,
    accounts: usize,
    clients: usize,
}

impl Load {
    /// Makes the load, which is the same in every run.
    fn leaked(transfers: usize, accounts: usize, clients: usize) -> &'static Self {
        let mut random = Random::new(2);
        let mut transfer = || {
            let from = random.below(accounts);
            // Any account except `from`.
            let to = (from + 1 + random.below(accounts - 1)) % accounts;
            (from, to, 1 + random.below(100) as u64)
        };
        let transfers = (0..transfers).map(|_| transfer()).collect();
        Box::leak(Box::new(Self { transfers, accounts, clients }))
    }
}

/// Runs the sweep and the long run.
///
/// # Panics
///
/// If a transfer creates or loses money.
#[must_use]
pub fn run(plan: &Plan) -> Report {
    let mut report = Report::new(plan);
    let on = Runtimes::start();
    let (mut rows, mut curves) = (Vec::new(), NAMES.map(|name| Series::measured(name, Vec::new())));
    for accounts in ACCOUNTS {
        let load = Load::leaked(plan.pick(50_000, 10_000, 1_000), accounts, CLIENTS);
        let outcomes = sample(plan, on, 5, load);
        rows.push(row(accounts, &outcomes));
        for (curve, one) in curves.iter_mut().zip(&outcomes) {
            curve.points.push((accounts as f64, one.cost * 1e9));
        }
        ratios(&mut report, &name("bank", accounts), "64 clients", &outcomes);
    }
    let mut head = vec!["accounts"];
    head.extend(NAMES);
    report.text("Nanoseconds a transfer, by 64 clients, each in a closed loop:");
    report.table(&head, &rows);
    let title = String::from("transfers between two accounts, 64 clients");
    let (x, y) = (Axis::log("accounts"), Axis::log("ns/transfer"));
    let chart = Chart { title, x, y, series: curves.to_vec() };
    report.plot("bank", "cost of a transfer by number of accounts", chart.draw());
    let mut rows = Vec::new();
    for accounts in TASK_EACH {
        let transfers = plan.pick(20_000, 10_000, 1_000);
        let outcomes = sample(plan, on, 3, Load::leaked(transfers, accounts, transfers));
        rows.push(row(accounts, &outcomes));
        let name = name("bank_task_each", accounts);
        ratios(&mut report, &name, "a task each", &outcomes);
    }
    report.text("The same with a task for each transfer, all of them spawned by one:");
    report.table(&head, &rows);
    long_run(plan, on, &mut report);
    report
}

/// The name of a `RATIO` line. The usual step has no number.
fn name(row: &str, accounts: usize) -> String {
    if accounts == USUAL { row.to_owned() } else { format!("{row}_{accounts}") }
}

fn row(accounts: usize, outcomes: &[Outcome]) -> Vec<String> {
    let mut row = vec![number(accounts as f64)];
    row.extend(outcomes.iter().map(|one| number(one.cost * 1e9)));
    row
}

/// The entries of [`sample`], in their order.
const NAMES: [&str; 5] = [
    "colored, when",
    "tokio, ordered mutexes",
    "tokio, actors in two phases",
    "tokio, std mutexes",
    "colored, calls in two phases",
];

fn sample(plan: &Plan, on: Runtimes, seconds: u64, load: &'static Load) -> Vec<Outcome> {
    let entries = vec![
        Entry::subject(ways::when(on, load)),
        Entry::peer(NAMES[1], ways::tokio_mutexes(on.tokio(), load)),
        Entry::peer(NAMES[2], ways::actors(on.tokio(), load)),
        Entry::peer(NAMES[3], ways::std_mutexes(on.tokio(), load)),
        Entry::peer(NAMES[4], ways::calls(on, load)),
    ];
    plan.alternate(Duration::from_secs(seconds), entries)
}

fn ratios(report: &mut Report, row: &str, who: &str, outcomes: &[Outcome]) {
    let ours = outcomes[0].cost * 1e9;
    for (peer, name) in outcomes[1..].iter().zip(["tokio_mutex", "actors", "std_mutex", "calls"]) {
        let peer = peer.cost * 1e9;
        report.ratio(&format!("{row}_vs_{name}"), ours, name, peer, "ns/transfer");
        if ["tokio_mutex", "actors"].contains(&name) {
            let what =
                format!("a transfer by `when` over one by {name}, {who}; the most of all rows");
            report.goal(&what, ours / peer, Goal::AtMost(1.0));
        }
    }
}

/// Many transfers by `when` only: no deadlock, no lost money.
fn long_run(plan: &Plan, on: Runtimes, report: &mut Report) {
    let wanted = plan.transfers.unwrap_or(plan.pick(100_000_000, 1_000_000, 100_000));
    let load = Load::leaked(wanted.clamp(1, 1_000_000) as usize, USUAL, CLIENTS);
    let mut transfer = ways::when(on, load);
    let start = Instant::now();
    let mut done = 0;
    while done < wanted {
        // Each call checks the sum of all accounts.
        done += transfer().ops;
    }
    let rate = done as f64 / start.elapsed().as_secs_f64();
    let (count, rate) = (number(done as f64), number(rate));
    println!("INFO bank {count} transfers by when, money conserved, {rate} transfers/s");
    report.text(&format!(
        "{count} transfers by `when` in one run, {rate} a second: no deadlock, and the sum of all \
         accounts stayed what it was."
    ));
}
