//! Polls that hold their workers.

use crate::load::{Dice, compute};
use colored::time::{Duration, sleep};
use colored::{Color, ColorCell, spawn_colored, spawn_unique};
use std::thread;

/// Visitors of a catalog, which takes some microseconds to answer.
fn visitors(dice: &mut Dice, catalog: &ColorCell<u64>) {
    let (visitors, look, pause) =
        (dice.number(4..=16), dice.micros(10..=60), dice.micros(1_000..=3_000));
    for _ in 0..visitors {
        let catalog = catalog.clone();
        let _detached = spawn_unique(async move {
            loop {
                sleep(pause).await;
                catalog.call(move |_| compute(look)).await;
            }
        });
    }
}

/// A catalog that sorts itself anew now and then, in one poll.
pub(crate) fn long(dice: &mut Dice) {
    let catalog = Color::named("catalog");
    visitors(dice, &ColorCell::new(catalog, 0));
    let (pause, sort) = (dice.millis(50..=200), dice.millis(25..=120));
    // In the color of the visitors, or beside them.
    let color = if dice.number(0..=2) > 0 { catalog } else { Color::named("index") };
    let _detached = spawn_colored(color, async move {
        loop {
            sleep(pause).await;
            compute(sort);
        }
    });
}

/// A catalog that asks a database by a function that blocks.
pub(crate) fn blocked(dice: &mut Dice) {
    let catalog = Color::named("catalog");
    visitors(dice, &ColorCell::new(catalog, 0));
    let (pause, query) = (dice.millis(2..=100), dice.millis(2..=80));
    let pause = pause.min(3 * query);
    let callers = dice.number(1..=3);
    for caller in 0..callers {
        let color = if caller == 0 { catalog } else { Color::unique() };
        let _detached = spawn_colored(color, async move {
            loop {
                sleep(pause.max(Duration::from_millis(1))).await;
                // A driver that is not asynchronous.
                thread::sleep(query);
            }
        });
    }
}
