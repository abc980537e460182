//! What is done without waiting.

use crate::here::{self, LOCALS, Planned};
use crate::plan::{Act, Acts, At, Body, End, Fate, Find, Spawn, Woken};
use crate::task::Task;
use crate::value::Value;
use crate::wait;
use crate::world::{Hands, Hue, Later, Thing, Token, World};
use colored_core::{Color, ColorCell, Handle, JoinHandle, Step, spawn_here, spawn_local};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake, Waker};

pub(crate) fn all(hands: &mut Hands, acts: &Acts, waker: Option<&Waker>) {
    for act in acts.list.iter() {
        one(hands, act, waker);
    }
}

/// `waker` is that of the task that does it.
pub(crate) fn one(hands: &mut Hands, act: &Act, waker: Option<&Waker>) {
    let world = Arc::clone(&hands.world);
    match act {
        Act::LookAtColor => look_at_color(),
        Act::LookAround => look_around(hands),
        Act::Spawn(how, body, fate) => {
            if let Some(join) = spawn(hands, *how, body) {
                settle(&world, join, *fate);
            }
        }
        Act::Post(cell, acts) => {
            if let Some(cell) = hands.cell(*cell) {
                let order = hands.next();
                let visit = Visit::new(hands, acts, Some(order));
                let open = Token::open(&world);
                cell.post(move |value| {
                    visit.change(value);
                    drop(open);
                });
            }
        }
        Act::TryWith(cell, acts) => {
            if let Some(cell) = hands.cell(*cell) {
                let visit = Visit::new(hands, acts, None);
                let _refused = cell.try_with(|value| visit.change(value));
            }
        }
        Act::NewCell(cell, at, acts) => {
            if let Some(handle) = hands.handle(at.runtime) {
                let hue = world.hue(at.runtime, at.tint);
                let value = Value::new(hands, hue, Some(acts));
                let old = hands.cells[*cell].replace(ColorCell::new_in(
                    &handle,
                    world.colors[at.tint],
                    value,
                ));
                drop(old);
            }
        }
        Act::DropCell(cell) => drop(hands.cells[*cell].take()),
        Act::CellToChest(cell) => {
            if let Some(cell) = hands.cells[*cell].take() {
                world.put(Thing::Cell(cell));
            }
        }
        Act::DropHandle(runtime) => drop(hands.handles[*runtime].take()),
        Act::Poll { wait, times, woken, end } => {
            let foreign = match woken {
                Woken::Task => None,
                Woken::Nobody => Some(Waker::noop().clone()),
                Woken::Foreign(woken, dropped) => Some(Foreign::waker(hands, woken, dropped)),
            };
            let waker = foreign.as_ref().or(waker).unwrap_or(Waker::noop());
            let mut future = wait::future(&hands.give(u32::MAX), wait);
            let mut cx = Context::from_waker(waker);
            if (0..*times).any(|_| future.as_mut().poll(&mut cx).is_ready()) {
                return;
            }
            match end {
                End::Drop => drop(future),
                End::Chest => world.put(Thing::Future(future)),
                End::Forget => world.forget(future),
            }
        }
        Act::Chest(find) => {
            if let Some(thing) = world.find() {
                found(&world, thing, *find, waker);
            }
        }
        Act::Later(acts) => world.put(Thing::Later(Later::new(hands, acts))),
        Act::Stash(acts) => here::stash(Thing::Later(Later::new(hands, acts))),
        Act::Priority(at, class) => {
            if let Some(handle) = hands.handle(at.runtime) {
                handle.set_priority(world.colors[at.tint], *class);
                let _now = handle.priority(world.colors[at.tint]);
            }
        }
        Act::PostToWorker(at, worker, acts) => {
            if let Some(handle) = hands.handle(at.runtime) {
                let visit = Visit::new(hands, acts, None);
                let hue = world.hue(at.runtime, at.tint);
                let open = Token::open(&world);
                let posted = handle.post_to_worker(*worker, world.colors[at.tint], move || {
                    here::under(Some(hue), || visit.act());
                    drop(open);
                });
                assert!(posted.is_ok(), "there is such a worker");
            }
        }
        Act::Enter(runtime, acts) => {
            let entered = hands.handle(*runtime).map(|handle| handle.enter());
            all(hands, acts, waker);
            drop(entered);
        }
        Act::EnterForEver(runtime) => {
            if let Some(handle) = hands.handle(*runtime).filter(|_| !here::is_main()) {
                std::mem::forget(handle.enter());
                world.forget(handle.clone());
            }
        }
        Act::BlockOn(runtime, body) => block_on(hands, *runtime, body),
        Act::Step(seat, times) => {
            if let Some(mut worker) = world.take_worker(*seat) {
                let goes_on = step(&mut worker, *times);
                world.put_worker(*seat, worker, goes_on);
            }
        }
        Act::Batch(seat, act) => {
            if let Some(mut worker) = world.take_worker(*seat) {
                // The caller's color is its own, whichever worker it calls.
                let hue = here::hue();
                let batch = || worker.batch(8, || here::under(hue, || one(hands, act, waker)));
                let done = catch_unwind(AssertUnwindSafe(|| here::roam(batch)));
                world.put_worker(*seat, worker, true);
                if let Err(panic) = done {
                    resume_unwind(panic);
                }
            }
        }
        Act::Local(which) => {
            let _none = LOCALS[*which].try_with(here::Own::touch);
        }
        Act::ShutDown(runtime) => {
            if let Some(handle) = hands.handle(*runtime) {
                handle.scheduler().shut_down();
            }
        }
        Act::Panic => resume_unwind(Box::new(Planned)),
        Act::TryPost(..) | Act::TrySpawn(..) | Act::TryReserve(..) | Act::Close(_) => {
            bounded(hands, act);
        }
    }
}

