//! Turns that give way inside: orders that whole turns cannot show, each with a twin that has none.

use super::limits::CHILD;
use super::{assert_all_seen, failure, passes, silent};
use colored::sim::{Builder, Strategy, sometimes};
use colored::sync::{mpsc, oneshot, watch};
use colored::time::{Duration, sleep};
use colored::{
    Color, ColorCell, hop, spawn, spawn_blocking, spawn_colored, spawn_here, spawn_local, when,
};
use colored_tests::join_all;
use std::env;
use std::future::{pending, poll_fn};
use std::pin::pin;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

/// A posts to B and then to C, and B's answer reaches C in between.
#[expect(clippy::manual_async_fn, reason = "the bounds are the interface of the programs")]
fn answers(wrong: bool) -> impl Future<Output = ()> + Send + 'static {
    async move {
        let (b, c) = (ColorCell::new(2, ()), ColorCell::new(3, Vec::new()));
        let answers = c.clone();
        let a = spawn_colored(1, async move {
            let answer = {
                let c = c.clone();
                move |(): &mut ()| c.post(|log: &mut Vec<&str>| log.push("answer"))
            };
            if wrong {
                b.post(answer);
                c.post(|log| log.push("question"));
            } else {
                c.post(|log| log.push("question"));
                b.post(answer);
            }
        });
        a.await.unwrap();
        sleep(Duration::from_secs(1)).await;
        let log = answers.call(std::mem::take).await;
        assert!(log == ["question", "answer"], "the log is {log:?}");
    }
}

