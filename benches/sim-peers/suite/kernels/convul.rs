//! ConVul: races of kernels and browsers that were security holes. Memory that is freed is an `Option` that is `None`.

use super::kernels;
use super::tools::{Shared, go, join};
use colored::sync::Mutex;
use std::sync::Arc;

kernels! {
    Turn cve_2009_3547 "ConVul CVE-2009-3547" "the pipe is gone";
    Turn cve_2011_2183 "ConVul CVE-2011-2183" "the slot is freed";
    Turn cve_2013_1792 "ConVul CVE-2013-1792" "no session keyring";
    Turn cve_2015_7550 "ConVul CVE-2015-7550" "the keys are gone";
    Turn cve_2016_1972 "ConVul CVE-2016-1972" "the lock is freed";
    Turn cve_2016_1973 "ConVul CVE-2016-1973" "the instance is deleted";
    Turn cve_2016_7911 "ConVul CVE-2016-7911" "the context is gone";
    Turn cve_2016_9806 "ConVul CVE-2016-9806" "freed twice";
    Turn cve_2017_6346 "ConVul CVE-2017-6346" "freed twice";
    Turn cve_2017_15265 "ConVul CVE-2017-15265" "the port is freed";
}

fn lock() -> Arc<Mutex<()>> {
    Arc::default()
}

/// A pipe is opened for writing while its last reader closes it.
async fn cve_2009_3547(wrong: bool) {
    let (pipe, lock) = (Shared::new(Some(0)), lock());
    let open = {
        let (pipe, lock) = (pipe.clone(), lock.clone());
        async move {
            let _guard = lock.lock().await;
            let counted = pipe.update(|pipe| pipe.as_mut().map(|writers| *writers += 1)).await;
            // The twin gives an error to its caller.
            assert!(counted.is_some() || !wrong, "the pipe is gone");
        }
    };
    let close = async move {
        let _guard = lock.lock().await;
        pipe.set(None).await;
    };
    join([go(open), go(close)]).await;
}

/// A scan of pages remembers the next slot, which its process frees when it ends.
async fn cve_2011_2183(wrong: bool) {
    let (slot, cursor, lock) = (Shared::new(Some(7)), Shared::new(false), lock());
    let scan = {
        let (slot, cursor, lock) = (slot.clone(), cursor.clone(), lock.clone());
        async move {
            let guard = lock.lock().await;
            let is_listed = slot.get().await.is_some();
            let _kept = if wrong {
                drop(guard);
                None
            } else {
                Some(guard)
            };
            if is_listed {
                cursor.set(true).await;
                assert!(slot.get().await.is_some(), "the slot is freed");
                cursor.set(false).await;
            }
        }
    };
    let exit = async move {
        let _guard = lock.lock().await;
        if !cursor.get().await {
            slot.set(None).await;
        }
    };
    join([go(scan), go(exit)]).await;
}

/// A user's keyrings are installed, the user's one first; who finds that takes the session's for granted.
async fn cve_2013_1792(wrong: bool) {
    let (user, session) = (Shared::new(None), Shared::new(None));
    let install = {
        let (user, session) = (user.clone(), session.clone());
        async move {
            if wrong {
                user.set(Some(1)).await;
                session.set(Some(2)).await;
            } else {
                session.set(Some(2)).await;
                user.set(Some(1)).await;
            }
        }
    };
    let look_up = async move {
        if user.get().await.is_some() {
            assert!(session.get().await.is_some(), "no session keyring");
        }
    };
    join([go(install), go(look_up)]).await;
}

/// A key is validated, and then read under its lock: it is revoked in between.
async fn cve_2015_7550(wrong: bool) {
    let (is_revoked, keys, lock) = (Shared::new(false), Shared::new(Some(3)), lock());
    let read = {
        let (is_revoked, keys, lock) = (is_revoked.clone(), keys.clone(), lock.clone());
        async move {
            let mut guard = None;
            if !wrong {
                guard = Some(lock.lock().await);
            }
            if !is_revoked.get().await {
                if guard.is_none() {
                    guard = Some(lock.lock().await);
                }
                assert!(keys.get().await.is_some(), "the keys are gone");
            }
            drop(guard);
        }
    };
    let revoke = async move {
        let _guard = lock.lock().await;
        is_revoked.set(true).await;
        keys.set(None).await;
    };
    join([go(read), go(revoke)]).await;
}

