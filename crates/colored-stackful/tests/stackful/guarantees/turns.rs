//! G11: the color is held for one turn, and longer only where the code says so.

use super::RED;
use crate::support::{Kind, Trace, run, spawn_as};
use colored::sync::oneshot;
use colored::time::{Duration, sleep};
use colored::{Color, ColorCell};

/// Shows G11.
#[test]
fn a_task_may_wait_for_another_task_of_its_color() {
    for (waits, awaited) in Kind::pairs() {
        run(2, async move {
            let (send, receive) = oneshot::channel();
            let first = spawn_as!(waits, RED, {
                let inner = spawn_as!(awaited, RED, { 1 });
                wait!(inner).unwrap() + wait!(receive).unwrap()
            });
            let second = spawn_as!(awaited, RED, { send.send(2).unwrap() });
            second.await.unwrap();
            assert_eq!(first.await.unwrap(), 3, "{waits:?} {awaited:?}");
        });
    }
}

/// Shows G11.
#[test]
#[expect(clippy::async_yields_async, reason = "the section ends before its task does")]
fn others_of_the_color_run_during_a_wait_and_not_in_a_section() {
    for (first, second) in Kind::pairs() {
        let trace = Trace::new();
        let ours = trace.clone();
        run(2, async move {
            let [one, other] = [ours.clone(), ours];
            let task = spawn_as!(first, RED, {
                let spawn = |text| {
                    let trace = other.clone();
                    second.spawn_steps(Color::new(RED), 1, move |_| trace.push(text))
                };
                let inner = spawn("during the wait");
                wait!(sleep(Duration::from_millis(1)));
                wait!(inner).unwrap();
                one.push("after the wait");
                let inner = hold!({
                    let inner = spawn("after the section");
                    wait!(sleep(Duration::from_millis(5)));
                    wait!(colored::yield_now());
                    one.push("at the end of the section");
                    inner
                });
                wait!(inner).unwrap();
            });
            task.await.unwrap();
        });
        let expected =
            ["during the wait", "after the wait", "at the end of the section", "after the section"];
        assert_eq!(trace.take(), expected, "{first:?} {second:?}");
    }
}

/// Shows G11.
#[test]
fn nothing_comes_in_between_where_the_color_is_held() {
    const TASKS: usize = 8;
    run(4, async {
        let cell = ColorCell::new(RED, 0_usize);
        let tasks: Vec<_> = (0..TASKS)
            .map(|index| {
                let cell = cell.clone();
                spawn_as!(Kind::of(index), RED, {
                    hold!({
                        let before = cell.with(|n| *n);
                        for _ in 0..5 {
                            wait!(colored::yield_now());
                            wait!(sleep(Duration::from_micros(10)));
                        }
                        cell.with(|n| {
                            assert_eq!(*n, before);
                            *n += 1;
                        });
                    });
                })
            })
            .collect();
        // Posts stand behind the sections.
        for _ in 0..100 {
            cell.post(|n| *n += 1000);
        }
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(cell.call(|n| *n).await, 100_000 + TASKS);
    });
}
