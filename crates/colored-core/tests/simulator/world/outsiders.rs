//! Threads that are no workers.

use super::{Actor, Phase, World, now};
use crate::agenda::Event;
use crate::program;
use crate::trace::What;
use colored_core::{Color, Park, Scheduler, Step, Worker};
use std::cell::{Cell, RefCell};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

/// How many of them can be in the middle of an act at once.
pub(super) const COUNT: u32 = 3;

/// No worker sleeps there.
struct Wakeful;

impl Park for Wakeful {
    fn unpark(&self, _: usize) {}

    fn now(&self) -> u64 {
        now()
    }
}

/// The worker of another scheduler. To the scheduler under test it is any other thread.
pub(super) struct Outsider {
    worker: RefCell<Worker>,
    waker: Arc<Mutex<Option<Waker>>>,
}

thread_local! {
    /// The act that the next outsider does when it is stepped.
    static NEXT: Cell<Option<fn(&World)>> = const { Cell::new(None) };
}

impl Outsider {
    pub(super) fn new() -> Self {
        let (handle, mut workers) = Scheduler::with_workers(1, 1, Box::new(Wakeful));
        let waker = Arc::new(Mutex::new(None));
        let place = Arc::clone(&waker);
        let visits = std::future::poll_fn(move |cx| -> Poll<()> {
            *place.lock().expect("one thread") = Some(cx.waker().clone());
            if let Some(act) = NEXT.take() {
                World::with(act);
            }
            Poll::Pending
        });
        drop(handle.spawn_colored(Color::DEFAULT, visits));
        let mut worker = workers.remove(0);
        assert_eq!(worker.step(), Step::Ran, "the first poll leaves a waker");
        Self { worker: RefCell::new(worker), waker }
    }

    fn act(&self, act: fn(&World)) {
        NEXT.set(Some(act));
        let waker = self.waker.lock().expect("one thread").take();
        waker.expect("left by the last poll").wake();
        assert_eq!(self.worker.borrow_mut().step(), Step::Ran, "it was woken");
    }
}

impl Drop for Outsider {
    fn drop(&mut self) {
        // The task has its own waker, and the waker has the task.
        self.waker.lock().expect("one thread").take();
        let worker = self.worker.get_mut();
        worker.handle().clone().scheduler().shut_down();
        while worker.step() != Step::Stopped {}
    }
}

impl World {
    /// Does an act on a thread that is no worker, unless all of them are busy.
    pub(super) fn as_outsider(&self, act: fn(&World)) {
        let from = self.chance.below(COUNT);
        let mut all = (0..COUNT).map(|which| (from + which) % COUNT);
        let busy = |which| self.oracle(|oracle| oracle.slices.is_on_stack(Actor::Outside(which)));
        let Some(which) = all.find(|which| !busy(*which)) else { return };
        self.oracle(|oracle| oracle.slices.enter(Actor::Outside(which), now()));
        self.note(What::Outside, which, 0);
        self.outsiders[which as usize].act(act);
        self.oracle(|oracle| oracle.slices.leave(now()));
    }

    /// A thread that is no worker comes by. It will come again.
    pub(super) fn visit(&self) {
        self.as_outsider(program::visit);
        let pause = match self.phase.get() {
            Phase::Active | Phase::EndIsDue => 1 + self.chance.skewed(self.profile.visit_nanos),
            // Tasks that were aborted get the time to end.
            Phase::Winding | Phase::Closing => 1_000_000,
        };
        self.put(u64::from(pause), Event::Outside);
    }
}
