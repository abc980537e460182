//! Flat queues of events, as in libasync-smp (Zeldovich and others, 2003), and its way of stealing, as
//! Mely (Gaud and others, 2010) describes it.
//!
//! An event is a closure that runs once, or a poll of a task. Each event has a color of 16 bits. A queue has
//! an entry for every event, under one lock. There is either one queue for all workers, or one for each.
//!
//! Two events of one color never run at the same time, and they run in the order of their queue:
//!
//! * A queue knows which colors run, and skips their events.
//! * Where each worker has a queue, all events of one color are in the queue of the worker that owns the
//!   color. A color has an owner as long as it has a task, or an event that waits or runs ([`owners`]).
//! * A thief takes a color that does not run, with all its events. It holds the locks of both queues, and
//!   reads the color of every event in the victim's queue. That walk is the cost of stealing here.
//!
//! libasync-smp differs in three things. Its queue prefers an event of the color that has just run. It prefers callbacks of
//! the program to callbacks of sockets. Its table of owners has 1,024 entries, and the colors of one entry move together.
//!
//! # No event is left behind
//!
//! A producer publishes an event and then looks for parked workers. A worker announces that it parks and then
//! looks at the queues. A fence stands between the two steps of each.

mod event;
mod idle;
mod owners;
mod queue;

pub use self::idle::Idle;

use self::event::{Event, Task, What};
use self::idle::Beds;
use self::owners::Owners;
use self::queue::Queue;
use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::sync::mpsc::channel;
use std::thread::{self, JoinHandle};

/// The queues of an executor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queues {
    /// One for all workers.
    One,
    /// One for each worker.
    PerWorker {
        /// The first owner of a color.
        first: First,
        /// Whether a worker that has nothing to run takes a color from another one.
        steals: bool,
    },
}

/// The worker that owns a color without events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// The worker that posts its first event. If another thread posts it, as with `Number`.
    Poster,
    /// The worker with the number of the color, modulo the number of workers.
    Number,
}

/// Events between two looks for outside events while the queue has more.
const EVENTS_PER_LOOK: u64 = 61;

/// An executor. Dropping it ends its threads, and drops the events that have not run.
pub struct Flat {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

/// A handle that adds events to a [`Flat`], on any thread. Clones are handles of the same executor.
#[derive(Clone)]
pub struct Events(Arc<Shared>);

struct Shared {
    queues: Box<[Queue]>,
    owners: Owners,
    kind: Queues,
    idle: Box<dyn Idle>,
    workers: Box<[Worker]>,
    stops: AtomicBool,
}

/// A worker, as other threads see it.
struct Worker {
    parked: AtomicBool,
    /// The events that it has run.
    ran: AtomicU64,
    /// The colors that it has stolen.
    steals: AtomicU64,
}

std::thread_local! {
    /// The executor and the worker that this thread belongs to.
    static OWN: Cell<(*const Shared, usize)> = const { Cell::new((ptr::null(), 0)) };
}

impl fmt::Debug for Flat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flat").field("kind", &self.shared.kind).finish_non_exhaustive()
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").field("kind", &self.0.kind).finish_non_exhaustive()
    }
}

impl Flat {
    /// Starts the workers, each of which calls `on_start` with its number first.
    ///
    /// # Panics
    ///
    /// If the number of workers is 0, or the system gives no thread.
    #[must_use]
    pub fn start(workers: usize, kind: Queues, on_start: fn(usize)) -> Self {
        Self::start_with(workers, kind, on_start, Box::new(Beds::new(workers)))
    }

