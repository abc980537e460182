//! One transfer, five ways.

use super::{Load, START};
use crate::clients::{BUDGET, closed_loop};
use colored::{Color, ColorCell};
use colored_benches::latch::Latch;
use colored_benches::measure::Sample;
use colored_benches::rivals::{Rival, Runtimes};
use colored_benches::workload::keyed::Padded;
use tokio::sync::{mpsc, oneshot};

/// Where the accounts' colors start.
const FIRST_COLOR: u64 = 1_000_000;

/// Moves as much of `amount` as there is.
fn transfer(from: &mut u64, to: &mut u64, amount: u64) {
    let moved = amount.min(*from);
    *from -= moved;
    *to += moved;
}

/// Takes `amount` from an account, or less if the account has less; returns the money taken.
fn debit(account: &mut u64, amount: u64) -> u64 {
    let moved = amount.min(*account);
    *account -= moved;
    moved
}

/// Checks that no money was created or lost.
fn check(total: u64, load: &Load) {
    assert_eq!(total, START * load.accounts as u64, "money was made or lost");
}

fn cells(on: Runtimes, load: &Load) -> &'static [ColorCell<u64>] {
    let cell = |index: u64| on.handle.cell(Color::new(FIRST_COLOR + index), START);
    Vec::leak((0..load.accounts as u64).map(cell).collect())
}

fn total(on: Runtimes, cells: &'static [ColorCell<u64>]) -> u64 {
    on.serial().run(async move {
        let mut total = 0;
        for cell in cells {
            total += cell.call(|balance| *balance).await;
        }
        total
    })
}

/// Both accounts at once, by `when`.
pub(super) fn when(on: Runtimes, load: &'static Load) -> impl FnMut() -> Sample {
    let (latch, cells) = (Latch::leaked(), cells(on, load));
    move || {
        let ops = load.transfers.len();
        let sample = Sample::time(ops as u64, || {
            closed_loop(on.unique(), latch, load.clients, ops, move |share| async move {
                for &(from, to, amount) in &load.transfers[share] {
                    let both = (&cells[from], &cells[to]);
                    colored::when(both, move |from, to| transfer(from, to, amount)).await;
                }
            });
        });
        check(total(on, cells), load);
        sample
    }
}

/// Two phases, with a call each. In between, the money is in neither account.
pub(super) fn calls(on: Runtimes, load: &'static Load) -> impl FnMut() -> Sample {
    let (latch, cells) = (Latch::leaked(), cells(on, load));
    move || {
        let ops = load.transfers.len();
        let sample = Sample::time(ops as u64, || {
            closed_loop(on.unique(), latch, load.clients, ops, move |share| async move {
                for &(from, to, amount) in &load.transfers[share] {
                    let moved = cells[from].call(move |balance| debit(balance, amount)).await;
                    cells[to].call(move |balance| *balance += moved).await;
                }
            });
        });
        check(total(on, cells), load);
        sample
    }
}

/// tokio's mutexes, the lower account's first.
pub(super) fn tokio_mutexes<R: Rival>(on: R, load: &'static Load) -> impl FnMut() -> Sample {
    let account = |_| Padded(tokio::sync::Mutex::new(START));
    let accounts: &'static [_] = Vec::leak((0..load.accounts).map(account).collect::<Vec<_>>());
    let latch = Latch::leaked();
    move || {
        let ops = load.transfers.len();
        let sample = Sample::time(ops as u64, || {
            closed_loop(on, latch, load.clients, ops, move |share| async move {
                for &(from, to, amount) in &load.transfers[share] {
                    let mut first = accounts[from.min(to)].0.lock().await;
                    let mut second = accounts[from.max(to)].0.lock().await;
                    if from < to {
                        transfer(&mut first, &mut second, amount);
                    } else {
                        transfer(&mut second, &mut first, amount);
                    }
                }
            });
        });
        let balance = |account: &Padded<tokio::sync::Mutex<u64>>| {
            *account.0.try_lock().expect("all transfers are done")
        };
        check(accounts.iter().map(balance).sum(), load);
        sample
    }
}

/// The standard library's mutexes, the lower account's first: they block the worker.
pub(super) fn std_mutexes<R: Rival>(on: R, load: &'static Load) -> impl FnMut() -> Sample {
    let account = |_| Padded(std::sync::Mutex::new(START));
    let accounts: &'static [_] = Vec::leak((0..load.accounts).map(account).collect::<Vec<_>>());
    let latch = Latch::leaked();
    let lock = move |index: usize| accounts[index].0.lock().expect("nobody panics under it");
    move || {
        let ops = load.transfers.len();
        let sample = Sample::time(ops as u64, || {
            closed_loop(on, latch, load.clients, ops, move |share| async move {
                for chunk in load.transfers[share].chunks(BUDGET) {
                    for &(from, to, amount) in chunk {
                        let mut first = lock(from.min(to));
                        let mut second = lock(from.max(to));
                        if from < to {
                            transfer(&mut first, &mut second, amount);
                        } else {
                            transfer(&mut second, &mut first, amount);
                        }
                    }
                    on.yield_now().await;
                }
            });
        });
        check((0..load.accounts).map(|index| *lock(index)).sum(), load);
        sample
    }
}

enum Message {
    Debit(u64, oneshot::Sender<u64>),
    Credit(u64, oneshot::Sender<()>),
    Balance(oneshot::Sender<u64>),
}

/// An actor for each account, in two phases: debit and its answer, credit and its answer. In
/// between, the money is in neither account.
pub(super) fn actors<R: Rival>(on: R, load: &'static Load) -> impl FnMut() -> Sample {
    let start = |_| {
        let (send, mut receive) = mpsc::unbounded_channel();
        drop(on.spawn_from_outside(async move {
            let mut balance = START;
            while let Some(message) = receive.recv().await {
                // The receiver of the answer may have gone, which is no error.
                match message {
                    Message::Debit(amount, answer) => {
                        let _ = answer.send(debit(&mut balance, amount));
                    }
                    Message::Credit(amount, answer) => {
                        balance += amount;
                        let _ = answer.send(());
                    }
                    Message::Balance(answer) => {
                        let _ = answer.send(balance);
                    }
                }
            }
        }));
        send
    };
    let accounts: &'static [mpsc::UnboundedSender<Message>] =
        Vec::leak((0..load.accounts).map(start).collect());
    let latch = Latch::leaked();
    move || {
        let ops = load.transfers.len();
        let sample = Sample::time(ops as u64, || {
            closed_loop(on, latch, load.clients, ops, move |share| async move {
                for &(from, to, amount) in &load.transfers[share] {
                    let moved = ask(&accounts[from], |answer| Message::Debit(amount, answer)).await;
                    ask(&accounts[to], |answer| Message::Credit(moved, answer)).await;
                }
            });
        });
        let total = on.run(async move {
            let mut total = 0;
            for account in accounts {
                total += ask(account, Message::Balance).await;
            }
            total
        });
        check(total, load);
        sample
    }
}

async fn ask<T>(
    actor: &mpsc::UnboundedSender<Message>,
    message: impl FnOnce(oneshot::Sender<T>) -> Message,
) -> T {
    let (answer, answered) = oneshot::channel();
    // An `expect` would require `Message: Debug`.
    assert!(actor.send(message(answer)).is_ok(), "the actor lives");
    answered.await.expect("the actor answers")
}
