//! `select!`: its syntax, and the order of its polls, in a simulation and outside.

use super::failure;
use colored::sim::{Builder, always};
use colored::sync::{Barrier, mpsc, watch};
use colored::task::consume_budget;
use colored::{ColorCell, select, spawn_colored, yield_now};
use colored_tests::join_all;
use std::future::{pending, poll_fn, ready};
use std::sync::{Arc, Mutex};
use std::task::Poll;

struct Pair {
    left: u32,
    right: Option<String>,
}

#[colored::test]
async fn every_form_of_a_branch() {
    let mut results = Vec::new();
    for round in 0..4 {
        let right = Some(String::from("text"));
        let result = select! {
            biased;
            () = pending(), if round < 3 => { 0 }
            Pair { left: 1.., right: Some(mut text) } = ready(Pair { left: round, right }), if round < 3 => {
                text.push('!');
                text.len()
            },
            ref whole @ Pair { .. } = ready(Pair { left: 9, right: None }), if round == 0 =>
                whole.left as usize + usize::from(whole.right.is_some()),
            1 | 2 = ready(2), if false => 77,
            else => 55
        };
        results.push(result);
    }
    assert_eq!(results, [9, 5, 5, 55]);
}

#[colored::test]
async fn a_pattern_may_change_what_it_has() {
    let changed = select! {
        Some(ref mut text) = ready(Some(String::from("a text"))) => {
            text.push('!');
            text.len()
        }
    };
    assert_eq!(changed, 7);
}

#[colored::test]
async fn a_future_may_borrow_a_temporary_value() {
    let number = select! {
        number = &mut ready(3) => number,
        () = &mut pending::<()>() => 4,
    };
    assert_eq!(number, 3);
}

#[colored::test]
async fn without_budget_no_branch_goes_on_in_place_of_one_that_waits_for_it() {
    let one_poll = || {
        let mut selected = Box::pin(async {
            select! {
                biased;
                () = consume_budget() => 1,
                () = ready(()) => 2,
            }
        });
        poll_fn(move |cx| Poll::Ready(selected.as_mut().poll(cx)))
    };
    yield_now().await;
    let mut units = 0;
    while one_poll().await == Poll::Ready(1) {
        units += 1;
    }
    assert_eq!(units, 128);
    assert_eq!(one_poll().await, Poll::Pending);
    yield_now().await;
    assert_eq!(one_poll().await, Poll::Ready(1));
}

/// A pin for each branch would cost a word more for each.
#[cfg(target_pointer_width = "64")]
#[test]
fn a_future_is_as_large_as_its_branches_and_three_words() {
    let one = async {
        let first = ready(0_i32);
        select! { _ = first => {} }
    };
    let three = async {
        let (first, second, third) = (ready(0_i32), ready(0_i32), ready(0_i32));
        select! { _ = first => {}, _ = second => {}, _ = third => {} }
    };
    assert_eq!((size_of_val(&one), size_of_val(&three)), (8 + 24, 3 * 8 + 24));
}

#[colored::test]
async fn the_code_of_a_branch_has_its_variables_back_and_leaves_loops_and_functions() {
    async fn first(numbers: &mut Vec<u32>, fails: bool) -> Result<u32, String> {
        'outer: for round in 0.. {
            loop {
                select! {
                    number = async { numbers.push(round); numbers.len() } => {
                        numbers.push(7);
                        match number {
                            1 => break,
                            3 => continue 'outer,
                            5 if fails => Err("a text")?,
                            _ => return Ok(ready(numbers.len() as u32).await),
                        }
                    }
                }
            }
        }
        unreachable!()
    }
    assert_eq!(first(&mut Vec::new(), false).await, Ok(6));
    assert_eq!(first(&mut Vec::new(), true).await, Err("a text".to_owned()));
}

#[colored::test]
async fn sixty_four_branches_are_told_apart() {
    for number in 0..64 {
        let chosen = select! {
            0 = ready(number), if number == 0 => 0,
            1 = ready(number), if number == 1 => 1,
            2 = ready(number), if number == 2 => 2,
            3 = ready(number), if number == 3 => 3,
            4 = ready(number), if number == 4 => 4,
            5 = ready(number), if number == 5 => 5,
            6 = ready(number), if number == 6 => 6,
            7 = ready(number), if number == 7 => 7,
            8 = ready(number), if number == 8 => 8,
            9 = ready(number), if number == 9 => 9,
            10 = ready(number), if number == 10 => 10,
            11 = ready(number), if number == 11 => 11,
            12 = ready(number), if number == 12 => 12,
            13 = ready(number), if number == 13 => 13,
            14 = ready(number), if number == 14 => 14,
            15 = ready(number), if number == 15 => 15,
            16 = ready(number), if number == 16 => 16,
            17 = ready(number), if number == 17 => 17,
            18 = ready(number), if number == 18 => 18,
            19 = ready(number), if number == 19 => 19,
            20 = ready(number), if number == 20 => 20,
            21 = ready(number), if number == 21 => 21,
            22 = ready(number), if number == 22 => 22,
            23 = ready(number), if number == 23 => 23,
            24 = ready(number), if number == 24 => 24,
            25 = ready(number), if number == 25 => 25,
            26 = ready(number), if number == 26 => 26,
            27 = ready(number), if number == 27 => 27,
            28 = ready(number), if number == 28 => 28,
            29 = ready(number), if number == 29 => 29,
            30 = ready(number), if number == 30 => 30,
            31 = ready(number), if number == 31 => 31,
            32 = ready(number), if number == 32 => 32,
            33 = ready(number), if number == 33 => 33,
            34 = ready(number), if number == 34 => 34,
            35 = ready(number), if number == 35 => 35,
            36 = ready(number), if number == 36 => 36,
            37 = ready(number), if number == 37 => 37,
            38 = ready(number), if number == 38 => 38,
            39 = ready(number), if number == 39 => 39,
            40 = ready(number), if number == 40 => 40,
            41 = ready(number), if number == 41 => 41,
            42 = ready(number), if number == 42 => 42,
            43 = ready(number), if number == 43 => 43,
            44 = ready(number), if number == 44 => 44,
            45 = ready(number), if number == 45 => 45,
            46 = ready(number), if number == 46 => 46,
            47 = ready(number), if number == 47 => 47,
            48 = ready(number), if number == 48 => 48,
            49 = ready(number), if number == 49 => 49,
            50 = ready(number), if number == 50 => 50,
            51 = ready(number), if number == 51 => 51,
            52 = ready(number), if number == 52 => 52,
            53 = ready(number), if number == 53 => 53,
            54 = ready(number), if number == 54 => 54,
            55 = ready(number), if number == 55 => 55,
            56 = ready(number), if number == 56 => 56,
            57 = ready(number), if number == 57 => 57,
            58 = ready(number), if number == 58 => 58,
            59 = ready(number), if number == 59 => 59,
            60 = ready(number), if number == 60 => 60,
            61 = ready(number), if number == 61 => 61,
            62 = ready(number), if number == 62 => 62,
            63 = ready(number), if number == 63 => 63,
        };
        assert_eq!(chosen, number);
    }
}

