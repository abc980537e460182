//! Waits that may close a cycle: for a task, for a turn under a color, in sections and beside them.

use super::callbacks::{CallToken, PANIC};
use super::several::{self, Behavior};
use super::task::Output;
use super::{Move, deeds, moves};
use crate::fault::Fault;
use crate::oracle::{CallKey, CellKey, End, Hue, Over};
use crate::profile::Crossing;
use crate::slab::Key;
use crate::trace::What;
use crate::world::{Phase, World};
use colored_core::{CallError, Hop, JoinHandle, hop};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

/// A wait that the scheduler knows.
pub(super) enum Pending {
    Join(Key, JoinHandle<Output>),
    Call(TryCall),
    Hop(Hue, Pin<Box<Hop>>),
    /// A hop to the task's own color, where others are scheduled.
    Behind(Pin<Box<Hop>>),
    Behavior(Behavior),
}

pub(super) struct TryCall {
    key: CallKey,
    cell: CellKey,
    future: Pin<Box<dyn Future<Output = Result<(), CallError>> + Send>>,
}

/// Begins a wait, inside a section or not.
pub(super) fn begin(task: Key, world: &World, inside: bool) -> Option<Pending> {
    let own = world.oracle(|oracle| oracle.hue_of(task))?;
    let ordered = world.profile.crossing == Crossing::Ordered;
    let is_allowed = |hue: Hue| !ordered || hue > own;
    match world.chance.below(8) {
        0..3 => {
            let (child, handle) = world.stock.take_handle(&world.chance)?;
            // A circle of joins alone is the program's own fault, and the scheduler does not report it.
            let younger = world.oracle(|oracle| oracle.is_younger(child, task));
            let hue = world.oracle(|oracle| oracle.hue_of(child));
            if younger && hue.is_none_or(is_allowed) {
                return Some(Pending::Join(child, handle));
            }
            put_back(world, child, handle);
            None
        }
        3 if !inside => {
            let to = world.some_hue();
            let color = world.oracle(|oracle| oracle.lanes.get(to).color)?;
            is_allowed(to).then(|| Pending::Hop(to, Box::pin(hop(color))))
        }
        4 | 5 if ordered || world.profile.crossing == Crossing::Tangled => {
            let next = world.chance.of(&[Move::When, Move::Read]);
            several::begin(task, next, world).map(Pending::Behavior)
        }
        _ => {
            let (cell, clone) = world.stock.some_cell(&world.chance)?;
            let hue = world.oracle(|oracle| oracle.cells.get(cell).map(|cell| cell.hue))?;
            is_allowed(hue).then(|| {
                let key = world.oracle(|oracle| oracle.call(cell, task));
                let token = CallToken::new(key);
                let future = Box::pin(clone.try_call(move |value| token.run(value)));
                Pending::Call(TryCall { key, cell, future })
            })
        }
    }
}

fn put_back(world: &World, key: Key, handle: JoinHandle<Output>) {
    if let Some((key, handle)) = world.stock.keep_handle(&world.chance, (key, handle)) {
        deeds::detach(world, key, handle);
    }
}

/// Polls a wait. Returns the wait if it goes on.
pub(super) fn look(
    pending: Pending,
    task: Key,
    world: &World,
    cx: &mut Context<'_>,
) -> Option<Pending> {
    let still = match pending {
        Pending::Join(child, handle) => poll_join(task, child, handle, world, cx),
        Pending::Call(call) => poll_call(task, call, world, cx),
        Pending::Hop(to, hop) => poll_hop(task, to, hop, world, cx),
        Pending::Behind(mut hop) => {
            if hop.as_mut().poll(cx).is_pending() {
                world.oracle(|oracle| oracle.violated("G2", "a hop has had its turn, and waits"));
            }
            None
        }
        Pending::Behavior(behavior) => poll_behavior(task, behavior, world, cx),
    };
    let (pending, over) = still.unzip();
    world.oracle(|oracle| oracle.set_wait(task, over.flatten()));
    pending
}

/// The end of the poll that has begun a wait.
pub(super) fn end_of(pending: &Pending) -> End {
    match pending {
        Pending::Hop(to, _) => End::Hops(*to),
        Pending::Behind(_) => End::Yields,
        _ => End::Waits,
    }
}