/// Something is done once, under a lock that the last who waits for it frees: another one has looked before, and waits now.
async fn cve_2016_1972(wrong: bool) {
    let (is_done, waiters, is_freed) = (Shared::new(false), Shared::new(0), Shared::new(false));
    let once = |_| {
        let (is_done, waiters, is_freed) = (is_done.clone(), waiters.clone(), is_freed.clone());
        go(async move {
            if !wrong {
                waiters.update(|waiters| *waiters += 1).await;
            }
            if !is_done.get().await {
                if wrong {
                    waiters.update(|waiters| *waiters += 1).await;
                }
                assert!(!is_freed.get().await, "the lock is freed");
                is_done.set(true).await;
            } else if wrong {
                return;
            }
            let is_last = waiters
                .update(|waiters| {
                    *waiters -= 1;
                    *waiters == 0
                })
                .await;
            if is_last && is_done.get().await {
                is_freed.set(true).await;
            }
        })
    };
    let threads: Vec<_> = (0..2).map(once).collect();
    join(threads).await;
}

/// A counted instance: two who create it at the same time count by one too few, and one loses it.
async fn cve_2016_1973(wrong: bool) {
    let (count, instance, lock) = (Shared::new(0), Shared::new(None), lock());
    let hold = |_| {
        let (count, instance, lock) = (count.clone(), instance.clone(), lock.clone());
        go(async move {
            let guard = if wrong { None } else { Some(lock.lock().await) };
            if count.get().await == 0 {
                if count
                    .update(|count| {
                        *count += 1;
                        *count
                    })
                    .await
                    == 1
                {
                    instance.set(Some(1)).await;
                } else {
                    count.update(|count| *count -= 1).await;
                }
            } else {
                count.update(|count| *count += 1).await;
            }
            drop(guard);
            assert!(instance.get().await.is_some(), "the instance is deleted");
            let _guard = if wrong { None } else { Some(lock.lock().await) };
            if count
                .update(|count| {
                    *count -= 1;
                    *count
                })
                .await
                <= 0
            {
                instance.set(None).await;
            }
        })
    };
    let threads: Vec<_> = (0..2).map(hold).collect();
    join(threads).await;
}

/// The I/O priority of another task: its context is looked for, and read, while the task ends.
async fn cve_2016_7911(wrong: bool) {
    let (context, lock) = (Shared::new(Some(4)), lock());
    let read = {
        let (context, lock) = (context.clone(), lock.clone());
        async move {
            let _guard = if wrong { None } else { Some(lock.lock().await) };
            if context.get().await.is_some() {
                assert!(context.get().await.is_some(), "the context is gone");
            }
        }
    };
    let exit = async move {
        let _guard = lock.lock().await;
        context.set(None).await;
    };
    join([go(read), go(exit)]).await;
}

/// Frees what a variable names, once: an address and what lies there.
async fn free(memory: &Shared<Vec<u32>>, address: u32) {
    let is_first = move |memory: &mut Vec<u32>| {
        let before = memory.len();
        memory.retain(|of| *of != address);
        memory.len() < before
    };
    assert!(memory.update(is_first).await, "freed twice");
}

/// Two dumps of a socket: each stores its buffer in the socket, and frees what it finds there, outside of the lock.
async fn cve_2016_9806(wrong: bool) {
    let (memory, buffer, lock) = (Shared::new(Vec::new()), Shared::new(0), lock());
    let dump = |address: u32| {
        let (memory, buffer, lock) = (memory.clone(), buffer.clone(), lock.clone());
        go(async move {
            let guard = lock.lock().await;
            memory.update(move |memory| memory.push(address)).await;
            buffer.set(address).await;
            let _kept = if wrong {
                drop(guard);
                None
            } else {
                Some(guard)
            };
            free(&memory, buffer.get().await).await;
        })
    };
    join([dump(1), dump(2)]).await;
}

/// Two join a group, and fail: each frees the roll-over that the socket names then.
async fn cve_2017_6346(wrong: bool) {
    let (memory, rollover) = (Shared::new(Vec::new()), Shared::new(0));
    let add = |address: u32| {
        let (memory, rollover) = (memory.clone(), rollover.clone());
        go(async move {
            memory.update(move |memory| memory.push(address)).await;
            let own = if wrong {
                rollover.set(address).await;
                rollover.get().await
            } else {
                address
            };
            free(&memory, own).await;
        })
    };
    join([add(1), add(2)]).await;
}

/// A port is made, and listed before its maker is done with it: another thread deletes it.
async fn cve_2017_15265(wrong: bool) {
    // The ports, and how many use the last one.
    let ports = Shared::new((vec![1], 0));
    let create = {
        let ports = ports.clone();
        async move {
            ports
                .update(move |(ports, uses)| {
                    ports.push(2);
                    *uses += i32::from(!wrong);
                })
                .await;
            assert!(ports.get().await.0.contains(&2), "the port is freed");
            ports.update(|(_, uses)| *uses = 0).await;
        }
    };
    let delete = async move {
        ports
            .update(|(ports, uses)| {
                if *uses == 0 {
                    ports.retain(|port| *port != 2);
                }
            })
            .await;
    };
    join([go(create), go(delete)]).await;
}
