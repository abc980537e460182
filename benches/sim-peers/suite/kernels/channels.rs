//! Channels whose other side is gone, full, or waits too: GoBench's communication deadlocks and misused channels.

use super::tools::{Shared, go, join, unbuffered};
use super::{HANGS, kernels};
use colored::sync::{Notify, mpsc, oneshot};
use colored::time::{Duration, sleep};
use colored::{select, yield_now};
use std::sync::Arc;

kernels! {
    Turn cockroach_2448 "GoBench cockroach#2448" HANGS;
    Turn cockroach_24808 "GoBench cockroach#24808" HANGS;
    Turn cockroach_35931 "GoBench cockroach#35931" HANGS;
    Turn cockroach_18101 "GoBench cockroach#18101" HANGS;
    Turn etcd_6857 "GoBench etcd#6857" HANGS;
    Turn grpc_660 "GoBench grpc#660" HANGS;
    Turn kubernetes_5316 "GoBench kubernetes#5316" HANGS;
    Turn kubernetes_25331 "GoBench kubernetes#25331" HANGS;
    Turn istio_17860 "GoBench istio#17860" HANGS;
    Turn syncthing_5795 "GoBench syncthing#5795" HANGS;
    Turn serving_5865 "GoBench serving#5865" "send on a closed channel";
    Turn serving_3068 "GoBench serving#3068" "send on a closed channel";
}

/// The raft loop sends an event to the store. The store takes one, and while it works on it, asks the loop for something:
/// the loop sends a second event.
async fn cockroach_2448(wrong: bool) {
    let (events, mut of_store) = unbuffered();
    let (callbacks, mut of_loop) = unbuffered();
    let raft = async move {
        for event in 0..2 {
            if wrong {
                assert!(events.send(event).await);
                continue;
            }
            let send = events.send(event);
            colored::pin!(send);
            loop {
                select! {
                    biased;
                    is_sent = &mut send => { assert!(is_sent); break }
                    Some(()) = of_loop.recv() => {}
                }
            }
        }
        drop(events);
        while of_loop.recv().await.is_some() {}
    };
    let store = async move {
        while of_store.recv().await.is_some() {
            yield_now().await;
            assert!(callbacks.send(()).await);
        }
    };
    join([go(raft), go(store)]).await;
}

/// A compactor has room for one hint. Its start adds one, which waits if somebody has been faster.
async fn cockroach_24808(wrong: bool) {
    let (hints, mut of_compactor) = mpsc::channel(1);
    let suggest = {
        let hints = hints.clone();
        async move {
            let _ = hints.try_send(());
        }
    };
    let start = async move {
        if wrong {
            hints.send(()).await.unwrap();
        } else {
            let _ = hints.try_send(());
        }
        of_compactor.recv().await.unwrap();
    };
    join([go(suggest), go(start)]).await;
}

/// A cancellation is written to each of two streams in turn. The first one is full, and its reader waits for the second.
async fn cockroach_35931(wrong: bool) {
    let (left, mut of_left) = mpsc::channel(1);
    let (right, mut of_right) = mpsc::channel(1);
    let produce = {
        let left = left.clone();
        async move {
            let _ = left.try_send("row");
        }
    };
    let cancel = async move {
        if wrong {
            left.send("cancelled").await.unwrap();
            right.send("cancelled").await.unwrap();
        } else {
            let (one, two) = colored::join!(left.send("cancelled"), right.send("cancelled"));
            one.and(two).unwrap();
        }
    };
    let merge = async move {
        while of_right.recv().await.is_some_and(|message| message != "cancelled") {}
        while of_left.recv().await.is_some_and(|message| message != "cancelled") {}
    };
    join([go(produce), go(cancel), go(merge)]).await;
}

/// A cancellation ends the receiver, and not the senders.
async fn cockroach_18101(wrong: bool) {
    let (ready, mut of_import) = unbuffered();
    let is_cancelled = Arc::new(Notify::new());
    let (stop, stopped) = oneshot::channel::<()>();
    let split = {
        let is_cancelled = is_cancelled.clone();
        async move {
            for range in 0..3 {
                select! {
                    biased;
                    _ = ready.send(range) => {}
                    () = is_cancelled.notified(), if !wrong => return,
                }
            }
        }
    };
    let restore = async move {
        select! {
            biased;
            _ = stopped => {}
            () = async { while of_import.recv().await.is_some() {} } => {}
        }
        is_cancelled.notify_one();
        // The channel stays open: another part of the program has it too.
        of_import
    };
    let (split, restore) = (go(split), go(restore));
    drop(stop);
    let _open = restore.await.unwrap();
    join([split]).await;
}

/// A node answers questions until it is stopped; a question that comes behind that waits for ever.
async fn etcd_6857(wrong: bool) {
    let (status, mut of_status) = unbuffered();
    let (stop, mut of_stop) = unbuffered();
    let done = Arc::new(Notify::new());
    let node = {
        let done = done.clone();
        async move {
            loop {
                select! {
                    biased;
                    Some(()) = of_stop.recv() => break,
                    Some(()) = of_status.recv() => {}
                }
            }
            done.notify_one();
            of_status
        }
    };
    let ask = async move {
        select! {
            biased;
            _ = status.send(()) => {}
            () = done.notified(), if !wrong => {}
        }
    };
    let node = go(node);
    let (ask, stop) = (go(ask), go(async move { assert!(stop.send(()).await) }));
    let _open = node.await.unwrap();
    join([ask, stop]).await;
}

