//! A `when` that has a color and waits for others blocks all work of that color, whatever came first: a section
//! over a missing color gets the error, at the await that needs the blocked color.

use super::room::spawn_waiting_for_room;
use super::{block, spawn_waiting, tell_when_it_waits};
use colored::pinned::{PinnedCell, PinnedError};
use colored::sync::oneshot;
use colored::time::{Duration, sleep};
use colored::{
    Color, ColorCell, JoinError, JoinHandle, Limit, exclusive, hop, spawn_colored, spawn_unique,
    when,
};
use colored_tests::cells::{add, cells};
use colored_tests::keeper::Keeper;
use colored_tests::polls::{once, that_waits, waits};
use colored_tests::{message, run};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::mpsc;
use std::task::Poll;

const RED: Color = Color::new(1);
const BLUE: Color = Color::new(2);
const GREEN: Color = Color::new(3);

/// The runtime's first section: from here on all waits are known.
async fn watch() {
    spawn_unique(exclusive(async {})).await.unwrap();
}

/// A section over blue that awaits the given future, and returns its result.
struct Section<T> {
    give: oneshot::Sender<JoinHandle<T>>,
    waits: oneshot::Receiver<()>,
    told: JoinHandle<Result<T, JoinError>>,
}

impl<T: Send + 'static> Section<T> {
    async fn begin() -> Self {
        let (tell, waiting) = oneshot::channel();
        let rest = |task: JoinHandle<T>| tell_when_polled(task, tell);
        let Keeper { end: give, task: told } = Keeper::before(BLUE, rest).await;
        Self { give, waits: waiting, told }
    }

    /// The section awaits the task from now on. Returns the handle for the result.
    async fn await_task(self, task: JoinHandle<T>) -> JoinHandle<Result<T, JoinError>> {
        self.give.send(task).map_err(drop).unwrap();
        self.waits.await.unwrap();
        self.told
    }
}

/// The future, which gives the sign when it has been polled once.
async fn tell_when_polled<F: Future>(future: F, tell: oneshot::Sender<()>) -> F::Output {
    let mut future = pin!(future);
    let first = once(future.as_mut()).await;
    tell.send(()).unwrap();
    match first {
        Poll::Ready(told) => told,
        Poll::Pending => future.await,
    }
}

async fn expect_the_error<T: Send + 'static>(told: JoinHandle<Result<T, JoinError>>) {
    let Err(error) = told.await.unwrap() else { panic!("it was not told") };
    let said = error.deadlock().expect("a deadlock").to_string();
    assert!(said.contains("goes first to the `when` at tests/deadlock/kept.rs"), "{said}");
    assert!(said.contains("waits for color 0x2 too"), "{said}");
}

/// A task that was in the line behind the `when` already when the section began to await it: before the
/// `when` has the color, and after that.
/// Shows G12.
#[test]
fn a_task_that_was_ready_behind_a_when() {
    run(3, async {
        watch().await;
        for is_late in [false, true] {
            let [red, blue] = cells([RED, BLUE]);
            let keeper = if is_late { Some(Keeper::of(RED).await) } else { None };
            let section = Section::begin().await;
            let both = that_waits(when((&red, &blue), add)).await;
            let told = section.await_task(spawn_colored(RED, async {})).await;
            if let Some(keeper) = keeper {
                keeper.release().await;
            }
            expect_the_error(told).await;
            both.await;
            assert_eq!(red.call(|red| *red).await, 1);
        }
    });
}

/// A task of red that waits for two signs, one after the other.
async fn spawn_waiting_twice() -> (JoinHandle<()>, [oneshot::Sender<()>; 2]) {
    let ((one, first), (two, second)) = (oneshot::channel::<()>(), oneshot::channel::<()>());
    let task = spawn_waiting(RED, async move {
        first.await.unwrap();
        second.await.unwrap();
    })
    .await;
    // Behind it.
    spawn_colored(RED, async {}).await.unwrap();
    (task, [one, two])
}

/// A task that was in the line before the `when`, and comes behind it the next time.
/// Shows G12.
#[test]
fn a_task_that_was_ready_before_a_when() {
    run(3, async {
        watch().await;
        let [red, blue] = cells([RED, BLUE]);
        let (task, [one, two]) = spawn_waiting_twice().await;
        let told = Section::begin().await.await_task(task).await;
        let keeper = Keeper::of(RED).await;
        one.send(()).unwrap();
        let both = that_waits(when((&red, &blue), add)).await;
        keeper.release().await;
        expect_the_error(told).await;
        both.await;
        two.send(()).unwrap();
    });
}

