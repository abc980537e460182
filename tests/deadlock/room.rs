//! Waits for room in a `Limit` that can never come because of a section: these waits get the error, and no
//! others.

use super::join_and_tell;
use colored::limit::Permit;
use colored::sync::oneshot;
use colored::time::{Duration, sleep};
use colored::{
    Color, JoinHandle, Limit, exclusive, hop, spawn_colored, spawn_here, spawn_unique, yield_now,
};
use colored_tests::keeper::Keeper;
use colored_tests::polls::{that_waits, waits};
use colored_tests::run;
use colored_tests::soak::repeat;
use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const RED: Color = Color::new(1);
const BLUE: Color = Color::new(2);
const GREEN: Color = Color::new(3);

/// Reserves, and reports when it waits.
fn reserving(limit: &Limit) -> (JoinHandle<Permit>, oneshot::Receiver<u32>) {
    let ((tell, told), limit) = (oneshot::channel(), limit.clone());
    let task = spawn_colored(BLUE, async move {
        let (line, mut reserve) = (line!(), pin!(limit.reserve()));
        assert!(waits(reserve.as_mut()).await, "it is full");
        tell.send(line).unwrap();
        reserve.await.unwrap()
    });
    (task, told)
}

/// Fills a limit of one, from under its color.
#[derive(Clone, Copy, Debug)]
enum Item {
    Queued,
    Waiting,
    Posted,
    Called,
    Aborted,
    Back,
}

impl Item {
    const ALL: [Self; 6] =
        [Self::Queued, Self::Waiting, Self::Posted, Self::Called, Self::Aborted, Self::Back];

    /// What waits does so until `end`.
    async fn fill(self, limit: &Limit, end: oneshot::Receiver<()>) {
        match self {
            Self::Queued => drop(limit.try_spawn(async {}).unwrap()),
            Self::Posted => limit.cell(0).try_post(|value| *value += 1).unwrap(),
            Self::Waiting => {
                let task = limit.try_spawn(async { drop(end.await) }).unwrap();
                // It begins, and waits.
                yield_now().await;
                drop(task);
            }
            Self::Called => {
                let cell = limit.cell(0);
                let (tell, told) = oneshot::channel();
                // The color is busy with this task: the call is queued.
                let caller = spawn_unique(async move {
                    let mut call = pin!(cell.call(|value| *value += 1));
                    let waits = waits(call.as_mut()).await;
                    tell.send(waits).unwrap();
                    call.await.unwrap();
                });
                block_until(told);
                drop(caller);
            }
            // The task goes when the color comes to it.
            Self::Aborted => limit.try_spawn(pending::<()>()).unwrap().abort(),
            Self::Back => {
                let (tell, told) = oneshot::channel();
                let (go, gone) = oneshot::channel();
                let task = limit.try_spawn(async {
                    hop(GREEN).await;
                    hop(RED).await;
                    tell.send(()).unwrap();
                    gone.await.unwrap();
                });
                told.await.unwrap();
                // Its poll is over, and it is ready.
                go.send(()).unwrap();
                drop(task.unwrap());
            }
        }
    }
}

