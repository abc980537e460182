//! Guards of `enter`, dropped in every order: the latest guard that is left counts, and no guard keeps its runtime
//! alive.

use colored::{Handle, Runtime, spawn_blocking, spawn_unique, time};
use colored_tests::{child, shared};
use std::fs;
use std::thread;
use std::time::Duration;

const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// Each with a number of workers, and a name, that tell it from the others.
fn runtimes() -> [Runtime; 3] {
    [1, 2, 3].map(|number| {
        let builder = Runtime::builder().workers(number).blocking_threads(1);
        builder.thread_name(format!("r{number}")).build().unwrap()
    })
}

/// The index of the runtime that this thread has entered, by its workers and by the name of its blocking threads.
fn current() -> Option<usize> {
    let number = Handle::try_current()?.metrics().workers.len();
    let name = spawn_blocking(|| thread::current().name().map(str::to_owned));
    let name = Handle::current().block_on(name).unwrap().unwrap();
    assert!(name.starts_with(&format!("r{number}-")), "{name} in runtime {number}");
    Some(number - 1)
}

#[test]
fn the_last_one_made_that_is_left_counts() {
    shared(|| {
        let runtimes = runtimes();
        for order in ORDERS {
            let mut guards: Vec<_> =
                runtimes.iter().map(|runtime| Some(runtime.handle().enter())).collect();
            for number in order {
                assert_eq!(current(), guards.iter().rposition(Option::is_some), "{order:?}");
                guards[number] = None;
            }
            assert_eq!(current(), None, "{order:?}");
        }
    });
}

/// A guard that is made inside a `block_on` may outlive it, and the other way round.
#[test]
fn a_guard_may_outlive_a_block_on_and_end_inside_it() {
    shared(|| {
        let [first, second, third] = runtimes();
        let mut outer = Some(first.handle().enter());
        let inner = second.block_on(async {
            outer = None;
            third.handle().enter()
        });
        assert_eq!(current(), Some(2));
        first.block_on(async { time::sleep(Duration::from_millis(1)).await });
        assert_eq!(third.run(spawn_unique(async { 7 })).unwrap(), 7);
        drop(inner);
        assert_eq!(current(), None);
        assert!(outer.is_none());
    });
}

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").expect("/proc is mounted").count()
}

#[test]
fn no_order_keeps_the_descriptors_of_a_runtime_that_has_ended() {
    shared(|| {
        let test = "no_order_keeps_the_descriptors_of_a_runtime_that_has_ended";
        child::run(module_path!(), test, || {
            // tokio keeps two descriptors for signals from the first runtime of a process on.
            drop(runtimes());
            let before = descriptors();
            for order in ORDERS {
                let runtimes = runtimes();
                let mut guards: Vec<_> =
                    runtimes.iter().map(|runtime| Some(runtime.handle().enter())).collect();
                assert!(descriptors() > before);
                for number in order {
                    guards[number] = None;
                }
                drop(runtimes);
                assert_eq!(descriptors(), before, "{order:?}");
            }
        });
    });
}
