//! Posts, calls, and the ends of cells.

use super::{Entry, Hue, Oracle};
use crate::slab::Key;

pub(crate) type CellKey = Key;
pub(crate) type CallKey = Key;

#[derive(Debug)]
pub(crate) struct CellModel {
    pub(crate) hue: Hue,
    /// The number of clones of the cell, including the clones inside calls.
    owners: u32,
    /// How many accesses have begun. The cell's value must be this number.
    accesses: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Unstarted,
    Waiting,
    Abandoned,
    Running,
    /// The call has run at once.
    Done,
}

#[derive(Debug)]
pub(crate) struct CallModel {
    cell: CellKey,
    hue: Hue,
    stage: Stage,
    waiter: Option<Key>,
    /// Whether the call runs under the color that its caller holds already.
    nested: bool,
}

impl Oracle {
    /// The program makes a cell, with one owner.
    pub(crate) fn new_cell(&mut self, hue: Hue) -> CellKey {
        let lane = self.lanes.get_mut(hue);
        lane.cells += 1;
        lane.published = true;
        self.cells.insert(CellModel { hue, owners: 1, accesses: 0 })
    }

    /// A post is scheduled.
    pub(crate) fn post(&mut self, cell: CellKey, number: u32) -> Hue {
        self.tally.scheduled += 1;
        let hue = self.cells.get(cell).expect("its clone").hue;
        self.push(hue, Entry::Post(number), false);
        hue
    }

    /// An access to the value begins. Checks the number in the value.
    pub(crate) fn access(&mut self, cell: CellKey, found: u64) {
        let Some(model) = self.cells.get_mut(cell) else {
            self.violated("G8", format!("cell {} is used after its end", cell.slot));
            return;
        };
        let before = std::mem::replace(&mut model.accesses, found + 1);
        if before != found {
            let slot = cell.slot;
            self.violated("G1", format!("cell {slot} counts {found} accesses, not {before}"));
        }
    }

    /// A reader is about to look at the value.
    pub(crate) fn look(&mut self, cell: CellKey, found: u64) {
        let accesses = self.cells.get(cell).map(|model| model.accesses);
        if accesses != Some(found) {
            let slot = cell.slot;
            self.violated("G1", format!("cell {slot} counts {found} accesses, not {accesses:?}"));
        }
    }

    /// The turn of a callback is over, run or not.
    pub(crate) fn callback_ends(&mut self, hue: Hue, run: bool) {
        *(if run { &mut self.tally.run } else { &mut self.tally.unrun }) += 1;
        self.turn_ends(hue);
    }

    /// A callback is dropped without having run: a shutdown does so.
    pub(crate) fn unrun(&mut self, hue: Hue, entry: Entry) {
        self.turn_begins(hue, entry, false);
        if !self.closing {
            self.violated("G8", format!("{entry} is dropped unrun"));
        }
        self.callback_ends(hue, false);
    }

    /// A task makes a call, which owns a clone of the cell.
    pub(crate) fn call(&mut self, cell: CellKey, waiter: Key) -> CallKey {
        let model = self.cells.get_mut(cell).expect("its clone");
        model.owners += 1;
        let hue = model.hue;
        let waiter = Some(waiter);
        self.calls.insert(CallModel { cell, hue, stage: Stage::Unstarted, waiter, nested: false })
    }

    /// A task has polled a call that has no result yet. The first poll has just put it behind the others.
    pub(crate) fn call_is_pending(&mut self, call: CallKey) {
        let Some(model) = self.calls.get_mut(call) else {
            self.violated("G9", format!("call {} has run, and gives no result", call.slot));
            return;
        };
        if model.stage != Stage::Unstarted {
            return;
        }
        model.stage = Stage::Waiting;
        let (hue, cell, waiter) = (model.hue, model.cell, model.waiter);
        self.cells.get_mut(cell).expect("the call's clone").owners += 1;
        if self.must_be_idle(hue) {
            self.violated("G2", format!("call {} waits though color {hue} is idle", call.slot));
        }
        if let Some(waiter) = waiter.filter(|waiter| self.hue_of(*waiter) == Some(hue)) {
            self.check_own(waiter, hue, false);
        }
        self.tally.scheduled += 1;
        self.push_urged(hue, Entry::Call(call), false, self.lent_by(waiter));
    }

    /// The color under which a call has not had its turn yet.
    pub(crate) fn waits_for_turn(&self, call: CallKey) -> Option<Hue> {
        let call = self.calls.get(call)?;
        matches!(call.stage, Stage::Unstarted | Stage::Waiting).then_some(call.hue)
    }

