//! Many tasks yield many times.

use crate::executors::{Executor, Pool, Smol};
use crate::foreign::{self, Tool};
use crate::setup::Setup;
use colored_benches::measure::{Case, Entry, Sample, Unit};

/// Tasks that yield.
const TASKS: u64 = 200;

pub(super) fn case(setup: &Setup, subject: impl Executor) -> Case {
    let yields = setup.count(1_000, 5);
    let mut entries = vec![
        Entry::subject(sampler(subject, yields)),
        Entry::peer("tokio", sampler(setup.runtimes().tokio(), yields)),
        Entry::peer("smol", sampler(Smol, yields)),
        Entry::peer("async-executor", sampler(Pool::start(), yields)),
    ];
    entries.extend(foreign::entry(Tool::Go, "yields", yields));
    entries.extend(foreign::entry(Tool::Asio, "yields", yields));
    Case { unit: Unit::ns("ns/yield"), pace: setup.pace(), entries }
}

pub(super) fn sampler<E: Executor>(on: E, yields: u64) -> impl FnMut() -> Sample {
    move || {
        Sample::time(TASKS * yields, || {
            let done = on.run(async move {
                let task = || on.spawn(yield_many(on, yields));
                let tasks: Vec<_> = (0..TASKS).map(|_| task()).collect();
                let mut done = 0;
                for task in tasks {
                    done += task.await;
                }
                done
            });
            assert_eq!(done, TASKS * yields, "a task was lost");
        })
    }
}

async fn yield_many<E: Executor>(on: E, yields: u64) -> u64 {
    let mut done = 0;
    while done < yields {
        on.yield_now().await;
        done += 1;
    }
    done
}
