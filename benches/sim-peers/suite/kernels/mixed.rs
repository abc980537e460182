//! A lock that is held while its task waits for a channel or a group: GoBench's mixed deadlocks.

use super::tools::{Condition, WaitGroup, go, join, unbuffered};
use super::{HANGS, kernels};
use colored::select;
use colored::sync::{Mutex, Notify, mpsc, oneshot};
use std::sync::Arc;

kernels! {
    Turn cockroach_1055 "GoBench cockroach#1055" HANGS;
    Turn etcd_6873 "GoBench etcd#6873" HANGS;
    Turn etcd_7492 "GoBench etcd#7492" HANGS;
    Turn etcd_7902 "GoBench etcd#7902" HANGS;
    Turn grpc_1353 "GoBench grpc#1353" HANGS;
    Turn grpc_1460 "GoBench grpc#1460" HANGS;
    Turn istio_16224 "GoBench istio#16224" HANGS;
    Turn kubernetes_1321 "GoBench kubernetes#1321" HANGS;
    Turn kubernetes_6632 "GoBench kubernetes#6632" HANGS;
    Turn kubernetes_10182 "GoBench kubernetes#10182" HANGS;
    Turn moby_28462 "GoBench moby#28462" HANGS;
    Turn serving_2137 "GoBench serving#2137" HANGS;
}

/// The stop of a server waits for its tasks under the lock that a starting task takes.
async fn cockroach_1055(wrong: bool) {
    let lock = Arc::new(Mutex::new(()));
    let tasks = WaitGroup::new(1);
    let task = {
        let (lock, tasks) = (lock.clone(), tasks.clone());
        async move {
            drop(lock.lock().await);
            tasks.done();
        }
    };
    let stop = async move {
        let guard = lock.lock().await;
        let _kept = if wrong {
            Some(guard)
        } else {
            drop(guard);
            None
        };
        tasks.wait().await;
    };
    join([go(task), go(stop)]).await;
}

/// A broadcast ends: it waits, under its lock, for the task that takes updates, and this takes the lock for the last one.
async fn etcd_6873(wrong: bool) {
    let lock = Arc::new(Mutex::new(()));
    let (updates, mut of_broadcast) = mpsc::channel(1);
    let (done, is_done) = oneshot::channel::<()>();
    let coalesce = {
        let lock = lock.clone();
        async move {
            while of_broadcast.recv().await.is_some() {
                drop(lock.lock().await);
            }
            drop(done);
        }
    };
    let update = {
        let updates = updates.clone();
        async move { updates.send(()).await.unwrap() }
    };
    let (coalesce, update) = (go(coalesce), go(update));
    let stop = go(async move {
        let guard = lock.lock().await;
        let _kept = if wrong {
            Some(guard)
        } else {
            drop(guard);
            None
        };
        drop(updates);
        let _ = is_done.await;
    });
    join([coalesce, update, stop]).await;
}

/// A token is added by a channel under the lock of all tokens; its keeper takes this lock when a token is too old.
async fn etcd_7492(wrong: bool) {
    let tokens = Arc::new(Mutex::new(0));
    let (add, mut of_keeper) = unbuffered();
    let tick = Arc::new(Notify::new());
    let keeper = {
        let (tokens, tick) = (tokens.clone(), tick.clone());
        async move {
            loop {
                select! {
                    biased;
                    () = tick.notified() => *tokens.lock().await -= 1,
                    added = of_keeper.recv() => if added.is_none() { break },
                }
            }
        }
    };
    let assign = |_| {
        let (tokens, add) = (tokens.clone(), add.clone());
        go(async move {
            let mut all = tokens.lock().await;
            *all += 1;
            let _kept = if wrong {
                Some(all)
            } else {
                drop(all);
                None
            };
            assert!(add.send(()).await);
        })
    };
    let mut tasks: Vec<_> = (0..2).map(assign).collect();
    drop(add);
    tasks.push(go(keeper));
    tick.notify_one();
    join(tasks).await;
}

/// Rounds of an election: under the lock, each candidate waits for the leader to end the round, and so does the leader.
async fn etcd_7902(wrong: bool) {
    let lock = Arc::new(Mutex::new(()));
    let round = Arc::new(Notify::new());
    let validated = WaitGroup::new(2);
    let elect = |number: u32| {
        let (lock, round, validated) = (lock.clone(), round.clone(), validated.clone());
        async move {
            let is_leader = number == 0;
            let ended = round.notified();
            validated.done();
            let guard = lock.lock().await;
            let _kept = if wrong {
                Some(guard)
            } else {
                drop(guard);
                None
            };
            if is_leader {
                validated.wait().await;
                round.notify_waiters();
            } else {
                ended.await;
            }
        }
    };
    join([go(elect(0)), go(elect(1))]).await;
}

/// A balancer sends addresses under its lock. The reader of an update that removes an address takes the lock.
async fn grpc_1353(wrong: bool) {
    let lock = Arc::new(Mutex::new(()));
    let (updates, mut of_watcher) = unbuffered();
    let watcher = {
        let lock = lock.clone();
        async move {
            while of_watcher.recv().await.is_some() {
                drop(lock.lock().await);
            }
        }
    };
    let resolve = async move {
        for _ in 0..2 {
            let guard = lock.lock().await;
            let _kept = if wrong {
                Some(guard)
            } else {
                drop(guard);
                None
            };
            assert!(updates.send(()).await);
        }
    };
    join([go(watcher), go(resolve)]).await;
}

