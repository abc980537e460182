//! Connections that each have one request under way: a worker handles it, and the next one arrives later at the
//! selector of the connection's shard. Only a simulated machine has this network.
//!
//! A worker that has nothing to run takes the turn of its shard and sleeps in the selector, or sleeps elsewhere if
//! another one has the turn; a busy one looks now and then, as in the runtime.

use super::Apart;
use crate::costs::Costs;
use crate::machine::{Load, done, now, sleep, wake_at, work};
use colored_core::SchedulerHandle;
use colored_core::port::sync::{AtomicUsize, Mutex, Ordering};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};

/// Connections of each worker.
const CONNECTIONS: usize = 16;
/// Nanoseconds from a response to the next request of its connection.
const AWAY: u64 = 20_000;
/// Workers of a shard, as in the runtime.
const WORKERS_PER_SHARD: usize = 8;
/// Events that one call of the selector brings at most.
const EVENTS: usize = 256;

pub(crate) struct Requests {
    workers: usize,
    ops: u64,
    /// Nanoseconds of a request.
    nanos: u64,
    costs: Costs,
    shards: Arc<[Shard]>,
}

#[derive(Default)]
struct Shard {
    /// Whether a worker has the turn.
    taken: Apart<AtomicUsize>,
    /// What belongs to the system and to the network: no access costs anything.
    kernel: std::sync::Mutex<Kernel>,
    connections: std::sync::Mutex<Vec<Arc<Apart<Mutex<Socket>>>>>,
}

#[derive(Default)]
struct Kernel {
    /// Arrivals: time, and connection.
    arrivals: BinaryHeap<Reverse<(u64, usize)>>,
    /// The worker that sleeps in the selector.
    sleeper: Option<usize>,
}

/// A connection, as its task and the shard see it.
#[derive(Default)]
struct Socket {
    is_ready: bool,
    waits: Option<Waker>,
}

impl Requests {
    pub(crate) fn new(workers: usize, ops: u64, nanos: u64, costs: Costs) -> Self {
        let shards = workers.div_ceil(WORKERS_PER_SHARD);
        let shards = (0..shards).map(|_| Shard::default()).collect();
        Self { workers, ops, nanos, costs, shards }
    }

    fn shard(&self, worker: usize) -> &Shard {
        &self.shards[worker % self.shards.len()]
    }
}

impl Shard {
    fn kernel(&self) -> std::sync::MutexGuard<'_, Kernel> {
        self.kernel.lock().expect("no panic")
    }

    fn try_turn(&self) -> bool {
        let taken = &self.taken.0;
        // Ordering: as a lock.
        taken.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    fn end_turn(&self) {
        // Ordering: as a lock.
        self.taken.0.store(0, Ordering::Release);
    }

    /// Takes what has arrived. The caller has the turn.
    fn poll(&self, costs: &Costs, wakers: &mut Vec<Waker>) {
        let (now, mut arrived) = (now(), Vec::new());
        let mut kernel = self.kernel();
        while arrived.len() < EVENTS
            && kernel.arrivals.peek().is_some_and(|Reverse((time, _))| *time <= now)
        {
            arrived.extend(kernel.arrivals.pop());
        }
        drop(kernel);
        work((costs.poll + costs.event * arrived.len() as u64) / 1_000);
        for Reverse((_, connection)) in arrived {
            let socket = Arc::clone(&self.connections.lock().expect("no panic")[connection]);
            let mut socket = socket.0.lock();
            socket.is_ready = true;
            wakers.extend(socket.waits.take());
        }
    }

    /// The connection's next request is under way.
    fn send(&self, connection: usize) {
        let at = now() + AWAY;
        let mut kernel = self.kernel();
        kernel.arrivals.push(Reverse((at, connection)));
        let sleeper = kernel.sleeper;
        drop(kernel);
        if let Some(sleeper) = sleeper {
            wake_at(sleeper, at);
        }
    }
}

impl Load for Requests {
    fn begin(&self, handle: &SchedulerHandle) {
        for index in 0..CONNECTIONS * self.workers {
            let (shards, of) = (Arc::clone(&self.shards), index % self.shards.len());
            let socket = Arc::new(Apart(Mutex::new(Socket::default())));
            let mut all = shards[of].connections.lock().expect("no panic");
            let connection = all.len();
            all.push(Arc::clone(&socket));
            drop(all);
            let (nanos, ops) = (self.nanos, self.ops);
            drop(handle.spawn_unique(async move {
                for _ in 0..ops {
                    shards[of].send(connection);
                    poll_fn(|cx| {
                        let mut socket = socket.0.lock();
                        if std::mem::take(&mut socket.is_ready) {
                            return Poll::Ready(());
                        }
                        socket.waits = Some(cx.waker().clone());
                        Poll::Pending
                    })
                    .await;
                    work(nanos);
                    done();
                }
            }));
        }
    }

    fn poll_events(&self, worker: usize, wakers: &mut Vec<Waker>) {
        let shard = self.shard(worker);
        if shard.try_turn() {
            shard.poll(&self.costs, wakers);
            shard.end_turn();
        }
    }

    fn park(&self, worker: usize, limit: Option<u64>, wakers: &mut Vec<Waker>) {
        let shard = self.shard(worker);
        if !shard.try_turn() {
            return sleep(worker, limit);
        }
        let start = now();
        let mut kernel = shard.kernel();
        let next = kernel.arrivals.peek().map(|Reverse((time, _))| time.saturating_sub(start));
        if next != Some(0) {
            kernel.sleeper = Some(worker);
            drop(kernel);
            let latency = self.costs.latency / 1_000;
            sleep(worker, next.map(|left| left + latency).into_iter().chain(limit).min());
            shard.kernel().sleeper = None;
        } else {
            drop(kernel);
        }
        shard.poll(&self.costs, wakers);
        shard.end_turn();
    }
}