#[test]
fn an_answer_comes_between_two_posts_of_one_turn() {
    let found = failure(|| answers(true));
    assert!(found.message().contains(r#"["answer", "question"]"#), "{found}");
    assert!(found.replay().contains('p'), "{found}");
    assert!(found.choices() <= 6, "{found}");
    let _report = passes(|| answers(false));
}

#[test]
fn every_strategy_but_round_robin_finds_it() {
    for strategy in [
        Strategy::Random,
        Strategy::Pct { depth: 2 },
        Strategy::Pct { depth: 3 },
        Strategy::Pos,
        Strategy::Starve,
    ] {
        let report = Builder::new().strategy(strategy).run(|| answers(true));
        assert!(report.failure().is_some(), "{strategy:?}: {report}");
        assert_eq!(report.failure().unwrap().differs(), None, "{strategy:?}: {report}");
    }
}

/// If pushes were held back to the end of the turn, the receiver, which runs for another reason, would see the message
/// before the post.
/// A sender of tokio wakes a task, and a post to the same color comes behind: so the task runs first.
#[test]
fn a_wake_by_a_type_of_tokio_comes_before_later_acts() {
    let report = passes(|| async {
        let (sender, mut receiver) = watch::channel(0);
        let sender: tokio::sync::watch::Sender<i32> = sender.into();
        let log = Arc::new(Mutex::new(Vec::new()));
        let (notes, (waits, is_waiting)) = (log.clone(), oneshot::channel());
        let mut waits = Some(waits);
        let watcher = spawn_colored(1, async move {
            let mut changed = pin!(receiver.changed());
            let polls = poll_fn(|cx| {
                notes.lock().unwrap().push("the watcher");
                waits.take().into_iter().for_each(|waits| waits.send(()).unwrap());
                changed.as_mut().poll(cx)
            });
            polls.await.unwrap();
        });
        is_waiting.await.unwrap();
        // Then the turn of the watcher is over.
        ColorCell::new(1, ()).call(|()| ()).await;
        log.lock().unwrap().clear();
        sender.send(1).unwrap();
        let notes = log.clone();
        ColorCell::new(1, ()).post(move |()| notes.lock().unwrap().push("the post"));
        watcher.await.unwrap();
        ColorCell::new(1, ()).call(|()| ()).await;
        assert_eq!(log.lock().unwrap()[0], "the watcher");
    });
    assert_eq!(report.stuck(), 0);
}

#[test]
fn what_a_turn_does_behind_a_push_is_seen_behind_it() {
    let _report = passes(|| async {
        let log = ColorCell::new(3, Vec::new());
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let first = spawn_colored(1, {
            let (log, sender) = (log.clone(), sender.clone());
            async move {
                for number in 0..4 {
                    log.post(move |log| log.push(2 * number));
                    sender.send(number).unwrap();
                }
            }
        });
        let second = spawn_colored(2, {
            let log = log.clone();
            async move {
                for _ in 0..4 {
                    let number: u32 = receiver.recv().await.unwrap();
                    log.post(move |log| log.push(2 * number + 1));
                }
            }
        });
        drop(sender);
        first.await.unwrap();
        second.await.unwrap();
        let log = log.call(std::mem::take).await;
        let at = |entry| log.iter().position(|other| *other == entry).unwrap();
        assert!((0..4).all(|number| at(2 * number) < at(2 * number + 1)), "{log:?}");
    });
}

#[test]
fn a_task_runs_before_its_spawner_has_noted_it() {
    let program = |wrong: bool| async move {
        let known = Arc::new(Mutex::new(0));
        let looks = known.clone();
        let task = async move { assert!(*looks.lock().unwrap() == 1, "it is not known") };
        if !wrong {
            *known.lock().unwrap() += 1;
        }
        let task = spawn_colored(1, task);
        if wrong {
            *known.lock().unwrap() += 1;
        }
        task.await.unwrap();
    };
    assert!(failure(|| program(true)).message().contains("it is not known"));
    let _report = passes(|| program(false));
}

/// Colors, tasks and locks of all kinds: nothing that a turn relies on changes while it waits inside.
#[test]
fn a_turn_that_waits_keeps_its_color_and_its_task() {
    let _report = passes(|| async {
        let cells: Vec<_> = (1..5).map(|color| ColorCell::new(color, 0_u32)).collect();
        let inside: Arc<Vec<AtomicBool>> =
            Arc::new((0..5).map(|_| AtomicBool::new(false)).collect());
        join_all((0..8_u64).map(|number| {
            let (cells, inside) = (cells.clone(), inside.clone());
            spawn_colored(1 + number % 4, async move {
                for round in 0..3 {
                    let color = Color::current().unwrap();
                    let id = colored::task::try_id();
                    assert!(!inside[color.number() as usize].swap(true, SeqCst));
                    let target = &cells[(number as usize + round) % 4];
                    target.post(|sum| *sum += 1);
                    drop(spawn_colored(number % 3 + 1, async {}));
                    assert_eq!(Color::current(), Some(color));
                    assert_eq!(colored::task::try_id(), id);
                    assert!(inside[color.number() as usize].swap(false, SeqCst));
                    match round {
                        0 => target.call(|sum| *sum += 1).await,
                        1 => {
                            when((&cells[0], &cells[3]), |a, b| {
                                *a += 1;
                                *b += 0;
                            })
                            .await
                        }
                        _ => target.read(|sum| assert!(*sum > 0)).await,
                    }
                    hop(1 + (number + round as u64) % 4).await;
                }
            })
        }))
        .await;
        let mut sum = 0;
        for cell in &cells {
            sum += cell.call(|sum| *sum).await;
        }
        assert_eq!(sum, 8 * 5);
    });
}

#[test]
fn a_lock_that_is_held_over_a_push_gives_no_alarm_and_is_told() {
    if env::var_os(CHILD).is_none() {
        let output = Command::new(env::current_exe().unwrap())
            .args(["pushes::a_lock_that_is_held_over_a_push_gives_no_alarm_and_is_told", "--exact"])
            .env(CHILD, "1")
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{said}");
        assert!(said.contains("goes on in whole turns, and explores less"), "{said}");
        return;
    }
    let report = Builder::new().seeds(0..60).strategy(Strategy::Pct { depth: 2 }).run(|| async {
        let shared = Arc::new(Mutex::new(0));
        let log = ColorCell::new(9, 0);
        join_all((1..4_u64).map(|color| {
            let (shared, log) = (shared.clone(), log.clone());
            spawn_colored(color, async move {
                let mut shared = shared.lock().unwrap();
                log.post(|log| *log += 1);
                *shared += 1;
            })
        }))
        .await;
        assert_eq!(*shared.lock().unwrap(), 3);
        assert_eq!(log.call(|log| *log).await, 3);
    });
    report.assert_passed();
    assert_eq!(report.stuck(), 8, "{report}");
    assert!(report.to_string().contains("made again in whole turns"), "{report}");
}

#[test]
fn tasks_that_are_pinned_to_a_thread_stay_there() {
    let _report = passes(|| async {
        let polls = Arc::new(AtomicU32::new(0));
        join_all((1..4_u64).map(|color| {
            let polls = polls.clone();
            spawn_colored(color, async move {
                let local = std::rc::Rc::new(std::thread::current().id());
                let task = spawn_local(async move {
                    for _ in 0..3 {
                        assert_eq!(std::thread::current().id(), *local);
                        drop(spawn_here(async {}));
                        polls.fetch_add(1, SeqCst);
                        sleep(Duration::from_millis(1)).await;
                    }
                });
                task.await.unwrap();
            })
        }))
        .await;
        assert_eq!(polls.load(SeqCst), 9);
        let forgotten = std::rc::Rc::new(());
        drop(spawn_local(async move {
            pending::<()>().await;
            drop(forgotten);
        }));
    });
}

/// A pinned task takes a color to its own worker. What comes to the color later runs where the color belongs, so also inside a
/// turn of that worker.
#[test]
fn a_color_that_a_pinned_task_has_used_stays_where_it_belongs() {
    let report = Builder::new().seeds(silent(1000)).workers(2..=2).run(|| async {
        let (tell, told) = oneshot::channel();
        drop(spawn_local(async move {
            hop(1).await;
            tell.send(()).unwrap();
            pending::<()>().await;
        }));
        told.await.unwrap();
        // The main future is the first one to have a color, so the second color belongs to the other worker.
        let cell = ColorCell::new(1, ());
        let has_run = Arc::new(AtomicBool::new(false));
        let runs = has_run.clone();
        cell.post(move |()| runs.store(true, SeqCst));
        cell.post(|()| ());
        sometimes!(has_run.load(SeqCst), "the color runs inside this turn");
    });
    assert_all_seen(&report);
}

#[test]
fn blocking_calls_and_panics_may_be_interrupted() {
    let report = passes(|| async {
        let (sender, receiver) = oneshot::channel();
        let cell = ColorCell::new(1, 0);
        let call = spawn_blocking({
            let cell = cell.clone();
            move || {
                cell.post(|value| *value += 1);
                sender.send(()).unwrap();
                panic!("of a call");
            }
        });
        let task = spawn(async move {
            cell.post(|value| *value += 1);
            panic!("of a task");
        });
        receiver.await.unwrap();
        sometimes!(call.is_finished(), "the call is over");
        assert!(call.await.unwrap_err().is_panic());
        assert!(task.await.unwrap_err().is_panic());
    });
    assert_eq!(report.never_seen(), [] as [&str; 0]);
}
