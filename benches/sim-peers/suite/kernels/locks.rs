//! Locks that wait for each other: GoBench's resource deadlocks, SCTBench's dining philosophers.

use super::tools::{Condition, go, join};
use super::{HANGS, kernels};
use colored::sync::{Mutex, RwLock};
use std::sync::Arc;

kernels! {
    Turn cockroach_7504 "GoBench cockroach#7504" HANGS;
    Turn cockroach_10214 "GoBench cockroach#10214" HANGS;
    Turn kubernetes_13135 "GoBench kubernetes#13135" HANGS;
    Turn moby_4951 "GoBench moby#4951" HANGS;
    Turn cockroach_3710 "GoBench cockroach#3710" HANGS;
    Turn kubernetes_62464 "GoBench kubernetes#62464" HANGS;
    Turn cockroach_6181 "GoBench cockroach#6181" HANGS;
    Turn kubernetes_58107 "GoBench kubernetes#58107" HANGS;
    Turn etcd_5509 "GoBench etcd#5509" HANGS;
    Turn philosophers "SCTBench din_phil3_sat" HANGS;
}

type Lock = Arc<Mutex<u32>>;

fn lock() -> Lock {
    Lock::default()
}

/// Takes the locks in this order, and gives them up.
async fn take(locks: [Lock; 2]) {
    let _first = locks[0].lock().await;
    *locks[1].lock().await += 1;
}

/// A lease is released under the lock of its state, then of the name cache; a look-up by name takes the cache's first.
async fn cockroach_7504(wrong: bool) {
    let (state, names) = (lock(), lock());
    let release = go(take([state.clone(), names.clone()]));
    let look_up = async move {
        if wrong {
            let _names = names.lock().await;
            *state.lock().await += 1;
        } else {
            *names.lock().await += 1;
            *state.lock().await += 1;
        }
    };
    join([release, go(look_up)]).await;
}

/// Heart-beats that wait are sent under their lock, which a message takes to the replica's lock; a replica that falls idle
/// adds a heart-beat.
async fn cockroach_10214(wrong: bool) {
    let (waiting, raft) = (lock(), lock());
    let send = {
        let (waiting, raft) = (waiting.clone(), raft.clone());
        async move {
            let beats = waiting.lock().await;
            let _kept = if wrong {
                Some(beats)
            } else {
                drop(beats);
                None
            };
            *raft.lock().await += 1;
        }
    };
    let fall_idle = async move {
        let mut ticks = raft.lock().await;
        *ticks += 1;
        if *ticks > 0 {
            *waiting.lock().await += 1;
        }
    };
    join([go(send), go(fall_idle)]).await;
}

/// A cache replaces its content under the lock of the watch cache, and tells its owner, who takes the owner's lock. An event
/// goes the other way round.
async fn kubernetes_13135(wrong: bool) {
    let (cacher, watch) = (lock(), lock());
    let start = {
        let (cacher, watch) = (cacher.clone(), watch.clone());
        async move {
            let owner = cacher.lock().await;
            let _owner = if wrong {
                Some(owner)
            } else {
                drop(owner);
                None
            };
            *watch.lock().await += 1;
        }
    };
    let events = (0..2).map(|_| go(take([watch.clone(), cacher.clone()]))).collect::<Vec<_>>();
    join([go(start)].into_iter().chain(events)).await;
}

/// The lock of all devices and the lock of one device: an operation gives the first up while it waits for the disk, and
/// takes it again under the second.
async fn moby_4951(wrong: bool) {
    let (all, device) = (lock(), lock());
    let remove = {
        let (all, device) = (all.clone(), device.clone());
        async move {
            let _one = device.lock().await;
            for _ in 0..2 {
                if wrong {
                    *all.lock().await += 1;
                }
                colored::yield_now().await;
            }
        }
    };
    join([go(remove), go(take([all, device]))]).await;
}