#[colored::test]
async fn without_else_it_panics_when_no_branch_is_left() {
    let task = spawn_colored(1, async {
        select! {
            Some(()) = ready(None::<()>) => {}
            () = ready(()), if false => {}
        }
    });
    let panic = task.await.unwrap_err().into_panic();
    let text = "all branches of this `select!` are disabled, and it has no `else`";
    assert_eq!(panic.downcast_ref(), Some(&text));
    assert_eq!(select! { else => 4 }, 4);
}

/// Which of two ready branches comes first, 2,000 times.
pub(super) async fn lefts() -> u32 {
    let mut lefts = 0;
    for _ in 0..2000 {
        select! {
            () = ready(()) => lefts += 1,
            () = ready(()) => {}
        }
    }
    lefts
}

#[colored::test]
async fn each_branch_comes_first_about_as_often() {
    let lefts = lefts().await;
    assert!((800..1200).contains(&lefts), "{lefts}");
    let first = async {
        select! { biased; () = ready(()) => 1, () = ready(()) => 2 }
    };
    assert_eq!(first.await, 1);
}

#[test]
fn the_seed_draws_the_branch_and_the_report_keeps_it_only_where_it_matters() {
    let found = failure(|| async {
        let (stop, mut stopped) = mpsc::channel::<()>(1);
        let (work, mut works) = mpsc::channel(8);
        for number in 0..4 {
            work.send(number).await.unwrap();
        }
        stop.send(()).await.unwrap();
        let mut done = 0;
        loop {
            // What is in the queue is lost if the stop is seen first.
            select! {
                Some(_) = works.recv() => done += 1,
                Some(()) = stopped.recv() => break,
            }
        }
        always!(done == 4, "all work is done");
    });
    // A poll sees the stop first; that poll may be in a turn that small budgets of one or two before it have begun.
    assert!((1..=3).contains(&found.choices()), "{found}");
    assert!(found.replay().contains('d'), "{found}");
}

/// Receivers of a watch and tasks at a barrier, each with a color; the order in which they go on.
pub(super) async fn woken() -> Vec<u32> {
    let order = ColorCell::new(1, Vec::new());
    let (sender, receiver) = watch::channel(0);
    let barrier = Arc::new(Barrier::new(12));
    let tasks: Vec<_> = (0..12_u32)
        .map(|number| {
            let (order, mut receiver, barrier) = (order.clone(), receiver.clone(), barrier.clone());
            spawn_colored(u64::from(number % 3) + 2, async move {
                receiver.changed().await.unwrap();
                order.call(move |order| order.push(number)).await;
                barrier.wait().await;
                order.call(move |order| order.push(100 + number)).await;
                // Until the sender is gone.
                assert!(receiver.changed().await.is_err());
                order.call(move |order| order.push(200 + number)).await;
            })
        })
        .collect();
    for _ in 0..20 {
        yield_now().await;
    }
    sender.send(1).unwrap();
    for _ in 0..200 {
        yield_now().await;
    }
    drop(sender);
    join_all(tasks).await;
    order.call(std::mem::take).await
}

#[test]
fn what_tokio_draws_is_drawn_by_the_seed() {
    let run = || {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let report = Builder::new().seeds(0..128).jobs(1).run(|| {
            let seen = Arc::clone(&seen);
            async move {
                let order = woken().await;
                assert_eq!(order.len(), 36);
                let lefts = lefts().await;
                seen.lock().unwrap().push((order, lefts));
            }
        });
        report.assert_passed();
        std::mem::take(&mut *seen.lock().unwrap())
    };
    let (first, second) = (run(), run());
    assert_eq!(first, second);
    let mut orders: Vec<_> = first.into_iter().map(|(order, _)| order).collect();
    orders.sort();
    orders.dedup();
    assert!(orders.len() > 100, "{} different orders", orders.len());
}