    /// As [`start`](Self::start), but workers that have nothing to run wait in `idle`.
    ///
    /// # Panics
    ///
    /// As [`start`](Self::start).
    #[must_use]
    pub fn start_with(
        workers: usize,
        kind: Queues,
        on_start: fn(usize),
        idle: Box<dyn Idle>,
    ) -> Self {
        assert!(workers > 0, "an executor has at least one worker");
        let queues = if kind == Queues::One { 1 } else { workers };
        let worker = |_| Worker {
            parked: AtomicBool::new(false),
            ran: AtomicU64::new(0),
            steals: AtomicU64::new(0),
        };
        let shared = Arc::new(Shared {
            queues: (0..queues).map(|_| Queue::default()).collect(),
            owners: Owners::new(),
            kind,
            idle,
            workers: (0..workers).map(worker).collect(),
            stops: AtomicBool::new(false),
        });
        let thread = |own| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                OWN.set((Arc::as_ptr(&shared), own));
                on_start(own);
                shared.run(own);
            })
        };
        let threads = (0..workers).map(thread).collect();
        Self { shared, threads }
    }

    /// A handle that lives as long as the process.
    #[must_use]
    pub fn leak(self) -> &'static Events {
        let events = Box::leak(Box::new(self.events()));
        std::mem::forget(self);
        events
    }

    /// A handle that adds events.
    #[must_use]
    pub fn events(&self) -> Events {
        Events(Arc::clone(&self.shared))
    }
}

impl Drop for Flat {
    fn drop(&mut self) {
        // Ordering: pairs with the load in `run`, which the wake-up orders after it.
        self.shared.stops.store(true, Ordering::SeqCst);
        (0..self.shared.workers.len()).for_each(|worker| self.shared.idle.wake(worker));
        for thread in self.threads.drain(..) {
            let ended = thread.join();
            assert!(ended.is_ok() || thread::panicking(), "an event panicked");
        }
        // A task that waits in a queue has a reference to the executor.
        self.shared.queues.iter().for_each(Queue::clear);
    }
}

impl Events {
    /// Adds a closure.
    pub fn post(&self, color: u16, event: impl FnOnce() + Send + 'static) {
        self.0.push(Event { color, what: What::Call(Box::new(event)) });
    }

    /// Adds a task, all of whose polls are events of the color.
    pub fn spawn(&self, color: u16, future: impl Future<Output = ()> + Send + 'static) {
        let task = Task::new(Arc::clone(&self.0), color, Box::pin(future));
        self.0.own(color);
        self.0.push(Event { color, what: What::Poll(task) });
    }

    /// Runs a task, and waits for its output on this thread, which must not be a worker.
    ///
    /// # Panics
    ///
    /// If the executor stops meanwhile.
    pub fn run<T: Send + 'static>(
        &self,
        color: u16,
        future: impl Future<Output = T> + Send + 'static,
    ) -> T {
        let (tell, told) = channel();
        // No thread waits any more if the executor has stopped.
        self.spawn(color, async move { drop(tell.send(future.await)) });
        told.recv().expect("the executor goes on")
    }

    /// How many events each worker has run.
    #[must_use]
    pub fn ran(&self) -> Vec<u64> {
        // Ordering: figures, not signals.
        self.0.workers.iter().map(|worker| worker.ran.load(Ordering::Relaxed)).collect()
    }

    /// How many colors have been stolen.
    #[must_use]
    pub fn steals(&self) -> u64 {
        // Ordering: as in `ran`.
        self.0.workers.iter().map(|worker| worker.steals.load(Ordering::Relaxed)).sum()
    }
}

impl Shared {
    /// The worker that this thread is.
    fn here(&self) -> Option<usize> {
        let (of, own) = OWN.get();
        ptr::eq(of, self).then_some(own)
    }

    /// Counts one more event or task of a color, gives the color an owner if it has none, and returns the
    /// owner.
    fn own(&self, color: u16) -> usize {
        let Queues::PerWorker { first, .. } = self.kind else { return 0 };
        self.owners.add(color, || {
            let poster = if first == First::Poster { self.here() } else { None };
            poster.unwrap_or(usize::from(color) % self.workers.len())
        })
    }

    /// Gives the color up, when an event has run or a task is complete.
    fn disown(&self, color: u16) {
        if self.kind != Queues::One {
            self.owners.remove(color);
        }
    }

