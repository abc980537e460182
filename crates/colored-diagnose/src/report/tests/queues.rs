use super::{Fault, Window, assert_first, changing, idle, steady, us};
use colored_core::{Color, Priority};
use std::time::Duration;

const COLOR: Color = Color::new(3);

/// A color that is full, with so many in line.
fn line(depth: u64) -> Window {
    idle(2).with(COLOR, 9_500, us(10), 64).waiting(depth as f64).depth(depth)
}

#[test]
fn a_queue_grows_without_end_if_it_grows_in_most_windows() {
    assert_first(&changing(|at| line(100 + 1_000 * at)), Fault::UnboundedQueue);
    // One pause.
    assert_first(
        &changing(|at| line(100 + 1_000 * at - 1_500 * u64::from(at == 5))),
        Fault::UnboundedQueue,
    );
    // Up and down, and the color is hot all the same.
    assert_first(&changing(|at| line(100 + 1_000 * (at % 3))), Fault::HotColor);
    // It drains.
    assert_first(&changing(|at| line(20_000 - 1_000 * at)), Fault::HotColor);
    // It grows by less than 5 % of what runs.
    assert_first(&changing(|at| line(100 + 400 * at)), Fault::HotColor);
}

#[test]
fn three_windows_show_no_trend() {
    let windows: Vec<_> = (0..3).map(|at| line(100 + 1_000 * at)).collect();
    assert_first(&crate::report::Report::of(&windows), Fault::HotColor);
}

#[test]
fn a_queue_may_grow_while_its_color_hardly_runs() {
    let report = changing(|at| idle(2).with(COLOR, 5, us(10), 1).depth(20 * at));
    assert_first(&report, Fault::UnboundedQueue);
    let report = changing(|at| idle(2).with(COLOR, 5, us(10), 1).depth(10 * at));
    assert_first(&report, None);
}

/// Tasks of colors of their own, on two full workers.
fn flood(tasks: u64, queue: u64) -> Window {
    let mut window =
        idle(2).with(1, 950, us(100), 1).with(2, 950, us(100), 1).waiting_for_cpu(queue as f64);
    window.tasks = tasks;
    window
}

#[test]
fn tasks_that_are_spawned_faster_than_they_complete_are_a_queue_as_well() {
    assert_first(&changing(|at| flood(100 + 500 * at, 100 * at)), Fault::UnboundedQueue);
    // Tasks that come and wait for something else.
    assert_first(&changing(|at| flood(100 + 500 * at, 100)), None);
    // A batch.
    assert_first(&changing(|at| flood(10_000 - 500 * at, 1000 - 50 * at)), None);
}

/// The class below has this share of one CPU of two, in percent, and so many wait; so many of the higher class wait.
fn classes(low: u64, queue: f64, high: u64, waiting: f64) -> Window {
    let usage = |turns: u64| {
        move |usage: &mut colored_core::Usage| {
            usage.run = us(100) * u32::try_from(turns).unwrap();
            (usage.turns, usage.waits, usage.slices) = (turns, turns, turns);
        }
    };
    let window =
        idle(2).with_usage(1, Priority::High, usage(5 * high)).waiting_for_cpu(waiting / 2.0);
    let window =
        window.with_usage(2, Priority::High, usage(5 * high)).waiting_for_cpu(waiting / 2.0);
    window.with_usage(3, Priority::Low, usage(10 * low)).waiting_for_cpu(queue)
}

#[test]
fn a_class_starves_if_it_waits_far_longer_than_the_higher_ones() {
    assert_first(&steady(&classes(6, 5.0, 190, 2.0)), Fault::StarvedClass);
    // It waits, and so do the others.
    assert_first(&steady(&classes(60, 5.0, 130, 3.0)), None);
    // It has its share.
    assert_first(&steady(&classes(50, 5.0, 140, 0.5)), None);
    // Nobody waits.
    assert_first(&steady(&classes(6, 0.4, 190, 0.0)), None);
    // The CPUs are not full.
    assert_first(&steady(&classes(6, 5.0, 150, 0.1)), None);
}

#[test]
fn without_classes_it_is_a_shortage() {
    let mut window = classes(6, 5.0, 190, 2.0);
    window.colors.iter_mut().for_each(|color| color.priority = Priority::Normal);
    let report = steady(&window);
    assert_first(&report, None);
    assert!(report.to_string().starts_with("none: the CPUs limit: "), "{report}");
}

/// With time in proportion to the square of their number, this takes minutes.
#[test]
fn many_colors_cost_no_more_each_than_few() {
    let many = |at: u64| {
        (0..20_000).fold(idle(2), |window, color| {
            window.with_usage(100 + color, Priority::Normal, |usage| usage.turns = 1 + at)
        })
    };
    let windows: Vec<_> = (0..10).map(many).collect();
    let begin = std::time::Instant::now();
    assert_first(&crate::report::Report::of(&windows), None);
    assert!(begin.elapsed() < Duration::from_secs(10), "it takes {:?}", begin.elapsed());
}
