//! The ends of tasks' polls, and the waits of tasks.

use super::admission::{self, Admission};
use super::callbacks::CallToken;
use super::crossing::{self, Pending};
use super::deeds;
use super::rally::{self, Seat};
use super::several::{self, Behavior, Section};
use super::task::{Output, Task};
use super::{Move, callbacks, limited};
use crate::agenda::Event;
use crate::oracle::{Answer, CallKey, CellKey, End, Outcome};
use crate::profile::Crossing;
use crate::slab::Key;
use crate::trace::What;
use crate::world::{Phase, World};
use colored_core::{JoinError, JoinHandle, hop, yield_now};
use colored_limit::TrySendError;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

/// The wait of a task.
pub(super) enum Wait {
    Nothing,
    /// The task waits for any wake-up.
    Wake,
    Join(Key, JoinHandle<Output>),
    Call(PendingCall),
    Behavior(Behavior),
    Section(Section),
    Admission(Admission),
    Pending(Pending),
    /// The task is one of the tasks that wake each other for ever.
    Rally(Seat),
}

pub(super) struct PendingCall {
    key: CallKey,
    cell: CellKey,
    future: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl PendingCall {
    pub(super) fn new(
        key: CallKey,
        cell: CellKey,
        future: Pin<Box<dyn Future<Output = ()> + Send>>,
    ) -> Self {
        Self { key, cell, future }
    }
}

pub(super) fn number(end: End) -> u32 {
    match end {
        End::Waits => 0,
        End::Yields => 1,
        End::Hops(hue) => 100 + hue,
    }
}

/// Polls the task's wait. False if it has none, or the wait is over.
pub(super) fn still_waits(task: &mut Task, world: &World, cx: &mut Context<'_>) -> bool {
    match std::mem::replace(&mut task.wait, Wait::Nothing) {
        Wait::Nothing | Wait::Wake => false,
        Wait::Join(child, handle) => poll_join(task, child, handle, world, cx),
        Wait::Call(call) => poll_call(task, call, world, cx),
        Wait::Behavior(behavior) => several::poll_behavior(task, behavior, world, cx),
        Wait::Section(section) => several::poll_section(task, section, world, cx),
        Wait::Admission(line) => admission::poll(task, line, world, cx),
        Wait::Pending(pending) => cross(task, pending, world, cx).is_some(),
        Wait::Rally(seat) => rally::play(task, seat, world, cx),
    }
}

/// Gives up the wait of a task that is no more.
pub(super) fn stop_waiting(task: Key, wait: &mut Wait, world: &World) {
    match std::mem::replace(wait, Wait::Nothing) {
        Wait::Nothing | Wait::Wake => {}
        Wait::Join(child, handle) => deeds::detach(world, child, handle),
        Wait::Call(call) => give_up(world, call),
        Wait::Behavior(behavior) => several::give_up(world, behavior),
        Wait::Section(section) => several::leave(task, world, section),
        Wait::Admission(line) => admission::give_up(task, line, world),
        Wait::Pending(pending) => crossing::give_up(task, pending, world),
        Wait::Rally(seat) => rally::leave(task, seat, world),
    }
}

pub(super) fn yield_here(cx: &mut Context<'_>) -> End {
    let polled = pin!(yield_now()).poll(cx);
    assert!(polled.is_pending(), "others run first");
    End::Yields
}

pub(super) fn make(task: &mut Task, next: Move, world: &World, cx: &mut Context<'_>) -> End {
    let sleeper = |cx: &Context<'_>| (task.key, cx.waker().clone());
    match next {
        Move::Yield => return yield_here(cx),
        Move::WakeSelf => {
            world.oracle(|oracle| oracle.wake(task.key));
            cx.waker().wake_by_ref();
            task.wait = Wait::Wake;
        }
        Move::Spin => {
            task.spins = world.chance.below(world.profile.spins);
            return yield_here(cx);
        }
        Move::Hop => return ask_to_hop(task.key, world, cx),
        Move::HopTwice => {
            // The later hop counts, unless it leads to the color under which the task is.
            let first = ask_to_hop(task.key, world, cx);
            let second = ask_to_hop(task.key, world, cx);
            return if let End::Hops(_) = second { second } else { first };
        }
        Move::Signal => {
            world.stock.wait_for_signal(&world.chance, sleeper(cx));
            task.wait = Wait::Wake;
        }
        Move::Sleep => {
            let timer = world.stock.wait_for_timer(sleeper(cx));
            world.put(u64::from(world.chance.skewed(1 << 20)), Event::Ready(timer));
            task.wait = Wait::Wake;
        }
        Move::Join => {
            let Some((child, handle)) = world.stock.take_handle(&world.chance) else {
                return yield_here(cx);
            };
            if !poll_join(task, child, handle, world, cx) {
                return yield_here(cx);
            }
        }
        Move::Call | Move::GiveUpCall => {
            let Some(call) = begin_call(task.key, world) else { return yield_here(cx) };
            if !poll_call(task, call, world, cx) {
                return again_or_yield(task, world, cx);
            }
            if next == Move::GiveUpCall {
                stop_waiting(task.key, &mut task.wait, world);
                return yield_here(cx);
            }
        }
        Move::When | Move::Read | Move::GiveUpWhen => {
            let Some(behavior) = several::begin(task.key, next, world) else {
                return yield_here(cx);
            };
            if !several::poll_behavior(task, behavior, world, cx) {
                return again_or_yield(task, world, cx);
            }
            if next == Move::GiveUpWhen {
                stop_waiting(task.key, &mut task.wait, world);
                return yield_here(cx);
            }
        }
        Move::Section => {
            if !several::may_enter(task.key, world) {
                return yield_here(cx);
            }
            if !several::poll_section(task, several::section(task.key, world), world, cx) {
                return again_or_yield(task, world, cx);
            }
        }
        Move::Again => {
            let crosses = world.profile.crossing != Crossing::None;
            let one = if crosses { Move::Section } else { world.chance.of(&AGAIN) };
            task.again = Some((one, 1 + world.chance.below(4)));
            return make(task, one, world, cx);
        }
        Move::Admission => {
            let Some(line) = admission::begin(world) else { return yield_here(cx) };
            if !admission::poll(task, line, world, cx) {
                return yield_here(cx);
            }
        }
        Move::Cross => {
            let pending = crossing::begin(task.key, world, false);
            let end = pending.and_then(|pending| cross(task, pending, world, cx));
            return end.unwrap_or_else(|| yield_here(cx));
        }
        Move::Rally => {
            let Some(seat) = rally::join(world) else { return yield_here(cx) };
            if !rally::play(task, seat, world, cx) {
                return yield_here(cx);
            }
        }
        Move::Finish | Move::Panic => unreachable!("an end is no way to go on"),
    }
    End::Waits
}

/// The moves that a task makes again and again, in the poll in which the last one was over.
const AGAIN: [Move; 5] = [Move::Section, Move::Section, Move::Call, Move::When, Move::Read];

/// A move was over at once: makes it again, or yields.
fn again_or_yield(task: &mut Task, world: &World, cx: &mut Context<'_>) -> End {
    match task.take_again().filter(|_| !world.has_failed()) {
        Some(next) => make(task, next, world, cx),
        None => yield_here(cx),
    }
}

/// Polls a wait. Returns the end of the poll if the wait goes on.
fn cross(task: &mut Task, pending: Pending, world: &World, cx: &mut Context<'_>) -> Option<End> {
    let pending = crossing::look(pending, task.key, world, cx)?;
    let end = crossing::end_of(&pending);
    task.wait = Wait::Pending(pending);
    Some(end)
}

/// Asks to go on under a random color.
fn ask_to_hop(key: Key, world: &World, cx: &mut Context<'_>) -> End {
    let to = world.some_hue();
    let (color, from) = world.oracle(|oracle| (oracle.lanes.get(to).color, oracle.hue_of(key)));
    let free = world.oracle(|oracle| oracle.is_free_here(key, to));
    let polled = pin!(hop(color.expect("a color with a name"))).poll(cx);
    let is_wrong = match (from == Some(to), free) {
        (true, Some(free)) => polled.is_ready() != free,
        (true, None) => false,
        (false, _) => polled.is_ready(),
    };
    if is_wrong {
        world.oracle(|oracle| oracle.violated("G2", format!("a hop to color {to}: {polled:?}")));
    }
    if from == Some(to) {
        // The task goes behind the others, by the hop or without it.
        return if polled.is_ready() { yield_here(cx) } else { End::Yields };
    }
    world.oracle(|oracle| oracle.lanes.get_mut(to).published = true);
    End::Hops(to)
}

fn poll_join(
    task: &mut Task,
    child: Key,
    mut handle: JoinHandle<Output>,
    world: &World,
    cx: &mut Context<'_>,
) -> bool {
    let Poll::Ready(result) = Pin::new(&mut handle).poll(cx) else {
        world.oracle(|oracle| {
            if oracle.is_complete(child) {
                oracle.violated(
                    "G9",
                    format!("task {} is complete, and cannot be joined", child.slot),
                );
            } else {
                oracle.join(child, task.key);
            }
        });
        world.note(What::Join, task.key.slot, child.slot);
        task.wait = Wait::Join(child, handle);
        return true;
    };
    check_outcome(world, child, result);
    false
}

/// G9: the handle of a task gives the outcome that the task had. The handle is no more.
pub(super) fn check_outcome(world: &World, child: Key, result: Result<Output, JoinError>) {
    let found = match result {
        Ok(Output(key)) if key == child => Some(Outcome::Value),
        Ok(_) => None,
        Err(error) => match error.try_into_panic() {
            Ok(payload) if payload.downcast_ref() == Some(&child) => Some(Outcome::Panicked),
            Ok(_) => None,
            Err(_) => Some(Outcome::Cancelled),
        },
    };
    let expected = world.oracle(|oracle| oracle.handle_gone(child));
    if found.is_none() || found != expected {
        let what = format!("task {} ended with {expected:?}, and gives {found:?}", child.slot);
        world.oracle(|oracle| oracle.violated("G9", what));
    }
}

fn begin_call(waiter: Key, world: &World) -> Option<PendingCall> {
    if world.chance.one_in(8) {
        return begin_limited(waiter, world);
    }
    let (cell_key, cell) = world.stock.some_cell(&world.chance)?;
    let key = world.oracle(|oracle| oracle.call(cell_key, waiter));
    let token = CallToken::new(key);
    let future = Box::pin(cell.call(move |value| token.run(value)));
    // `call` has a clone of its own, so this one is not the last.
    drop(cell);
    Some(PendingCall { key, cell: cell_key, future })
}

/// Makes a call that needs a permit. The limit lets it in, or sends it away.
fn begin_limited(waiter: Key, world: &World) -> Option<PendingCall> {
    let (limit, cell, clone) = limited::some(world)?;
    let (expected, key) = world.oracle(|oracle| {
        let here = oracle.hue_of(waiter);
        (oracle.limit_enter(limit, here), oracle.call(cell, waiter))
    });
    let token = CallToken::inside(key, (expected == Answer::Inside).then_some(limit));
    let (found, future) = match clone.try_call(move |value| token.run(value)) {
        Ok(future) => (Answer::Inside, Some(future)),
        Err(TrySendError::Full(_)) => (Answer::Full, None),
        Err(TrySendError::Closed(_)) => (Answer::Closed, None),
    };
    admission::check(world, limit, found, expected);
    let Some(future) = future else {
        world.oracle(|oracle| oracle.caller_gone(key, cell));
        return None;
    };
    Some(PendingCall { key, cell, future: Box::pin(future) })
}

/// Polls a call. False if it is over.
pub(super) fn poll_call(
    task: &mut Task,
    mut call: PendingCall,
    world: &World,
    cx: &mut Context<'_>,
) -> bool {
    let polled = catch_unwind(AssertUnwindSafe(|| call.future.as_mut().poll(cx)));
    match polled {
        Ok(Poll::Pending) => {
            world.oracle(|oracle| oracle.call_is_pending(call.key));
            task.wait = Wait::Call(call);
            true
        }
        Ok(Poll::Ready(())) => {
            give_up(world, call);
            false
        }
        Err(payload) => {
            // A task that waits for a call when the end comes learns of the end in this way.
            let expected = world.phase.get() == Phase::Closing
                || payload.downcast_ref() == Some(&callbacks::PANIC);
            if !expected {
                world.oracle(|oracle| oracle.violated("G9", "a call panics with something else"));
            }
            give_up(world, call);
            false
        }
    }
}

/// Drops a call, done or not.
fn give_up(world: &World, call: PendingCall) {
    world.note(What::Abandon, call.key.slot, call.cell.slot);
    world.oracle(|oracle| oracle.caller_gone(call.key, call.cell));
    deeds::last_owner(world, call.cell, || drop(call.future));
}