fn look_at_color() {
    if let Some(Hue { color: Some(color), .. }) = here::hue() {
        assert_eq!(Color::current(), Some(color), "this is off its color");
    } else {
        let _any = Color::current();
    }
}

/// What can be asked without doing anything.
fn look_around(hands: &Hands) {
    for handle in hands.handles.iter().flatten() {
        let scheduler = handle.scheduler();
        let _figures =
            (scheduler.lanes(), scheduler.keepers(), scheduler.parked(), scheduler.workers());
        let _worker =
            (scheduler.worker_metrics(0), scheduler.is_parked(0), scheduler.has_stopped());
        scheduler.rescue();
    }
    for bound in hands.bounds.iter().flatten() {
        let bound = bound.bound();
        let _figures = (bound.depth(), bound.waiting(), bound.queued(), bound.waited());
        let _same = bound.color();
    }
    let _where = (colored_core::current_task(), Handle::with_current(|handle| handle.is_some()));
}

fn step(worker: &mut colored_core::Worker, times: u32) -> bool {
    for _ in 0..times {
        match here::roam(|| worker.step()) {
            Step::Ran => {}
            Step::Park(_) => return true,
            Step::Stopped => return false,
        }
    }
    true
}

/// Steps a worker that nobody has, as the main thread does.
pub(crate) fn step_seat(world: &World, seat: usize) {
    if let Some(mut worker) = world.take_worker(seat) {
        let goes_on = step(&mut worker, 8);
        world.put_worker(seat, worker, goes_on);
    }
}

fn block_on(hands: &Hands, runtime: usize, body: &Arc<Body>) {
    let handle = hands.handle(runtime).filter(|_| !here::is_kept());
    let Some(handle) = handle else { return };
    let own = hands.give(body.keep);
    let hue = hands.world.hue(runtime, 0);
    let task = Task::new(&own, body, Some(hue)).staying().not_yet_in();
    match handle.block_on(task) {
        Ok(Ok(token)) => token.look(),
        Ok(Err(_ended)) => {}
        Err(_nested) => {}
    }
}

