//! One operation of the store, in several ways.

use super::{KEYS, Operation};
use crate::clients::{BUDGET, CLIENTS, closed_loop};
use colored::{Color, ColorCell};
use colored_benches::latch::Latch;
use colored_benches::measure::Sample;
use colored_benches::rivals::{Rival, Runtimes};
use colored_benches::workload::keyed::Padded;
use std::hint::black_box;
use tokio::sync::RwLock;

/// Where the keys' colors start.
const FIRST_COLOR: u64 = 2_000_000;

/// The number of values that all `operations` write.
fn writes<const N: usize>(operations: &[Operation<N>]) -> u64 {
    operations.iter().filter(|operation| operation.write).count() as u64 * N as u64
}

fn cells(on: Runtimes) -> &'static [ColorCell<u64>] {
    let cell = |key: u64| on.handle.cell(Color::new(FIRST_COLOR + key), 0);
    Vec::leak((0..KEYS as u64).map(cell).collect())
}

/// Measures a store of cells, and checks that no write was lost since the last time.
fn store<const N: usize, C, F>(
    on: Runtimes,
    operations: &'static [Operation<N>],
    operate: C,
) -> impl FnMut() -> Sample
where
    C: Fn(&'static [ColorCell<u64>], Operation<N>) -> F + Copy + Send + Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let (latch, cells) = (Latch::leaked(), cells(on));
    let mut expected = 0;
    move || {
        let sample = Sample::time(operations.len() as u64, || {
            closed_loop(on.unique(), latch, CLIENTS, operations.len(), move |share| async move {
                for &operation in &operations[share] {
                    operate(cells, operation).await;
                }
            });
        });
        expected += writes(operations);
        let total = on.serial().run(async move {
            let mut total = 0;
            for cell in cells {
                total += cell.call(|value| *value).await;
            }
            total
        });
        assert_eq!(total, expected, "a write was lost");
        sample
    }
}

pub(super) fn read_one(
    on: Runtimes,
    operations: &'static [Operation<1>],
) -> impl FnMut() -> Sample {
    store(on, operations, |cells, Operation { keys: [key], write }| async move {
        if write {
            cells[key].call(|value| *value += 1).await;
        } else {
            black_box(cells[key].read(|value| *value).await);
        }
    })
}

pub(super) fn exclusive_one(
    on: Runtimes,
    operations: &'static [Operation<1>],
) -> impl FnMut() -> Sample {
    store(on, operations, |cells, Operation { keys: [key], write }| async move {
        if write {
            cells[key].call(|value| *value += 1).await;
        } else {
            black_box(cells[key].call(|value| *value).await);
        }
    })
}

/// Adds one to each value.
fn add(values: [&mut u64; 4]) {
    for value in values {
        *value += 1;
    }
}

pub(super) fn read_four(
    on: Runtimes,
    operations: &'static [Operation<4>],
) -> impl FnMut() -> Sample {
    store(on, operations, |cells, Operation { keys, write }| async move {
        let [a, b, c, d] = keys.map(|key| &cells[key]);
        if write {
            colored::when((a, b, c, d), |a, b, c, d| add([a, b, c, d])).await;
        } else {
            let shared = (a.shared(), b.shared(), c.shared(), d.shared());
            black_box(colored::when(shared, |a, b, c, d| *a + *b + *c + *d).await);
        }
    })
}

pub(super) fn exclusive_four(
    on: Runtimes,
    operations: &'static [Operation<4>],
) -> impl FnMut() -> Sample {
    store(on, operations, |cells, Operation { keys, write }| async move {
        let [a, b, c, d] = keys.map(|key| &cells[key]);
        if write {
            colored::when((a, b, c, d), |a, b, c, d| add([a, b, c, d])).await;
        } else {
            black_box(colored::when((a, b, c, d), |a, b, c, d| *a + *b + *c + *d).await);
        }
    })
}

/// tokio's locks, the lower key's first; all are held while the values are read.
pub(super) fn tokio_locks<R: Rival, const N: usize>(
    on: R,
    operations: &'static [Operation<N>],
) -> impl FnMut() -> Sample {
    let locks: &'static [Padded<RwLock<u64>>] =
        Vec::leak((0..KEYS).map(|_| Padded(RwLock::new(0))).collect());
    let latch = Latch::leaked();
    let mut expected = 0;
    move || {
        let sample = Sample::time(operations.len() as u64, || {
            closed_loop(on, latch, CLIENTS, operations.len(), move |share| async move {
                for &Operation { keys, write } in &operations[share] {
                    if write {
                        let mut guards = [const { None }; N];
                        for (guard, key) in guards.iter_mut().zip(keys) {
                            *guard = Some(locks[key].0.write().await);
                        }
                        guards.iter_mut().flatten().for_each(|value| **value += 1);
                    } else {
                        let mut guards = [const { None }; N];
                        for (guard, key) in guards.iter_mut().zip(keys) {
                            *guard = Some(locks[key].0.read().await);
                        }
                        black_box(guards.iter().flatten().map(|value| **value).sum::<u64>());
                    }
                }
            });
        });
        expected += writes(operations);
        let value = |lock: &Padded<RwLock<u64>>| *lock.0.try_read().expect("all are done");
        assert_eq!(locks.iter().map(value).sum::<u64>(), expected, "a write was lost");
        sample
    }
}

/// The standard library's locks, which block the worker, the lower key's first.
pub(super) fn std_locks<R: Rival, const N: usize>(
    on: R,
    operations: &'static [Operation<N>],
) -> impl FnMut() -> Sample {
    let locks: &'static [Padded<std::sync::RwLock<u64>>] =
        Vec::leak((0..KEYS).map(|_| Padded(std::sync::RwLock::new(0))).collect());
    let latch = Latch::leaked();
    let operate = move |Operation { keys, write }: Operation<N>| {
        if write {
            let mut guards = keys.map(|key| locks[key].0.write().expect("nobody panics"));
            guards.iter_mut().for_each(|value| **value += 1);
        } else {
            let guards = keys.map(|key| locks[key].0.read().expect("nobody panics"));
            black_box(guards.iter().map(|value| **value).sum::<u64>());
        }
    };
    let mut expected = 0;
    move || {
        let sample = Sample::time(operations.len() as u64, || {
            closed_loop(on, latch, CLIENTS, operations.len(), move |share| async move {
                for chunk in operations[share].chunks(BUDGET) {
                    chunk.iter().for_each(|&operation| operate(operation));
                    on.yield_now().await;
                }
            });
        });
        expected += writes(operations);
        let value = |lock: &Padded<std::sync::RwLock<u64>>| *lock.0.read().expect("none panics");
        assert_eq!(locks.iter().map(value).sum::<u64>(), expected, "a write was lost");
        sample
    }
}
