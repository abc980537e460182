//! Sections against `when`s that have some of their colors and wait for others: a wait behind such a `when`, in
//! a section over a missing color, gets the error; a wait before it does not.

use super::{join_and_tell, spawn_waiting};
use colored::sync::oneshot;
use colored::time::{Duration, sleep};
use colored::{
    CallError, Color, ColorCell, JoinError, JoinHandle, exclusive, hop, spawn_colored,
    spawn_unique, when,
};
use colored_tests::cells::{add, cells};
use colored_tests::keeper::Keeper;
use colored_tests::polls::{that_waits, waits};
use colored_tests::soak::repeat;
use colored_tests::{join_all, message, run};
use std::future::Future;
use std::pin::{Pin, pin};

const RED: u64 = 1;
const BLUE: u64 = 2;
const GREEN: u64 = 3;

type Cell = ColorCell<i32>;

type Awaited = Pin<Box<dyn Future<Output = Result<i32, CallError>> + Send>>;

fn place(line: u32) -> String {
    format!("tests/deadlock/crossings.rs:{line}:")
}

/// Runs `section` as a section over `BLUE` while a `when` over `RED` and `BLUE`, scheduled before it, has `RED`.
/// Returns the result, and the line of the `when`, which has run by then.
async fn crossed<F, R>(
    forget: bool,
    section: impl FnOnce(Cell) -> F + Send + 'static,
) -> (Result<R, JoinError>, u32)
where
    F: Future<Output = R> + Send + 'static,
    R: Send + 'static,
{
    let [red, blue] = cells([RED, BLUE]);
    let ours = red.clone();
    let Keeper { end: scheduled, task: holder } =
        Keeper::before(BLUE, move |()| section(ours)).await;
    let (line, mut both) = (line!(), Box::pin(when((&red, &blue), add)));
    assert!(waits(both.as_mut()).await, "blue is held");
    let both = (!forget).then_some(both);
    scheduled.send(()).unwrap();
    let told = holder.await;
    let times = i32::from(!forget);
    if let Some(both) = both {
        both.await;
    }
    assert_eq!((red.call(|red| *red).await, blue.call(|blue| *blue).await), (times, times));
    (told, line)
}

/// Shows G12.
#[test]
fn a_call_behind_a_when_gets_the_error() {
    // Also if no task awaits the `when`: it still has its colors.
    for forget in [false, true] {
        run(3, async move {
            let (told, line) = crossed(forget, |red| async move {
                let (line, call) = (line!(), red.checked_call(|_| ()));
                (call.await, line)
            })
            .await;
            let (Err(CallError::Deadlock(deadlock)), call) = told.unwrap() else {
                panic!("it was not told")
            };
            let said = deadlock.to_string();
            assert!(said.contains(&place(line)) && said.contains(&place(call)), "{said}");
            assert!(said.contains("color 0x1 goes first to the `when` at"), "{said}");
            assert!(said.contains("waits for color 0x2 too"), "{said}");
            assert_eq!(said.lines().count(), 5, "{said}");
        });
    }
}

/// Shows G12.
#[test]
fn a_read_and_a_when_behind_a_when_get_the_error() {
    run(3, async {
        for reads in [true, false] {
            let (told, line) = crossed(false, move |red| async move {
                let [green] = cells([GREEN]);
                match reads {
                    true => red.read(|red| *red).await,
                    false => when((&green, &red), |_, red| *red).await,
                }
            })
            .await;
            let said = message(&*told.unwrap_err().into_panic());
            assert!(said.contains(&place(line)), "{said}");
            let how = if reads { "reads a cell of" } else { "wants, by `when`," };
            assert!(said.contains(&format!("{how} color 0x1")), "{said}");
        }
    });
}

/// The section joins a task that hops behind the `when`.
/// Shows G12.
#[test]
fn a_hop_behind_a_when_gets_the_error() {
    run(3, async {
        let (told, line) = crossed(false, |_| async {
            let hopper = spawn_colored(GREEN, hop(Color::new(RED)));
            let mut hopper = pin!(hopper);
            let error = hopper.as_mut().await.unwrap_err();
            match error.deadlock() {
                Some(deadlock) => deadlock.to_string(),
                None => message(&*error.into_panic()),
            }
        })
        .await;
        let said = told.unwrap();
        assert!(said.contains(&place(line)) && said.contains("hops to color 0x1"), "{said}");
    });
}

