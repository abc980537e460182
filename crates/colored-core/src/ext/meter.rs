//! Measuring: the level at which a scheduler records, and a lane's counters while it does.
//!
//! # Cost when off
//!
//! One word of the process says whether any scheduler records. A push and a slice each look at it once. Nothing else is
//! done, and a lane has no counters.
//!
//! # The two waits
//!
//! A task, or a callback, that is pushed at the time `s` and has its turn at `r` has waited `r - s`. While its lane was
//! *queued*, runnable but on no worker, it waited **for a CPU**. While the lane ran others, or a task or a behavior kept
//! it, it waited **for its color**.
//!
//! The sum of all waits until the time `t` is `W(t)`: the sum of all `r`, less the sum of all `s`, and `t` for each node
//! that still waits. So a lane needs no stamp in its nodes. One word has the number of nodes that wait and the sum of
//! the times; a push and a turn add to it, once each. Where the lane's state changes, what `W` has grown by since the
//! last change goes to one of the two sums (Little, 1961). A node has a bit that says whether its push was counted: so a
//! lane whose queue was not empty when the recording began does not count wrong.
//!
//! Counters are the standard library's atomics under loom as well: no decision of the scheduler depends on them.

use crate::ext::usage::Usage;
use crate::hooks::mark::Mark;
use crate::kernel::sched::metrics::Counter;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// What a scheduler records. Each level includes the ones before it.
///
/// | level | by color | in the flight recorder | reads of the clock |
/// |---|---|---|---|
/// | `Off` | samples of run times | nothing | one in eight turns, or one a turn while turns are slow |
/// | `Slices` | exact run times, the two waits | slices, steals, sleeps, turns of I/O and timers, kept colors, depths, long polls | and one a turn, and two a closure that runs at once |
/// | `Tasks` | the same, with each wait to the microsecond | polls, wakes, spawns, hops, ends | and one a slice, a push and a wake |
/// | `All` | the same | posts, calls, reads | the same |
///
/// A read of the clock takes some 20 ns, and a record another 3 ns. At `Slices` a worker reads the clock at the end of each
/// turn, a poll or a callback, and what happens in a turn has the time at which the turn before it ended. A thread that is
/// no worker reads the clock for each push.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
#[repr(u8)]
pub enum Level {
    /// Nothing. Costs one look at a word for a push and for a slice.
    #[default]
    Off = 0,
    /// What colors and workers do. A program can leave it on.
    Slices = 1,
    /// Also what tasks do: which task wakes which, and when. For some minutes.
    Tasks = 2,
    /// Also what closures are posted and called. For tests.
    All = 3,
}

impl Level {
    pub(crate) const fn from_number(number: u8) -> Self {
        match number {
            0 => Self::Off,
            1 => Self::Slices,
            2 => Self::Tasks,
            _ => Self::All,
        }
    }
}

/// The highest level of any scheduler in the process.
static HIGHEST: AtomicU8 = AtomicU8::new(0);

/// How many schedulers record at each level.
static AT_LEVEL: Mutex<[usize; 4]> = Mutex::new([0; 4]);

/// Whether some scheduler of the process records.
#[inline(always)]
pub(crate) fn is_on() -> bool {
    // Ordering: a switch; what is pushed a moment later is recorded.
    HIGHEST.load(Ordering::Relaxed) != 0
}

/// One scheduler's level.
#[derive(Debug, Default)]
pub(crate) struct Switch {
    level: AtomicU8,
    /// How often the level was raised from [`Level::Off`].
    session: AtomicU32,
}

/// The time of an event that is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct At {
    /// Nanoseconds of the scheduler.
    pub(crate) now: u64,
    /// What a lane remembers of an earlier session is out of date.
    pub(crate) session: u32,
}

impl Switch {
    #[inline]
    pub(crate) fn level(&self) -> Level {
        // Ordering: as in `is_on`.
        Level::from_number(self.level.load(Ordering::Relaxed))
    }

    pub(crate) fn at(&self, now: u64) -> At {
        // Ordering: a figure. What is recorded around the switch may be missing.
        At { now, session: self.session.load(Ordering::Relaxed) }
    }

    /// Returns the level before.
    pub(crate) fn set(&self, level: Level) -> Level {
        let mut at_level = AT_LEVEL.lock().unwrap_or_else(PoisonError::into_inner);
        // Ordering: stored under the lock only; for readers see `is_on`.
        if self.level() == Level::Off && level != Level::Off {
            self.session.fetch_add(1, Ordering::Relaxed);
        }
        let before = Level::from_number(self.level.swap(level as u8, Ordering::Relaxed));
        if before != Level::Off {
            at_level[before as usize] -= 1;
        }
        if level != Level::Off {
            at_level[level as usize] += 1;
        }
        let highest = (1..4).rev().find(|level| at_level[*level] > 0).unwrap_or(0);
        HIGHEST.store(u8::try_from(highest).expect("at most 3"), Ordering::Relaxed);
        before
    }
}

