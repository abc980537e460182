use super::{Fault, assert_first, changing, idle, ms, steady, us};
use colored_core::Color;

const COLOR: Color = Color::new(9);

/// A second of short turns of 10 µs, with so many polls of this length, of which the CPU had a part.
fn polls(count: u64, time: u64, cpu: impl Fn(u64) -> Option<u64>) -> crate::report::Report {
    changing(|at| {
        let mut window = idle(2).with(1, 1000, us(10), 8);
        if at < count {
            window =
                window.with(COLOR, 1, ms(time), 1).poll(at, COLOR, ms(time), cpu(time).map(ms));
        }
        window
    })
}

#[test]
fn a_long_poll_computes_and_a_blocked_one_has_no_cpu() {
    assert_first(&polls(3, 50, |time| Some(time - 2)), Fault::LongPoll);
    assert_first(&polls(3, 50, |_| Some(1)), Fault::BlockedWorker);
    assert_first(&polls(3, 50, |time| Some(time / 2)), Fault::LongPoll);
    assert_first(&polls(3, 50, |time| Some(time / 2 - 1)), Fault::BlockedWorker);
    // It was seen once.
    assert_first(&polls(3, 50, |_| None), None);
    // The system does not tell.
    let untold = |at| {
        let mut window = idle(2).with(1, 1000, us(10), 8).poll(at, COLOR, ms(50), None);
        window.workers.iter_mut().for_each(|worker| worker.cpu = None);
        window
    };
    assert_first(&changing(untold), Fault::LongPoll);
}

/// Every worker is in one poll that has no CPU at all, and nothing has been counted since it began.
#[test]
fn workers_that_are_all_blocked_are_blocked_and_not_busy_with_dispatch() {
    let window = |at| {
        let time = ms(100 * (at + 1));
        let mut window =
            idle(2).poll(1, COLOR, time, Some(ms(0))).poll(2, COLOR, time, Some(ms(0)));
        for worker in &mut window.workers {
            (worker.run, worker.parked) = (worker.parked, ms(0));
        }
        window.wakes = 1;
        window
    };
    let report = changing(window);
    assert_first(&report, Fault::BlockedWorker);
    assert_eq!(report.findings.len(), 1, "{report:?}");
}

#[test]
fn what_the_system_kept_from_a_cpu_was_not_blocked() {
    let report = changing(|at| {
        let mut window = idle(2).with(1, 1000, us(10), 8).poll(at, COLOR, ms(50), Some(ms(2)));
        window.long_polls[0].delayed = Some(ms(45));
        window
    });
    assert_first(&report, None);
}

#[test]
fn one_short_accident_is_not_a_fault() {
    assert_first(&polls(1, 49, Some), None);
    assert_first(&polls(1, 51, Some), Fault::LongPoll);
    assert_first(&polls(1, 49, |_| Some(0)), None);
    assert_first(&polls(2, 10, |_| Some(0)), Fault::BlockedWorker);
    assert_first(&polls(2, 9, |_| Some(0)), None);
    assert_first(&polls(2, 10, Some), Fault::LongPoll);
    assert_first(&polls(10, 9, Some), None);
}

#[test]
fn a_poll_is_long_beside_the_others_only() {
    // Others of 2 ms: twenty times that is 40.
    let report = |time| {
        changing(|at| {
            let window = idle(2).with(1, 40, ms(2), 1);
            if at % 2 == 0 {
                window.with(2, 1, ms(time), 1).poll(at, Color::new(2), ms(time), Some(ms(time)))
            } else {
                window
            }
        })
    };
    assert_first(&report(39), None);
    assert_first(&report(42), Fault::LongPoll);
}

#[test]
fn a_batch_of_long_polls_delays_nobody() {
    let window = |at: u64| {
        let window = idle(2).with(1, 4, ms(25), 1).with(2, 4, ms(25), 1).with(3, 8, us(2), 1);
        (0..8)
            .fold(window, |window, n| window.poll(8 * at + n, Color::new(1), ms(25), Some(ms(25))))
    };
    assert_first(&changing(window), None);
}

#[test]
fn a_poll_that_outlasts_windows_counts_once_and_for_the_observation_only() {
    let report = changing(|at| {
        idle(2).with(1, 1000, us(10), 8).poll(7, COLOR, ms(5000 + 100 * at), Some(ms(3)))
    });
    assert_first(&report, Fault::BlockedWorker);
    assert!(
        report.findings[0].evidence[0].starts_with("1 such poll was seen in 1.0 s: 100 % "),
        "{report}"
    );
}

#[test]
fn short_blocking_calls_are_seen_by_looks_at_the_workers() {
    let window = |blocked| {
        let mut window = idle(2).with(COLOR, 30, ms(2), 1);
        window.blocked = Some(blocked);
        window
    };
    assert_first(&steady(&window(0.3)), Fault::BlockedWorker);
    assert_first(&steady(&window(0.11)), Fault::BlockedWorker);
    assert_first(&steady(&window(0.09)), None);
    // For some moments.
    assert_first(&changing(|at| window(if at < 5 { 0.9 } else { 0.0 })), None);
}