/// A benchmark's workers report that they are done, to a caller who may have returned at a stop.
async fn grpc_660(wrong: bool) {
    let (done, mut of_done) = mpsc::channel(1);
    let (stop, mut of_stop) = mpsc::channel(1);
    let workers: Vec<_> = (0..2)
        .map(|_| {
            let done = done.clone();
            go(async move { done.send(()).await.unwrap() })
        })
        .collect();
    drop(done);
    let stopper = go(async move {
        let _ = stop.send(()).await;
    });
    let caller = go(async move {
        for _ in 0..2 {
            select! {
                biased;
                Some(()) = of_stop.recv() => break,
                Some(()) = of_done.recv() => {}
            }
        }
        while !wrong && of_done.recv().await.is_some() {}
        of_done
    });
    let _open = caller.await.unwrap();
    join(workers).await;
    join([stopper]).await;
}

/// A request's result or error goes to a caller who waits for a time only.
async fn kubernetes_5316(wrong: bool) {
    let (result, mut of_result) = unbuffered();
    let buffer = mpsc::channel(1);
    let work = {
        let buffer = buffer.0.clone();
        async move {
            sleep(Duration::from_millis(10)).await;
            if wrong {
                result.send(()).await;
            } else {
                buffer.send(()).await.unwrap();
            }
        }
    };
    let mut of_buffer = buffer.1;
    let work = go(work);
    select! {
        biased;
        Some(()) = of_result.recv() => {}
        Some(()) = of_buffer.recv() => {}
        () = sleep(Duration::from_millis(10)) => {}
    }
    join([work]).await;
}

/// A producer has failed, and hands the error to a watcher, who has stopped and cancelled everything in between.
async fn kubernetes_25331(wrong: bool) {
    let (error, mut of_error) = mpsc::channel(1);
    let (result, of_result) = unbuffered();
    let cancelled = Arc::new(Notify::new());
    let run = {
        let cancelled = cancelled.clone();
        async move {
            select! {
                biased;
                () = cancelled.notified() => {}
                Some(()) = of_error.recv() => {
                    select! {
                        biased;
                        () = cancelled.notified(), if !wrong => {}
                        _ = result.send(()) => {}
                    }
                }
            }
        }
    };
    let run = go(run);
    let fail = go(async move {
        let _ = error.send(()).await;
    });
    for _ in 0..3 {
        yield_now().await;
    }
    cancelled.notify_one();
    join([run, fail]).await;
    drop(of_result);
}

/// An agent's runs report their end to a loop, which may have ended itself.
async fn istio_17860(wrong: bool) {
    let (status, mut of_agent) = mpsc::channel(1);
    let (stop, mut stopped) = oneshot::channel::<()>();
    let agent = async move {
        loop {
            select! {
                biased;
                _ = &mut stopped => break,
                Some(()) = of_agent.recv() => {}
            }
        }
        of_agent
    };
    let agent = go(agent);
    let runs: Vec<_> = (0..2)
        .map(|_| {
            let status = status.clone();
            go(async move {
                if wrong {
                    status.send(()).await.unwrap();
                } else {
                    let _ = status.try_send(());
                }
            })
        })
        .collect();
    let stop = go(async move { drop(stop) });
    let _open = agent.await.unwrap();
    join(runs).await;
    join([stop]).await;
}

/// A dispatcher that sees that its connection closes does so itself, and waits for the end of all dispatchers.
async fn syncthing_5795(wrong: bool) {
    let is_closing = Shared::new(false);
    let stopped = Arc::new(Notify::new());
    let dispatcher = {
        let (is_closing, stopped) = (is_closing.clone(), stopped.clone());
        async move {
            for _ in 0..3 {
                if is_closing.get().await {
                    if wrong {
                        stopped.notified().await;
                    }
                    break;
                }
            }
            stopped.notify_one();
        }
    };
    let close = async move {
        is_closing.set(true).await;
        stopped.notified().await;
    };
    join([go(dispatcher), go(close)]).await;
}

/// A flag says whether a channel is closed: a message is sent between the look at the flag and the end of the channel.
async fn serving_5865(wrong: bool) {
    let is_closed = Shared::new(false);
    let queue = Shared::new(Some(Vec::new()));
    let send = {
        let (is_closed, queue) = (is_closed.clone(), queue.clone());
        async move {
            if wrong {
                if !is_closed.get().await {
                    let is_sent = queue.update(|queue| queue.as_mut().map(|queue| queue.push(1)));
                    assert!(is_sent.await.is_some(), "send on a closed channel");
                }
            } else {
                queue.update(|queue| queue.as_mut().map(|queue| queue.push(1))).await;
            }
        }
    };
    let close = async move {
        is_closed.set(true).await;
        queue.set(None).await;
    };
    join([go(send), go(close)]).await;
}

/// A reporter is stopped: each of its senders looks for the stop first, and sends then.
async fn serving_3068(wrong: bool) {
    let (stats, of_stats) = mpsc::channel(8);
    let is_stopped = Shared::new(false);
    let senders: Vec<_> = (0..2)
        .map(|number| {
            let (stats, is_stopped) = (stats.clone(), is_stopped.clone());
            go(async move {
                if !is_stopped.get().await {
                    let is_sent = stats.send(number).await.is_ok();
                    assert!(is_sent || !wrong, "send on a closed channel");
                }
            })
        })
        .collect();
    let stop = go(async move {
        is_stopped.set(true).await;
        drop(of_stats);
    });
    join(senders).await;
    join([stop]).await;
}
