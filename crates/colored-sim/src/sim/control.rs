//! What the one thread of a run that goes on has: the run, and its ids.

use super::faults::Rng;
use super::panics;
use crate::world::World;
use crate::{Act, Choices, thread, wakes};
use colored_core::Color;
use colored_core::port::SimulatedIds;
use std::any::Any;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

// A box: without a run, nothing of it is left in the thread-local.
thread_local!(static RUN: RefCell<Option<Box<Run>>> = const { RefCell::new(None) });

/// By name, whether the condition of a `sometimes!` has held.
pub(super) type Sometimes = BTreeMap<String, bool>;

/// The awaits that have been cancelled: by the number of the place of [`cancellable`](super::cancellable), and of the await.
pub(super) type Cancelled = BTreeSet<(u32, u64)>;

/// What a run has seen, for the search.
#[derive(Default)]
pub(super) struct Noted {
    pub(super) sometimes: Sometimes,
    /// What runs before this one have cancelled.
    before: Arc<Cancelled>,
    /// What this one has asked for, and none before it has cancelled.
    pub(super) asked: Vec<(u32, u64)>,
    /// What this one has cancelled first.
    pub(super) cancelled: Cancelled,
}

impl Noted {
    /// Of a run behind others that have cancelled these awaits.
    pub(super) fn behind(before: Arc<Cancelled>) -> Self {
        Self { before, ..Self::default() }
    }

    /// Whether no run has cancelled this await.
    pub(super) fn is_new(&mut self, key: (u32, u64)) -> bool {
        let is_new = !self.before.contains(&key);
        if is_new {
            self.asked.push(key);
        }
        is_new && !self.cancelled.contains(&key)
    }
}

/// What is left of a run that has ended.
pub(super) struct Ended {
    pub(super) choices: Choices,
    pub(super) noted: Noted,
    pub(super) colors: usize,
}

/// The run that this thread simulates.
pub(super) struct Run {
    pub(super) choices: Choices,
    pub(super) world: Arc<World>,
    pub(super) random: Rng,
    pub(super) noted: Noted,
    /// Whether this run was the first one to cancel some await.
    pub(super) has_cancelled: bool,
    /// The panic of a task without a handle.
    pub(super) panicked: Option<String>,
    /// What the program shares, a value of each type.
    pub(super) shared: Vec<Arc<dyn Any + Send + Sync>>,
    /// By color, its number in the order in which colors became runnable first.
    pub(super) numbers: HashMap<Color, usize, BuildHasherDefault<ColorHasher>>,
    /// By the last bits of their numbers, colors that were looked up last: each turn looks one up.
    pub(super) looked_up: [Option<(Color, usize)>; LOOKED_UP],
}

/// How many.
pub(super) const LOOKED_UP: usize = 16;

impl Run {
    /// The number of a color.
    pub(super) fn number_of(&mut self, color: Color) -> usize {
        let looked_up = &mut self.looked_up[color.number() as usize % LOOKED_UP];
        if let Some((last, number)) = *looked_up
            && last == color
        {
            return number;
        }
        let next = self.numbers.len();
        let number = *self.numbers.entry(color).or_insert(next);
        *looked_up = Some((color, number));
        number
    }
}

/// Hashes a color, for each turn.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ColorHasher(u64);

impl Hasher for ColorHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_isize(&mut self, number: isize) {
        self.write_u64(number.cast_unsigned() as u64);
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = thread::mix(self.0 ^ number);
    }
}

/// Calls `f` with the run of this thread. None if it has none, or is inside such a call.
#[inline]
pub(super) fn with<R>(f: impl FnOnce(&mut Run) -> R) -> Option<R> {
    RUN.try_with(|run| run.try_borrow_mut().ok()?.as_deref_mut().map(f)).ok()?
}

/// The run fails, by the first such panic.
pub(super) fn fail(panic: String) {
    with(|run| {
        run.panicked.get_or_insert(panic);
    });
}

/// A run that no thread has at the moment, and what a thread that has it shows to others.
pub(super) struct Control {
    run: Box<Run>,
    ids: SimulatedIds,
    panic: Option<String>,
    /// The waits in an order that it draws.
    waits: wakes::Waits,
    shown: Option<thread::Source>,
}

impl Control {
    /// A run that begins.
    pub(super) fn begin(run: Run, seed: u64) {
        RUN.set(Some(Box::new(run)));
        SimulatedIds::first().give_to_thread();
        thread::begin(seed);
        wakes::begin(draw_below);
    }

    /// This thread simulates the run from now on.
    pub(super) fn give_to_thread(self) {
        let Self { run, ids, panic, waits, shown } = self;
        RUN.set(Some(run));
        ids.give_to_thread();
        panics::set_last(panic);
        wakes::go_on(waits, draw_below);
        thread::go_on(shown);
    }

    /// Takes the run from this thread, if it has one.
    pub(super) fn take_from_thread() -> Option<Self> {
        let run = RUN.take()?;
        Some(Self {
            run,
            ids: SimulatedIds::take_from_thread(),
            panic: panics::take_last(),
            waits: wakes::take(),
            shown: thread::take(),
        })
    }

    pub(super) fn into_ended(self) -> (Ended, Arc<World>) {
        let Run { choices, noted, numbers, world, .. } = *self.run;
        (Ended { choices, noted, colors: numbers.len() }, world)
    }
}

fn draw_below(bound: u32) -> u32 {
    drawn_below(bound).unwrap_or(0)
}

/// A number below `bound` that is drawn by chance: a choice of the run. None on a thread that simulates none.
#[must_use]
pub fn drawn_below(bound: u32) -> Option<u32> {
    let drawn = RUN.try_with(|run| match run.try_borrow_mut() {
        Ok(mut run) => run.as_mut().map(|run| run.choices.choose_below(bound)),
        // Inside a choice of the run.
        Err(_) => Some(0),
    });
    drawn.ok().flatten()
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