/// The blocking `when` waits behind another one.
/// Shows G12.
#[test]
fn a_chain_of_whens_is_followed() {
    run(3, async {
        let [red, blue, green] = cells([RED, BLUE, GREEN]);
        let ours = red.clone();
        let rest =
            move |()| async move { ours.checked_call(|_| ()).await.unwrap_err().to_string() };
        let Keeper { end: scheduled, task: holder } = Keeper::before(BLUE, rest).await;
        let (first, one) = (line!(), that_waits(when((&green, &blue), add)).await);
        let (second, two) = (line!(), that_waits(when((&red, &green), add)).await);
        scheduled.send(()).unwrap();
        let said = holder.await.unwrap();
        assert!(said.contains(&place(first)) && said.contains(&place(second)), "{said}");
        one.await;
        two.await;
        assert_eq!(red.call(|red| *red).await, 1);
    });
}

/// A reader beside a `when` that reads.
/// Shows G12.
#[test]
fn a_read_beside_a_when_that_reads_gets_no_error() {
    run(3, async {
        let [red, blue] = cells([RED, BLUE]);
        let ours = red.clone();
        let rest = move |()| async move { ours.read(|red| *red).await };
        let Keeper { end: scheduled, task: holder } = Keeper::before(BLUE, rest).await;
        let both = that_waits(when((red.shared(), &blue), |red, blue| *blue = *red + 1)).await;
        scheduled.send(()).unwrap();
        assert_eq!(holder.await.unwrap(), 0);
        both.await;
        assert_eq!(blue.call(|blue| *blue).await, 1);
    });
}

/// A task of red that waits for a sign; and has been polled.
async fn spawn_waiting_under_red() -> (JoinHandle<()>, oneshot::Sender<()>) {
    let (go, gone) = oneshot::channel::<()>();
    let task = spawn_waiting(RED, async move { gone.await.unwrap() }).await;
    // Behind it.
    spawn_colored(RED, async {}).await.unwrap();
    (task, go)
}

/// A task that is in no line comes behind a `when` that is there, whenever it is woken.
/// Shows G12.
#[test]
fn a_join_of_a_task_behind_a_when_gets_the_error() {
    run(3, async {
        spawn_colored(GREEN, exclusive(async {})).await.unwrap();
        let (mut task, go) = spawn_waiting_under_red().await;
        let (told, line) = crossed(false, |_| async move {
            let error = (&mut task).await.unwrap_err();
            (error.deadlock().expect("a deadlock").to_string(), task)
        })
        .await;
        let (said, task) = told.unwrap();
        assert!(said.contains(&place(line)) && said.contains("needs color 0x1, its own"), "{said}");
        assert_eq!(said.lines().count(), 6, "{said}");
        go.send(()).unwrap();
        task.await.unwrap();
    });
}

/// The join comes first. It gets the error when the `when` has the task's color, and lacks the section's.
/// Shows G12.
#[test]
fn a_when_before_a_task_that_a_section_joins_closes_the_cycle() {
    run(3, async {
        let [red, blue] = cells([RED, BLUE]);
        let (task, go) = spawn_waiting_under_red().await;
        let (tell, told) = oneshot::channel();
        let holder = spawn_colored(BLUE, exclusive(join_and_tell(task, tell)));
        told.await.unwrap();
        let ours = (red.clone(), blue.clone());
        let line = line!() + 1;
        let both = spawn_unique(async move { when((&ours.0, &ours.1), add).await });
        let id = both.id();
        let (error, task) = holder.await.unwrap();
        let said = error.deadlock().expect("a deadlock").to_string();
        assert!(said.contains(&place(line)), "{said}");
        assert!(said.contains("color 0x1 goes first to the `when` at"), "{said}");
        assert!(said.contains(&format!("of {id:?}")), "{said}");
        both.await.unwrap();
        go.send(()).unwrap();
        task.await.unwrap();
        assert_eq!((red.call(|red| *red).await, blue.call(|blue| *blue).await), (1, 1));
    });
}

