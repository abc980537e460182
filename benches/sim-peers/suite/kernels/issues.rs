//! Known issues of asynchronous projects: lost wakes, steps that are not one, locks that live too long.

use super::tools::{Condition, Shared, go, join, unbuffered};
use super::{HANGS, kernels};
use colored::sync::{Mutex, Notify, mpsc};
use colored::{select, yield_now};
use std::sync::Arc;

kernels! {
    Turn tokio_2134 "tokio-rs/tokio#2123, #2134" HANGS;
    Turn rustfs_4498 "rustfs/rustfs#4498" HANGS;
    Turn rust_sdk_611 "modelcontextprotocol/rust-sdk#610, #611" HANGS;
    Turn icechunk_138 "earth-mover/icechunk#138" "set twice";
    Turn icechunk_1369 "earth-mover/icechunk#1369" "a commit is lost";
    Turn icechunk_1635 "earth-mover/icechunk#1635, #1840" "an update of the past";
    Turn octos_1573 "octos-org/octos#1573" "two turns at a time";
    Turn iroh_docs_81 "n0-computer/iroh-docs#81" HANGS;
    Turn asio_1652 "chriskohlhoff/asio#1652" HANGS;
    Turn asio_1574 "chriskohlhoff/asio#1574" HANGS;
    Turn shannon_241 "KeygraphHQ/shannon#241" "two hold the lock";
    Turn match_deadlock "shuttle's async_match_deadlock" HANGS;
}

/// A channel's reader gives a place free, and signals that without the lock under which the sender looks and waits.
async fn tokio_2134(wrong: bool) {
    let (is_full, lock) = (Shared::new(true), Arc::new(Mutex::new(())));
    let freed = Condition::default();
    let send = {
        let (is_full, lock, freed) = (is_full.clone(), lock.clone(), freed.clone());
        async move {
            let mut guard = lock.lock().await;
            while is_full.get().await {
                guard = freed.wait(&lock, guard).await;
            }
        }
    };
    let receive = async move {
        let _guard = if wrong { None } else { Some(lock.lock().await) };
        is_full.set(false).await;
        freed.signal();
    };
    join([go(send), go(receive)]).await;
}

/// Who wants a place, and who waits for the end of all, wait for one `Notify`: the place's one notice goes to the other.
async fn rustfs_4498(wrong: bool) {
    let free = Arc::new(std::sync::Mutex::new(0));
    let (given, is_idle) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let take = {
        let (free, given, is_idle) = (free.clone(), given.clone(), is_idle.clone());
        async move {
            while *free.lock().unwrap() == 0 {
                given.notified().await;
            }
            *free.lock().unwrap() -= 1;
            yield_now().await;
            *free.lock().unwrap() += 1;
            given.notify_one();
            is_idle.notify_one();
        }
    };
    let drain = {
        let (free, given, is_idle) = (free.clone(), given.clone(), is_idle.clone());
        async move {
            while *free.lock().unwrap() == 0 {
                if wrong { given.notified().await } else { is_idle.notified().await }
            }
        }
    };
    let give = async move {
        yield_now().await;
        *free.lock().unwrap() += 1;
        given.notify_one();
        is_idle.notify_one();
    };
    join([go(take), go(drain), go(give)]).await;
}

/// A transport says by `notify_waiters` that it is closed, to a receiver whose wait has been dropped for another branch.
async fn rust_sdk_611(wrong: bool) {
    let is_closed = Arc::new(Notify::new());
    let (tasks, mut of_loop) = mpsc::channel(1);
    let serve = {
        let is_closed = is_closed.clone();
        async move {
            loop {
                select! {
                    biased;
                    () = is_closed.notified() => break,
                    Some(()) = of_loop.recv() => yield_now().await,
                }
            }
        }
    };
    let close = async move {
        tasks.send(()).await.unwrap();
        if wrong {
            is_closed.notify_waiters();
        } else {
            is_closed.notify_one();
        }
    };
    let (serve, close) = (go(serve), go(close));
    join([close, serve]).await;
}

/// A key is set if it does not exist: the look and the writing are two steps.
async fn icechunk_138(wrong: bool) {
    let (key, writes) = (Shared::new(None), Shared::new(0));
    let set = |value: u32| {
        let (key, writes) = (key.clone(), writes.clone());
        go(async move {
            let is_new = if wrong {
                let is_new = key.get().await.is_none();
                if is_new {
                    key.set(Some(value)).await;
                }
                is_new
            } else {
                key.update(move |key| {
                    let is_new = key.is_none();
                    key.get_or_insert(value);
                    is_new
                })
                .await
            };
            writes.update(move |writes| *writes += u32::from(is_new)).await;
        })
    };
    join([set(1), set(2)]).await;
    assert!(writes.get().await == 1, "set twice");
}

/// The garbage collection reads the list of commits, looks for garbage, and writes the list back.
async fn icechunk_1369(wrong: bool) {
    let (commits, version) = (Shared::new(vec![1]), Shared::new(0));
    let commit = {
        let (commits, version) = (commits.clone(), version.clone());
        async move {
            commits.update(|commits| commits.push(2)).await;
            version.update(|version| *version += 1).await;
        }
    };
    let collect = {
        let commits = commits.clone();
        async move {
            let seen = commits.get().await;
            version.get().await;
            commits
                .update(move |commits| {
                    if wrong {
                        *commits = seen;
                    }
                })
                .await;
        }
    };
    join([go(commit), go(collect)]).await;
    assert!(commits.get().await.contains(&2), "a commit is lost");
}

