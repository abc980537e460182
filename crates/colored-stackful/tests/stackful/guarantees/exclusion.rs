//! G1: nothing of a color overlaps with anything else of it.

use super::{BLUE, RED};
use crate::support::{Kind, Witness, run, spawn_as};
use colored::{Color, ColorCell, when};
use std::sync::Arc;

/// Shows G1.
#[test]
fn steps_calls_and_posts_of_one_color_keep_apart() {
    const TASKS: usize = 32;
    const STEPS: usize = 200;
    let witness = Arc::new(Witness::default());
    let ours = Arc::clone(&witness);
    run(4, async move {
        let cell = ColorCell::new(RED, ());
        let tasks = (0..TASKS).map(|index| {
            let (witness, cell) = (Arc::clone(&ours), cell.clone());
            Kind::of(index).spawn_steps(Color::new(RED), STEPS, move |_| {
                witness.touch();
                let witness = Arc::clone(&witness);
                cell.post(move |()| witness.touch());
            })
        });
        let callers = (0..TASKS).map(|index| {
            let (witness, cell) = (Arc::clone(&ours), cell.clone());
            spawn_as!(Kind::of(index), Color::unique(), {
                for _ in 0..STEPS {
                    let witness = Arc::clone(&witness);
                    wait!(cell.call(move |()| witness.touch()));
                }
            })
        });
        for task in tasks.collect::<Vec<_>>().into_iter().chain(callers.collect::<Vec<_>>()) {
            task.await.unwrap();
        }
        cell.call(|()| ()).await;
    });
    assert_eq!(witness.count(), TASKS * STEPS * 3);
}

/// Shows G1.
#[test]
fn a_when_keeps_apart_from_the_steps_of_both_colors() {
    const TASKS: usize = 8;
    const STEPS: usize = 200;
    let witnesses = [(); 2].map(|()| Arc::new(Witness::default()));
    let [red, blue] = witnesses.clone();
    run(4, async move {
        let cells = [RED, BLUE].map(|color| ColorCell::new(color, ()));
        let mut tasks = Vec::new();
        for index in 0..TASKS {
            for (color, witness) in [(RED, &red), (BLUE, &blue)] {
                let witness = Arc::clone(witness);
                let step = move |_| witness.touch();
                tasks.push(Kind::of(index).spawn_steps(Color::new(color), STEPS, step));
            }
            let (cells, red, blue) = (cells.clone(), Arc::clone(&red), Arc::clone(&blue));
            tasks.push(spawn_as!(Kind::of(index), Color::unique(), {
                for _ in 0..STEPS {
                    let (red, blue) = (Arc::clone(&red), Arc::clone(&blue));
                    let both = when((&cells[0], &cells[1]), move |_, _| {
                        red.touch();
                        blue.touch();
                    });
                    wait!(both);
                }
            }));
        }
        for task in tasks {
            task.await.unwrap();
        }
    });
    for witness in witnesses {
        assert_eq!(witness.count(), TASKS * STEPS * 2);
    }
}