/// The section joins, after the `when`, a task that joined another task before it.
/// Shows G12.
#[test]
fn a_joiner_that_is_joined_later() {
    run(3, async {
        watch().await;
        let [red, blue] = cells([RED, BLUE]);
        let (task, [one, two]) = spawn_waiting_twice().await;
        let between = spawn_waiting(GREEN, async move { task.await.unwrap() }).await;
        let section = Section::begin().await;
        let both = that_waits(when((&red, &blue), add)).await;
        expect_the_error(section.await_task(between).await).await;
        both.await;
        one.send(()).unwrap();
        two.send(()).unwrap();
    });
}

/// A `when` that has red since before the runtime's first section, over blue. Its task records the wait when that
/// section begins, before or after the section begins to await a task behind the `when`.
/// Shows G12.
#[test]
fn a_when_older_than_the_first_section() {
    for round in 0..8 {
        run(3, async move {
            let [red, blue] = cells([RED, BLUE]);
            let (block, busy) = block(BLUE).await;
            let (give, given) = oneshot::channel::<JoinHandle<()>>();
            // Before the `when` under blue.
            let section = async move {
                let task = given.await.unwrap();
                exclusive(async move {
                    if round % 2 == 1 {
                        sleep(Duration::from_millis(5)).await;
                    }
                    task.await.expect_err("it is behind the `when`").is_deadlock()
                })
                .await
            };
            let (task, cell) = (spawn_colored(BLUE, section), red.clone());
            let (tell, told) = oneshot::channel();
            let both = async move { when((&red, &blue), add).await };
            let waiter = spawn_unique(tell_when_it_waits(both, tell));
            told.await.unwrap();
            assert!(give.send(spawn_colored(RED, async {})).is_ok());
            block.send(()).unwrap();
            assert!(task.await.unwrap());
            waiter.await.unwrap();
            busy.await.unwrap();
            assert_eq!(cell.call(|red| *red).await, 1);
        });
    }
}

/// A `when` from before the first section, which no task awaits, is recorded as soon as it gets a color.
/// Shows G12.
#[test]
fn a_when_that_was_forgotten_before_the_first_section() {
    run(4, async {
        let [red, blue] = cells([RED, BLUE]);
        let (in_red, in_blue) = (block(RED).await, block(BLUE).await);
        let (give, given) = oneshot::channel::<JoinHandle<()>>();
        let (tell, joins) = oneshot::channel();
        // Before the `when` under blue.
        let told = spawn_colored(BLUE, async move {
            exclusive(tell_when_it_waits(given.await.unwrap(), tell)).await
        });
        let both = that_waits(when((&red, &blue), add)).await;
        drop(both);
        assert!(give.send(spawn_colored(RED, async {})).is_ok());
        in_blue.0.send(()).unwrap();
        joins.await.unwrap();
        in_red.0.send(()).unwrap();
        expect_the_error(told).await;
        assert_eq!(red.call(|red| *red).await, 0);
    });
}

/// A task hops to red, and before its poll is over a `when` gets that.
/// Shows G12.
#[test]
fn a_hop_on_its_way() {
    run(4, async {
        watch().await;
        let [red, blue] = cells([RED, BLUE]);
        let (begin, begun) = oneshot::channel();
        let (block, blocked) = mpsc::channel::<()>();
        let (go, gone) = oneshot::channel::<()>();
        let hopper = spawn_colored(GREEN, async move {
            gone.await.unwrap();
            let mut hop = pin!(hop(RED));
            let mut begin = Some(begin);
            poll_fn(move |cx| {
                let polled = hop.as_mut().poll(cx);
                if let Some(begin) = begin.take() {
                    begin.send(()).unwrap();
                    blocked.recv().unwrap();
                }
                polled
            })
            .await;
        });
        let told = Section::begin().await.await_task(hopper).await;
        go.send(()).unwrap();
        begun.await.unwrap();
        let both = that_waits(when((&red, &blue), add)).await;
        block.send(()).unwrap();
        expect_the_error(told).await;
        both.await;
    });
}

