//! Limits: the tasks that a limit lets in, lets wait in line, and sends away.

use super::callbacks::{CallToken, PostToken, Value};
use super::deeds;
use super::limited;
use super::moves::{self, PendingCall, Wait};
use super::stock::Stock;
use super::task::{Output, Task};
use crate::oracle::{Answer, CallKey, CellKey, Hue, LimitKey};
use crate::slab::Key;
use crate::trace::What;
use crate::world::{Actor, World};
use colored_core::JoinHandle;
use colored_limit::{Closed, Limit, Permit, TrySendError};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

/// How many limits, and how many permits, the program keeps.
const KEPT: usize = 3;

/// A future whose task the oracle makes only when the limit lets it in.
struct Late(Arc<Mutex<Option<Task>>>);

impl Late {
    fn new() -> (Self, Arc<Mutex<Option<Task>>>) {
        let place = Arc::default();
        (Self(Arc::clone(&place)), place)
    }
}

impl Future for Late {
    type Output = Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Output> {
        let mut task = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Pin::new(task.as_mut().expect("it was let in")).poll(cx)
    }
}

/// A task's wait in line to spawn a task, for a permit, or for room for a post or a call.
pub(super) struct Admission {
    limit: LimitKey,
    task: Arc<Mutex<Option<Task>>>,
    /// The cell to which the post or the call goes.
    remote: Option<(CellKey, RemoteCall)>,
    future: Pin<Box<dyn Future<Output = Result<Inside, Closed<()>>> + Send>>,
}

/// A post or a call whose token is there only when the limit lets it in.
enum RemoteCall {
    Post(TokenSlot<PostToken>),
    Call(TokenSlot<CallToken>),
}

type TokenSlot<T> = Arc<Mutex<Option<T>>>;

enum Inside {
    Posted,
    Called,
    Spawned(JoinHandle<Output>),
    Permit(Permit),
}

/// Does one act with limits. `here` is the color of the task that does it.
pub(super) fn deed(world: &World, here: Option<Hue>) {
    if here.is_none() && matches!(world.oracle(|oracle| oracle.actor()), Actor::Worker(_)) {
        // This is a callback, which does not know its color.
        return;
    }
    match world.chance.below(6) {
        0 | 1 => return leave(world),
        2 | 3 => return limited::deed(world, here),
        _ => {}
    }
    let Some((key, limit)) = some_limit(world) else { return new_limit(world) };
    match world.chance.below(32) {
        0 => {
            world.oracle(|oracle| oracle.limit_close(key));
            limit.close();
        }
        1 => let_go(world, 1),
        2 => new_limit(world),
        3..14 => reserve(world, key, &limit, here),
        _ => spawn(world, key, &limit, here),
    }
    let says = (limit.depth(), limit.waiting(), limit.is_closed());
    world.oracle(|oracle| oracle.limit_says(key, says));
    world.oracle(|oracle| oracle.limit_clone_gone(key));
}

/// A clone of a limit, of which the oracle knows.
pub(super) fn some_limit(world: &World) -> Option<(LimitKey, Limit)> {
    let limits = world.stock.limits.borrow();
    let (key, limit) = (!limits.is_empty()).then(|| &limits[world.chance.index(limits.len())])?;
    world.oracle(|oracle| oracle.limit_clone_made(*key));
    Some((*key, limit.clone()))
}

fn new_limit(world: &World) {
    if world.stock.limits.borrow().len() >= KEPT {
        return;
    }
    let (hue, capacity) = (world.some_hue(), 1 + world.chance.skewed(8) as usize);
    let (key, color) =
        world.oracle(|oracle| (oracle.new_limit(hue, capacity), oracle.lanes.get(hue).color));
    let limit = Limit::new_in(&world.handle, color.expect("a color with a name"), capacity);
    world.stock.limits.borrow_mut().push((key, limit));
}

