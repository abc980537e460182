//! Bugs of user programs. Each program takes whether it is the wrong one.

use super::{failure, passes};
use colored::sync::{Notify, Semaphore, mpsc, oneshot};
use colored::{ColorCell, spawn_colored, spawn_unique, yield_now};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// Checks that the wrong program fails with this text after few choices, and that the right one never fails.
macro_rules! bug {
    ($name:ident, $text:expr, $program:expr) => {
        #[test]
        fn $name() {
            let program = $program;
            let found = failure(|| program(true));
            assert!(found.message().contains($text), "{found}");
            assert!(found.choices() <= 10, "{found}");
            let _report = passes(|| program(false));
        }
    };
}

bug!(a_lost_update, "the sum is 110", |wrong: bool| async move {
    let balance = ColorCell::new(1, 100_u64);
    let deposit = |client: u64| {
        let balance = balance.clone();
        spawn_colored(client, async move {
            if wrong {
                let seen = balance.call(|balance| *balance).await;
                balance.call(move |balance| *balance = seen + 10).await;
            } else {
                balance.call(|balance| *balance += 10).await;
            }
        })
    };
    let (one, two) = (deposit(2), deposit(3));
    one.await.unwrap();
    two.await.unwrap();
    let sum = balance.call(|balance| *balance).await;
    assert!(sum == 120, "the sum is {sum}");
});

bug!(two_colors_are_in_no_order, "the answer before the question", |wrong: bool| async move {
    let log = ColorCell::new(1, Vec::new());
    let (asked, heard) = oneshot::channel();
    let ask = spawn_colored(2, {
        let log = log.clone();
        async move {
            if wrong {
                let _ = asked.send(());
                log.call(|log| log.push("question")).await;
            } else {
                log.call(|log| log.push("question")).await;
                let _ = asked.send(());
            }
        }
    });
    let answer = spawn_colored(3, {
        let log = log.clone();
        async move {
            heard.await.unwrap();
            log.call(|log| log.push("answer")).await;
        }
    });
    ask.await.unwrap();
    answer.await.unwrap();
    let first = log.call(|log| log[0]).await;
    assert!(first == "question", "the answer before the question");
});

bug!(a_wake_before_the_wait_is_lost, "nothing is runnable", |wrong: bool| async move {
    let (is_ready, notify) = (Arc::new(AtomicBool::new(false)), Arc::new(Notify::new()));
    let wait = spawn_colored(2, {
        let (is_ready, notify) = (is_ready.clone(), notify.clone());
        async move {
            if wrong {
                while !is_ready.load(SeqCst) {
                    yield_now().await;
                    // Whoever notifies here notifies nobody.
                    notify.notified().await;
                }
            } else {
                loop {
                    let notified = notify.notified();
                    if is_ready.load(SeqCst) {
                        break;
                    }
                    notified.await;
                }
            }
        }
    });
    spawn_colored(3, async move {
        is_ready.store(true, SeqCst);
        notify.notify_waiters();
    });
    wait.await.unwrap();
});

bug!(locks_in_two_orders, "nothing is runnable", |wrong: bool| async move {
    let forks = [Arc::new(Semaphore::new(1)), Arc::new(Semaphore::new(1))];
    let eat = |color: u64, first: usize| {
        let (first, second) = (forks[first].clone(), forks[1 - first].clone());
        spawn_colored(color, async move {
            let _first = first.acquire().await.unwrap();
            yield_now().await;
            let _second = second.acquire().await.unwrap();
        })
    };
    let (one, two) = (eat(1, 0), eat(2, usize::from(wrong)));
    one.await.unwrap();
    two.await.unwrap();
});

bug!(a_full_channel_between_two_tasks, "nothing is runnable", |wrong: bool| async move {
    let room = if wrong { 1 } else { 4 };
    let (to_two, mut of_one) = mpsc::channel(room);
    let (to_one, mut of_two) = mpsc::channel(room);
    let one = spawn_unique(async move {
        for n in 0..3 {
            to_two.send(n).await.unwrap();
        }
        drop(to_two);
        while of_two.recv().await.is_some() {}
    });
    let two = spawn_unique(async move {
        for n in 0..3 {
            to_one.send(n).await.unwrap();
        }
        drop(to_one);
        while of_one.recv().await.is_some() {}
    });
    one.await.unwrap();
    two.await.unwrap();
});

bug!(the_last_message_is_dropped_at_the_end, "a message is lost", |wrong: bool| async move {
    let (stop, mut stopped) = oneshot::channel::<()>();
    let (send, mut receive) = mpsc::unbounded_channel();
    let worker = spawn_colored(1, async move {
        let mut seen = 0;
        loop {
            colored::select! {
                biased;
                _ = &mut stopped => {
                    while !wrong && receive.try_recv().is_ok() {
                        seen += 1;
                    }
                    return seen;
                }
                Some(()) = receive.recv() => seen += 1,
            }
        }
    });
    spawn_colored(2, async move {
        for _ in 0..2 {
            send.send(()).unwrap();
            yield_now().await;
        }
        let _ = stop.send(());
    });
    assert!(worker.await.unwrap() == 2, "a message is lost");
});
