//! Both accounts' locks, taken in one order. All but tokio's block the worker that waits.

use super::{ACCOUNTS, BUDGET, Load, START, Transfer, all_clients, sample, transfer};
use crate::executors::Executor;
use colored_benches::Sample;
use happylock::ThreadKey;
use happylock::collection::RefLockCollection;
use std::ops::DerefMut;
use std::sync::Mutex;

/// A value on cache lines of its own: neighbours must not share one, or a lock would pay for accesses
/// to another account.
#[repr(align(128))]
struct Padded<T>(T);

fn accounts<T>(account: impl Fn(u64) -> T) -> &'static [Padded<T>] {
    Vec::leak((0..ACCOUNTS).map(|_| Padded(account(START))).collect())
}

/// Runs the clients of locks that block, each in turns of [`BUDGET`] transfers.
fn in_turns<E: Executor>(
    on: E,
    load: &'static Load,
    one: impl Fn(&Transfer) + Copy + Send + Sync + 'static,
) {
    all_clients(on, load, move |share| async move {
        for turn in share.chunks(BUDGET) {
            turn.iter().for_each(one);
            on.yield_now().await;
        }
    });
}

/// The standard library's mutexes, the lower account's first.
pub(super) fn of_std<E: Executor>(on: E, load: &'static Load) -> impl FnMut() -> Sample {
    let accounts = accounts(Mutex::new);
    in_order(on, load, move |index| accounts[index].0.lock().expect("nobody panics under it"))
}

/// parking_lot's mutexes, likewise.
pub(super) fn of_parking_lot<E: Executor>(on: E, load: &'static Load) -> impl FnMut() -> Sample {
    let accounts = accounts(parking_lot::Mutex::new);
    in_order(on, load, move |index| accounts[index].0.lock())
}

/// Takes the lock of the lower account first.
fn in_order<E: Executor, G: DerefMut<Target = u64>>(
    on: E,
    load: &'static Load,
    lock: impl Fn(usize) -> G + Copy + Send + Sync + 'static,
) -> impl FnMut() -> Sample {
    let one = move |&(from, to, amount): &Transfer| {
        let mut first = lock(from.min(to));
        let mut second = lock(from.max(to));
        if from < to {
            transfer(&mut first, &mut second, amount);
        } else {
            transfer(&mut second, &mut first, amount);
        }
    };
    move || {
        sample(load, || in_turns(on, load, one), || (0..ACCOUNTS).map(|index| *lock(index)).sum())
    }
}

/// A collection of two for each transfer, which orders its locks by their addresses.
pub(super) fn of_happylock<E: Executor>(on: E, load: &'static Load) -> impl FnMut() -> Sample {
    let accounts = accounts(happylock::Mutex::new);
    let one = move |&(from, to, amount): &Transfer| {
        let key = ThreadKey::get().expect("the thread holds no lock");
        let both = (&accounts[from].0, &accounts[to].0);
        let both = RefLockCollection::try_new(&both).expect("two accounts differ");
        let mut guard = both.lock(key);
        let (from, to) = &mut *guard;
        transfer(from, to, amount);
    };
    let balance = |account: &Padded<happylock::Mutex<u64>>| {
        let key = ThreadKey::get().expect("the thread holds no lock");
        *account.0.lock(key)
    };
    move || sample(load, || in_turns(on, load, one), || accounts.iter().map(balance).sum())
}

/// tokio's mutexes, the lower account's first.
pub(super) fn of_tokio<E: Executor>(on: E, load: &'static Load) -> impl FnMut() -> Sample {
    let accounts = accounts(tokio::sync::Mutex::new);
    let client = move |share: &'static [Transfer]| async move {
        for &(from, to, amount) in share {
            let mut first = accounts[from.min(to)].0.lock().await;
            let mut second = accounts[from.max(to)].0.lock().await;
            if from < to {
                transfer(&mut first, &mut second, amount);
            } else {
                transfer(&mut second, &mut first, amount);
            }
        }
    };
    let balance = |account: &Padded<tokio::sync::Mutex<u64>>| {
        *account.0.try_lock().expect("all transfers are done")
    };
    move || sample(load, || all_clients(on, load, client), || accounts.iter().map(balance).sum())
}