    fn push(&self, event: Event) {
        let place = self.push_to_owner(event);
        self.wake_for(place);
    }

    fn push_to_owner(&self, mut event: Event) -> usize {
        let color = event.color;
        let mut owner = self.own(color);
        if self.kind == Queues::One {
            self.queues[owner].push(event);
            return owner;
        }
        // A thief changes the owner under the lock of the old one's queue.
        while let Err(back) = self.queues[owner].push_if(event, || self.owners.of(color) == owner) {
            (event, owner) = (back, self.owners.of(color));
        }
        owner
    }

    /// Wakes a worker for an event that was added to a queue, or is left there.
    fn wake_for(&self, place: usize) {
        // Ordering: the fence stands between the push and the look for parked workers; it pairs with the one
        // in `run`.
        fence(Ordering::SeqCst);
        let any = match self.kind {
            Queues::One => true,
            Queues::PerWorker { steals, .. } => {
                if self.wake(place) {
                    return;
                }
                steals
            }
        };
        if any {
            (0..self.workers.len()).any(|worker| self.wake(worker));
        }
    }

    /// Wakes a worker; false if it was not parked.
    fn wake(&self, worker: usize) -> bool {
        let parked = &self.workers[worker].parked;
        // Ordering: ordered by the fences. The swap selects one of the threads that see the worker parked,
        // which wakes it.
        let was = parked.load(Ordering::Relaxed) && parked.swap(false, Ordering::Relaxed);
        if was {
            self.idle.wake(worker);
        }
        was
    }

    /// The life of a worker.
    fn run(&self, own: usize) {
        let worker = &self.workers[own];
        let place = if self.kind == Queues::One { 0 } else { own };
        let (queue, mut before, mut ran) = (&self.queues[place], None, 0_u64);
        // Ordering: the thread that sets the flag wakes all workers afterwards.
        while !self.stops.load(Ordering::SeqCst) {
            let found = queue.next(before.take()).or_else(|| self.steal(own));
            let Some(Event { color, what }) = found else {
                self.park(own);
                continue;
            };
            what.run();
            before = Some(color);
            self.disown(color);
            ran += 1;
            // Ordering: a figure, not a signal.
            worker.ran.store(ran, Ordering::Relaxed);
            if ran.is_multiple_of(EVENTS_PER_LOOK) {
                self.idle.wait(own, true);
                self.idle.hand_out(own);
            }
        }
    }

    fn park(&self, own: usize) {
        let parked = &self.workers[own].parked;
        // Ordering: ordered by the fence.
        parked.store(true, Ordering::Relaxed);
        // Ordering: the fence stands between the announcement and the look at the queues; it pairs with the
        // one in `wake_for`.
        fence(Ordering::SeqCst);
        if !self.has_work_for(own) {
            self.idle.wait(own, false);
        }
        // Ordering: see `wake`.
        parked.store(false, Ordering::Relaxed);
        self.idle.hand_out(own);
    }

    fn has_work_for(&self, own: usize) -> bool {
        match self.kind {
            Queues::One => self.queues[0].has_some(),
            Queues::PerWorker { steals, .. } => {
                self.queues[own].has_some() || (steals && self.queues.iter().any(Queue::has_some))
            }
        }
    }

    /// Takes a color from another worker, and the first of its events.
    fn steal(&self, own: usize) -> Option<Event> {
        if !matches!(self.kind, Queues::PerWorker { steals: true, .. }) {
            return None;
        }
        let others = (1..self.workers.len()).map(|step| (own + step) % self.workers.len());
        let victims = others.filter(|victim| self.queues[*victim].has_some());
        for victim in victims {
            let moves = |color| self.owners.change(color, own);
            if self.queues[victim].rob(&self.queues[own], moves) {
                // Ordering: a figure, not a signal.
                self.workers[own].steals.fetch_add(1, Ordering::Relaxed);
                if self.queues[victim].has_some() {
                    self.wake_for(victim);
                }
                return self.queues[own].next(None);
            }
        }
        None
    }
}
