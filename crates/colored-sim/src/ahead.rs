//! Runs that a search makes ahead of their turn: several threads at once, or one that gets several at once.
//!
//! The result is that of the runs one after another, in the order of their seeds. A run is asked for as soon as it is known how it
//! begins; which runs are made ahead, and when, changes nothing in them. Their results are taken in order. A run that has not
//! ended well is made again when its turn comes, and so is one that something in the results before it would have changed.

use crate::choices::Choices;
use crate::replay::Replay;
use crate::search::{Asked, Asks, Found, Outcome, Plan, Walk};
use crate::strategy::Length;
use crate::wall;
use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Makes runs, on a thread of its own or on several.
pub trait Ahead: Sync {
    /// A run that was made.
    type Made: Send;
    /// What makes runs for one thread of the search.
    type Place: Default;

    /// Makes runs, in their order. If it makes fewer than it was asked for, the next one has to be made in order.
    fn make(&self, place: &mut Self::Place, asked: Vec<Asked>) -> Vec<Self::Made>;

    /// No more runs are wanted, and nobody asks what becomes of those that are being made.
    fn end(&self);
}

/// Makes runs whose turn it is, and takes those that were made ahead.
pub trait InOrder<M> {
    /// Makes a run.
    fn make(&mut self, replay: &Replay, choices: Choices) -> (Outcome, Choices);

    /// Takes a run that was made ahead and ended well, all runs before which have been taken. None if it has to be made now.
    fn take(&mut self, made: M) -> Option<Choices>;
}

/// The most runs that are asked for at once.
const MOST: u64 = 16;

/// Runs that are asked for at once should take so long: each thread then waits seldom, and ends soon.
const TIME: Duration = Duration::from_millis(2);

/// The runs ahead of the one whose turn it is, at most, for each job.
const WINDOW: u64 = 4 * MOST;

/// As [`search`](crate::search()), by so many threads.
pub fn search_ahead<A: Ahead>(
    plan: &Plan,
    jobs: NonZeroUsize,
    ahead: &A,
    runs: &mut impl InOrder<A::Made>,
) -> Found {
    let mut walk = Walk::new(plan);
    if jobs.get() == 1 {
        let here = Here { ahead, place: Default::default(), size: Size(1), made: VecDeque::new() };
        follow(&mut walk, here, runs);
        return walk.found();
    }
    let window = WINDOW * jobs.get() as u64;
    let queue = Queue { state: Mutex::new(State::new(plan, window)), changed: Condvar::new() };
    thread::scope(|scope| {
        for _ in 0..jobs.get() {
            scope.spawn(|| queue.work(ahead));
        }
        let _closes = Closes(&queue, ahead);
        follow(&mut walk, There { queue: &queue, made: VecDeque::new(), end: 0 }, runs);
    });
    walk.found()
}

/// Where the results come from.
trait Source<M> {
    /// What was made of the next run, if that was made ahead.
    fn next(&mut self, asks: &Asks<'_>, number: u64) -> Option<M>;

    /// What was made of the next run is not taken: nor is what came with it.
    fn refuse(&mut self);

    /// The next run has been added.
    fn note(&mut self, _length: Length) {}
}

/// Goes from seed to seed.
fn follow<M>(walk: &mut Walk<'_>, mut source: impl Source<M>, runs: &mut impl InOrder<M>) {
    while walk.goes_on() {
        let (asks, number) = (walk.asks(), walk.next());
        let made = source.next(asks, number);
        let was_made = made.is_some();
        let (replay, outcome, choices) = match made.and_then(|made| runs.take(made)) {
            Some(choices) => (asks.replay(number), Ok(()), choices),
            None => {
                if was_made {
                    source.refuse();
                }
                let Asked { replay, choices } = asks.ask(number);
                let (outcome, choices) = runs.make(&replay, choices);
                (replay, outcome, choices)
            }
        };
        let run = &mut |replay: &Replay, choices| runs.make(replay, choices);
        source.note(walk.add(replay, outcome, &choices, run));
    }
}

/// How many runs are asked for at once.
struct Size(u64);

impl Size {
    /// Makes as many runs.
    fn adapt<M>(&mut self, make: impl FnOnce() -> Vec<M>) -> Vec<M> {
        let begin = wall::now();
        let made = make();
        self.0 = match begin.elapsed() {
            // To ask for more would be in vain, too.
            _ if made.is_empty() => 1,
            time if time < TIME => (2 * self.0).min(MOST),
            _ => self.0.div_ceil(2),
        };
        made
    }
}

/// One job: its runs are made when they are wanted.
struct Here<'a, A: Ahead> {
    ahead: &'a A,
    place: A::Place,
    size: Size,
    made: VecDeque<A::Made>,
}

