//! Transfers between two random accounts of a thousand. The sum of all money does not change.

mod locks;

use crate::executors::Executor;
use crate::setup::Setup;
use colored::{Color, ColorCell};
use colored_benches::Runtimes;
use colored_benches::measure::{Case, Entry, Sample, Unit};
use colored_benches::random::Random;
use std::ops::Range;

/// Accounts, so many that few clients meet at one.
const ACCOUNTS: usize = 1_000;
/// The initial money of each account.
const START: u64 = 1_000;
/// Transfers after which a client that never waits lets others run: tokio's budget.
const BUDGET: usize = 128;

/// From, to, amount.
type Transfer = (usize, usize, u64);

/// The transfers of all clients, the same in every run.
struct Load {
    transfers: Vec<Transfer>,
    clients: usize,
}

impl Load {
    fn leaked(count: usize, clients: usize) -> &'static Self {
        let mut random = Random::new(2);
        let mut transfer = || {
            let from = random.below(ACCOUNTS);
            // Any account except `from`.
            let to = (from + 1 + random.below(ACCOUNTS - 1)) % ACCOUNTS;
            (from, to, 1 + random.below(100) as u64)
        };
        let transfers = (0..count).map(|_| transfer()).collect();
        Box::leak(Box::new(Self { transfers, clients }))
    }

    /// The transfers of each client.
    fn shares(&'static self) -> impl Iterator<Item = &'static [Transfer]> + Send {
        let cut = |client: usize| self.transfers.len() * client / self.clients;
        let share = move |client: usize| -> Range<usize> { cut(client)..cut(client + 1) };
        (0..self.clients).map(move |client| &self.transfers[share(client)])
    }
}

pub(super) fn case(setup: &Setup, clients: usize) -> Case {
    let load = Load::leaked(setup.count(50_000, 500) as usize, clients);
    let (on, tokio) = (setup.runtimes(), setup.runtimes().tokio());
    let entries = vec![
        Entry::subject(when(on, load)),
        Entry::peer("std mutexes", locks::of_std(tokio, load)),
        Entry::peer("parking_lot", locks::of_parking_lot(tokio, load)),
        Entry::peer("happylock", locks::of_happylock(tokio, load)),
        Entry::peer("tokio mutexes", locks::of_tokio(tokio, load)),
    ];
    Case { unit: Unit::ns("ns/transfer"), pace: setup.pace(), entries }
}

/// Moves as much of `amount` as there is.
fn transfer(from: &mut u64, to: &mut u64, amount: u64) {
    let moved = amount.min(*from);
    *from -= moved;
    *to += moved;
}

/// Runs a task for each client, and waits for all.
fn all_clients<E, C, F>(on: E, load: &'static Load, client: C)
where
    E: Executor,
    C: Fn(&'static [Transfer]) -> F + Send + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    on.run(async move {
        let tasks: Vec<_> = load.shares().map(|share| on.spawn(client(share))).collect();
        for task in tasks {
            task.await;
        }
    });
}

/// Times `run`, and checks that no money was created or lost.
fn sample(load: &Load, run: impl FnOnce(), total: impl FnOnce() -> u64) -> Sample {
    let sample = Sample::time(load.transfers.len() as u64, run);
    assert_eq!(total(), START * ACCOUNTS as u64, "money was made or lost");
    sample
}

/// Both accounts at once, by `when`.
fn when(on: Runtimes, load: &'static Load) -> impl FnMut() -> Sample {
    let cell = |_| on.handle.cell(Color::unique(), START);
    let cells: &'static [ColorCell<u64>] = Vec::leak((0..ACCOUNTS).map(cell).collect());
    let on = on.unique();
    move || {
        let run = || {
            all_clients(on, load, move |share| async move {
                for &(from, to, amount) in share {
                    let both = (&cells[from], &cells[to]);
                    colored::when(both, move |from, to| transfer(from, to, amount)).await;
                }
            });
        };
        let total = || {
            Executor::run(on, async move {
                let mut total = 0;
                for cell in cells {
                    total += cell.call(|balance| *balance).await;
                }
                total
            })
        };
        sample(load, run, total)
    }
}
