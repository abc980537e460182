//! What a turn pushes, or calls, first has effects before it goes on: found only where a turn is split there.

use super::kernels;
use super::tools::{Shared, go, join};
use colored::sync::{mpsc, watch};
use colored::{ColorCell, spawn_colored};
use std::sync::Arc;

kernels! {
    Push overtaken_post "simulation.md 0.2" "the answer before the question";
    Push overtaken_message "simulation.md 0.2" "the answer before the question";
    Push late_add "GoBench cockroach#4407, the group in memory" "added to a group after the wait";
    Push late_entry "a task that ends before it is listed" "a task that has ended is listed";
}

/// A turn posts to B, then to C. B's answer is in C first.
async fn overtaken_post(wrong: bool) {
    let (b, c) = (ColorCell::new(1, ()), ColorCell::new(2, Vec::new()));
    let answer = {
        let c = c.clone();
        move |(): &mut ()| c.post(|log| log.push("answer"))
    };
    if wrong {
        b.post(answer);
        c.post(|log| log.push("question"));
    } else {
        c.post(|log| log.push("question"));
        b.post(answer);
    }
    b.call(|()| ()).await;
    let first = c.call(|log| log.first().copied()).await;
    assert!(first == Some("question"), "the answer before the question");
}

/// The same by channels.
async fn overtaken_message(wrong: bool) {
    let (to_b, mut of_b) = mpsc::unbounded_channel();
    let (to_c, mut of_c) = mpsc::unbounded_channel();
    let b = {
        let to_c = to_c.clone();
        go(async move {
            of_b.recv().await;
            let _ = to_c.send("answer");
        })
    };
    let c = go(async move {
        let first = of_c.recv().await;
        assert!(first == Some("question"), "the answer before the question");
    });
    let a = go(async move {
        if wrong {
            let _ = to_b.send(());
            let _ = to_c.send("question");
        } else {
            let _ = to_c.send("question");
            let _ = to_b.send(());
        }
    });
    join([a, b, c]).await;
}

/// A call of an idle cell runs at once, and its turn goes on: the group's stop comes in between.
async fn late_add(wrong: bool) {
    let group = Arc::new(watch::channel(0).0);
    let (is_draining, has_ended) = (Shared::new(false), Shared::new(false));
    let start = {
        let (group, has_ended) = (group.clone(), has_ended.clone());
        let is_draining = is_draining.clone();
        go(async move {
            if !wrong {
                group.send_modify(|count| *count += 1);
            }
            if !is_draining.get().await {
                if wrong {
                    group.send_modify(|count| *count += 1);
                }
                assert!(!has_ended.get().await, "added to a group after the wait");
                group.send_modify(|count| *count -= 1);
            } else if !wrong {
                group.send_modify(|count| *count -= 1);
            }
        })
    };
    let stop = go(async move {
        is_draining.set(true).await;
        let mut count = group.subscribe();
        let _ = count.wait_for(|count| *count == 0).await;
        has_ended.set(true).await;
    });
    join([start, stop]).await;
}

/// A task is started, and then put into a list, from which it takes itself when it ends.
async fn late_entry(wrong: bool) {
    let list = ColorCell::new(1, Vec::new());
    let start = |list: &ColorCell<Vec<u32>>| {
        let list = list.clone();
        spawn_colored(2, async move { list.post(|list| list.retain(|task| *task != 7)) })
    };
    let task = if wrong {
        let task = start(&list);
        list.post(|list| list.push(7));
        task
    } else {
        list.post(|list| list.push(7));
        start(&list)
    };
    join([task]).await;
    assert!(list.call(|list| list.is_empty()).await, "a task that has ended is listed");
}
