//! Tasks that a thread spawns, and what becomes of their handles.

use crate::here;
use crate::plan::{At, Body, Fate, Spawn};
use crate::task::Task;
use crate::value::Value;
use crate::world::{Hands, Hue, Thing, Token, World};
use colored_core::{JoinHandle, spawn_here, spawn_local};
use std::sync::Arc;

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
            Some(handle.spawn_unique(Task::new(hands, body, Some(hue))))
        }
        Spawn::Here => {
            let hue = here::hue()?;
            spawn_here(Task::new(hands, body, Some(hue))).ok()
        }
        Spawn::Local if here::roams() => None,
        Spawn::Local => {
            // The task comes under the color of the caller, or under the default color of the thread's runtime.
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
        Spawn::Limited(limit) => {
            let limit = hands.limit(limit)?;
            let hue = limit_hue(hands, &limit);
            limit.limit().try_spawn(Task::new(hands, body, hue).not_yet_in()).ok()
        }
    }
}

/// Whether a worker roams. The last workers of a runtime do.
fn is_roaming(world: &World, runtime: usize, worker: usize) -> bool {
    let runtime = &world.plan.runtimes[runtime];
    worker + runtime.roaming >= runtime.workers
}

pub(crate) fn limit_hue(hands: &Hands, limit: &colored_limit::LimitedCell<Value>) -> Option<Hue> {
    let index = hands
        .limits
        .iter()
        .position(|other| other.as_ref().is_some_and(|other| other.cell().same(limit.cell())))?;
    let at = hands.world.plan.limits[index].0;
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

pub(crate) fn block_on(hands: &Hands, runtime: usize, body: &Arc<Body>) {
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
