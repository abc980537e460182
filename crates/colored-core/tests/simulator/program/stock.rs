//! The things that the program keeps: handles, wakers, cells, colors.

use super::callbacks::Value;
use super::limited::Limited;
use super::rally::Rally;
use super::task::Output;
use crate::chance::Chance;
use crate::oracle::{CellKey, Hue, LimitKey};
use crate::slab::{Key, Slab};
use colored_core::{AbortHandle, ColorCell, JoinHandle};
use colored_limit::{Limit, Permit};
use std::cell::{Cell, RefCell};
use std::task::Waker;

/// How many things of a kind the program keeps. The next one takes the place of another.
const KEPT: usize = 128;

/// Colors of unique tasks that the program remembers.
const KNOWN: usize = 16;

pub(super) type Sleeper = (Key, Waker);

#[derive(Default)]
pub(crate) struct Stock {
    handles: RefCell<Vec<(Key, JoinHandle<Output>)>>,
    aborts: RefCell<Vec<Option<(Key, AbortHandle)>>>,
    signals: RefCell<Vec<Sleeper>>,
    timers: RefCell<Slab<Sleeper>>,
    /// Wakers of tasks that may wait for them no more.
    stale: RefCell<Vec<Sleeper>>,
    /// Tasks whose timers are due.
    pub(crate) due: RefCell<Vec<Sleeper>>,
    pub(super) cells: RefCell<Vec<(CellKey, ColorCell<Value>)>>,
    /// Cells that stay up to the end: sets of them may wait for their colors for long.
    pub(super) lasting: RefCell<Vec<(CellKey, ColorCell<Value>)>>,
    pub(super) limits: RefCell<Vec<(LimitKey, Limit)>>,
    pub(super) limited: RefCell<Vec<Limited>>,
    pub(super) permits: RefCell<Vec<(LimitKey, Permit)>>,
    pub(super) rallies: RefCell<[Rally; 2]>,
    pub(super) known: RefCell<Vec<Hue>>,
    /// The color whose value is used next.
    pub(super) possessor: Cell<Hue>,
    pub(super) posts: Cell<u32>,
    /// The cell whose last owner is just going on this thread.
    pub(super) going: Cell<Option<CellKey>>,
    pub(crate) next_look: Cell<u64>,
    pub(crate) fault_done: Cell<bool>,
}

impl Stock {
    /// Keeps a handle, perhaps in place of another one, which it returns.
    #[must_use]
    pub(super) fn keep_handle(
        &self,
        chance: &Chance,
        handle: (Key, JoinHandle<Output>),
    ) -> Option<(Key, JoinHandle<Output>)> {
        let mut handles = self.handles.borrow_mut();
        if handles.len() < KEPT {
            handles.push(handle);
            return None;
        }
        let place = chance.index(handles.len());
        Some(std::mem::replace(&mut handles[place], handle))
    }

    pub(super) fn take_handle(&self, chance: &Chance) -> Option<(Key, JoinHandle<Output>)> {
        take_some(&mut self.handles.borrow_mut(), chance)
    }

    /// Calls `f` with some handle.
    pub(super) fn with_handle(&self, chance: &Chance, f: impl FnOnce(Key, &JoinHandle<Output>)) {
        let handles = self.handles.borrow();
        if !handles.is_empty() {
            let (key, handle) = &handles[chance.index(handles.len())];
            f(*key, handle);
        }
    }

    pub(super) fn keep_abort(&self, key: Key, handle: AbortHandle) {
        let mut aborts = self.aborts.borrow_mut();
        let slot = key.slot as usize;
        if aborts.len() <= slot {
            aborts.resize_with(slot + 1, || None);
        }
        aborts[slot] = Some((key, handle));
    }

    /// Forgets the abort handle of a task that is complete.
    pub(super) fn drop_abort(&self, key: Key) {
        let mut aborts = self.aborts.borrow_mut();
        let old =
            aborts.get_mut(key.slot as usize).and_then(|place| place.take_if(|of| of.0 == key));
        drop(aborts);
        drop(old);
    }

    /// Some task that is alive.
    pub(super) fn some_abort(&self, chance: &Chance) -> Option<(Key, AbortHandle)> {
        let aborts = self.aborts.borrow();
        let places = (!aborts.is_empty()).then_some(4)?;
        (0..places).find_map(|_| aborts[chance.index(aborts.len())].clone())
    }

    /// Up to `most` tasks that are alive, from a random one on.
    pub(super) fn some_aborts(&self, chance: &Chance, most: usize) -> Vec<(Key, AbortHandle)> {
        let aborts = self.aborts.borrow();
        if aborts.is_empty() {
            return Vec::new();
        }
        let (before, after) = aborts.split_at(chance.index(aborts.len()));
        after.iter().chain(before).flatten().take(most).cloned().collect()
    }

    /// Keeps the waker of a task that waits for a signal.
    pub(super) fn wait_for_signal(&self, chance: &Chance, sleeper: Sleeper) {
        self.signals.borrow_mut().push(sleeper.clone());
        if chance.one_in(8) {
            let mut stale = self.stale.borrow_mut();
            let old = if stale.len() < KEPT {
                stale.push(sleeper);
                None
            } else {
                let place = chance.index(stale.len());
                Some(std::mem::replace(&mut stale[place], sleeper))
            };
            drop(stale);
            drop(old);
        }
    }

    pub(crate) fn take_signals(&self, chance: &Chance, most: usize) -> Vec<Sleeper> {
        let mut signals = self.signals.borrow_mut();
        let count = most.min(signals.len());
        (0..count).filter_map(|_| take_some(&mut signals, chance)).collect()
    }

    pub(super) fn take_signal(&self, chance: &Chance) -> Option<Sleeper> {
        take_some(&mut self.signals.borrow_mut(), chance)
    }

    pub(super) fn some_stale(&self, chance: &Chance) -> Option<Sleeper> {
        let stale = self.stale.borrow();
        (!stale.is_empty()).then(|| stale[chance.index(stale.len())].clone())
    }

    /// Keeps the waker of a task that waits for a timer. Returns the timer's number.
    pub(super) fn wait_for_timer(&self, sleeper: Sleeper) -> Key {
        self.timers.borrow_mut().insert(sleeper)
    }

    pub(crate) fn take_timer(&self, timer: Key) -> Option<Sleeper> {
        self.timers.borrow_mut().remove(timer)
    }

    pub(super) fn forget_wakers(&self) {
        let signals = self.signals.take();
        let timers = self.timers.take();
        let stale = self.stale.take();
        drop((signals, timers, stale));
    }

    pub(super) fn take_cell(&self, chance: &Chance) -> Option<(CellKey, ColorCell<Value>)> {
        take_some(&mut self.cells.borrow_mut(), chance)
    }

    pub(super) fn some_cell(&self, chance: &Chance) -> Option<(CellKey, ColorCell<Value>)> {
        let lasting = chance.one_in(4);
        let cells = if lasting { self.lasting.borrow() } else { self.cells.borrow() };
        (!cells.is_empty()).then(|| cells[chance.index(cells.len())].clone())
    }

    /// Remembers a color, if there is room.
    pub(super) fn remember(&self, hue: Hue) -> bool {
        let mut known = self.known.borrow_mut();
        let room = known.len() < KNOWN;
        if room {
            known.push(hue);
        }
        room
    }
}

fn take_some<T>(list: &mut Vec<T>, chance: &Chance) -> Option<T> {
    if list.is_empty() {
        return None;
    }
    Some(list.swap_remove(chance.index(list.len())))
}
