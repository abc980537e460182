//! The acts of a program: all that a thread does without waiting.

use crate::chest;
use crate::foreign::Foreign;
use crate::here::{self, LOCALS, Planned};
use crate::plan::{Act, Acts, At, End, Spawn, Woken};
use crate::spawn;
use crate::step;
use crate::value::Value;
use crate::visit::Visit;
use crate::wait;
use crate::world::{Hands, Hue, Later, Thing, Token};
use colored_core::{Color, ColorCell, SchedulerHandle};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::task::{Context, Waker};

/// Does one act after the other.
pub(crate) fn all(hands: &mut Hands, acts: &Acts, waker: Option<&Waker>) {
    for act in acts.list.iter() {
        one(hands, act, waker);
    }
}

/// Does an act. `waker` belongs to the task that does it.
pub(crate) fn one(hands: &mut Hands, act: &Act, waker: Option<&Waker>) {
    let world = Arc::clone(&hands.world);
    match act {
        Act::LookAtColor => look_at_color(),
        Act::LookAround => look_around(hands),
        Act::Spawn(how, body, fate) => {
            if let Some(join) = spawn::spawn(hands, *how, body) {
                spawn::settle(&world, join, *fate);
            }
        }
        Act::Post(..)
        | Act::TryWith(..)
        | Act::NewCell(..)
        | Act::DropCell(_)
        | Act::CellToChest(_) => on_cell(hands, act),
        Act::DropHandle(runtime) => drop(hands.handles[*runtime].take()),
        Act::Poll { .. } => poll(hands, act, waker),
        Act::Chest(find) => {
            if let Some(thing) = world.find() {
                chest::found(&world, thing, *find, waker);
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
        Act::PostToWorker(at, worker, acts) => post_to_worker(hands, *at, *worker, acts),
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
        Act::BlockOn(runtime, body) => spawn::block_on(hands, *runtime, body),
        Act::Step(seat, times) => step::seat(&world, *seat, *times),
        Act::Batch(seat, act) => step::batch(hands, *seat, act, waker),
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
            on_limit(hands, act);
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

/// Asks the runtime all questions that change nothing.
fn look_around(hands: &Hands) {
    for handle in hands.handles.iter().flatten() {
        let scheduler = handle.scheduler();
        let _figures = (
            scheduler.lanes(),
            scheduler.waiting_sections(),
            scheduler.parked(),
            scheduler.workers(),
        );
        let _worker =
            (scheduler.worker_metrics(0), scheduler.is_parked(0), scheduler.has_stopped());
        scheduler.rescue();
    }
    for limit in hands.limits.iter().flatten() {
        let limit = limit.limit();
        let _figures = (limit.depth(), limit.waiting(), limit.queued(), limit.waited());
        let _same = limit.color();
    }
    let _where =
        (colored_core::current_task(), SchedulerHandle::with_current(|handle| handle.is_some()));
}

fn on_cell(hands: &mut Hands, act: &Act) {
    let world = Arc::clone(&hands.world);
    match act {
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
        _ => unreachable!("it has nothing to do with a cell"),
    }
}

/// Polls a future some times, and leaves it.
fn poll(hands: &Hands, act: &Act, waker: Option<&Waker>) {
    let Act::Poll { wait, times, woken, end } = act else {
        unreachable!("it polls nothing");
    };
    let foreign = match woken {
        Woken::Task => None,
        Woken::Noop => Some(Waker::noop().clone()),
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
        End::Chest => hands.world.put(Thing::Future(future)),
        End::Forget => hands.world.forget(future),
    }
}

fn post_to_worker(hands: &Hands, at: At, worker: usize, acts: &Acts) {
    let Some(handle) = hands.handle(at.runtime) else { return };
    let world = &hands.world;
    let visit = Visit::new(hands, acts, None);
    let hue = world.hue(at.runtime, at.tint);
    let open = Token::open(world);
    let posted = handle.post_to_worker(worker, world.colors[at.tint], move || {
        here::under(Some(hue), || visit.act());
        drop(open);
    });
    assert!(posted.is_ok(), "there is such a worker");
}

fn on_limit(hands: &mut Hands, act: &Act) {
    let world = Arc::clone(&hands.world);
    match act {
        Act::TryPost(limit, acts) => {
            if let Some(limit) = hands.limit(*limit) {
                let visit = Visit::new(hands, acts, None);
                let _full = limit.try_post(move |value| visit.change(value));
            }
        }
        Act::TrySpawn(limit, body, fate) => {
            if let Some(join) = spawn::spawn(hands, Spawn::Limited(*limit), body) {
                spawn::settle(&world, join, *fate);
            }
        }
        Act::TryReserve(limit, keep) => {
            let permit = hands.limit(*limit).and_then(|limit| limit.limit().try_reserve().ok());
            if let Some(permit) = permit.filter(|_| *keep) {
                world.put(Thing::Permit(permit));
            }
        }
        Act::Close(limit) => {
            if let Some(limit) = hands.limit(*limit) {
                limit.limit().close();
            }
        }
        _ => unreachable!("it has nothing to do with a limit"),
    }
}
