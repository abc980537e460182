use super::{Fault, Window, assert_first, idle, ms, steady, us};
use std::time::Duration;

fn ns(nanos: u64) -> Duration {
    Duration::from_nanos(nanos)
}

/// Two workers that dispatch so many colors of one turn of this length, and take so long for it.
fn fine(slices: u64, turn: Duration, dispatch: Duration) -> Window {
    let count = u32::try_from(slices).unwrap();
    let mut window = idle(2).searching(dispatch * count);
    window.busy(turn * count);
    window.others.run = turn * count;
    (window.others.turns, window.others.slices) = (slices, slices);
    window
}

#[test]
fn colors_are_too_fine_if_their_dispatch_costs_more_than_their_work() {
    assert_first(&steady(&fine(200_000, ns(200), ns(600))), Fault::TooFine);
    // The work is longer than the dispatch.
    assert_first(&steady(&fine(100_000, ns(1_000), ns(600))), None);
    // Long slices cost what they cost.
    assert_first(&steady(&fine(20_000, ns(2_100), ns(6_000))), None);
    // An idle program searches too.
    assert_first(&steady(&fine(20_000, ns(200), ns(3_000))), None);
}

/// Two colors with so many slices of this length, which move so often, percent.
fn moving(slices: u64, run: Duration, moves: u64) -> Window {
    let moved = slices * moves / 100;
    let pair = idle(2).with(1, slices, run, 1).moved(moved).with(2, slices, run, 1).moved(moved);
    pair.searching(us(2) * u32::try_from(slices).unwrap())
}

#[test]
fn two_colors_that_change_the_worker_all_the_time_play_ping_pong() {
    assert_first(&steady(&moving(10_000, us(1), 90)), Fault::PingPong);
    assert_first(&steady(&moving(10_000, us(1), 51)), Fault::PingPong);
    assert_first(&steady(&moving(10_000, us(1), 49)), None);
    // Slices that are long beside the cost of a move.
    assert_first(&steady(&moving(10_000, us(6), 90)), None);
    // So seldom that it does not matter.
    assert_first(&steady(&moving(900, us(1), 90)), None);
}

#[test]
fn many_colors_that_move_a_little_are_balanced() {
    let window =
        (0..200).fold(idle(2), |window, color| window.with(color, 100, us(2), 1).moved(50));
    assert_first(&steady(&window), None);
}

/// So many timers, each of which wakes a turn of this length, and takes so long to fire.
fn timers(fired: u64, turn: Duration, firing: Duration) -> Window {
    let count = u32::try_from(fired).unwrap();
    idle(2).with(5, fired, turn, 16).firing(fired, fired / 4, firing * count)
}

#[test]
fn timers_are_a_storm_if_the_workers_do_little_else() {
    assert_first(&steady(&timers(100_000, ns(300), ns(400))), Fault::TimerStorm);
    // A modest rate.
    assert_first(&steady(&timers(1_000, ns(300), ns(400))), None);
    // Timers that do work.
    assert_first(&steady(&timers(10_000, us(6), ns(400))), None);
    // Most turns have another reason.
    let window = timers(50_000, ns(300), ns(400)).with(6, 80_000, ns(500), 16);
    assert_first(&steady(&window), None);
    assert_first(&steady(&timers(20_000, us(1), ns(2000)).searching(ms(10))), Fault::TimerStorm);
}
