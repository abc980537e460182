//! What the one thread of a run that goes on has: the run, and its ids.

use super::panics;
use colored_core::Color;
use colored_core::port::SimulatedIds;
use colored_sim::{Act, Choices};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

thread_local!(static RUN: RefCell<Option<Run>> = const { RefCell::new(None) });

/// By name, whether the condition of a `sometimes!` has held.
pub(super) type Sometimes = BTreeMap<String, bool>;

/// The run that this thread simulates.
pub(super) struct Run {
    pub(super) choices: Choices,
    /// The state of a SplitMix64, by Steele, Lea and Flood.
    pub(super) random: u64,
    pub(super) sometimes: Sometimes,
    /// The panic of a task without a handle.
    pub(super) panicked: Option<String>,
    /// By color, its number in the order in which colors became runnable first.
    pub(super) numbers: HashMap<Color, usize>,
}

impl Run {
    pub(super) fn new(choices: Choices, seed: u64, sometimes: Sometimes) -> Self {
        Self { choices, random: seed, sometimes, panicked: None, numbers: HashMap::new() }
    }

    /// The number of a color.
    pub(super) fn number_of(&mut self, color: Color) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry(color).or_insert(next)
    }
}

/// Calls `f` with the run of this thread. None if it has none, or is inside such a call.
pub(super) fn with<R>(f: impl FnOnce(&mut Run) -> R) -> Option<R> {
    RUN.try_with(|run| run.try_borrow_mut().ok()?.as_mut().map(f)).ok()?
}

/// A run that no thread has at the moment.
pub(super) struct Control {
    run: Run,
    ids: SimulatedIds,
    panic: Option<String>,
}

impl Control {
    pub(super) fn new(run: Run) -> Self {
        Self { run, ids: SimulatedIds::first(), panic: None }
    }

    /// This thread simulates the run from now on.
    pub(super) fn give_to_thread(self) {
        let Self { run, ids, panic } = self;
        RUN.set(Some(run));
        ids.give_to_thread();
        panics::set_last(panic);
    }

    /// Takes the run from this thread, if it has one.
    pub(super) fn take_from_thread() -> Option<Self> {
        let run = RUN.take()?;
        Some(Self { run, ids: SimulatedIds::take_from_thread(), panic: panics::take_last() })
    }

    pub(super) fn into_run(self) -> Run {
        self.run
    }
}

/// What an act is to the crate that chooses.
pub(super) fn act(on: Color, by: Option<Color>, takes: bool) -> Act {
    Act { on: name_of(on), by: by.map(name_of), takes }
}

/// A number that names a color. Two colors of one program have the same with the chance of a collision of hashes.
fn name_of(color: Color) -> u64 {
    if color.is_default() {
        u64::MAX
    } else if color.is_unique() {
        color.number() ^ (1 << 63)
    } else {
        color.number()
    }
}
