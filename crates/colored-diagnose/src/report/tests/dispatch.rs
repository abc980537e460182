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
    assert_first(&steady(&fine(120_000, ns(1_000), ns(550))), Fault::TooFine);
    assert_first(&steady(&fine(120_000, ns(1_100), ns(550))), None);
    // An idle program dispatches colors as well.
    assert_first(&steady(&fine(110_000, ns(300), ns(600))), None);
}

#[test]
fn a_worker_that_the_system_stops_is_not_slow() {
    // Eight times as long on the clock.
    let window = fine(20_000, ns(1_000), ns(7_000)).delayed(ms(140));
    assert_first(&steady(&window), Fault::TooFine);
}

/// Two colors with so many slices of this length, which move so often, percent, after a wait for a worker.
fn moving(slices: u64, run: Duration, wait: Duration, moves: u64) -> Window {
    let (moved, waits) = (slices * moves / 100, (wait * slices as u32).as_secs_f64() / 0.1);
    let pair = idle(2).with(1, slices, run, 1).moved(moved).waiting_for_cpu(waits);
    pair.with(2, slices, run, 1).moved(moved).waiting_for_cpu(waits)
}

#[test]
fn two_colors_that_change_the_worker_all_the_time_play_ping_pong() {
    assert_first(&steady(&moving(1_000, us(1), us(40), 90)), Fault::PingPong);
    assert_first(&steady(&moving(1_000, us(1), us(40), 51)), Fault::PingPong);
    assert_first(&steady(&moving(1_000, us(1), us(40), 49)), None);
    // Slices that are long beside the cost of a move.
    assert_first(&steady(&moving(1_000, us(11), us(40), 90)), None);
    // Colors that seldom have something to run.
    assert_first(&steady(&moving(1_000, us(1), us(13), 90)), None);
    // So seldom that it does not matter.
    assert_first(&steady(&moving(90, us(1), us(500), 90)), None);
}

#[test]
fn many_colors_that_move_a_little_are_balanced() {
    let window =
        (0..200).fold(idle(2), |window, color| window.with(color, 100, us(2), 1).moved(50));
    assert_first(&steady(&window), None);
}

/// A window with `fired` timers: each wakes a turn of the length `turn`, and takes `firing` to fire.
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
