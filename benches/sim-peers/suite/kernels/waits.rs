//! Wait groups, conditions, timers and orders that nothing ensures: GoBench's other kernels.

use super::tools::{Condition, Shared, WaitGroup, go, join};
use super::{HANGS, kernels};
use colored::sync::{Mutex, Notify};
use colored::time::{Duration, sleep};
use colored::{select, yield_now};
use std::sync::Arc;

kernels! {
    Turn cockroach_4407 "GoBench cockroach#4407" "added to a group after the wait";
    Turn kubernetes_13058 "GoBench kubernetes#13058" "a worker after the end";
    Turn kubernetes_11298 "GoBench kubernetes#11298" HANGS;
    Turn moby_30408 "GoBench moby#30408" HANGS;
    Turn istio_18454 "GoBench istio#18454" HANGS;
    Turn moby_18412 "GoBench moby#18412" "the file is closed";
    Turn etcd_4876 "GoBench etcd#4876" "two watchers have one number";
    Turn grpc_1748 "GoBench grpc#1748" "a picker of the past";
    Turn kubernetes_80284 "GoBench kubernetes#80284" "another client's connection";
    Turn kubernetes_81148 "GoBench kubernetes#81148" "a pod is lost";
}

/// A server starts a task while its stop, which has looked at the drain flag before, waits for all tasks.
async fn cockroach_4407(wrong: bool) {
    let tasks = WaitGroup::new(0);
    let (is_draining, has_ended) = (Shared::new(false), Shared::new(false));
    let lock = Arc::new(Mutex::new(()));
    let start = {
        let (tasks, is_draining, has_ended) =
            (tasks.clone(), is_draining.clone(), has_ended.clone());
        let lock = lock.clone();
        async move {
            let guard = if wrong { None } else { Some(lock.lock().await) };
            if is_draining.get().await {
                return;
            }
            tasks.add(1).await;
            drop(guard);
            assert!(!has_ended.get().await, "added to a group after the wait");
            tasks.done();
        }
    };
    let stop = async move {
        {
            let _guard = lock.lock().await;
            is_draining.set(true).await;
        }
        tasks.wait().await;
        has_ended.set(true).await;
    };
    join([go(start), go(stop)]).await;
}

/// The thread itself adds to the group that counts it.
async fn kubernetes_13058(wrong: bool) {
    let workers = WaitGroup::new(0);
    let has_ended = Shared::new(false);
    let mut all = Vec::new();
    for _ in 0..2 {
        if !wrong {
            workers.add(1).await;
        }
        let (workers, has_ended) = (workers.clone(), has_ended.clone());
        all.push(go(async move {
            if wrong {
                workers.add(1).await;
            }
            let is_late = has_ended.get().await;
            workers.done();
            assert!(!is_late, "a worker after the end");
        }));
    }
    workers.wait().await;
    has_ended.set(true).await;
    join(all).await;
}

/// A node waits for a condition, once for each of two notices, of which one may come before the wait.
async fn kubernetes_11298(wrong: bool) {
    let notices = Arc::new(Mutex::new(0));
    let changed = Condition::default();
    let node = {
        let (notices, changed) = (notices.clone(), changed.clone());
        async move {
            let mut seen = 0;
            let mut count = notices.lock().await;
            while seen < 2 {
                if wrong || *count == seen {
                    count = changed.wait(&notices, count).await;
                }
                seen = if wrong { seen + 1 } else { *count };
            }
        }
    };
    let notify = async move {
        for _ in 0..2 {
            *notices.lock().await += 1;
            changed.signal();
            yield_now().await;
        }
    };
    join([go(node), go(notify)]).await;
}

/// A plugin is activated: who waits looks at its state without the lock of the condition.
async fn moby_30408(wrong: bool) {
    let (state, is_active) = (Shared::new(false), Condition::default());
    let lock = Arc::new(Mutex::new(()));
    let wait = {
        let (state, is_active, lock) = (state.clone(), is_active.clone(), lock.clone());
        async move {
            if wrong {
                if !state.get().await {
                    let guard = lock.lock().await;
                    drop(is_active.wait(&lock, guard).await);
                }
            } else {
                let mut guard = lock.lock().await;
                while !state.get().await {
                    guard = is_active.wait(&lock, guard).await;
                }
            }
        }
    };
    let activate = async move {
        let guard = lock.lock().await;
        state.set(true).await;
        drop(guard);
        is_active.broadcast();
    };
    join([go(wait), go(activate)]).await;
}

