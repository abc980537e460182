//! Bounds: the tasks that a bound lets in, lets wait in line, and sends away.

use super::bounded;
use super::callbacks::{CallToken, PostToken, Value};
use super::deeds;
use super::moves::{self, PendingCall, Wait};
use super::stock::Stock;
use super::task::{Output, Task};
use crate::oracle::{Answer, BoundKey, CallKey, CellKey, Hue};
use crate::slab::Key;
use crate::trace::What;
use crate::world::{Actor, World};
use colored_core::{Bound, Closed, JoinHandle, Place, TrySendError};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

/// How many bounds, and how many places, the program keeps.
const KEPT: usize = 3;

/// A future whose task the oracle makes only when the bound lets it in.
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

/// A task's wait in line to spawn a task, for a place, or for room for a post or a call.
pub(super) struct Admission {
    bound: BoundKey,
    task: Arc<Mutex<Option<Task>>>,
    /// The cell to which the post or the call goes.
    errand: Option<(CellKey, Errand)>,
    future: Pin<Box<dyn Future<Output = Result<Inside, Closed<()>>> + Send>>,
}

/// A post or a call whose token is there only when the bound lets it in.
enum Errand {
    Post(Letter<PostToken>),
    Call(Letter<CallToken>),
}

type Letter<T> = Arc<Mutex<Option<T>>>;

enum Inside {
    Posted,
    Called,
    Spawned(JoinHandle<Output>),
    Place(Place),
}

/// Does one act with bounds. `here` is the color of the task that does it.
pub(super) fn deed(world: &World, here: Option<Hue>) {
    if here.is_none() && matches!(world.oracle(|oracle| oracle.actor()), Actor::Worker(_)) {
        // This is a callback, which does not know its color.
        return;
    }
    match world.chance.below(6) {
        0 | 1 => return leave(world),
        2 | 3 => return bounded::deed(world, here),
        _ => {}
    }
    let Some((key, bound)) = some_bound(world) else { return new_bound(world) };
    match world.chance.below(32) {
        0 => {
            world.oracle(|oracle| oracle.bound_close(key));
            bound.close();
        }
        1 => let_go(world, 1),
        2 => new_bound(world),
        3..14 => reserve(world, key, &bound, here),
        _ => spawn(world, key, &bound, here),
    }
    let says = (bound.depth(), bound.waiting(), bound.is_closed());
    world.oracle(|oracle| oracle.bound_says(key, says));
    world.oracle(|oracle| oracle.bound_clone_gone(key));
}

/// A clone of a bound, of which the oracle knows.
pub(super) fn some_bound(world: &World) -> Option<(BoundKey, Bound)> {
    let bounds = world.stock.bounds.borrow();
    let (key, bound) = (!bounds.is_empty()).then(|| &bounds[world.chance.index(bounds.len())])?;
    world.oracle(|oracle| oracle.bound_clone_made(*key));
    Some((*key, bound.clone()))
}

fn new_bound(world: &World) {
    if world.stock.bounds.borrow().len() >= KEPT {
        return;
    }
    let (hue, capacity) = (world.some_hue(), 1 + world.chance.skewed(8) as usize);
    let (key, color) =
        world.oracle(|oracle| (oracle.new_bound(hue, capacity), oracle.lanes.get(hue).color));
    let bound = Bound::new_in(&world.handle, color.expect("a color with a name"), capacity);
    world.stock.bounds.borrow_mut().push((key, bound));
}

fn reserve(world: &World, key: BoundKey, bound: &Bound, here: Option<Hue>) {
    let expected = world.oracle(|oracle| oracle.bound_enter(key, here));
    let (found, place) = match bound.try_reserve() {
        Ok(place) => (Answer::Inside, Some(place)),
        Err(TrySendError::Full(())) => (Answer::Full, None),
        Err(TrySendError::Closed(())) => (Answer::Closed, None),
    };
    check(world, key, found, expected);
    if let Some(place) = place {
        keep(world, key, place);
    }
}

fn spawn(world: &World, key: BoundKey, bound: &Bound, here: Option<Hue>) {
    let expected = world.oracle(|oracle| oracle.bound_enter(key, here));
    let (late, task) = Late::new();
    let child = (expected == Answer::Inside).then(|| make(world, key, &task));
    let (found, handle) = match bound.try_spawn(late) {
        Ok(handle) => (Answer::Inside, Some(handle)),
        Err(TrySendError::Full(_)) => (Answer::Full, None),
        Err(TrySendError::Closed(_)) => (Answer::Closed, None),
    };
    check(world, key, found, expected);
    if let Some((child, handle)) = child.zip(handle) {
        deeds::keep(world, child, handle);
    }
}

/// Makes a task that the bound has let in, and that the program spawns next.
fn make(world: &World, bound: BoundKey, place: &Mutex<Option<Task>>) -> Key {
    let (hue, key) = world.oracle(|oracle| {
        let hue = oracle.bound_hue(bound);
        let key = oracle.spawn(hue, None);
        oracle.spawned_inside(key, bound);
        (hue, key)
    });
    world.note(What::Spawn, hue, key.slot);
    *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(Task::new(world, key));
    key
}

pub(super) fn check(world: &World, key: BoundKey, found: Answer, expected: Answer) {
    if found != expected {
        let what = format!("bound {} says {found:?}, not {expected:?}", key.slot);
        world.oracle(|oracle| oracle.violated("bound", what));
    }
}

/// Keeps a place, or gives it back.
fn keep(world: &World, key: BoundKey, place: Place) {
    if world.stock.places.borrow().len() < KEPT {
        world.stock.places.borrow_mut().push((key, place));
    } else {
        world.oracle(|oracle| oracle.bound_leave(key));
        drop(place);
    }
}