/// Compares the answer to a wait with the answers that it may get.
fn judge(world: &World, task: Key, over: Over, refused: bool) {
    if world.phase.get() == Phase::Closing {
        return;
    }
    let refused = refused != world.fault.is_due(Fault::WrongDiagnosis, world);
    world.oracle(|oracle| {
        if refused {
            oracle.tally.refused += 1;
            oracle.note_told();
        }
        if refused && !oracle.may_be_told(task, over) {
            oracle.violated("G12", format!("task {} cannot wait for {over:?}", task.slot));
        }
    });
}

type Still = Option<(Pending, Option<Over>)>;

fn poll_join(
    task: Key,
    child: Key,
    mut handle: JoinHandle<Output>,
    world: &World,
    cx: &mut Context<'_>,
) -> Still {
    let over = Over::Task(child);
    let complete = world.oracle(|oracle| oracle.is_complete(child));
    let polled = Pin::new(&mut handle).poll(cx);
    let refused = matches!(&polled, Poll::Ready(Err(error)) if error.is_deadlock());
    if (polled.is_pending() || refused) == complete {
        let what = format!("task {} is complete: {complete}, and gives {polled:?}", child.slot);
        world.oracle(|oracle| oracle.violated("G9", what));
        return None;
    }
    if complete {
        if let Poll::Ready(result) = polled {
            moves::check_outcome(world, child, result);
        }
        return None;
    }
    judge(world, task, over, refused);
    // A join that is refused has left its waker all the same.
    world.oracle(|oracle| oracle.join(child, task));
    world.note(What::Join, task.slot, child.slot);
    if refused {
        put_back(world, child, handle);
        return None;
    }
    Some((Pending::Join(child, handle), Some(over)))
}

fn poll_call(task: Key, mut call: TryCall, world: &World, cx: &mut Context<'_>) -> Still {
    let over = Over::Call(call.key);
    let polled = catch_unwind(AssertUnwindSafe(|| call.future.as_mut().poll(cx)));
    let refused = matches!(&polled, Ok(Poll::Ready(Err(CallError::Deadlock(_)))));
    judge(world, task, over, refused);
    match polled {
        Ok(Poll::Pending) => {
            world.oracle(|oracle| oracle.call_is_pending(call.key));
            return Some((Pending::Call(call), Some(over)));
        }
        Err(payload) if payload.downcast_ref() != Some(&PANIC) => {
            world.oracle(|oracle| oracle.violated("G9", "a call panics with something else"));
        }
        Ok(Poll::Ready(_)) | Err(_) => {}
    }
    give_up_call(world, call);
    None
}

fn poll_hop(
    task: Key,
    to: Hue,
    mut hop: Pin<Box<Hop>>,
    world: &World,
    cx: &mut Context<'_>,
) -> Still {
    let over = Over::Color(to);
    let own = world.oracle(|oracle| oracle.hue_of(task));
    let polled = catch_unwind(AssertUnwindSafe(|| hop.as_mut().poll(cx)));
    judge(world, task, over, polled.is_err());
    if polled.is_ok_and(|polled| polled.is_pending()) {
        if own == Some(to) {
            // The hop puts the task behind the entries that are scheduled there.
            return Some((Pending::Behind(hop), None));
        }
        world.oracle(|oracle| oracle.lanes.get_mut(to).published = true);
        return Some((Pending::Hop(to, hop), Some(over)));
    }
    None
}

fn poll_behavior(task: Key, behavior: Behavior, world: &World, cx: &mut Context<'_>) -> Still {
    let over = Over::Behavior(behavior.key);
    let (behavior, refused) = several::try_poll(behavior, world, cx);
    judge(world, task, over, refused);
    behavior.map(|behavior| (Pending::Behavior(behavior), Some(over)))
}

fn give_up_call(world: &World, call: TryCall) {
    world.note(What::Abandon, call.key.slot, call.cell.slot);
    world.oracle(|oracle| oracle.caller_gone(call.key, call.cell));
    deeds::last_owner(world, call.cell, || drop(call.future));
}

/// Gives up a wait.
pub(super) fn give_up(task: Key, pending: Pending, world: &World) {
    world.oracle(|oracle| oracle.set_wait(task, None));
    match pending {
        Pending::Join(child, handle) => deeds::detach(world, child, handle),
        Pending::Call(call) => give_up_call(world, call),
        Pending::Hop(_, hop) | Pending::Behind(hop) => drop(hop),
        Pending::Behavior(behavior) => several::give_up(world, behavior),
    }
}