impl Drop for Switch {
    fn drop(&mut self) {
        self.set(Level::Off);
    }
}

/// The nodes that wait in a lane, and the sum of the times at which they were pushed, less that of all turns: the
/// number in the low bits, the sum in units of 1,024 ns above. The sum is used as a difference, and may overflow. What is
/// counted between two changes of the lane's state is right up to 560,000 s for all nodes together: for 10,000 nodes
/// that wait 56 s.
#[derive(Debug, Default)]
struct Waiting(AtomicU64);

const NODES: u32 = 24;
const UNIT: u64 = 1024;

impl Waiting {
    fn add(&self, now: u64) {
        // Ordering: a figure; the chain orders it before the turn that subtracts it.
        self.0.fetch_add(1 + ((now / UNIT) << NODES), Ordering::Relaxed);
    }

    fn remove(&self, now: u64) {
        // Ordering: As in `add`.
        self.0.fetch_sub(1 + ((now / UNIT) << NODES), Ordering::Relaxed);
    }

    fn nodes(&self) -> u64 {
        // Ordering: a figure.
        self.0.load(Ordering::Relaxed) & ((1 << NODES) - 1)
    }

    /// `W`, in units, up to a constant.
    fn wait(&self, now: u64) -> u64 {
        // Ordering: a figure.
        let word = self.0.load(Ordering::Relaxed);
        let nodes = word & ((1 << NODES) - 1);
        (now / UNIT).wrapping_mul(nodes).wrapping_sub(word >> NODES)
    }
}

/// The nanoseconds from one `W` to a later one.
fn grown(earlier: u64, later: u64) -> u64 {
    let units = later.wrapping_sub(earlier) << NODES >> NODES;
    // The clock of the thread that pushed may be ahead of the caller's: then `W` is too small for a moment.
    if units >> (63 - NODES) == 0 { units * UNIT } else { 0 }
}

/// What a lane does, as far as its meter knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
enum State {
    Idle = 0,
    Queued = 1,
    Running = 2,
    Kept = 3,
}

/// The counters of one lane. The thread that has the right to run the lane writes them; a pusher adds to `depth`.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    run: Counter,
    kept: Counter,
    wait_color: Counter,
    wait_cpu: Counter,
    waits: Counter,
    turns: Counter,
    slices: Counter,
    moves: Counter,
    waiting: Waiting,
    /// `W` when the state began.
    wait: AtomicU64,
    /// When the state began, and in the low two bits the state.
    state: AtomicU64,
    max_depth: AtomicU64,
    /// The session of `state`.
    session: AtomicU32,
    /// The thread that ran it last, by its pin.
    thread: AtomicU32,
}

impl Meter {
    fn state(&self, session: u32) -> (State, u64) {
        // Ordering: the holder reads what a holder wrote; for any other thread a figure.
        if self.session.load(Ordering::Relaxed) != session {
            return (State::Idle, 0);
        }
        let word = self.state.load(Ordering::Relaxed);
        let state = match word & 3 {
            0 => State::Idle,
            1 => State::Queued,
            2 => State::Running,
            _ => State::Kept,
        };
        (state, word >> 2)
    }

    /// Counts the time of the present state, up to now, and begins another one. Returns the old state, and its time.
    fn change(&self, state: State, at: At) -> (State, u64) {
        let (before, since) = self.state(at.session);
        // A caller that knows only when its turn began may come with an earlier time.
        let now = at.now.max(since);
        let time = now - since;
        // Ordering: as in `state`.
        let wait = self.waiting.wait(now);
        let grown = grown(self.wait.swap(wait, Ordering::Relaxed), wait);
        match before {
            // Nothing waits at an idle lane; and a wait of an earlier session ends with it.
            State::Idle => {}
            State::Queued => self.wait_cpu.add(grown),
            State::Running => {
                self.run.add(time);
                self.wait_color.add(grown);
            }
            State::Kept => {
                self.kept.add(time);
                self.wait_color.add(grown);
            }
        }
        self.state.store(now << 2 | state as u64, Ordering::Relaxed);
        self.session.store(at.session, Ordering::Relaxed);
        (before, time)
    }

    /// A node with this mark is about to be pushed.
    pub(crate) fn record_push(&self, mark: &Mark, at: At) {
        mark.set();
        self.waiting.add(at.now);
    }

