//! Loads without a fault.

use super::{Window, assert_first, changing, idle, ms, steady, us};
use colored_core::Color;

#[test]
fn an_http_server_at_sixty_percent_has_no_fault() {
    let mut window = idle(2).searching(ms(15));
    for connection in 0..64 {
        window = window.with(Color::new(connection), 280, us(6), 1).waiting_for_cpu(0.02).moved(90);
    }
    (window.wakes, window.tasks) = (4_000, 65);
    let report = steady(&window);
    assert_first(&report, None);
    assert!(report.to_string().contains("polls take 54 % of the CPUs"), "{report}");
}

#[test]
fn a_balanced_batch_is_limited_by_the_cpus() {
    let window = |left: u64| {
        let mut window = idle(2);
        for color in 0..50 {
            window = window.with(color, 19, us(200), 1).waiting_for_cpu(1.0).moved(10);
        }
        window.tasks = left;
        window
    };
    let report = changing(|at| window(1000 - 100 * at));
    assert_first(&report, None);
    assert!(
        report.to_string().starts_with("none: the CPUs limit: polls take 95 % of them"),
        "{report}"
    );
}

#[test]
fn a_burst_drains() {
    let burst = |at: u64| -> Window {
        if at > 4 {
            return idle(2);
        }
        let depth = [3_000, 2_400, 1_600, 800, 0][at as usize];
        let mut window = idle(2).with(1, 9_800, us(10), 64).waiting(depth as f64).depth(depth);
        window.tasks = depth;
        window
    };
    assert_first(&changing(burst), None);
}

#[test]
fn a_color_at_seventy_percent_without_waits_is_not_hot() {
    let report = steady(&idle(2).with(1, 700, us(100), 1).waiting(0.02));
    assert_first(&report, None);
    let text = report.to_string();
    let line = text.lines().next().expect("there is a line");
    assert!(line.ends_with("color 0x1 is full when the load has grown 1.4 times"), "{text}");
}

#[test]
fn a_few_timers_are_no_storm() {
    assert_first(
        &steady(&idle(2).with(1, 200, us(3), 1).firing(200, 200, us(300)).searching(ms(2))),
        None,
    );
}

#[test]
fn workers_that_get_no_cpu_are_limited_by_the_cpus_as_well() {
    let window = idle(2).with(1, 980, us(100), 1).with(2, 980, us(100), 1).delayed(ms(140));
    let text = steady(&window).to_string();
    let line = "none: the CPUs limit: no worker sleeps, though polls get 28 % of the CPUs only";
    assert_eq!(text.lines().next(), Some(line));
}