fn reserve(world: &World, key: LimitKey, limit: &Limit, here: Option<Hue>) {
    let expected = world.oracle(|oracle| oracle.limit_enter(key, here));
    let (found, permit) = match limit.try_reserve() {
        Ok(permit) => (Answer::Inside, Some(permit)),
        Err(TrySendError::Full(())) => (Answer::Full, None),
        Err(TrySendError::Closed(())) => (Answer::Closed, None),
    };
    check(world, key, found, expected);
    if let Some(permit) = permit {
        keep(world, key, permit);
    }
}

fn spawn(world: &World, key: LimitKey, limit: &Limit, here: Option<Hue>) {
    let expected = world.oracle(|oracle| oracle.limit_enter(key, here));
    let (late, task) = Late::new();
    let child = (expected == Answer::Inside).then(|| make(world, key, &task));
    let (found, handle) = match limit.try_spawn(late) {
        Ok(handle) => (Answer::Inside, Some(handle)),
        Err(TrySendError::Full(_)) => (Answer::Full, None),
        Err(TrySendError::Closed(_)) => (Answer::Closed, None),
    };
    check(world, key, found, expected);
    if let Some((child, handle)) = child.zip(handle) {
        deeds::keep(world, child, handle);
    }
}

/// Makes a task that the limit has let in, and that the program spawns next.
fn make(world: &World, limit: LimitKey, place: &Mutex<Option<Task>>) -> Key {
    let (hue, key) = world.oracle(|oracle| {
        let hue = oracle.limit_hue(limit);
        let key = oracle.spawn(hue, None);
        oracle.spawned_inside(key, limit);
        (hue, key)
    });
    world.note(What::Spawn, hue, key.slot);
    *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(Task::new(world, key));
    key
}

pub(super) fn check(world: &World, key: LimitKey, found: Answer, expected: Answer) {
    if found != expected {
        let what = format!("limit {} says {found:?}, not {expected:?}", key.slot);
        world.oracle(|oracle| oracle.violated("limit", what));
    }
}

/// Keeps a permit, or gives it back.
fn keep(world: &World, key: LimitKey, permit: Permit) {
    if world.stock.permits.borrow().len() < KEPT {
        world.stock.permits.borrow_mut().push((key, permit));
    } else {
        world.oracle(|oracle| oracle.limit_leave(key));
        drop(permit);
    }
}

/// Uses a permit for a task, or gives it back.
fn leave(world: &World) {
    let Some((key, permit)) = world.stock.permits.borrow_mut().pop() else { return };
    if world.chance.one_in(2) {
        let (late, task) = Late::new();
        let child = make(world, key, &task);
        drop(task);
        deeds::keep(world, child, permit.spawn(late));
    } else {
        world.oracle(|oracle| oracle.limit_leave(key));
        drop(permit);
    }
}

/// Lets go of at most `most` limits; at the end of all of them, and of the permits.
pub(super) fn let_go(world: &World, most: usize) {
    let Stock { limits, permits, .. } = &world.stock;
    if most > 1 {
        for (key, permit) in permits.take() {
            world.oracle(|oracle| oracle.limit_leave(key));
            drop(permit);
        }
    }
    for _ in 0..most {
        let Some((key, limit)) = limits.borrow_mut().pop() else { return };
        world.oracle(|oracle| oracle.limit_clone_gone(key));
        drop(limit);
    }
}

/// Begins to wait for room for a post, or a call.
fn begin_remote_call(world: &World) -> Option<Admission> {
    let (limit, key, cell) = limited::some(world)?;
    world.oracle(|oracle| oracle.limit_clone_made(limit));
    let (remote, future): (_, Pin<Box<dyn Future<Output = _> + Send>>) = if world.chance.one_in(2) {
        let slot = TokenSlot::default();
        let read = open(&slot, PostToken::run);
        let post = async move { cell.post(read).await.map(|()| Inside::Posted) };
        (RemoteCall::Post(slot), Box::pin(async { post.await.map_err(|_| Closed(())) }))
    } else {
        let slot = TokenSlot::default();
        let read = open(&slot, CallToken::run);
        let call = async move { cell.call(read).await.map(|()| Inside::Called) };
        (RemoteCall::Call(slot), Box::pin(async { call.await.map_err(|_| Closed(())) }))
    };
    Some(Admission { limit, task: Arc::default(), remote: Some((key, remote)), future })
}