    /// The turn of a node begins whose push was counted.
    pub(crate) fn record_turn(&self, now: u64) {
        self.waiting.remove(now);
        self.waits.add(1);
    }

    /// The lane is given to a queue. Returns how long it was kept before, if it was.
    pub(crate) fn record_queued(&self, at: At) -> Option<u64> {
        kept(self.change(State::Queued, at))
    }

    /// The thread takes the lane. Returns how long the lane was queued, and how deep its queue is.
    pub(crate) fn record_slice(&self, at: At, thread: u32) -> (u64, u64) {
        let (before, time) = self.change(State::Running, at);
        // Ordering: as in `state`; depth is a figure.
        let moved = !matches!(self.thread.swap(thread, Ordering::Relaxed), before if before == 0 || before == thread);
        self.slices.add(1);
        self.moves.add(u64::from(moved));
        let depth = self.waiting.nodes();
        if depth > self.max_depth.load(Ordering::Relaxed) {
            self.max_depth.store(depth, Ordering::Relaxed);
        }
        (if before == State::Queued { time } else { 0 }, depth)
    }

    /// A turn is over.
    pub(crate) fn record_turn_end(&self) {
        self.turns.add(1);
    }

    /// The task at the head is about to keep the lane, or a behavior or readers to get it.
    pub(crate) fn record_kept(&self, at: At) {
        self.change(State::Kept, at);
    }

    /// The holder goes on, or runs a closure at once. Returns how long the lane was kept before, if it was.
    pub(crate) fn record_running(&self, at: At) -> Option<u64> {
        kept(self.change(State::Running, at))
    }

    /// The running lane's thread ran others for so long.
    pub(crate) fn record_lent(&self, nanos: u64, session: u32) {
        if let (State::Running, since) = self.state(session) {
            // Ordering: as in `state`.
            self.state.store((since + nanos) << 2 | State::Running as u64, Ordering::Relaxed);
        }
    }

    /// The lane may become idle with the next exchange. Returns how long it was kept before, if it was.
    pub(crate) fn record_idle(&self, at: At) -> Option<u64> {
        kept(self.change(State::Idle, at))
    }

    pub(crate) fn usage(&self) -> Usage {
        let time = |counter: &Counter| Duration::from_nanos(counter.get());
        Usage {
            run: time(&self.run),
            kept: time(&self.kept),
            wait_color: time(&self.wait_color),
            wait_cpu: time(&self.wait_cpu),
            waits: self.waits.get(),
            turns: self.turns.get(),
            slices: self.slices.get(),
            moves: self.moves.get(),
            depth: self.waiting.nodes(),
            // Ordering: a figure.
            max_depth: self.max_depth.load(Ordering::Relaxed),
        }
    }

    /// As [`usage`](Self::usage), with the state that has not ended: a section that is open, a poll that runs, what waits.
    /// A holder may change the counters meanwhile, so they need not be of one moment.
    pub(crate) fn usage_until(&self, at: At) -> Usage {
        let mut usage = self.usage();
        let (state, since) = self.state(at.session);
        let time = Duration::from_nanos(at.now.saturating_sub(since));
        // Ordering: as in `state`.
        let grown = grown(self.wait.load(Ordering::Relaxed), self.waiting.wait(at.now));
        let waited = Duration::from_nanos(grown);
        match state {
            State::Idle => {}
            State::Queued => usage.wait_cpu += waited,
            State::Running => {
                usage.run += time;
                usage.wait_color += waited;
            }
            State::Kept => {
                usage.kept += time;
                usage.wait_color += waited;
            }
        }
        usage
    }

    /// What has been counted since the last call, up to the present state, if something has. The holder calls this, of a
    /// lane that no other thread reads.
    pub(crate) fn drain(&self) -> Option<Usage> {
        let usage = Usage { depth: 0, ..self.usage() };
        if usage.slices == 0 && usage.run.is_zero() {
            return None;
        }
        let Self { run, kept, wait_color, wait_cpu, waits, turns, slices, moves, .. } = self;
        let counters = [run, kept, wait_color, wait_cpu, waits, turns, slices, moves];
        counters.into_iter().for_each(Counter::reset);
        Some(usage)
    }

    /// Begins again from nothing: no thread uses the lane. Returns what was counted, if something was.
    pub(crate) fn reset(&mut self) -> Option<Usage> {
        let usage = self.usage();
        (usage != Usage::default()).then(|| {
            *self = Self::default();
            usage
        })
    }
}

fn kept((state, time): (State, u64)) -> Option<u64> {
    (state == State::Kept).then_some(time)
}
