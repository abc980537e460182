//! State by key, one task per operation: a color per key against a mutex per key.

use super::Row;
use crate::latch::Latch;
use crate::measure::{Case, Entry, Pace, Sample, Unit};
use crate::rivals::{Rival, Runtimes};
use crate::zipf;
use colored::Color;

/// The rows of this file.
pub const ROWS: &[Row] = &[Row { name: "keyed", build: |on, _| case(on) }];

/// Keys, Zipf with exponent 1: the first has a fifth of the operations.
pub(super) const KEYS: usize = 64;
/// Operations per sample.
const OPS: usize = 20_000;
/// Where the keys' colors start.
pub(super) const FIRST_COLOR: u64 = 1_000;

/// One value per key, each on cache lines of its own: neighbours must not share one, or a mutex
/// would pay for accesses to another value.
#[repr(align(128))]
#[derive(Debug)]
pub struct Padded<T>(pub T);

/// The results of `make(key)` for every key. They live as long as the process.
pub(super) fn per_key<T>(make: impl FnMut(usize) -> T) -> &'static [Padded<T>] {
    Vec::leak((0..KEYS).map(make).map(Padded).collect())
}

/// The color of a key.
pub(super) fn color(key: usize) -> Color {
    Color::new(FIRST_COLOR + key as u64)
}

fn case(on: Runtimes) -> Case {
    let keys: &'static [usize] = Vec::leak(zipf::sequence(KEYS, OPS));
    Case {
        unit: Unit::ns("ns/op"),
        pace: Pace::Short,
        entries: vec![
            Entry::subject(cells(on, keys)),
            Entry::peer("std_mutex", std_mutexes(on.tokio(), keys)),
            Entry::peer("tokio_mutex", tokio_mutexes(on.tokio(), keys)),
            Entry::plotted("std_mutex_ct", std_mutexes(on.tokio_ct(), keys)),
            Entry::plotted("tokio_mutex_ct", tokio_mutexes(on.tokio_ct(), keys)),
        ],
    }
}

/// The critical section, the same for all.
fn operate(value: &mut u64) {
    *value += 1;
}

fn cells(on: Runtimes, keys: &'static [usize]) -> impl FnMut() -> Sample {
    let latch = Latch::leaked();
    let cells = per_key(|key| on.handle.cell(color(key), 0));
    let rival = on.serial();
    move || {
        Sample::time(OPS as u64, || {
            rival.run(async move {
                latch.expect(OPS);
                for &key in keys {
                    drop(colored::spawn_colored(color(key), async move {
                        cells[key].0.with(operate);
                        latch.hit();
                    }));
                }
                latch.wait().await;
            });
        })
    }
}

fn std_mutexes<R: Rival>(on: R, keys: &'static [usize]) -> impl FnMut() -> Sample {
    let latch = Latch::leaked();
    let values = per_key(|_| std::sync::Mutex::new(0));
    move || {
        Sample::time(OPS as u64, || {
            on.run(async move {
                latch.expect(OPS);
                for &key in keys {
                    drop(on.spawn(async move {
                        operate(&mut values[key].0.lock().expect("nobody panics under it"));
                        latch.hit();
                    }));
                }
                latch.wait().await;
            });
        })
    }
}

fn tokio_mutexes<R: Rival>(on: R, keys: &'static [usize]) -> impl FnMut() -> Sample {
    let latch = Latch::leaked();
    let values = per_key(|_| tokio::sync::Mutex::new(0));
    move || {
        Sample::time(OPS as u64, || {
            on.run(async move {
                latch.expect(OPS);
                for &key in keys {
                    drop(on.spawn(async move {
                        operate(&mut *values[key].0.lock().await);
                        latch.hit();
                    }));
                }
                latch.wait().await;
            });
        })
    }
}