/// A closure that runs the token in the slot.
fn open<T: Send + 'static>(
    slot: &TokenSlot<T>,
    run: fn(T, &mut Value),
) -> impl FnOnce(&mut Value) + Send + use<T> {
    let slot = Arc::clone(slot);
    move |value| {
        let token = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
        run(token.expect("it was let in"), value);
    }
}

fn seal<T>(slot: &TokenSlot<T>, token: T) {
    *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(token);
}

/// Begins to wait at some limit, if there is one.
pub(super) fn begin(world: &World) -> Option<Admission> {
    if world.chance.one_in(3) {
        return begin_remote_call(world);
    }
    let (key, limit) = some_limit(world)?;
    let (late, task) = Late::new();
    let future: Pin<Box<dyn Future<Output = _> + Send>> = if world.chance.one_in(2) {
        Box::pin(async move { limit.reserve().await.map(Inside::Permit) })
    } else {
        Box::pin(async move {
            let spawned = limit.spawn(late).await;
            spawned.map(Inside::Spawned).map_err(|_| Closed(()))
        })
    };
    Some(Admission { limit: key, task, remote: None, future })
}

/// Polls a wait in line. False if it is over.
pub(super) fn poll(
    task: &mut Task,
    mut admission: Admission,
    world: &World,
    cx: &mut Context<'_>,
) -> bool {
    let key = admission.limit;
    let expected = world.oracle(|oracle| oracle.limit_look(key, task.key));
    let place = &admission.task;
    // Only a spawn uses it.
    let spawns = Arc::strong_count(place) > 1;
    let child = (spawns && expected == Answer::Inside).then(|| make(world, key, place));
    if expected == Answer::Inside {
        match &admission.remote {
            Some((cell, RemoteCall::Post(slot))) => {
                seal(slot, limited::scheduled(world, key, *cell));
            }
            Some((cell, RemoteCall::Call(slot))) => {
                let call = limited::called(world, *cell, task.key);
                seal(slot, CallToken::inside(call, Some(key)));
                return continue_as_call(task, (call, *cell), admission, world, cx);
            }
            None => {}
        }
    }
    let polled = admission.future.as_mut().poll(cx);
    let found = match &polled {
        Poll::Ready(Ok(_)) => Answer::Inside,
        Poll::Ready(Err(_)) => Answer::Closed,
        Poll::Pending => Answer::Full,
    };
    check(world, key, found, expected);
    let inside = match polled {
        Poll::Pending => {
            task.wait = Wait::Admission(admission);
            return true;
        }
        Poll::Ready(inside) => inside,
    };
    drop(admission);
    match inside {
        Ok(Inside::Permit(permit)) => keep(world, key, permit),
        Ok(Inside::Spawned(handle)) => {
            if let Some(child) = child {
                deeds::keep(world, child, handle);
            }
        }
        Ok(Inside::Posted | Inside::Called) | Err(Closed(())) => {}
    }
    world.oracle(|oracle| oracle.limit_clone_gone(key));
    false
}

/// A task that is let in to call has the permit as long as the closure, and waits as every caller does.
fn continue_as_call(
    task: &mut Task,
    (call, cell): (CallKey, CellKey),
    admission: Admission,
    world: &World,
    cx: &mut Context<'_>,
) -> bool {
    let Admission { limit, future, .. } = admission;
    world.oracle(|oracle| oracle.limit_clone_gone(limit));
    let future = Box::pin(async move {
        if future.await.is_err() {
            let what = format!("limit {} says it is closed to who was called", limit.slot);
            World::with(|world| world.oracle(|oracle| oracle.violated("limit", what)));
        }
    });
    moves::poll_call(task, PendingCall::new(call, cell, future), world, cx)
}

/// Gives up a place in the line.
pub(super) fn give_up(task: Key, admission: Admission, world: &World) {
    world.oracle(|oracle| oracle.limit_give_up(admission.limit, task));
    let key = admission.limit;
    drop(admission);
    world.oracle(|oracle| oracle.limit_clone_gone(key));
}