/// Spawns a task, where that is possible from here.
pub(crate) fn spawn(hands: &Hands, how: Spawn, body: &Arc<Body>) -> Option<JoinHandle<Token>> {
    let world = &hands.world;
    let known = |At { runtime, tint }| {
        Some((hands.handle(runtime)?, world.colors[tint], world.hue(runtime, tint)))
    };
    let site = std::panic::Location::caller();
    match how {
        Spawn::Colored(at) => {
            let (handle, color, hue) = known(at)?;
            Some(handle.spawn_colored(color, Task::new(hands, body, Some(hue))))
        }
        Spawn::Urgent(at) => {
            let (handle, color, hue) = known(at)?;
            Some(handle.spawn_high_from(site, color, Task::new(hands, body, Some(hue))))
        }
        Spawn::Alone(runtime) => {
            let handle = hands.handle(runtime)?;
            let hue = Hue { runtime, color: None, witness: Arc::default() };
            Some(handle.spawn_alone(Task::new(hands, body, Some(hue))))
        }
        Spawn::Here => {
            let hue = here::hue()?;
            spawn_here(Task::new(hands, body, Some(hue))).ok()
        }
        Spawn::Local if here::roams() => None,
        Spawn::Local => {
            // Under the color of whoever is here, or the default one of the thread's runtime.
            let task = Task::new(hands, body, None).staying().not_yet_in();
            spawn_local(task).ok()
        }
        Spawn::Pinned(at, worker) => {
            let (handle, color, hue) = known(at)?;
            if is_roaming(world, at.runtime, worker) {
                return None;
            }
            let task = Task::new(hands, body, Some(hue)).not_yet_in();
            handle.spawn_pinned_from(site, worker, color, move || task.staying()).ok()
        }
        Spawn::Bounded(bound) => {
            let bound = hands.bound(bound)?;
            let hue = bound_hue(hands, &bound);
            bound.bound().try_spawn(Task::new(hands, body, hue).not_yet_in()).ok()
        }
    }
}

/// The last workers of a runtime are those that roam.
fn is_roaming(world: &World, runtime: usize, worker: usize) -> bool {
    let runtime = &world.plan.runtimes[runtime];
    worker + runtime.roaming >= runtime.workers
}

pub(crate) fn bound_hue(hands: &Hands, bound: &colored_core::BoundedCell<Value>) -> Option<Hue> {
    let index = hands
        .bounds
        .iter()
        .position(|other| other.as_ref().is_some_and(|other| other.cell().same(bound.cell())))?;
    let at = hands.world.plan.bounds[index].0;
    Some(hands.world.hue(at.runtime, at.tint))
}

pub(crate) fn settle(world: &Arc<World>, join: JoinHandle<Token>, fate: Fate) {
    match fate {
        Fate::Drop => drop(join),
        Fate::Chest => world.put(Thing::Join(join)),
        Fate::Abort => join.abort(),
        Fate::AbortFromChest => world.put(Thing::Abort(join.abort_handle())),
        Fate::Forget => world.forget(join),
    }
}

fn bounded(hands: &mut Hands, act: &Act) {
    let world = Arc::clone(&hands.world);
    match act {
        Act::TryPost(bound, acts) => {
            if let Some(bound) = hands.bound(*bound) {
                let visit = Visit::new(hands, acts, None);
                let _full = bound.try_post(move |value| visit.change(value));
            }
        }
        Act::TrySpawn(bound, body, fate) => {
            if let Some(join) = spawn(hands, Spawn::Bounded(*bound), body) {
                settle(&world, join, *fate);
            }
        }
        Act::TryReserve(bound, keep) => {
            let place = hands.bound(*bound).and_then(|bound| bound.bound().try_reserve().ok());
            if let Some(place) = place.filter(|_| *keep) {
                world.put(Thing::Place(place));
            }
        }
        Act::Close(bound) => {
            if let Some(bound) = hands.bound(*bound) {
                bound.bound().close();
            }
        }
        _ => unreachable!("it has nothing to do with a bound"),
    }
}

/// What becomes of something that was in the chest.
pub(crate) fn found(world: &Arc<World>, thing: Thing, find: Find, waker: Option<&Waker>) {
    // Who waits for it in a program that is to end by itself has nothing else to wait for.
    let is_needed = world.plan.is_quiet && matches!(thing, Thing::Waker(_) | Thing::Job(_));
    match find {
        _ if is_needed => use_up(world, thing, waker),
        Find::Stash if world.plan.is_quiet => drop(thing),
        Find::Use => use_up(world, thing, waker),
        Find::Drop => drop(thing),
        Find::Stash => here::stash(thing),
        Find::Forget => match thing {
            Thing::Waker(waker) => world.forget(waker),
            Thing::Join(join) => world.forget(join),
            Thing::Abort(abort) => world.forget(abort),
            Thing::Future(future) => world.forget(future),
            Thing::Cell(cell) => world.forget(cell),
            Thing::Place(place) => world.forget(place),
            Thing::Job(job) => world.forget(job),
            Thing::Later(later) => world.forget(later),
        },
    }
}

