//! A task spawns many and awaits every handle.

use crate::executors::{Executor, Pool, Smol};
use crate::foreign::{self, Tool};
use crate::setup::Setup;
use colored_benches::measure::{Case, Entry, Sample, Unit};

pub(super) fn case(setup: &Setup, subject: impl Executor) -> Case {
    let count = setup.count(10_000, 100);
    let mut entries = vec![
        Entry::subject(sampler(subject, count)),
        Entry::peer("tokio", sampler(setup.runtimes().tokio(), count)),
        Entry::peer("smol", sampler(Smol, count)),
        Entry::peer("async-executor", sampler(Pool::start(), count)),
    ];
    entries.extend(foreign::entry(Tool::Go, "spawn", count));
    Case { unit: Unit::ns("ns/task"), pace: setup.pace(), entries }
}

pub(super) fn sampler<E: Executor>(on: E, count: u64) -> impl FnMut() -> Sample {
    move || {
        Sample::time(count, || {
            let sum = on.run(async move {
                let tasks: Vec<_> =
                    (0..count).map(|index| on.spawn(async move { index })).collect();
                let mut sum = 0;
                for task in tasks {
                    sum += task.await;
                }
                sum
            });
            assert_eq!(sum, count * (count - 1) / 2, "a task was lost");
        })
    }
}
