//! The cooperative budget as programs see it.

use colored::task::{consume_budget, has_budget_remaining, unconstrained};
use colored::{spawn_here, spawn_unique};
use colored_tests::polls::poll_once;
use colored_tests::{Trace, run};
use std::pin::pin;

/// Units of a poll.
const UNITS: usize = 128;

/// Whether one poll is enough.
fn is_ready(future: impl Future) -> bool {
    poll_once(pin!(future)).is_ready()
}

#[test]
fn a_loop_without_an_end_lets_its_color_run_every_128_units() {
    run(1, async {
        let trace = Trace::new();
        let own = trace.clone();
        let looping = spawn_here(async move {
            for turn in 0..4 * UNITS {
                consume_budget().await;
                own.push(turn);
            }
        });
        let seen = trace.clone();
        let beside = spawn_here(async move {
            let mut lengths = Vec::new();
            for _ in 0..4 {
                lengths.push(seen.len());
                colored::yield_now().await;
            }
            lengths
        });
        assert_eq!(beside.await.unwrap(), [UNITS, 2 * UNITS, 3 * UNITS, 4 * UNITS]);
        looping.await.unwrap();
    });
}

#[test]
fn without_a_budget_a_loop_does_not_wait() {
    run(1, async {
        let task = spawn_unique(async {
            consume_budget().await;
            let inside = unconstrained(async {
                for _ in 0..100 * UNITS {
                    consume_budget().await;
                    assert!(has_budget_remaining());
                }
            });
            assert!(is_ready(inside), "one poll is enough");
            // The units outside are as they were.
            for _ in 1..UNITS {
                assert!(is_ready(consume_budget()));
            }
            assert!(!has_budget_remaining());
            assert!(!is_ready(consume_budget()));
            // A child has a budget of its own, also of a parent that has none.
            let child = unconstrained(async { spawn_here(async { has_budget_remaining() }).await });
            assert!(child.await.unwrap());
            assert!(has_budget_remaining(), "a new poll");
        });
        task.await.unwrap();
    });
}

#[test]
fn outside_a_runtime_there_is_no_limit() {
    for _ in 0..2 * UNITS {
        assert!(is_ready(consume_budget()));
    }
}