/// A task that was in the line before the `when` is not behind it.
/// Shows G12.
#[test]
fn a_join_of_a_task_before_a_when_gets_no_error() {
    run(3, async {
        spawn_colored(GREEN, exclusive(async {})).await.unwrap();
        for joins_first in [false, true] {
            let [red, blue] = cells([RED, BLUE]);
            let Keeper { end: release, task: keeper } = Keeper::of(RED).await;
            let task = spawn_colored(RED, async {});
            let ((tell, told), (go, gone)) = (oneshot::channel(), oneshot::channel::<()>());
            let holder = spawn_colored(
                BLUE,
                exclusive(async move {
                    let mut task = pin!(task);
                    assert!(!joins_first || waits(task.as_mut()).await);
                    tell.send(()).unwrap();
                    gone.await.unwrap();
                    assert!(waits(task.as_mut()).await, "neither told nor done");
                    release.send(()).unwrap();
                    task.await
                }),
            );
            told.await.unwrap();
            let both = that_waits(when((&red, &blue), add)).await;
            go.send(()).unwrap();
            holder.await.unwrap().unwrap();
            both.await;
            keeper.await.unwrap();
        }
    });
}

/// A call that is in the line before the `when` does not wait for the `when`, whether the section itself or a task that
/// it joins awaits the call.
/// Shows G12.
#[test]
fn a_call_before_a_when_is_not_behind_it() {
    run(3, async {
        for joins in [false, true] {
            let [red, blue] = cells([RED, BLUE]);
            let Keeper { end: release, task: keeper } = Keeper::of(RED).await;
            let rest = |mut awaited: Awaited| async move {
                for _ in 0..3 {
                    assert!(waits(awaited.as_mut()).await, "neither told nor done");
                    sleep(Duration::from_millis(1)).await;
                }
                release.send(()).unwrap();
                awaited.await
            };
            let Keeper { end: go, task: holder } = Keeper::before(BLUE, rest).await;
            let mut awaited: Awaited = that_waits(red.checked_call(|red| *red)).await;
            if joins {
                let task = spawn_unique(awaited);
                awaited = Box::pin(async move { task.await.expect("it is before the `when`") });
            }
            let both = that_waits(when((&red, &blue), add)).await;
            go.send(awaited).map_err(drop).unwrap();
            assert_eq!(holder.await.unwrap(), Ok(0));
            both.await;
            keeper.await.unwrap();
            assert_eq!(red.call(|red| *red).await, 1);
        }
    });
}

/// A `when` that has run blocks nothing, also while its future is kept.
/// Shows G12.
#[test]
fn a_when_that_has_run_blocks_no_wait() {
    run(3, async {
        let [red, blue] = cells([RED, BLUE]);
        let mut both = pin!(when((&red, &blue), add));
        for round in 0..2 {
            let Keeper { end: release, task: keeper } = Keeper::of(RED).await;
            if round == 0 {
                assert!(waits(both.as_mut()).await);
                release.send(()).unwrap();
                // Behind the `when`.
                assert_eq!(red.call(|red| *red).await, 1);
            } else {
                let ours = red.clone();
                let section = async move {
                    let mut call = pin!(ours.checked_call(|red| *red));
                    assert!(waits(call.as_mut()).await, "the color is held");
                    release.send(()).unwrap();
                    call.await
                };
                assert_eq!(spawn_colored(BLUE, exclusive(section)).await.unwrap(), Ok(1));
            }
            keeper.await.unwrap();
        }
        both.await;
    });
}

/// All waits end, in every order.
/// Shows G12.
#[test]
fn sections_and_whens_that_cross_all_end() {
    let rounds = repeat(50, 300);
    run(4, async move {
        // From here on all `when`s are known.
        spawn_colored(GREEN, exclusive(async {})).await.unwrap();
        let [red, blue] = cells([RED, BLUE]);
        let mut told = 0;
        for _ in 0..rounds {
            let ours = red.clone();
            let section = async move { ours.checked_call(|red| *red += 1).await };
            let holder = spawn_colored(BLUE, exclusive(section));
            let both = [0, 1].map(|turn| {
                let (red, blue) = (red.clone(), blue.clone());
                spawn_unique(async move {
                    match turn {
                        0 => when((&red, &blue), add).await,
                        _ => when((&blue, &red), |blue, red| add(red, blue)).await,
                    }
                })
            });
            told += i32::from(holder.await.unwrap().is_err());
            join_all(both).await;
        }
        let rounds = rounds as i32;
        assert_eq!(red.call(|red| *red).await, 3 * rounds - told);
        assert_eq!(blue.call(|blue| *blue).await, 2 * rounds);
    });
}