/// Room can only come under red, which a `when` has, or gets.
/// Shows G12.
#[test]
fn room_under_a_color_that_a_when_has() {
    run(3, async {
        watch().await;
        for is_late in [false, true] {
            let [red, blue] = cells([RED, BLUE]);
            let keeper = if is_late { Some(Keeper::of(RED).await) } else { None };
            let section = Section::begin().await;
            let both = that_waits(when((&red, &blue), add)).await;
            let limit = Limit::new(RED, 1);
            drop(limit.try_spawn(async {}).unwrap());
            let waiter = spawn_waiting_for_room(&limit, GREEN).await;
            let told = section.await_task(waiter).await;
            if let Some(keeper) = keeper {
                keeper.release().await;
            }
            expect_the_error(told).await;
            both.await;
        }
    });
}

/// A task holds a permit, and uses it under a color that a `when` has. A section that joins a task that waits for room
/// then gets the error.
/// Shows G12.
#[test]
fn a_permit_used_under_a_color_that_a_when_has() {
    run(3, async {
        watch().await;
        let [red, blue] = cells([RED, BLUE]);
        let limit = Limit::new(RED, 1);
        let permit = limit.try_reserve().unwrap();
        let section = Section::begin().await;
        let both = that_waits(when((&red, &blue), add)).await;
        let waiter = spawn_waiting_for_room(&limit, GREEN).await;
        let told = section.await_task(waiter).await;
        drop(permit.spawn(async {}));
        let error = told.await.unwrap().expect_err("it waits for this section");
        assert!(error.deadlock().unwrap().to_string().contains("waits for room"));
        both.await;
    });
}

/// A call of a pinned cell under red, which a `when` has, or gets.
/// Shows G12.
#[test]
fn a_pinned_cell_under_a_color_that_a_when_has() {
    run(3, async {
        watch().await;
        for is_late in [false, true] {
            let [red, blue] = cells([RED, BLUE]);
            let cell = PinnedCell::on_worker(1, RED, || 0).unwrap();
            cell.call(|value| *value += 1).await;
            // Behind the task that owns it, which waits for the next call by then: also if it was woken while it ran,
            // and joined the line once more.
            for _ in 0..2 {
                spawn_colored(RED, async {}).await.unwrap();
            }
            let keeper = if is_late { Some(Keeper::of(RED).await) } else { None };
            let (tell, calls) = oneshot::channel();
            let rest = move |()| async move {
                tell_when_polled(cell.checked_call(|value| *value += 1), tell).await
            };
            let Keeper { end: go, task: told } = Keeper::before(BLUE, rest).await;
            let both = that_waits(when((&red, &blue), add)).await;
            go.send(()).unwrap();
            calls.await.unwrap();
            if let Some(keeper) = keeper {
                keeper.release().await;
            }
            assert!(matches!(told.await.unwrap(), Err(PinnedError::Deadlock(_))));
            both.await;
        }
    });
}

/// A reader behind a writer, which waits for a `when` that reads: neither is admitted.
/// Shows G12.
#[test]
fn a_reader_behind_a_writer_behind_a_when_that_reads() {
    run(3, async {
        watch().await;
        for is_late in [false, true] {
            let [red, blue] = cells([RED, BLUE]);
            let keeper = if is_late { Some(Keeper::of(RED).await) } else { None };
            let (tell, reads) = oneshot::channel();
            let ours = red.clone();
            let rest = move |()| async move {
                let mut read = pin!(ours.read(|red| *red));
                if is_late {
                    assert!(once(read.as_mut()).await.is_pending(), "not told yet");
                    tell.send(()).unwrap();
                }
                read.await
            };
            let Keeper { end: go, task: told } = Keeper::before(BLUE, rest).await;
            let both = that_waits(when((red.shared(), &blue), |red, blue| *blue = *red)).await;
            if !is_late {
                // The `when` has red.
                red.read(|_| ()).await;
            }
            red.post(|red| *red += 1);
            go.send(()).unwrap();
            if let Some(keeper) = keeper {
                reads.await.unwrap();
                keeper.release().await;
            }
            let error = told.await.expect_err("it is behind the post");
            let said = message(&*error.into_panic());
            assert!(said.contains("reads a cell of color 0x1"), "{said}");
            both.await;
            assert_eq!((red.call(|red| *red).await, blue.call(|blue| *blue).await), (1, 0));
        }
    });
}

