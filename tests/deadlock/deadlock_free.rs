//! A wait that can end is not reported as a deadlock, and every unreported wait ends.

use super::block;
use colored::sync::oneshot;
use colored::time::{Duration, sleep};
use colored::{
    Color, ColorCell, JoinHandle, exclusive, spawn_colored, spawn_here, spawn_unique, when,
    yield_now,
};
use colored_tests::keeper::Keeper;
use colored_tests::polls::once;
use colored_tests::soak::repeat;
use colored_tests::{Dice, run, runtime, shared};
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::{Arc, mpsc};
use std::task::Poll;

const RED: u64 = 1;
const BLUE: u64 = 2;
const GREEN: u64 = 3;
const YELLOW: u64 = 4;

/// All these waits end by themselves, and must not get an error.
/// Shows G12.
#[test]
fn waits_that_end_are_no_deadlock() {
    run(4, async {
        let blue = ColorCell::new(Color::new(BLUE), 0);
        let red = ColorCell::new(Color::new(RED), 0);
        for _ in 0..50 {
            let cell = blue.clone();
            let other = spawn_colored(BLUE, async move {
                sleep(Duration::ZERO).await;
                cell.with(|value| *value += 1);
                spawn_here(async {}).await.unwrap();
                spawn_colored(GREEN, exclusive(sleep(Duration::ZERO))).await.unwrap();
            });
            let cell = blue.clone();
            let of_red = spawn_colored(RED, yield_now());
            let ours = red.clone();
            let holder = spawn_colored(RED, async move {
                exclusive(async {
                    other.await.unwrap();
                    cell.call(|value| *value += 1).await;
                    ours.call(|value| *value += 1).await;
                    spawn_unique(async {}).await.unwrap();
                })
                .await;
                let child = spawn_here(async {});
                // Beside the section, not in it: it waits, and the section ends.
                let section = exclusive(sleep(Duration::ZERO));
                let (mut child, mut section) = (pin!(child), pin!(section));
                let mut ready = [false; 2];
                poll_fn(|cx| {
                    ready[0] = ready[0] || section.as_mut().poll(cx).is_ready();
                    ready[1] = ready[1] || child.as_mut().poll(cx).map(Result::unwrap).is_ready();
                    if ready == [true; 2] { Poll::Ready(()) } else { Poll::Pending }
                })
                .await;
            });
            // Waits for the section, which does not wait for this.
            let cell = red.clone();
            let waits = spawn_colored(BLUE, async move { cell.call(|value| *value += 1).await });
            let behind = spawn_colored(YELLOW, async move {
                exclusive(of_red).await.unwrap();
                holder.await.unwrap();
            });
            waits.await.unwrap();
            behind.await.unwrap();
        }
        assert_eq!((red.call(|value| *value).await, blue.call(|value| *value).await), (100, 100));
    });
}

/// A call (of a pinned cell too), a read or a `when` whose turn has come waits for nothing, although its
/// caller does not know yet.
/// Shows G12.
#[test]
fn a_call_that_has_run_is_no_wait() {
    for how in 0..4 {
        a_turn_that_is_over_is_no_wait(how);
    }
}

fn a_turn_that_is_over_is_no_wait(how: u32) {
    shared(|| {
        let runtime = runtime(2);
        let red = runtime.handle().cell(RED, 0);
        let yellow = runtime.handle().cell(YELLOW, 0);
        let pinned = runtime.handle().pinned_cell(0, RED, || Rc::new(())).unwrap();
        runtime.run(async move {
            spawn_colored(GREEN, exclusive(yield_now())).await.unwrap();
            // Holds RED, so that the call is queued; then BLUE, so that its caller is not polled. The task that serves
            // the pinned cell may be in the line before this task.
            let (block, gate) = block(RED).await;
            let (queue, queued) = oneshot::channel();
            let cell = red.clone();
            let caller = spawn_colored(BLUE, async move {
                let mut turn: Pin<Box<dyn Future<Output = ()> + Send>> = match how {
                    0 => Box::pin(cell.call(|value| *value += 1)),
                    1 => Box::pin(cell.read(|value| assert_eq!(*value, 0))),
                    2 => Box::pin(pinned.call(|_| ())),
                    _ => Box::pin(when((&cell, &yellow), |value, _| *value += 1)),
                };
                assert!(once(turn.as_mut()).await.is_pending(), "the color is busy");
                queue.send(()).unwrap();
                turn.await;
            });
            queued.await.unwrap();
            let Keeper { end: release, task: blue } = Keeper::of(BLUE).await;
            block.send(()).unwrap();
            gate.await.unwrap();
            let joins = exclusive(async move {
                let mut caller = caller;
                assert!(once(Pin::new(&mut caller)).await.is_pending(), "its color is held");
                release.send(()).unwrap();
                caller.await.unwrap();
            });
            spawn_colored(RED, joins).await.unwrap();
            blue.await.unwrap();
        });
    });
}

/// A handle was polled in a section that has ended: tasks that need the color can get it.
/// Shows G12.
#[test]
fn a_section_that_has_ended_holds_nothing() {
    run(3, async {
        let red = ColorCell::new(Color::new(RED), 0);
        let ((go, gone), (tell, told)) = (oneshot::channel(), mpsc::channel());
        let cell = red.clone();
        let mut caller = spawn_colored(BLUE, async move {
            gone.await.unwrap();
            let mut call = pin!(cell.checked_call(|value| *value += 1));
            assert!(once(call.as_mut()).await.is_pending(), "the color is busy");
            tell.send(()).unwrap();
            call.await
        });
        let joins = spawn_colored(RED, async move {
            exclusive(async { assert!(once(Pin::new(&mut caller)).await.is_pending()) }).await;
            go.send(()).unwrap();
            // Keeps the color for this poll.
            told.recv().expect("it is not told");
            caller.await.unwrap()
        });
        assert_eq!(joins.await.unwrap(), Ok(()));
        assert_eq!(red.call(|value| *value).await, 1);
    });
}

/// Sections that want each other's colors and children in all ways: every wait ends.
/// Shows G12.
#[test]
fn nothing_hangs_in_a_storm() {
    const COLORS: u64 = 4;
    let sections = repeat(100, 500) as u64;
    run(4, async move {
        let cells: Arc<[ColorCell<u64>]> =
            (0..COLORS).map(|color| ColorCell::new(Color::new(color + 1), 0)).collect();
        let (mut ends, mut told) = (0, 0);
        let tasks: Vec<JoinHandle<u64>> = (0..sections)
            .map(|number| {
                let (cells, mut dice) = (Arc::clone(&cells), Dice::new(number + 9));
                spawn_colored(
                    1 + number % COLORS,
                    exclusive(async move {
                        let mut told = 0;
                        for _ in 0..3 {
                            let (own, other) = (dice.below(COLORS), dice.below(COLORS));
                            let cell = cells[other as usize].clone();
                            match dice.below(3) {
                                0 => {
                                    told += u64::from(
                                        cell.checked_call(|value| *value += 1).await.is_err(),
                                    )
                                }
                                1 => {
                                    let call =
                                        async move { cell.checked_call(|value| *value += 1).await };
                                    match spawn_colored(1 + own, call).await {
                                        Ok(called) => told += u64::from(called.is_err()),
                                        Err(error) => told += u64::from(error.is_deadlock()),
                                    }
                                }
                                _ => yield_now().await,
                            }
                        }
                        told
                    }),
                )
            })
            .collect();
        for task in tasks {
            told += task.await.unwrap();
            ends += 1;
        }
        assert_eq!(ends, sections);
        assert!(told > 0, "no cycle came about");
    });
}