fn use_up(world: &Arc<World>, thing: Thing, waker: Option<&Waker>) {
    match thing {
        Thing::Waker(waker) => {
            let other = waker.clone();
            waker.wake_by_ref();
            drop(waker);
            other.wake();
        }
        Thing::Join(mut join) => {
            if let Some(Ok(token)) = join.try_take() {
                token.look();
            }
            join.abort();
        }
        Thing::Abort(abort) => abort.clone().abort(),
        Thing::Future(mut future) => {
            let mut cx = Context::from_waker(waker.unwrap_or(Waker::noop()));
            if future.as_mut().poll(&mut cx).is_pending() {
                drop(future);
            }
        }
        Thing::Cell(cell) => {
            let open = Token::open(world);
            cell.post(move |value| {
                here::under(Some(value.hue().clone()), || value.write());
                drop(open);
            });
        }
        Thing::Place(place) => drop(place.bound()),
        Thing::Job(job) => job.run(),
        Thing::Later(later) => drop(later),
    }
}

/// What a closure does that has come to a value.
pub(crate) struct Visit {
    hands: Hands,
    acts: Acts,
    order: Option<(u64, u64)>,
    token: Token,
}

impl Visit {
    pub(crate) fn new(hands: &Hands, acts: &Acts, order: Option<(u64, u64)>) -> Self {
        let token = Token::new(&hands.world);
        Self { hands: hands.give(acts.keep), acts: acts.clone(), order, token }
    }

    fn write(&self, value: &mut Value) {
        self.token.look();
        match self.order {
            Some(order) => value.write_in_order(order),
            None => value.write(),
        }
    }

    pub(crate) fn change(mut self, value: &mut Value) {
        here::under(Some(value.hue().clone()), || {
            self.write(value);
            all(&mut self.hands, &self.acts, None);
            value.write();
        });
    }

    /// Changes some, and looks at the others.
    pub(crate) fn change_all(mut self, places: &mut [Place<'_>]) {
        let sum = |places: &[Place<'_>]| {
            let seen = places.iter().map(|place| match place {
                Place::Seen(value) => value.read(),
                Place::Changed(_) => 0,
            });
            seen.sum::<u64>()
        };
        let mut first = None;
        for place in places.iter_mut() {
            if let Place::Changed(value) = place {
                // Several may be of one color; each is this thread's.
                let hue = value.hue().clone();
                here::under(Some(hue.clone()), || self.write(value));
                first.get_or_insert(hue);
            }
        }
        let before = sum(places);
        // It may be beside its colors, and not under them: there it could wait for itself.
        here::keep(|| here::under(first, || all(&mut self.hands, &self.acts, None)));
        assert_eq!(before, sum(places), "somebody has changed what is looked at");
    }

    pub(crate) fn act(mut self) {
        self.token.look();
        all(&mut self.hands, &self.acts, None);
    }
}

/// What a closure has of a cell.
pub(crate) enum Place<'a> {
    Changed(&'a mut Value),
    Seen(&'a Value),
}

/// A waker that is none of a task.
struct Foreign {
    hands: Hands,
    acts: Acts,
    was_woken: AtomicBool,
    _later: Later,
}

impl Foreign {
    fn waker(hands: &Hands, woken: &Acts, dropped: &Acts) -> Waker {
        let later = Later::bare(hands, dropped);
        let hands = hands.bare();
        let was_woken = AtomicBool::new(false);
        Waker::from(Arc::new(Self { hands, acts: woken.clone(), was_woken, _later: later }))
    }
}

impl Wake for Foreign {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.was_woken.swap(true, Ordering::Relaxed) {
            all(&mut self.hands.bare(), &self.acts, None);
        }
    }
}
