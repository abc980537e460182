//! Work that comes faster than it runs, and work that hardly runs.

use crate::load::{Dice, compute};
use colored::time::{Duration, sleep};
use colored::{Color, ColorCell, Handle, Priority, spawn_colored, spawn_unique, yield_now};

/// A log that gets more lines than it writes, by senders that do not wait.
pub(crate) fn unbounded(dice: &mut Dice) {
    let log = ColorCell::new(Color::named("log"), 0_u64);
    let (senders, line) = (dice.number(2..=12), dice.micros(10..=80));
    // By a quarter to three times more than there is time for.
    let percent = dice.number(125..=400) as u32;
    let period = Duration::from_millis(2);
    let lines = (period * percent).as_nanos() / (100 * line.as_nanos() * senders as u128);
    for _ in 0..senders {
        let log = log.clone();
        let _detached = spawn_unique(async move {
            let mut next = colored::time::Instant::now();
            loop {
                for _ in 0..lines.max(1) {
                    log.post(move |lines| {
                        compute(line);
                        *lines += 1;
                    });
                }
                next += period * if lines == 0 { senders as u32 } else { 1 };
                colored::time::sleep_until(next).await;
            }
        });
    }
}

/// Urgent colors that always have something to run, beside others.
pub(crate) fn starved(dice: &mut Dice) {
    let runtime = Handle::current();
    let urgent = 2 * dice.workers + dice.number(1..=4);
    let (turn, slow) = (dice.micros(30..=200), dice.micros(30..=200));
    for color in 0..urgent as u64 {
        let color = Color::new(100 + color);
        runtime.set_priority(color, Priority::High);
        let _detached = spawn_colored(color, async move {
            loop {
                compute(turn);
                yield_now().await;
            }
        });
    }
    let class = if dice.number(0..=1) == 0 { Priority::Low } else { Priority::Normal };
    for color in 0..dice.number(2..=8) as u64 {
        let color = Color::new(200 + color);
        runtime.set_priority(color, class);
        let _detached = spawn_colored(color, async move {
            loop {
                compute(slow);
                sleep(Duration::from_millis(1)).await;
            }
        });
    }
}
