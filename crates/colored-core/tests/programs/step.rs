//! Workers without a thread of their own, which any thread may step.

use crate::act;
use crate::here;
use crate::plan::Act;
use crate::world::{Hands, World};
use colored_core::{Step, Worker};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::task::Waker;

/// Steps a worker, unless another thread has it.
pub(crate) fn seat(world: &World, seat: usize, times: u32) {
    if let Some(mut worker) = world.take_worker(seat) {
        let goes_on = step(&mut worker, times);
        world.put_worker(seat, worker, goes_on);
    }
}

fn step(worker: &mut Worker, times: u32) -> bool {
    for _ in 0..times {
        match here::roam(|| worker.step()) {
            Step::Ran => {}
            Step::Park(_) => return true,
            Step::Stopped => return false,
        }
    }
    true
}

/// Does `act` in a batch of a worker, unless another thread has it.
pub(crate) fn batch(hands: &mut Hands, seat: usize, act: &Act, waker: Option<&Waker>) {
    let world = Arc::clone(&hands.world);
    let Some(mut worker) = world.take_worker(seat) else { return };
    // The caller keeps its color, whichever worker it steps.
    let hue = here::hue();
    let batch = || worker.batch(8, || here::under(hue, || act::one(hands, act, waker)));
    let done = catch_unwind(AssertUnwindSafe(|| here::roam(batch)));
    world.put_worker(seat, worker, true);
    if let Err(panic) = done {
        resume_unwind(panic);
    }
}
