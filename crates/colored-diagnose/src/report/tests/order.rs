//! Causes come before their effects, and what takes little last.

use super::{Fault, Report, Window, assert_first, changing, idle, ms, us};
use colored_core::{Color, Priority};

const HOT: Color = Color::new(1);

fn faults(report: &Report) -> Vec<Fault> {
    report.findings.iter().map(|finding| finding.fault).collect()
}

/// A hot color, with a poll of this length in every window, in this color.
fn with_poll(color: Color, time: u64, cpu: u64) -> Report {
    changing(|at| {
        let window = idle(4).with(HOT, 90_000 - 1_000 * time, us(1), 64).waiting(5.0);
        window.with(color, 1, ms(time), 1).waiting(0.0).poll(at, color, ms(time), Some(ms(cpu)))
    })
}

fn long_in_the_hot_color(time: u64, cpu: u64) -> Report {
    changing(|at| {
        let window = idle(4).with_usage(HOT, Priority::Normal, |usage| {
            usage.run = ms(95);
            (usage.turns, usage.waits) = (5_000, 5_000);
        });
        window.waiting(5.0).poll(at, HOT, ms(time), Some(ms(cpu)))
    })
}

#[test]
fn a_long_poll_explains_its_hot_color() {
    assert_eq!(faults(&long_in_the_hot_color(60, 60)), [Fault::LongPoll]);
    assert_eq!(faults(&long_in_the_hot_color(60, 0)), [Fault::BlockedWorker]);
    // Too little of it: the color would be hot without.
    assert_eq!(faults(&long_in_the_hot_color(15, 15)), [Fault::HotColor, Fault::LongPoll]);
}

#[test]
fn a_small_fault_elsewhere_comes_behind_a_large_one() {
    let other = Color::new(2);
    assert_eq!(faults(&with_poll(other, 10, 0)), [Fault::HotColor, Fault::BlockedWorker]);
}

#[test]
fn a_convoy_and_a_starved_class_explain_their_queues() {
    let report = changing(|at| {
        let window = idle(2).with(HOT, 100, us(10), 8).kept(ms(95)).waiting(50.0);
        window.depth(500 * at)
    });
    assert_eq!(faults(&report), [Fault::Convoy]);
    let starved = |at: u64| -> Window {
        let high = |usage: &mut colored_core::Usage| {
            (usage.run, usage.turns, usage.waits) = (ms(95), 950, 950);
        };
        let low = |usage: &mut colored_core::Usage| {
            (usage.run, usage.turns, usage.waits) = (ms(5), 50, 50);
        };
        let window =
            idle(2).with_usage(1, Priority::High, high).with_usage(2, Priority::High, high);
        window.with_usage(3, Priority::Low, low).waiting_for_cpu(300.0).depth(200 * at)
    };
    assert_eq!(faults(&changing(starved)), [Fault::StarvedClass]);
}

#[test]
fn further_findings_follow_in_the_text() {
    let report = long_in_the_hot_color(15, 15);
    assert_first(&report, Fault::HotColor);
    assert!(report.to_string().contains("\nalso long-poll: "), "{report}");
}
