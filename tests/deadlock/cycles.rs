//! Waits that cannot end, because they wait for a section that waits for them: errors after a delay, of the
//! youngest wait of the cycle that is inside a section.

use super::{join_and_tell, spawn_waiting};
use colored::pinned::{PinnedCell, PinnedError};
use colored::sync::oneshot;
use colored::time::{Duration, Instant, sleep, timeout};
use colored::{
    CallError, Color, ColorCell, JoinHandle, Runtime, exclusive, hop, spawn_colored, spawn_here,
    spawn_unique, when, yield_now,
};
use colored_tests::drops::Drops;
use colored_tests::keeper::Keeper;
use colored_tests::polls::{Child, once, panic_of_task};
use colored_tests::soak::repeat;
use colored_tests::{message, run, runtime, shared};
use std::cell::Cell;
use std::future::{pending, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const RED: u64 = 1;
const BLUE: u64 = 2;
const GREEN: u64 = 3;

/// This file, and a line of it.
fn place(line: u32) -> String {
    format!("tests/deadlock/cycles.rs:{line}:")
}

#[track_caller]
fn assert_names(said: &str, lines: &[u32]) {
    for line in lines {
        assert!(said.contains(&place(*line)), "line {line} is not in: {said}");
    }
}

/// Waits until `condition` holds, and lets others run meanwhile.
async fn until(condition: impl Fn() -> bool) {
    while !condition() {
        sleep(Duration::ZERO).await;
    }
}

/// Shows G12.
#[test]
fn a_section_that_awaits_its_own_color_gets_the_error() {
    run(2, async {
        let spawned = line!() + 1;
        let task = spawn_colored(RED, async {
            let (section, child) = (line!() + 1, line!() + 2);
            let (said, mut handle) = exclusive(async {
                let mut handle = spawn_here(async { 5 });
                let error = (&mut handle).await.unwrap_err();
                assert!(error.is_deadlock() && !error.is_cancelled() && !error.is_panic());
                assert_eq!(error.to_string(), error.to_string());
                let said = error.deadlock().unwrap().to_string();
                assert!(error.try_into_panic().unwrap_err().is_deadlock());
                (said, handle)
            })
            .await;
            // Nothing is lost: the child runs when the section is over.
            assert_eq!((&mut handle).await.unwrap(), 5);
            (said, section, child)
        });
        let id = task.id();
        let (said, section, child) = task.await.unwrap();
        assert_names(&said, &[spawned, section, child]);
        assert!(said.contains(&format!("{id:?}")) && said.contains("color 0x1"), "{said}");
        assert_eq!(said.lines().count(), 4, "{said}");
    });
}

/// An inner section that has ended leaves what comes next in the outer one.
/// Shows G12.
#[test]
fn a_wait_behind_an_inner_section_is_in_the_outer_one() {
    run(2, async {
        let outer = exclusive(async {
            exclusive(async {}).await;
            spawn_here(async {}).await.unwrap_err().is_deadlock()
        });
        let told = timeout(Duration::from_secs(10), spawn_colored(RED, outer)).await;
        assert!(told.expect("the wait is an error").unwrap());
    });
}

/// The section gets the error, whichever of the two waits comes last: here the join.
/// Shows G12.
#[test]
fn a_join_closes_a_cycle_through_a_call() {
    run(3, async {
        let cell = ColorCell::new(Color::new(RED), 0);
        let (hold, held) = oneshot::channel();
        let (send, receive) = oneshot::channel::<JoinHandle<i32>>();
        let (call, called) = oneshot::channel();
        let holder = spawn_colored(RED, async move {
            let (told, caller) = exclusive(async {
                hold.send(()).unwrap();
                let mut caller = receive.await.unwrap();
                called.await.unwrap();
                ((&mut caller).await.unwrap_err(), caller)
            })
            .await;
            assert_eq!(caller.await.unwrap(), 7);
            told.deadlock().unwrap().to_string()
        });
        held.await.unwrap();
        let line = line!() + 1;
        let caller = spawn_colored(BLUE, async move {
            let mut wait = pin!(cell.call(|value| *value + 7));
            assert!(once(wait.as_mut()).await.is_pending());
            call.send(()).unwrap();
            wait.await
        });
        send.send(caller).map_err(drop).unwrap();
        let said = holder.await.unwrap();
        assert_names(&said, &[line, line + 1]);
        assert!(said.contains("calls a cell of color 0x1"), "{said}");
    });
}

/// The same, but the join comes first. The call goes on.
/// Shows G12.
#[test]
fn a_call_closes_a_cycle_through_a_join() {
    run(3, async {
        let cell = ColorCell::new(Color::new(RED), 0);
        let (go, gone) = oneshot::channel();
        let ours = cell.clone();
        let line = line!() + 3;
        let caller = spawn_colored(BLUE, async move {
            gone.await.unwrap();
            ours.call(|value| *value += 1).await;
        });
        let (section_line, section) = (line!(), exclusive(join_and_tell(caller, go)));
        let (told, caller) = spawn_colored(RED, section).await.unwrap();
        let said = told.deadlock().unwrap().to_string();
        assert_names(&said, &[line, section_line]);
        assert!(said.contains("calls a cell of color 0x1"), "{said}");
        caller.await.unwrap();
        assert_eq!(cell.call(|value| *value).await, 1);
    });
}

/// A call in a section that another section waits for. The closure is dropped, and the color goes on.
/// Shows G12.
#[test]
fn a_call_in_a_section_gets_the_error() {
    run(3, async {
        for panics in [false, true] {
            let drops = Drops::default();
            let cell = ColorCell::new(Color::new(RED), 0);
            let (go, gone) = oneshot::channel();
            // The line of the call.
            let token = drops.under(RED);
            let ours = cell.clone();
            let caller = exclusive(async move {
                gone.await.unwrap();
                let add = move |value: &mut i32| {
                    drop(token);
                    *value += 1;
                };
                if panics {
                    ours.call(add).await;
                    unreachable!("the call panics");
                }
                let (line, call) = (line!(), ours.checked_call(add));
                let error = call.await.unwrap_err();
                let CallError::Deadlock(deadlock) = error else { panic!("{error}") };
                assert_names(&deadlock.to_string(), &[line]);
                deadlock.to_string()
            });
            let caller = spawn_colored(BLUE, caller);
            let section = async move {
                let mut caller = pin!(caller);
                assert!(once(caller.as_mut()).await.is_pending());
                // So the call is the younger wait.
                sleep(Duration::from_millis(1)).await;
                go.send(()).unwrap();
                match caller.await {
                    Ok(said) => said,
                    Err(error) => message(&*error.into_panic()),
                }
            };
            let (line, section) = (line!(), exclusive(section));
            let said = spawn_colored(RED, section).await.unwrap();
            assert_names(&said, &[line]);
            assert!(said.contains("calls a cell of color 0x1"), "{said}");
            assert_eq!(cell.call(|value| *value).await, 0);
            drops.assert_exact(1);
        }
    });
}

/// Shows G12.
#[test]
fn a_hop_closes_a_cycle() {
    run(3, async {
        let (go, gone) = oneshot::channel();
        let line = line!() + 3;
        let hopper = spawn_colored(BLUE, async move {
            gone.await.unwrap();
            hop(Color::new(RED)).await;
        });
        let holder = spawn_colored(RED, exclusive(join_and_tell(hopper, go)));
        let (told, hopper) = holder.await.unwrap();
        let said = told.deadlock().unwrap().to_string();
        assert_names(&said, &[line]);
        assert!(said.contains("hops to color 0x1"), "{said}");
        hopper.await.unwrap();
    });
}

/// Sections that each hold a color and want the next one: one of them gets the error, and all end.
async fn ring(colors: u64) {
    let cells: Arc<[ColorCell<u64>]> =
        (1..=colors).map(|color| ColorCell::new(Color::new(color), 0)).collect();
    let begun = Arc::new(AtomicU64::new(0));
    let mut tasks = Vec::new();
    for number in 0..colors {
        let next = cells[((number + 1) % colors) as usize].clone();
        let begun = Arc::clone(&begun);
        let section = exclusive(async move {
            begun.fetch_add(1, Ordering::Relaxed);
            until(|| begun.load(Ordering::Relaxed) == colors).await;
            let (line, call) = (line!(), next.checked_call(|value| *value += 1));
            call.await.map_err(|error| (line, error.to_string()))
        });
        tasks.push(spawn_colored(number + 1, section));
    }
    let mut told = Vec::new();
    for task in tasks {
        told.extend(task.await.unwrap().err());
    }
    let [(line, said)] = &told[..] else { panic!("{} of them were told", told.len()) };
    assert_eq!(said.matches(&place(*line)).count() as u64, colors, "{said}");
    let sections = said.matches("is held by the section of").count() as u64;
    assert_eq!(sections, colors, "{said}");
    let mut sum = 0;
    for cell in &*cells {
        sum += cell.call(|value| *value).await;
    }
    assert_eq!(sum, colors - 1);
}

/// Shows G12.
#[test]
fn two_sections_that_call_each_other() {
    let rounds = repeat(10, 50);
    run(4, async move {
        for _ in 0..rounds {
            ring(2).await;
        }
    });
}

/// Shows G12.
#[test]
fn three_sections_in_a_ring() {
    let rounds = repeat(10, 50);
    run(4, async move {
        for _ in 0..rounds {
            ring(3).await;
        }
    });
}

/// A `when` over the section's own color and a busy one: its claim would wait behind the section.
/// Shows G12.
#[test]
fn a_when_that_waits_for_its_own_section_gets_the_error() {
    run(3, async {
        let [red, blue] = [RED, BLUE].map(|color| ColorCell::new(Color::new(color), 0));
        let Keeper { end: go, task: holder } = Keeper::of(BLUE).await;
        let ours = (red.clone(), blue.clone());
        let add = |red: &mut i32, blue: &mut i32| (*red, *blue) = (*red + 1, *blue + 1);
        let (line, both) = (line!(), async move { when((&ours.0, &ours.1), add).await });
        let (section, wait) = (line!(), exclusive(both));
        let said = panic_of_task(RED, wait).await;
        assert_names(&said, &[line, section]);
        assert!(said.contains("wants, by `when`, color 0x1"), "{said}");
        // Without a section it waits, and runs.
        let waits = spawn_colored(RED, async move {
            when((&red, &blue), add).await;
            (red.with(|red| *red), blue.read(|blue| *blue).await)
        });
        sleep(Duration::from_millis(1)).await;
        go.send(()).unwrap();
        holder.await.unwrap();
        assert_eq!(waits.await.unwrap(), (1, 1));
    });
}

/// The value is used by a task of the color, which the section keeps waiting.
/// Shows G12.
#[test]
fn a_call_of_a_pinned_cell_gets_the_error() {
    run(3, async {
        let cell = PinnedCell::on_worker(1, RED, || Rc::new(Cell::new(0))).unwrap();
        let add = |value: &mut Rc<Cell<u32>>| value.set(value.get() + 1);
        let ours = cell.clone();
        spawn_colored(RED, async move {
            let section = exclusive(async {
                let (line, call) = (line!(), ours.checked_call(add));
                let Err(PinnedError::Deadlock(deadlock)) = call.await else { panic!("not told") };
                let said = deadlock.to_string();
                assert_names(&said, &[line]);
                assert!(said.contains("calls a pinned cell of color 0x1 at"), "{said}");
                assert_eq!(said.lines().count(), 3, "{said}");
            });
            section.await;
            ours.call(add).await;
        })
        .await
        .unwrap();
        let ours = cell.clone();
        let (line, call) = (line!(), async move { exclusive(ours.call(add)).await });
        let said = panic_of_task(RED, call).await;
        assert_names(&said, &[line]);
        // Another color may wait, and be waited for.
        let ours = cell.clone();
        spawn_colored(BLUE, exclusive(async move { ours.call(add).await })).await.unwrap();
        assert_eq!(cell.call(|value| value.get()).await, 2);
    });
}

/// A call of a pinned cell that waits for a section which joins the caller.
/// Shows G12.
#[test]
fn a_join_closes_a_cycle_through_a_pinned_cell() {
    run(3, async {
        let cell = PinnedCell::on_worker(0, RED, || Rc::new(())).unwrap();
        let joins = |caller: JoinHandle<()>| async { caller.await.unwrap_err().is_deadlock() };
        let Keeper { end: send, task: holder } = Keeper::before(RED, joins).await;
        let caller = spawn_waiting(BLUE, async move { cell.call(|_| ()).await }).await;
        send.send(caller).map_err(drop).unwrap();
        assert!(holder.await.unwrap());
    });
}

/// A wait counts although something else might end it: the section would hold the color for all of
/// the time-out.
/// Shows G12.
#[test]
fn a_timeout_does_not_make_a_cycle_legal() {
    run(2, async {
        spawn_colored(
            RED,
            exclusive(async {
                let child = spawn_here(async {});
                let joined = timeout(Duration::from_secs(3600), child).await.unwrap();
                assert!(joined.unwrap_err().is_deadlock());
            }),
        )
        .await
        .unwrap();
    });
}

/// A task waits for the futures that it polls, through any wrappers in between.
/// Shows G12.
#[test]
fn combinators_do_not_hide_a_wait() {
    run(2, async {
        spawn_colored(GREEN, exclusive(yield_now())).await.unwrap();
        let (go, gone) = oneshot::channel::<()>();
        let of_red = spawn_colored(RED, async move { gone.await.unwrap() });
        let between = spawn_colored(BLUE, async move {
            let mut idle = pin!(Child::new(spawn_unique(pending::<()>())));
            let mut wait = pin!(Child::new(of_red));
            poll_fn(|cx| {
                assert!(idle.as_mut().poll(cx).is_pending());
                wait.as_mut().poll(cx)
            })
            .await
            .unwrap();
        });
        sleep(Duration::from_millis(1)).await;
        spawn_colored(RED, async move {
            let mut between = between;
            exclusive(async {
                let mut child = Child::new(&mut between);
                assert!(Pin::new(&mut child).await.unwrap_err().is_deadlock());
            })
            .await;
            go.send(()).unwrap();
            between.await.unwrap();
        })
        .await
        .unwrap();
    });
}

/// A wait that began before the runtime's first section counts as any other wait.
/// Shows G12.
#[test]
fn waits_older_than_the_first_section_count() {
    for round in 0..repeat(4, 20) {
        run(3, async move {
            let (_never, never) = oneshot::channel::<()>();
            let of_red = spawn_colored(RED, async move { never.await.unwrap_err() });
            let between = if round % 2 == 0 {
                spawn_colored(BLUE, async move { of_red.await.unwrap_err() })
            } else {
                spawn_unique(async move { of_red.await.unwrap_err() })
            };
            sleep(Duration::from_millis(1)).await;
            let holder = spawn_colored(RED, exclusive(between));
            match holder.await.unwrap() {
                Ok(error) | Err(error) => assert!(error.is_deadlock(), "{error}"),
            }
        });
    }
}

/// On the thread of a guest, and for the main future.
/// Shows G12.
#[test]
fn the_main_future_gets_the_error_too() {
    shared(|| {
        let runtime = runtime(1);
        let told = runtime.block_on(async {
            exclusive(async { colored::spawn(async {}).await.unwrap_err().is_deadlock() }).await
        });
        assert!(told);
    });
}

/// A wait that began in one task and was moved to another one belongs to the second task.
/// Shows G12.
#[test]
fn a_wait_that_has_moved_belongs_to_the_task_that_polls_it() {
    run(3, async {
        let (give, given) = oneshot::channel();
        let (go, gone) = oneshot::channel();
        // It waits in a section over blue, and gives the wait away.
        let first = spawn_colored(
            BLUE,
            exclusive(async move {
                let mut child = spawn_colored(RED, async move { gone.await.unwrap() });
                assert!(once(Pin::new(&mut child)).await.is_pending());
                give.send(child).map_err(drop).unwrap();
            }),
        );
        first.await.unwrap();
        let told = spawn_colored(
            RED,
            exclusive(async move {
                let mut child = given.await.unwrap();
                go.send(()).unwrap();
                ((&mut child).await.unwrap_err().is_deadlock(), child)
            }),
        );
        let (told, child) = told.await.unwrap();
        assert!(told);
        child.await.unwrap();
    });
}

/// Forgotten waits, and the tasks that forgot them, get no error.
/// Shows G12.
#[test]
fn forgotten_waits_do_no_harm() {
    run(3, async {
        let cell = ColorCell::new(Color::new(RED), 0);
        for _ in 0..50 {
            let Keeper { end: go, task: holder } = Keeper::of(RED).await;
            let ours = cell.clone();
            let forgets = spawn_colored(BLUE, async move {
                let mut handle = Box::pin(spawn_colored(RED, async {}));
                assert!(once(handle.as_mut()).await.is_pending());
                std::mem::forget(handle);
                let mut call = Box::pin(ours.clone().checked_call(|value| *value += 1));
                assert!(once(call.as_mut()).await.is_pending());
                std::mem::forget(call);
                exclusive(sleep(Duration::from_millis(1))).await;
            });
            forgets.await.unwrap();
            go.send(()).unwrap();
            holder.await.unwrap();
        }
        assert_eq!(cell.call(|value| *value).await, 50);
    });
}

/// The error comes when the runtime says: after the delay, and soon after it.
/// Shows G12.
#[test]
fn the_delay_is_the_runtimes() {
    shared(|| {
        let delays = [0, 10, 60].map(Duration::from_millis);
        for delay in delays {
            let runtime = Runtime::builder().workers(2).deadlock_after(delay).build().unwrap();
            let told = runtime.run(async {
                let begin = Instant::now();
                let section = exclusive(async { spawn_here(async {}).await.is_err() });
                assert!(spawn_colored(RED, section).await.unwrap());
                begin.elapsed()
            });
            // The wait is dated when its slice began.
            assert!(told + Duration::from_millis(1) >= delay, "{told:?} of {delay:?}");
        }
        let never = Runtime::builder().workers(2).deadlock_after(Duration::MAX).build().unwrap();
        never.run(async {
            let section = exclusive(async { spawn_here(async {}).await });
            let waits = timeout(Duration::from_millis(100), spawn_colored(RED, section)).await;
            assert!(waits.is_err(), "nobody looks");
        });
    });
}

/// A cycle through a task that is woken in each of its polls is found when the wakes stop. (Until then the task runs,
/// and the search does not look at its waits.)
/// Shows G12.
#[test]
fn a_cycle_through_a_task_that_does_not_rest_is_found_when_it_does() {
    run(3, async {
        let cell = ColorCell::new(Color::new(RED), 0);
        let (stop, go) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let (stopped, gone, ours) = (Arc::clone(&stop), Arc::clone(&go), cell.clone());
        let busy = spawn_colored(BLUE, async move {
            until(|| gone.load(Ordering::Relaxed) == 1).await;
            let mut call = pin!(ours.call(|value| *value += 1));
            let mut turns = pin!(async {
                while stopped.load(Ordering::Relaxed) == 0 {
                    yield_now().await;
                }
            });
            let mut is_over = false;
            poll_fn(|cx| {
                is_over = is_over || turns.as_mut().poll(cx).is_ready();
                call.as_mut().poll(cx)
            })
            .await;
        });
        let section = exclusive(async move {
            let mut busy = busy;
            go.store(1, Ordering::Relaxed);
            (Pin::new(&mut busy).await.unwrap_err().is_deadlock(), busy)
        });
        let joins = spawn_colored(RED, section);
        sleep(Duration::from_millis(50)).await;
        stop.store(1, Ordering::Relaxed);
        let (told, busy) = joins.await.unwrap();
        assert!(told);
        busy.await.unwrap();
        assert_eq!(cell.call(|value| *value).await, 1);
    });
}