impl<A: Ahead> Source<A::Made> for Here<'_, A> {
    fn next(&mut self, asks: &Asks<'_>, number: u64) -> Option<A::Made> {
        if self.made.is_empty() {
            let end = asks.end().min(number + self.size.0);
            let asked = (number..end).map(|number| asks.ask(number)).collect();
            self.made = self.size.adapt(|| self.ahead.make(&mut self.place, asked)).into();
        }
        self.made.pop_front()
    }

    fn refuse(&mut self) {
        self.made.clear();
    }
}

/// Several jobs.
struct Queue<'p, M> {
    state: Mutex<State<'p, M>>,
    changed: Condvar,
}

struct State<'p, M> {
    asks: Asks<'p>,
    /// Runs of smaller numbers have been asked for.
    asked: u64,
    /// How far these may be ahead.
    window: u64,
    /// By the number of the first run, what was made of some, and the number behind the last one.
    made: BTreeMap<u64, (Batch<M>, u64)>,
    /// No more runs are asked for. What was asked for comes, unless the search ends.
    is_over: bool,
}

/// What was made of some runs, or the panic that came in place of it.
type Batch<M> = Result<Vec<M>, Box<dyn Any + Send>>;

impl<'p, M> State<'p, M> {
    fn new(plan: &'p Plan, window: u64) -> Self {
        let (asks, made) = (Asks::new(plan), BTreeMap::new());
        Self { asks, asked: 0, window, made, is_over: false }
    }

    /// The next runs of a job, and the number of the first one. None if none can be asked for now.
    fn ask(&mut self, most: u64) -> Option<(u64, Vec<Asked>)> {
        let first = self.asked;
        let end = self.asks.end().min(self.asks.known() + self.window).min(first + most);
        self.asked = end.max(first);
        (first < end).then(|| (first, (first..end).map(|number| self.asks.ask(number)).collect()))
    }
}

impl<'p, M: Send> Queue<'p, M> {
    fn lock(&self) -> MutexGuard<'_, State<'p, M>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State<'p, M>>) -> MutexGuard<'a, State<'p, M>> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// What a thread of the search does.
    fn work(&self, ahead: &impl Ahead<Made = M>) {
        let (mut place, mut size) = (Default::default(), Size(1));
        while let Some((first, asked)) = self.ask(size.0) {
            let end = first + asked.len() as u64;
            let make = || size.adapt(|| ahead.make(&mut place, asked));
            let made = catch_unwind(AssertUnwindSafe(make));
            let mut state = self.lock();
            // The search does not get behind a panic.
            let has_panicked = made.is_err();
            state.is_over |= has_panicked;
            state.made.insert(first, (made, end));
            drop(state);
            self.changed.notify_all();
            if has_panicked {
                return;
            }
        }
    }

    /// The next runs of a job. None if no more are wanted.
    fn ask(&self, most: u64) -> Option<(u64, Vec<Asked>)> {
        let mut state = self.lock();
        loop {
            if state.is_over {
                return None;
            }
            if let Some(asked) = state.ask(most) {
                return Some(asked);
            }
            state = self.wait(state);
        }
    }

    fn close(&self) {
        self.lock().is_over = true;
        self.changed.notify_all();
    }
}

/// Ends the jobs when it is dropped.
struct Closes<'a, 'p, A: Ahead>(&'a Queue<'p, A::Made>, &'a A);

impl<A: Ahead> Drop for Closes<'_, '_, A> {
    fn drop(&mut self) {
        self.0.close();
        self.1.end();
    }
}

/// The results of several jobs.
struct There<'a, 'p, M> {
    queue: &'a Queue<'p, M>,
    /// Of the runs up to this number, those whose turn comes.
    made: VecDeque<M>,
    end: u64,
}

impl<M: Send> Source<M> for There<'_, '_, M> {
    fn next(&mut self, _asks: &Asks<'_>, number: u64) -> Option<M> {
        let mut state = self.queue.lock();
        while number >= self.end {
            // Runs are asked for in their order, so somebody makes this one.
            match state.made.remove(&number) {
                Some((Ok(made), end)) => (self.made, self.end) = (made.into(), end),
                Some((Err(panic), _)) => {
                    drop(state);
                    resume_unwind(panic)
                }
                None => state = self.queue.wait(state),
            }
        }
        drop(state);
        self.made.pop_front()
    }

    fn refuse(&mut self) {
        self.made.clear();
    }

    fn note(&mut self, length: Length) {
        self.queue.lock().asks.note(length);
        self.queue.changed.notify_all();
    }
}

#[cfg(test)]
mod tests;