/// A scan holds the store's lock for reading and asks for its status, which takes it again; a writer waits in between.
async fn cockroach_3710(wrong: bool) {
    let store = Arc::new(RwLock::new(0));
    let scan = {
        let store = store.clone();
        async move {
            let read = store.read().await;
            let _kept = if wrong {
                Some(read)
            } else {
                drop(read);
                None
            };
            let _status = store.read().await;
        }
    };
    let process = async move { *store.write().await += 1 };
    join([go(scan), go(process)]).await;
}

/// The set of CPUs, or by default the default set: both take the lock for reading.
async fn kubernetes_62464(wrong: bool) {
    let sets = Arc::new(RwLock::new((None, 7)));
    let reconcile = |sets: Arc<RwLock<(Option<u32>, u32)>>| async move {
        let read = sets.read().await;
        let set = match read.0 {
            Some(set) => set,
            None if wrong => sets.read().await.1,
            None => read.1,
        };
        assert!(set >= 7);
    };
    let readers = [go(reconcile(sets.clone())), go(reconcile(sets.clone()))];
    let remove = go(async move { sets.write().await.1 += 1 });
    join(readers).await;
    join([remove]).await;
}

/// Several look-ups in a range cache: one prints the cache, which locks it again, while another wants to insert.
async fn cockroach_6181(wrong: bool) {
    let cache = Arc::new(RwLock::new(Vec::new()));
    let look_up = |key: u32| {
        let cache = cache.clone();
        async move {
            let read = cache.read().await;
            let is_known = read.contains(&key);
            let kept = if wrong {
                Some(read)
            } else {
                drop(read);
                None
            };
            let _printed = cache.read().await.len();
            drop(kept);
            if !is_known {
                cache.write().await.push(key);
            }
        }
    };
    let look_ups: Vec<_> = (0..3).map(|key| go(look_up(key))).collect();
    join(look_ups).await;
}

/// Workers of two queues hold a lock for reading while their queue is empty. A writer waits for them; the reader whose work
/// would fill the queue waits for the writer.
async fn kubernetes_58107(wrong: bool) {
    let worker_lock = Arc::new(RwLock::new(()));
    let (queue, filled) = (Arc::new(Mutex::new(0_u32)), Condition::default());
    let take = {
        let (worker_lock, queue, filled) = (worker_lock.clone(), queue.clone(), filled.clone());
        async move {
            let read = worker_lock.read().await;
            let _kept = if wrong {
                Some(read)
            } else {
                drop(read);
                None
            };
            let mut length = queue.lock().await;
            while *length == 0 {
                length = filled.wait(&queue, length).await;
            }
            *length -= 1;
        }
    };
    let fill = {
        let worker_lock = worker_lock.clone();
        async move {
            let _read = worker_lock.read().await;
            *queue.lock().await += 1;
            filled.signal();
        }
    };
    let resync = async move { drop(worker_lock.write().await) };
    join([go(take), go(fill), go(resync)]).await;
}

/// A client is acquired for reading. Where that fails because of a cancellation, the lock is not given up, and the client
/// cannot be closed.
async fn etcd_5509(wrong: bool) {
    let (client, is_cancelled) = (Arc::new(RwLock::new(())), Arc::new(Mutex::new(false)));
    let acquire = {
        let (client, is_cancelled) = (client.clone(), is_cancelled.clone());
        async move {
            let read = client.read_owned().await;
            if *is_cancelled.lock().await && wrong {
                std::mem::forget(read);
            }
        }
    };
    let close = async move {
        *is_cancelled.lock().await = true;
        let _write = client.write().await;
    };
    join([go(acquire), go(close)]).await;
}

/// Each of three takes the left fork and then the right one.
async fn philosophers(wrong: bool) {
    let forks = [lock(), lock(), lock()];
    let eat = |number: usize| {
        let (left, right) = (number, (number + 1) % 3);
        let (first, second) = if wrong || left < right { (left, right) } else { (right, left) };
        go(take([forks[first].clone(), forks[second].clone()]))
    };
    join([eat(0), eat(1), eat(2)]).await;
}