/// An update has the time at which it began, and is put behind one that began later.
async fn icechunk_1635(wrong: bool) {
    let (clock, log) = (Shared::new(0_u64), Shared::new(Vec::new()));
    let update = |_| {
        let (clock, log) = (clock.clone(), log.clone());
        go(async move {
            loop {
                // The twin reads the log before the clock, and tries again if the log has changed.
                let version = log.get().await.len();
                let now = clock
                    .update(|clock| {
                        *clock += 1;
                        *clock
                    })
                    .await;
                let add = move |log: &mut Vec<u64>| {
                    if !wrong && log.len() != version {
                        return false;
                    }
                    assert!(log.last().is_none_or(|last| *last < now), "an update of the past");
                    log.push(now);
                    true
                };
                if log.update(add).await {
                    break;
                }
            }
        })
    };
    let updates: Vec<_> = (0..2).map(update).collect();
    join(updates).await;
}

/// A prompt begins a turn of its session although one is under way.
async fn octos_1573(wrong: bool) {
    let (is_busy, turns) = (Shared::new(false), Shared::new(0));
    let prompt = |_| {
        let (is_busy, turns) = (is_busy.clone(), turns.clone());
        go(async move {
            if !wrong && is_busy.update(|is_busy| std::mem::replace(is_busy, true)).await {
                return;
            }
            let count = turns
                .update(|turns| {
                    *turns += 1;
                    *turns
                })
                .await;
            assert!(count == 1, "two turns at a time");
            turns.update(|turns| *turns -= 1).await;
            is_busy.set(false).await;
        })
    };
    let prompts: Vec<_> = (0..2).map(prompt).collect();
    join(prompts).await;
}

/// An actor hands its events to a subscriber with a full queue. The subscriber asks the actor about the first one.
async fn iroh_docs_81(wrong: bool) {
    let (events, mut of_subscriber) = mpsc::channel(1);
    let (questions, mut of_actor) = unbuffered();
    let actor = async move {
        for _ in 0..3 {
            if !wrong {
                let _ = events.try_send(());
            } else {
                events.send(()).await.unwrap();
            }
            yield_now().await;
        }
        drop(events);
        while of_actor.recv().await.is_some() {}
    };
    let subscriber = async move {
        while of_subscriber.recv().await.is_some() {
            assert!(questions.send(()).await);
        }
    };
    join([go(actor), go(subscriber)]).await;
}

/// A timer's expiry is set to the past, and a wait begins, each in two steps: who waits is not among the waiters yet when
/// they are cancelled, and has looked at the old expiry before.
async fn asio_1652(wrong: bool) {
    let (has_expired, waiters) = (Shared::new(false), Shared::new(0));
    let (woken, lock) = (Arc::new(Notify::new()), Arc::new(Mutex::new(())));
    let wait = {
        let (has_expired, waiters) = (has_expired.clone(), waiters.clone());
        let (woken, lock) = (woken.clone(), lock.clone());
        async move {
            let guard = if wrong { None } else { Some(lock.lock().await) };
            if has_expired.get().await {
                return;
            }
            waiters.update(|waiters| *waiters += 1).await;
            drop(guard);
            woken.notified().await;
        }
    };
    let expire = async move {
        let _guard = if wrong { None } else { Some(lock.lock().await) };
        has_expired.set(true).await;
        for _ in 0..waiters.get().await {
            woken.notify_one();
        }
    };
    join([go(wait), go(expire)]).await;
}

/// A cancellation reaches the operation that is under way; the one that begins behind it does not look.
async fn asio_1574(wrong: bool) {
    let is_cancelled = Shared::new(false);
    let under_way = Arc::new(Notify::new());
    let operate = {
        let (is_cancelled, under_way) = (is_cancelled.clone(), under_way.clone());
        async move {
            // Another operation, which ends by itself.
            yield_now().await;
            let cancelled = under_way.notified();
            if wrong || !is_cancelled.get().await {
                cancelled.await;
            }
        }
    };
    let cancel = async move {
        is_cancelled.set(true).await;
        under_way.notify_waiters();
    };
    join([go(operate), go(cancel)]).await;
}

/// A lock made of a promise: all who wait go on together when it is kept.
async fn shannon_241(wrong: bool) {
    let (is_held, freed) = (Arc::new(std::sync::Mutex::new(false)), Arc::new(Notify::new()));
    let holders = Shared::new(0);
    let session = |_| {
        let (is_held, freed, holders) = (is_held.clone(), freed.clone(), holders.clone());
        go(async move {
            loop {
                let promise = freed.notified();
                let was_held = std::mem::replace(&mut *is_held.lock().unwrap(), true);
                if !was_held {
                    break;
                }
                promise.await;
                if wrong {
                    break;
                }
            }
            let count = holders
                .update(|holders| {
                    *holders += 1;
                    *holders
                })
                .await;
            assert!(count == 1, "two hold the lock");
            holders.update(|holders| *holders -= 1).await;
            *is_held.lock().unwrap() = false;
            freed.notify_waiters();
        })
    };
    let sessions: Vec<_> = (0..3).map(session).collect();
    join(sessions).await;
}

/// The guard of the value that a `match` looks at lives until its end: an arm waits for somebody who wants the lock.
async fn match_deadlock(wrong: bool) {
    let state = Arc::new(Mutex::new(0));
    let (sender, mut receiver) = mpsc::channel::<()>(1);
    let receive = {
        let state = state.clone();
        async move {
            let seen = if wrong { None } else { Some(*state.lock().await) };
            match seen {
                Some(0) => drop(receiver.recv().await),
                Some(_) => {}
                #[expect(clippy::single_match, reason = "an `if` gives the lock back")]
                None => match *state.lock().await {
                    0 => drop(receiver.recv().await),
                    _ => {}
                },
            }
        }
    };
    let change = async move {
        *state.lock().await += 1;
        let _ = sender.send(()).await;
    };
    join([go(receive), go(change)]).await;
}