/// Waits that are not blocked get no error: a reader beside the `when`, also when a writer is behind both; a task
/// before the `when`; and a wait for a `when` that gets all its colors.
/// Shows G12.
#[test]
fn waits_that_are_not_blocked_get_no_error() {
    run(3, async {
        watch().await;
        for _ in 0..20 {
            let [red, blue] = cells([RED, BLUE]);
            let keeper = Keeper::of(RED).await;
            // The line of red has a task, the `when`, a reader and a writer.
            let first = spawn_colored(RED, async { 1 });
            let last = Keeper::of(BLUE).await;
            let both = that_waits(when((red.shared(), &blue), |red, blue| *blue = *red)).await;
            let (ours, (tell, reads)) = (red.clone(), oneshot::channel());
            let reader = exclusive(async move {
                let read = that_waits(ours.read(|red| *red)).await;
                tell.send(()).unwrap();
                (first.await.unwrap(), read.await)
            });
            let reader = spawn_colored(GREEN, reader);
            reads.await.unwrap();
            red.post(|red| *red += 1);
            keeper.release().await;
            assert_eq!(reader.await.unwrap(), (1, 0));
            last.release().await;
            both.await;
            assert_eq!((red.call(|red| *red).await, blue.call(|blue| *blue).await), (1, 0));
        }
    });
}

/// A `when` has green and lacks blue. Under red it is behind a task that a section over blue awaits.
/// Shows G12.
#[test]
fn a_task_before_a_when_that_has_another_color_gets_no_error() {
    run(3, async {
        watch().await;
        let ([red, blue], green) = (cells([RED, BLUE]), ColorCell::new(GREEN, 0));
        let keeper = Keeper::of(RED).await;
        let first = spawn_colored(RED, async {});
        let section = Section::begin().await;
        let all = that_waits(when((&red, &blue, &green), |_, _, green| *green += 1)).await;
        let told = section.await_task(first).await;
        keeper.release().await;
        told.await.unwrap().expect("it goes first");
        all.await;
    });
}

/// Two behaviors that read red at once, and a writer behind them: neither behavior waits for the other.
/// Shows G12.
#[test]
fn whens_that_read_beside_each_other_do_not_wait_for_each_other() {
    run(4, async {
        watch().await;
        let ([red, blue], green) = (cells([RED, BLUE]), ColorCell::new(GREEN, 0));
        let keeper = Keeper::of(GREEN).await;
        let section = Section::begin().await;
        let (ours, (tell, waiting)) = (red.clone(), oneshot::channel());
        let one = async move { when((ours.shared(), &green), |_, green| *green += 1).await };
        let one = spawn_unique(tell_when_it_waits(one, tell));
        waiting.await.unwrap();
        let other = that_waits(when((red.shared(), &blue), |_, blue| *blue += 1)).await;
        // Both have red, and then a writer waits.
        red.read(|_| ()).await;
        red.post(|red| *red += 1);
        let behind = that_waits(red.read(|red| *red)).await;
        let told = section.await_task(one).await;
        keeper.release().await;
        told.await.unwrap().expect("it has red already");
        other.await;
        assert_eq!(behind.await, 1);
    });
}

/// A reader that was dropped in line blocks no task.
/// Shows G12.
#[test]
fn a_reader_past_an_abandoned_one_gets_no_error() {
    run(3, async {
        watch().await;
        let [red, blue] = cells([RED, BLUE]);
        let keeper = Keeper::of(RED).await;
        let ours = red.clone();
        let rest = move |()| async move { ours.read(|red| *red).await };
        let Keeper { end: go, task: told } = Keeper::before(BLUE, rest).await;
        let both = that_waits(when((red.shared(), &blue), |_, blue| *blue += 1)).await;
        // Many readers, which are admitted together with the `when`.
        let mut readers: Vec<_> = (0..80).map(|_| Box::pin(red.read(|_| ()))).collect();
        for reader in &mut readers {
            assert!(waits(reader.as_mut()).await);
        }
        drop(readers.pop());
        keeper.release().await;
        for reader in readers {
            reader.await;
        }
        go.send(()).unwrap();
        assert_eq!(told.await.unwrap(), 0);
        both.await;
    });
}