/// Blocks the thread, and so keeps the color; an await would release it.
fn block_until(mut told: oneshot::Receiver<bool>) {
    loop {
        match told.try_recv() {
            Ok(waits) => return assert!(waits, "the color is busy"),
            Err(_) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

/// Shows G12.
#[test]
fn a_join_of_a_task_that_waits_for_room_gets_the_error() {
    run(3, async {
        spawn_colored(GREEN, exclusive(yield_now())).await.unwrap();
        for item in Item::ALL {
            let limit = Limit::new(RED, 1);
            let ours = limit.clone();
            let (end, ended) = oneshot::channel();
            let (said, line, permit) = spawn_colored(RED, async move {
                item.fill(&ours, ended).await;
                exclusive(async {
                    assert_eq!(ours.depth(), 1, "{item:?}");
                    let (mut task, told) = reserving(&ours);
                    let line = told.await.unwrap();
                    let error = (&mut task).await.map(drop).unwrap_err();
                    (error.deadlock().expect("a deadlock").to_string(), line, task)
                })
                .await
            })
            .await
            .unwrap();
            let site =
                format!("waits for room in a limit of color 0x1 at tests/deadlock/room.rs:{line}:");
            assert!(said.contains(&site), "{item:?}: {said}");
            assert_eq!(said.lines().count(), 4, "{said}");
            // Nothing is lost: when the section is over there is room.
            drop(end);
            drop(permit.await.unwrap());
            assert_eq!((limit.depth(), limit.waiting()), (0, 0));
        }
    });
}

/// The join comes first and gets the error; the wait for room goes on.
/// Shows G12.
#[test]
fn a_wait_for_room_closes_the_cycle() {
    run(3, async {
        spawn_unique(exclusive(yield_now())).await.unwrap();
        let limit = Limit::new(RED, 1);
        let (go, gone) = oneshot::channel();
        let ours = limit.clone();
        let task = spawn_colored(BLUE, async move {
            gone.await.unwrap();
            let spawn = ours.spawn(async {});
            drop(spawn.await);
        });
        // The section's own task has the permit.
        let section = exclusive(join_and_tell(task, go));
        let (told, task) = limit.try_spawn(section).unwrap().await.unwrap();
        let said = told.deadlock().unwrap().to_string();
        assert!(said.contains("waits for room in a limit of color 0x1"), "{said}");
        assert!(said.contains("is held by the section of tests/deadlock/room.rs"), "{said}");
        task.await.unwrap();
    });
}

/// A wait that is older than the runtime's first section.
/// Shows G12.
#[test]
fn a_wait_for_room_older_than_the_first_section_counts() {
    run(3, async {
        let limit = Limit::new(RED, 1);
        let permit = limit.try_reserve().unwrap();
        let (task, told) = reserving(&limit);
        told.await.unwrap();
        let section = exclusive(async move {
            drop(permit.spawn(async {}));
            task.await.map(drop).unwrap_err()
        });
        let error = spawn_colored(RED, section).await.unwrap();
        assert!(error.deadlock().unwrap().to_string().contains("waits for room in a limit"));
    });
}

/// Joins, in a section over the limit's color, a task that waits for room; `comes` then ends the wait.
async fn expect_no_error(limit: Limit, comes: impl FnOnce() + Send + 'static) {
    let (begin, begun) = oneshot::channel();
    let ours = limit.clone();
    let holder = spawn_colored(
        RED,
        exclusive(async move {
            let (task, told) = reserving(&ours);
            told.await.unwrap();
            let mut task = pin!(task);
            for _ in 0..3 {
                assert!(waits(task.as_mut()).await, "neither told nor done");
                sleep(Duration::from_millis(1)).await;
            }
            begin.send(()).unwrap();
            task.await.map(drop)
        }),
    );
    begun.await.unwrap();
    comes();
    holder.await.unwrap().expect("it gets room");
    assert_eq!((limit.depth(), limit.waiting()), (0, 0));
}

/// Shows G12.
#[test]
fn room_that_may_come_from_elsewhere_is_waited_for() {
    run(3, async {
        spawn_colored(GREEN, exclusive(yield_now())).await.unwrap();
        // A task of another color holds the permit.
        let limit = Limit::new(RED, 1);
        let permit = limit.try_reserve().unwrap();
        expect_no_error(limit, || drop(permit)).await;
        // The admitted task is under another color by now.
        let limit = Limit::new(RED, 1);
        let (go, gone) = oneshot::channel::<()>();
        let (tell, told) = oneshot::channel();
        let task = limit.try_spawn(async move {
            hop(BLUE).await;
            tell.send(()).unwrap();
            gone.await.unwrap();
        });
        told.await.unwrap();
        expect_no_error(limit, || go.send(()).unwrap()).await;
        task.unwrap().await.unwrap();
        // A caller holds the permit for a call that it has not made.
        let limit = Limit::new(RED, 1);
        let call = limit.cell(0).try_call(|value| *value += 1).unwrap();
        expect_no_error(limit, || drop(call)).await;
    });
}

/// The admitted task is in the line of another color when the section begins.
/// Shows G12.
#[test]
fn room_that_is_about_to_come_from_elsewhere_is_waited_for() {
    run(3, async {
        spawn_unique(exclusive(yield_now())).await.unwrap();
        let limit = Limit::new(RED, 1);
        let Keeper { end: release, task: keeper } = Keeper::of(GREEN).await;
        drop(limit.try_spawn(hop(GREEN)).unwrap());
        expect_no_error(limit, || release.send(()).unwrap()).await;
        keeper.await.unwrap();
    });
}

/// An admitted task no longer waits for room, whatever else it waits for.
/// Shows G12.
#[test]
fn an_admitted_task_waits_no_more() {
    run(3, async {
        spawn_unique(exclusive(yield_now())).await.unwrap();
        let limit = Limit::new(RED, 1);
        let permit = limit.try_reserve().unwrap();
        let ((hold, held), (go, gone)) = (oneshot::channel(), oneshot::channel::<()>());
        let (tell, told) = oneshot::channel();
        let ours = limit.clone();
        let task = spawn_colored(BLUE, async move {
            let permit = ours.reserve().await.unwrap();
            drop(permit.spawn(async {}));
            tell.send(()).unwrap();
            gone.await.unwrap();
        });
        let holder = spawn_colored(
            RED,
            exclusive(async move {
                hold.send(()).unwrap();
                told.await.unwrap();
                let mut task = pin!(task);
                for _ in 0..3 {
                    assert!(waits(task.as_mut()).await, "neither told nor done");
                }
                go.send(()).unwrap();
                task.await
            }),
        );
        held.await.unwrap();
        while limit.waiting() == 0 {
            sleep(Duration::ZERO).await;
        }
        drop(permit);
        holder.await.unwrap().unwrap();
    });
}

/// A held permit is used, or given back while there are too many permits: from then on room can come only under the
/// color, and the waiting task gets the error.
/// Shows G12.
#[test]
fn a_permit_used_under_the_color_closes_the_cycle() {
    run(3, async {
        spawn_unique(exclusive(yield_now())).await.unwrap();
        for over in [false, true] {
            let limit = Limit::new(RED, 1);
            let permit = limit.try_reserve().unwrap();
            let (mine, (hold, held)) = (limit.clone(), oneshot::channel());
            let (task, told) = reserving(&limit);
            told.await.unwrap();
            let holder = spawn_colored(
                RED,
                exclusive(async move {
                    // The color's own task is admitted before the line.
                    let own = over.then(|| mine.try_reserve().unwrap());
                    let own = own.map(|own| own.spawn(async {}));
                    let mut task = pin!(task);
                    assert!(waits(task.as_mut()).await, "the permit may come back");
                    hold.send(()).unwrap();
                    let error = task.await.expect_err("it waits for this section");
                    assert!(error.deadlock().unwrap().to_string().contains("waits for room"));
                    drop(own);
                }),
            );
            held.await.unwrap();
            if over {
                drop(permit);
            } else {
                drop(permit.spawn(async {}));
            }
            holder.await.unwrap();
        }
    });
}

/// An admitted waiter is dropped while too many are inside: from then on all items inside are under the color.
/// Shows G12.
#[test]
fn an_admitted_waiter_that_is_dropped_closes_the_cycle() {
    run(3, async {
        spawn_unique(exclusive(yield_now())).await.unwrap();
        let limit = Limit::new(RED, 1);
        let permit = limit.try_reserve().unwrap();
        let called = that_waits(limit.reserve()).await;
        let (task, told) = reserving(&limit);
        told.await.unwrap();
        drop(permit);
        assert_eq!((limit.depth(), limit.waiting()), (1, 1), "the first was called");
        let (mine, (hold, held)) = (limit.clone(), oneshot::channel());
        let holder = spawn_colored(
            RED,
            exclusive(async move {
                // The color's own task is admitted before the line.
                let own = mine.try_spawn(async {}).unwrap();
                let mut task = pin!(task);
                assert!(waits(task.as_mut()).await, "who was called may go");
                hold.send(()).unwrap();
                let error = task.await.expect_err("it waits for this section");
                assert!(error.deadlock().unwrap().to_string().contains("waits for room"));
                drop(own);
            }),
        );
        held.await.unwrap();
        drop(called);
        holder.await.unwrap();
    });
}

/// Reserves, under a color; returns when it waits.
pub(super) async fn spawn_waiting_for_room(limit: &Limit, color: Color) -> JoinHandle<()> {
    let (ours, (tell, told)) = (limit.clone(), oneshot::channel());
    let task = spawn_colored(color, async move {
        let mut reserve = pin!(ours.reserve());
        assert!(waits(reserve.as_mut()).await, "it is full");
        tell.send(()).unwrap();
        drop(reserve.await.unwrap());
    });
    told.await.unwrap();
    task
}

/// The only permit is given to a task that cannot use it, because a section that waits for the next task in the line
/// holds its color. The permit is given before the section begins to wait, and after that.
/// Shows G12.
#[test]
fn an_admitted_task_that_cannot_run_makes_no_room() {
    run(3, async {
        spawn_unique(exclusive(yield_now())).await.unwrap();
        for is_first in [false, true] {
            let limit = Limit::new(RED, 1);
            let permit = limit.try_reserve().unwrap();
            let first = spawn_waiting_for_room(&limit, BLUE).await;
            let next = spawn_waiting_for_room(&limit, GREEN).await;
            let (tell, joins) = oneshot::channel();
            let rest = move |()| async move {
                let mut next = pin!(next);
                if !is_first {
                    assert!(waits(next.as_mut()).await, "the permit may come to it");
                }
                tell.send(()).unwrap();
                let error = next.await.expect_err("it waits for this section");
                error.deadlock().expect("a deadlock").to_string()
            };
            let Keeper { end: go, task: holder } = Keeper::before(BLUE, rest).await;
            if is_first {
                drop(permit);
                go.send(()).unwrap();
                joins.await.unwrap();
            } else {
                go.send(()).unwrap();
                joins.await.unwrap();
                drop(permit);
            }
            let said = holder.await.unwrap();
            assert!(said.contains("waits for room in a limit of color 0x1"), "{said}");
            assert!(said.contains("was given room there"), "{said}");
            first.await.unwrap();
            while limit.depth() + limit.waiting() > 0 {
                sleep(Duration::ZERO).await;
            }
        }
    });
}

/// Any item inside can make room: one of them cannot run, the other one can.
/// Shows G12.
#[test]
fn one_running_item_is_enough() {
    run(3, async {
        spawn_unique(exclusive(yield_now())).await.unwrap();
        let limit = Limit::new(RED, 2);
        let ((go, gone), permit) = (oneshot::channel::<()>(), limit.try_reserve().unwrap());
        let inside = limit.try_spawn(async move { gone.await.unwrap() }).unwrap();
        let first = spawn_waiting_for_room(&limit, BLUE).await;
        let next = spawn_waiting_for_room(&limit, GREEN).await;
        let (tell, joins) = oneshot::channel();
        let holder = spawn_colored(
            BLUE,
            exclusive(async move {
                drop(permit);
                let mut next = pin!(next);
                for _ in 0..3 {
                    assert!(waits(next.as_mut()).await, "neither told nor done");
                }
                tell.send(()).unwrap();
                next.await
            }),
        );
        joins.await.unwrap();
        go.send(()).unwrap();
        holder.await.unwrap().expect("it gets room");
        inside.await.unwrap();
        first.await.unwrap();
        assert_eq!((limit.depth(), limit.waiting()), (0, 0));
    });
}

/// A task that is admitted inside its own section can run, whatever else that section waits for.
/// Shows G12.
#[test]
fn a_task_admitted_in_its_own_section_goes_on() {
    run(1, async {
        spawn_unique(exclusive(yield_now())).await.unwrap();
        let limit = Limit::new(RED, 1);
        let permit = limit.try_reserve().unwrap();
        let (go, gone) = oneshot::channel::<()>();
        let rest = |next: JoinHandle<()>| async {
            gone.await.unwrap();
            next.await
        };
        let Keeper { end: give, task: holder } = Keeper::before(GREEN, rest).await;
        let (ours, in_green) = (limit.clone(), spawn_colored(GREEN, async {}));
        let (tell, told) = oneshot::channel();
        let section = exclusive(async move {
            let in_green = that_waits(in_green).await;
            let mut reserve = pin!(ours.reserve());
            assert!(waits(reserve.as_mut()).await, "it is full");
            tell.send(()).unwrap();
            drop(reserve.await.unwrap());
            in_green.await.unwrap();
        });
        let first = spawn_colored(BLUE, section);
        told.await.unwrap();
        let next = spawn_waiting_for_room(&limit, Color::new(4)).await;
        give.send(next).map_err(drop).unwrap();
        yield_now().await;
        // There is one worker, so the holder, which is woken last, runs before the admitted task.
        let wakes = async move {
            drop(permit);
            go.send(()).unwrap();
        };
        spawn_unique(wakes).await.unwrap();
        holder.await.unwrap().expect("it gets room");
        first.await.unwrap();
    });
}

/// Sections under two colors that wait for room under each other's color, and for tasks that do: all end.
/// Shows G12.
#[test]
fn nothing_hangs_in_a_storm_of_limits() {
    let sections = repeat(90, 399);
    run(4, async move {
        let limits: Arc<[Limit]> = [RED, BLUE].map(|color| Limit::new(color, 1)).into();
        let (told, ran) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let tasks: Vec<_> = (0..sections)
            .map(|number| {
                let (limits, told) = (Arc::clone(&limits), Arc::clone(&told));
                let ran = Arc::clone(&ran);
                let own = number % 2;
                let color = limits[own].color();
                spawn_colored(
                    color,
                    exclusive(async move {
                        let (ours, seen) = (limits[1 - own].clone(), Arc::clone(&ran));
                        let count = async move { seen.fetch_add(1, Ordering::Relaxed) };
                        let inner = async move { drop(ours.spawn(count).await) };
                        let task = match number % 3 {
                            0 => spawn_here(inner),
                            1 => spawn_unique(inner),
                            _ => return inner.await,
                        };
                        told.fetch_add(u64::from(task.await.is_err()), Ordering::Relaxed);
                    }),
                )
            })
            .collect();
        let mut panicked = 0;
        for task in tasks {
            panicked += u64::from(task.await.is_err());
        }
        assert!(told.load(Ordering::Relaxed) >= sections as u64 / 3, "each `spawn_here` at least");
        assert!(panicked <= sections as u64 / 3);
        for limit in &*limits {
            while limit.depth() + limit.waiting() > 0 {
                sleep(Duration::ZERO).await;
            }
        }
        assert!(ran.load(Ordering::Relaxed) > 0);
    });
}
