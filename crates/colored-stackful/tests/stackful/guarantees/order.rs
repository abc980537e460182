//! G2: first-in first-out within a color.

use super::RED;
use crate::support::{Gate, Kind, Trace, run, spawn_as};
use colored::sync::oneshot;
use colored::{Color, ColorCell, spawn_colored};

/// Shows G2, G11.
#[test]
fn tasks_and_posts_run_in_the_order_of_their_scheduling() {
    const TASKS: usize = 10;
    const STEPS: usize = 20;
    let trace = Trace::new();
    let ours = trace.clone();
    run(4, async move {
        let cell = ColorCell::new(RED, ours.clone());
        let gate = Gate::close(RED);
        let mut tasks = Vec::new();
        for index in 0..TASKS {
            let trace = ours.clone();
            let step = move |step| trace.push((step, index, "step"));
            tasks.push(Kind::of(index).spawn_steps(Color::new(RED), STEPS, step));
            cell.post(move |trace| trace.push((0, index, "post")));
        }
        gate.open().await;
        for task in tasks {
            task.await.unwrap();
        }
    });
    let first = (0..TASKS).flat_map(|index| [(0, index, "step"), (0, index, "post")]);
    let others = (1..STEPS).flat_map(|step| (0..TASKS).map(move |index| (step, index, "step")));
    assert_eq!(trace.take(), first.chain(others).collect::<Vec<_>>());
}

/// The stackful ones wait on several threads; the color visits these in the order of the wakes.
/// Shows G2.
#[test]
fn tasks_go_on_in_the_order_of_their_wakes() {
    const TASKS: usize = 12;
    let trace = Trace::new();
    let ours = trace.clone();
    let wakes: Vec<_> = (0..TASKS).map(|index| index * 5 % TASKS).collect();
    let expected = wakes.clone();
    run(4, async move {
        let (mut senders, mut tasks) = (Vec::new(), Vec::new());
        for index in 0..TASKS {
            let (wake, woken) = oneshot::channel();
            let trace = ours.clone();
            senders.push(Some(wake));
            tasks.push(spawn_as!(Kind::of(index), RED, {
                wait!(woken).unwrap();
                trace.push(index);
            }));
        }
        // Behind the first turns of all.
        spawn_colored(RED, async {}).await.unwrap();
        let gate = Gate::close(RED);
        for index in wakes {
            senders[index].take().unwrap().send(()).unwrap();
        }
        gate.open().await;
        for task in tasks {
            task.await.unwrap();
        }
    });
    assert_eq!(trace.take(), expected);
}

/// Shows G2.
#[test]
fn what_one_task_posts_and_calls_keeps_its_order() {
    const TASKS: usize = 8;
    const STEPS: usize = 200;
    let trace = run(4, async {
        let cell = ColorCell::new(RED, Vec::new());
        let tasks: Vec<_> = (0..TASKS)
            .map(|index| {
                let cell = cell.clone();
                // Half of them are of the cell's own color.
                let color = if index < TASKS / 2 { Color::new(RED) } else { Color::unique() };
                spawn_as!(Kind::of(index), color, {
                    for step in 0..STEPS {
                        cell.post(move |trace| trace.push((index, 2 * step)));
                        wait!(cell.call(move |trace| trace.push((index, 2 * step + 1))));
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        cell.call(std::mem::take).await
    });
    for task in 0..TASKS {
        let steps: Vec<_> =
            trace.iter().filter(|(by, _)| *by == task).map(|(_, step)| *step).collect();
        assert_eq!(steps, (0..2 * STEPS).collect::<Vec<_>>(), "task {task}");
    }
}
