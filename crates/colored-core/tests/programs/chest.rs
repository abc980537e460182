//! How a thread treats a thing that it finds in the chest.

use crate::here;
use crate::plan::Find;
use crate::world::{Thing, Token, World};
use std::sync::Arc;
use std::task::{Context, Waker};

/// Does with a thing from the chest what `find` says.
pub(crate) fn found(world: &Arc<World>, thing: Thing, find: Find, waker: Option<&Waker>) {
    // In a program that is to end by itself, a task that waits for this thing waits for nothing else.
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
            Thing::Permit(permit) => world.forget(permit),
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
        Thing::Permit(permit) => drop(permit.limit()),
        Thing::Job(job) => job.run(),
        Thing::Later(later) => drop(later),
    }
}
