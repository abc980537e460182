//! Work that costs less than its dispatch.

use crate::load::{Dice, compute};
use colored::sync::mpsc;
use colored::time::sleep;
use colored::{Color, spawn_pinned, spawn_unique};
use std::hint;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A task and a color for each item, which takes a fraction of a microsecond.
pub(crate) fn too_fine(dice: &mut Dice) {
    let (feeders, batch) = (dice.number(2..=6).max(dice.workers), dice.number(50..=500));
    let steps = dice.number(5..=50) as u64;
    for _ in 0..feeders {
        let _detached = spawn_unique(async move {
            loop {
                let item = |n: u64| spawn_unique(async move { hint::black_box(sum(n, steps)) });
                let items: Vec<_> = (0..batch as u64).map(item).collect();
                for item in items {
                    let _ = item.await;
                }
            }
        });
    }
}

fn sum(from: u64, steps: u64) -> u64 {
    (from..from + steps).fold(0, |sum, n| hint::black_box(sum ^ n.wrapping_mul(31)))
}

/// Two tasks, each pinned to a worker, that take turns with one color.
pub(crate) fn ping_pong(dice: &mut Dice) {
    let pairs = dice.number(1..=2);
    for pair in 0..pairs {
        let color = Color::new(1_000 + pair as u64);
        let work = dice.micros(0..=1);
        let (to_first, at_first) = mpsc::channel::<u64>(1);
        let (to_second, at_second) = mpsc::channel::<u64>(1);
        to_first.try_send(0).expect("there is room for the ball");
        let bat = move |mut from: mpsc::Receiver<u64>, to: mpsc::Sender<u64>| async move {
            while let Some(ball) = from.recv().await {
                compute(work);
                if to.send(ball + 1).await.is_err() {
                    break;
                }
            }
        };
        let _detached = spawn_pinned(0, color, move || bat(at_first, to_second));
        let _detached = spawn_pinned(1, color, move || bat(at_second, to_first));
    }
}

/// Tasks that ask again and again whether something has happened.
pub(crate) fn timers(dice: &mut Dice) {
    let (tasks, period) = (dice.number(500..=3_000), dice.micros(1_000..=4_000));
    // Enough of them that little else is done.
    let tasks = tasks.max(period.as_micros() as usize / 5);
    let has_happened = Arc::new(AtomicBool::new(false));
    for _ in 0..tasks {
        let has_happened = Arc::clone(&has_happened);
        let _detached = spawn_unique(async move {
            while !has_happened.load(Ordering::Relaxed) {
                sleep(period).await;
            }
        });
    }
}