    /// The closure of a call begins. Returns whether the call has waited for its turn.
    pub(crate) fn call_begins(&mut self, call: CallKey) -> bool {
        let waiter = self.calls.get(call).expect("made").waiter;
        let held = waiter.and_then(|waiter| self.hue_of(waiter));
        let model = self.calls.get_mut(call).expect("made");
        let (hue, stage) = (model.hue, model.stage);
        model.nested = stage == Stage::Unstarted && held == Some(hue);
        model.stage = Stage::Running;
        match stage {
            Stage::Waiting => self.turn_begins(hue, Entry::Call(call), false),
            Stage::Unstarted if held == Some(hue) => {
                let waiter = waiter.expect("it holds a color");
                self.check_own(waiter, hue, true);
            }
            Stage::Unstarted => self.inline_begins(hue, Entry::Call(call)),
            Stage::Abandoned | Stage::Running | Stage::Done => {
                self.violated("G8", format!("call {} runs though {stage:?}", call.slot));
            }
        }
        stage == Stage::Waiting
    }

    /// The closure of a call ends.
    pub(crate) fn call_ends(&mut self, call: CallKey, posted: bool) {
        let Some(model) = self.calls.get_mut(call) else { return };
        model.stage = Stage::Done;
        let (hue, cell, nested) = (model.hue, model.cell, model.nested);
        let waiter = model.waiter;
        if posted {
            self.calls.remove(call);
            if let Some(waiter) = waiter {
                self.wake(waiter);
            }
            self.clone_gone(cell, true);
            self.callback_ends(hue, true);
        } else if !nested {
            self.turn_ends(hue);
        }
    }

    /// A call's closure is dropped without having run.
    pub(crate) fn call_unrun(&mut self, call: CallKey) {
        let Some(model) = self.calls.get(call) else {
            self.violated("G8", format!("call {} is dropped again", call.slot));
            return;
        };
        let (hue, cell, stage, waiter) = (model.hue, model.cell, model.stage, model.waiter);
        if stage == Stage::Unstarted {
            self.calls.remove(call);
            return;
        }
        self.turn_begins(hue, Entry::Call(call), false);
        if !self.closing && stage != Stage::Abandoned {
            self.violated("G8", format!("call {} is dropped unrun", call.slot));
        }
        self.calls.remove(call);
        if let Some(waiter) = waiter {
            self.wake(waiter);
        }
        self.clone_gone(cell, true);
        self.callback_ends(hue, false);
    }

    /// A caller gives its call up, or has its result. Then the call's clone of the cell goes.
    pub(crate) fn caller_gone(&mut self, call: CallKey, cell: CellKey) {
        if let Some(model) = self.calls.get_mut(call) {
            model.waiter = None;
            match model.stage {
                Stage::Waiting => model.stage = Stage::Abandoned,
                Stage::Done => drop(self.calls.remove(call)),
                // A turn that is in progress ends without its caller, and an unused closure goes next.
                Stage::Running | Stage::Abandoned | Stage::Unstarted => {}
            }
        }
        self.clone_gone(cell, false);
    }

    /// A cell has one more owner.
    pub(crate) fn clone_made(&mut self, cell: CellKey) {
        self.cells.get_mut(cell).expect("its clone").owners += 1;
    }

    /// A clone of a cell goes. In a turn of the cell's color the end of the last one is scheduled.
    pub(crate) fn clone_gone(&mut self, cell: CellKey, in_turn: bool) {
        let Some(model) = self.cells.get_mut(cell) else { return };
        model.owners -= 1;
        let (hue, last) = (model.hue, model.owners == 0);
        if last && in_turn {
            self.schedule_end(cell, hue);
        }
    }

    /// Whether a cell has no owner any more.
    pub(crate) fn is_ownerless(&self, cell: CellKey) -> bool {
        self.cells.get(cell).is_some_and(|model| model.owners == 0)
    }

    /// The value of a cell has not ended at once: its end waits behind the others.
    pub(crate) fn last_owner_waits(&mut self, cell: CellKey) {
        let Some(hue) = self.cells.get(cell).map(|cell| cell.hue) else { return };
        if self.must_be_idle(hue) {
            self.violated("G8", format!("cell {} stays though color {hue} is idle", cell.slot));
        }
        self.schedule_end(cell, hue);
    }

    fn schedule_end(&mut self, cell: CellKey, hue: Hue) {
        self.tally.scheduled += 1;
        self.push(hue, Entry::LastOwner(cell), false);
    }

    /// A cell's value is dropped, at once or in its turn.
    pub(crate) fn value_drops(&mut self, cell: CellKey, at_once: bool, found: u64) -> Hue {
        self.access(cell, found);
        let Some(model) = self.cells.get(cell) else { return 0 };
        let (hue, owners) = (model.hue, model.owners);
        if owners > 0 {
            self.violated("G8", format!("cell {} ends with {owners} owners", cell.slot));
        }
        let entry = Entry::LastOwner(cell);
        if at_once {
            self.inline_begins(hue, entry);
        } else {
            self.turn_begins(hue, entry, false);
        }
        hue
    }

    /// The destructor of a cell's value has run.
    pub(crate) fn value_dropped(&mut self, cell: CellKey, hue: Hue, at_once: bool) {
        self.cells.remove(cell);
        self.lanes.get_mut(hue).cells -= 1;
        if at_once {
            self.turn_ends(hue);
        } else {
            self.callback_ends(hue, true);
        }
    }
}