/// Uses a place for a task, or gives it back.
fn leave(world: &World) {
    let Some((key, place)) = world.stock.places.borrow_mut().pop() else { return };
    if world.chance.one_in(2) {
        let (late, task) = Late::new();
        let child = make(world, key, &task);
        drop(task);
        deeds::keep(world, child, place.spawn(late));
    } else {
        world.oracle(|oracle| oracle.bound_leave(key));
        drop(place);
    }
}

/// Lets go of at most `most` bounds; at the end of all of them, and of the places.
pub(super) fn let_go(world: &World, most: usize) {
    let Stock { bounds, places, .. } = &world.stock;
    if most > 1 {
        for (key, place) in places.take() {
            world.oracle(|oracle| oracle.bound_leave(key));
            drop(place);
        }
    }
    for _ in 0..most {
        let Some((key, bound)) = bounds.borrow_mut().pop() else { return };
        world.oracle(|oracle| oracle.bound_clone_gone(key));
        drop(bound);
    }
}

/// Begins to wait for room for a post, or a call.
fn begin_errand(world: &World) -> Option<Admission> {
    let (bound, key, cell) = bounded::some(world)?;
    world.oracle(|oracle| oracle.bound_clone_made(bound));
    let (errand, future): (_, Pin<Box<dyn Future<Output = _> + Send>>) = if world.chance.one_in(2) {
        let letter = Letter::default();
        let read = open(&letter, PostToken::run);
        let post = async move { cell.post(read).await.map(|()| Inside::Posted) };
        (Errand::Post(letter), Box::pin(async { post.await.map_err(|_| Closed(())) }))
    } else {
        let letter = Letter::default();
        let read = open(&letter, CallToken::run);
        let call = async move { cell.call(read).await.map(|()| Inside::Called) };
        (Errand::Call(letter), Box::pin(async { call.await.map_err(|_| Closed(())) }))
    };
    Some(Admission { bound, task: Arc::default(), errand: Some((key, errand)), future })
}

/// A closure that runs the token in the letter.
fn open<T: Send + 'static>(
    letter: &Letter<T>,
    run: fn(T, &mut Value),
) -> impl FnOnce(&mut Value) + Send + use<T> {
    let letter = Arc::clone(letter);
    move |value| {
        let token = letter.lock().unwrap_or_else(PoisonError::into_inner).take();
        run(token.expect("it was let in"), value);
    }
}

fn seal<T>(letter: &Letter<T>, token: T) {
    *letter.lock().unwrap_or_else(PoisonError::into_inner) = Some(token);
}

/// Begins to wait at some bound, if there is one.
pub(super) fn begin(world: &World) -> Option<Admission> {
    if world.chance.one_in(3) {
        return begin_errand(world);
    }
    let (key, bound) = some_bound(world)?;
    let (late, task) = Late::new();
    let future: Pin<Box<dyn Future<Output = _> + Send>> = if world.chance.one_in(2) {
        Box::pin(async move { bound.reserve().await.map(Inside::Place) })
    } else {
        Box::pin(async move {
            let spawned = bound.spawn(late).await;
            spawned.map(Inside::Spawned).map_err(|_| Closed(()))
        })
    };
    Some(Admission { bound: key, task, errand: None, future })
}

/// Polls a wait in line. False if it is over.
pub(super) fn waits(
    task: &mut Task,
    mut admission: Admission,
    world: &World,
    cx: &mut Context<'_>,
) -> bool {
    let key = admission.bound;
    let expected = world.oracle(|oracle| oracle.bound_look(key, task.key));
    let place = &admission.task;
    // Only a spawn uses it.
    let spawns = Arc::strong_count(place) > 1;
    let child = (spawns && expected == Answer::Inside).then(|| make(world, key, place));
    if expected == Answer::Inside {
        match &admission.errand {
            Some((cell, Errand::Post(letter))) => {
                seal(letter, bounded::scheduled(world, key, *cell));
            }
            Some((cell, Errand::Call(letter))) => {
                let call = bounded::called(world, *cell, task.key);
                seal(letter, CallToken::inside(call, Some(key)));
                return goes_on_as_call(task, (call, *cell), admission, world, cx);
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
        Ok(Inside::Place(place)) => keep(world, key, place),
        Ok(Inside::Spawned(handle)) => {
            if let Some(child) = child {
                deeds::keep(world, child, handle);
            }
        }
        Ok(Inside::Posted | Inside::Called) | Err(Closed(())) => {}
    }
    world.oracle(|oracle| oracle.bound_clone_gone(key));
    false
}

/// A task that is let in to call has the place as long as the closure, and waits as every caller does.
fn goes_on_as_call(
    task: &mut Task,
    (call, cell): (CallKey, CellKey),
    admission: Admission,
    world: &World,
    cx: &mut Context<'_>,
) -> bool {
    let Admission { bound, future, .. } = admission;
    world.oracle(|oracle| oracle.bound_clone_gone(bound));
    let future = Box::pin(async move {
        if future.await.is_err() {
            let what = format!("bound {} says it is closed to who was called", bound.slot);
            World::with(|world| world.oracle(|oracle| oracle.violated("bound", what)));
        }
    });
    moves::calls(task, PendingCall::new(call, cell, future), world, cx)
}

/// Gives up a place in the line.
pub(super) fn give_up(task: Key, admission: Admission, world: &World) {
    world.oracle(|oracle| oracle.bound_give_up(admission.bound, task));
    let key = admission.bound;
    drop(admission);
    world.oracle(|oracle| oracle.bound_clone_gone(key));
}