/// A timer is stopped by two: who comes second waits for a tick that the first has taken.
async fn istio_18454(wrong: bool) {
    let has_fired = Shared::new(false);
    let tick = Arc::new(Notify::new());
    let timer = {
        let (has_fired, tick) = (has_fired.clone(), tick.clone());
        go(async move {
            sleep(Duration::from_millis(5)).await;
            has_fired.set(true).await;
            tick.notify_one();
        })
    };
    let stop = |_| {
        let (has_fired, tick) = (has_fired.clone(), tick.clone());
        go(async move {
            sleep(Duration::from_millis(5)).await;
            if has_fired.get().await {
                select! {
                    biased;
                    () = tick.notified() => {}
                    () = yield_now(), if !wrong => {}
                }
            }
        })
    };
    let stops: Vec<_> = (0..2).map(stop).collect();
    join(stops).await;
    join([timer]).await;
}

/// A copier writes to a file, which is closed when the container has ended: nothing orders the last write before that.
async fn moby_18412(wrong: bool) {
    let is_open = Shared::new(true);
    let copied = WaitGroup::new(1);
    let copy = {
        let (is_open, copied) = (is_open.clone(), copied.clone());
        async move {
            for _ in 0..2 {
                assert!(is_open.get().await, "the file is closed");
            }
            copied.done();
        }
    };
    let end = async move {
        for _ in 0..6 {
            yield_now().await;
        }
        if !wrong {
            copied.wait().await;
        }
        is_open.set(false).await;
    };
    join([go(copy), go(end)]).await;
}

/// Numbers of watchers: one is read, and the next one written, in two steps.
async fn etcd_4876(wrong: bool) {
    let next = Shared::new(0_u32);
    let given = Shared::new(Vec::new());
    let watch = |_| {
        let (next, given) = (next.clone(), given.clone());
        go(async move {
            let number = if wrong {
                let number = next.get().await;
                next.set(number + 1).await;
                number
            } else {
                next.update(|next| std::mem::replace(next, *next + 1)).await
            };
            let is_new = move |given: &mut Vec<u32>| {
                let is_new = !given.contains(&number);
                given.push(number);
                is_new
            };
            assert!(given.update(is_new).await, "two watchers have one number");
        })
    };
    let watchers: Vec<_> = (0..3).map(watch).collect();
    join(watchers).await;
}

/// A balancer makes its picker from its state in two steps: of two changes, the older picker may be written last.
async fn grpc_1748(wrong: bool) {
    let (state, picker) = (Shared::new(0_u32), Shared::new(0_u32));
    let lock = Arc::new(Mutex::new(()));
    let change = |_| {
        let (state, picker, lock) = (state.clone(), picker.clone(), lock.clone());
        go(async move {
            let _guard = if wrong { None } else { Some(lock.lock().await) };
            let new = state
                .update(|state| {
                    *state += 1;
                    *state
                })
                .await;
            picker.set(new).await;
        })
    };
    let changes: Vec<_> = (0..2).map(change).collect();
    join(changes).await;
    assert!(state.get().await == picker.get().await, "a picker of the past");
}

/// A client's dialer is set, and then used: another client sets its own in between.
async fn kubernetes_80284(wrong: bool) {
    let dialer = Shared::new(0_u32);
    let connect = |client: u32| {
        let dialer = dialer.clone();
        go(async move {
            let used = if wrong {
                dialer.set(client).await;
                dialer.get().await
            } else {
                dialer
                    .update(move |dialer| {
                        *dialer = client;
                        *dialer
                    })
                    .await
            };
            assert!(used == client, "another client's connection");
        })
    };
    join([connect(1), connect(2)]).await;
}

/// A queue of pods that cannot be scheduled: a move takes all of them, and writes the empty queue back.
async fn kubernetes_81148(wrong: bool) {
    let (waiting, active) = (Shared::new(vec![1]), Shared::new(Vec::new()));
    let add = {
        let waiting = waiting.clone();
        go(async move { waiting.update(|waiting| waiting.push(2)).await })
    };
    let take_all = {
        let (waiting, active) = (waiting.clone(), active.clone());
        go(async move {
            let mut all = if wrong {
                let all = waiting.get().await;
                waiting.set(Vec::new()).await;
                all
            } else {
                waiting.update(std::mem::take).await
            };
            active.update(move |active| active.append(&mut all)).await;
        })
    };
    join([add, take_all]).await;
    let count = waiting.get().await.len() + active.get().await.len();
    assert!(count == 2, "a pod is lost");
}