/// Keep-alive waits for a first stream with the lock, which a new stream takes before it wakes keep-alive.
async fn grpc_1460(wrong: bool) {
    let streams = Arc::new(Mutex::new(0));
    let awake = Condition::default();
    let keep_alive = {
        let (streams, awake) = (streams.clone(), awake.clone());
        async move {
            let mut count = streams.lock().await;
            while *count == 0 {
                if wrong {
                    let (own, lock) = (Mutex::new(()), count);
                    let guard = own.lock().await;
                    drop(awake.wait(&own, guard).await);
                    count = lock;
                } else {
                    count = awake.wait(&streams, count).await;
                }
            }
        }
    };
    let open = async move {
        *streams.lock().await += 1;
        awake.signal();
    };
    join([go(keep_alive), go(open)]).await;
}

/// A cache hands its events on under its lock; the handler takes the lock to say that it has seen the first one.
async fn istio_16224(wrong: bool) {
    let lock = Arc::new(Mutex::new(0));
    let (events, mut of_handler) = mpsc::channel(1);
    let handler = {
        let lock = lock.clone();
        async move {
            while of_handler.recv().await.is_some() {
                *lock.lock().await += 1;
            }
        }
    };
    let produce = async move {
        let guard = lock.lock().await;
        let _kept = if wrong {
            Some(guard)
        } else {
            drop(guard);
            None
        };
        for _ in 0..3 {
            events.send(()).await.unwrap();
        }
    };
    join([go(handler), go(produce)]).await;
}

/// A watcher's stop closes its channel under the lock which the distribution holds while it sends.
async fn kubernetes_1321(wrong: bool) {
    let lock = Arc::new(Mutex::new(()));
    let (result, mut of_watcher) = unbuffered();
    let stopped = Arc::new(Notify::new());
    let distribute = {
        let (lock, stopped) = (lock.clone(), stopped.clone());
        async move {
            let _guard = lock.lock().await;
            select! {
                biased;
                () = stopped.notified(), if !wrong => {}
                _ = result.send(()) => {}
            }
        }
    };
    let watch = async move {
        let got = of_watcher.try_recv();
        stopped.notify_one();
        if !got {
            drop(lock.lock().await);
        }
        drop(of_watcher);
    };
    join([go(distribute), go(watch)]).await;
}

/// A frame is written under a lock, and a reset sent to a channel of one place; the monitor closes it under the lock.
async fn kubernetes_6632(wrong: bool) {
    let lock = Arc::new(Mutex::new(()));
    let (reset, mut of_monitor) = mpsc::channel(1);
    let (close, closed) = oneshot::channel::<()>();
    let monitor = {
        let lock = lock.clone();
        async move {
            select! {
                biased;
                _ = closed => {
                    if !wrong {
                        of_monitor.close();
                    }
                    drop(lock.lock().await);
                }
                () = async { while of_monitor.recv().await.is_some() {} } => {}
            }
        }
    };
    let write = async move {
        for _ in 0..2 {
            let _guard = lock.lock().await;
            let _ = reset.send(()).await;
        }
    };
    let end = async move { drop(close) };
    join([go(monitor), go(write), go(end)]).await;
}

/// Pods' states go through a channel under a lock; the receiver deletes a state under the lock.
async fn kubernetes_10182(wrong: bool) {
    let lock = Arc::new(Mutex::new(()));
    let (states, mut of_manager) = unbuffered();
    let manager = {
        let lock = lock.clone();
        async move {
            while of_manager.recv().await.is_some() {
                drop(lock.lock().await);
            }
        }
    };
    let set = |_| {
        let (lock, states) = (lock.clone(), states.clone());
        go(async move {
            let guard = lock.lock().await;
            let _kept = if wrong {
                Some(guard)
            } else {
                drop(guard);
                None
            };
            assert!(states.send(()).await);
        })
    };
    let setters: Vec<_> = (0..2).map(set).collect();
    drop(states);
    join(setters.into_iter().chain([go(manager)])).await;
}

/// A health monitor handles a result under the container's lock, under which the daemon stops the monitor by a channel.
async fn moby_28462(wrong: bool) {
    let container = Arc::new(Mutex::new(0));
    let (stop, mut of_monitor) = unbuffered();
    let monitor = {
        let container = container.clone();
        async move {
            for _ in 0..2 {
                if of_monitor.try_recv() {
                    return;
                }
                *container.lock().await += 1;
            }
            of_monitor.recv().await;
        }
    };
    let change = async move {
        let guard = container.lock().await;
        let _kept = if wrong {
            Some(guard)
        } else {
            drop(guard);
            None
        };
        assert!(stop.send(()).await);
    };
    join([go(monitor), go(change)]).await;
}

/// Two requests with a lock each, in a breaker that admits one at a time. The test unlocks them in the order in which it has
/// made them, and waits for each to be accepted; the breaker may have them in the other order.
async fn serving_2137(wrong: bool) {
    let breaker = Arc::new(Mutex::new(0));
    let gates = [Arc::new(Mutex::new(())), Arc::new(Mutex::new(()))];
    let mut accepted = Vec::new();
    let mut requests = Vec::new();
    let mut held = Vec::new();
    for gate in &gates {
        let (accept, is_accepted) = oneshot::channel();
        held.push(gate.clone().lock_owned().await);
        accepted.push(is_accepted);
        let (breaker, gate) = (breaker.clone(), gate.clone());
        requests.push(go(async move {
            let mut count = breaker.lock().await;
            drop(gate.lock().await);
            *count += 1;
            let _ = accept.send(());
        }));
    }
    if wrong {
        for (gate, is_accepted) in held.into_iter().zip(accepted) {
            drop(gate);
            is_accepted.await.unwrap();
        }
    } else {
        drop(held);
        for is_accepted in accepted {
            is_accepted.await.unwrap();
        }
    }
    join(requests).await;
}
