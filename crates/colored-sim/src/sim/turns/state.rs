//! What the threads of a run share, and tell each other.

use crate::Outcome;
use crate::sim::control::Control;
use crate::sim::runtime::Runtime;
use colored_core::JoinHandle;
use std::sync::Arc;
use std::thread;

pub(super) struct State {
    /// The main future.
    pub(super) main: JoinHandle<()>,
    /// How many threads there are.
    pub(super) threads: usize,
    /// The threads of the system, by the numbers by which the system tells whether they are busy.
    pub(super) known: Vec<i32>,
    /// Threads that are in no turn and have nothing to do.
    pub(super) idle: Vec<usize>,
    pub(super) paused: Vec<Paused>,
    /// Nobody gives way any more: the run has ended so, and the turns in progress end.
    pub(super) ended: Option<Outcome>,
    /// A thread was stuck, and all go on at once.
    pub(super) is_released: bool,
    /// The thread whose stacks these are was stuck, or nobody waits for the run: no more turns are taken.
    pub(super) is_given_up: bool,
    /// The run, if a thread has left it behind after that.
    pub(super) left: Option<Control>,
    pub(super) helpers: Vec<thread::JoinHandle<()>>,
    /// How many choices were made, and at the last look of the watch.
    pub(super) choices: u64,
    pub(super) seen: u64,
    /// The looks in a row that have seen no new choice.
    pub(super) same_looks: u32,
    /// The actor whose turn goes on.
    pub(super) running: usize,
    /// The last actors that could go on.
    pub(super) candidates: Candidates,
}

/// The actors that can go on.
#[derive(Default)]
pub(super) struct Candidates {
    /// All, sorted.
    pub(super) runnable: Vec<usize>,
    /// Those that are inside a turn, and are paused.
    pub(super) paused: Vec<usize>,
    /// What [`Hosts::changes`](crate::sim::hosts::Hosts::changes) was, if nothing else decided who can go on.
    pub(super) changes: Option<usize>,
}

/// A turn that is about to begin.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    pub(super) actor: usize,
    /// The budget of its poll.
    pub(super) units: u32,
}

/// An actor that is inside a turn, and its thread.
#[derive(Clone, Copy)]
pub(super) struct Paused {
    pub(super) actor: usize,
    pub(super) thread: usize,
}

pub(super) enum Order {
    /// Begin this turn.
    Turn(Turn),
    /// Go on with the turn.
    Resume,
    /// End what is pinned to this thread, of that worker, for another thread.
    Drain(Arc<dyn Runtime>, usize, usize),
    /// The other thread has done so.
    Drained(bool),
    /// The run is over.
    End,
}

impl State {
    /// No thread is known.
    pub(super) fn new(main: JoinHandle<()>) -> Self {
        Self {
            main,
            threads: 0,
            known: Vec::new(),
            idle: Vec::new(),
            paused: Vec::new(),
            ended: None,
            is_released: false,
            is_given_up: false,
            left: None,
            helpers: Vec::new(),
            choices: 0,
            seen: 0,
            same_looks: 0,
            running: 0,
            candidates: Candidates::default(),
        }
    }

    /// The thread of an actor that is inside a turn, which is about to go on.
    pub(super) fn take_paused(&mut self, actor: usize) -> Option<usize> {
        let place = self.paused.iter().position(|paused| paused.actor == actor)?;
        Some(self.paused.remove(place).thread)
    }
}
