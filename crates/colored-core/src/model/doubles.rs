//! Doubles for the rest of the world: a scheduler that only collects, a future that waits.

use crate::ext::meter::Level;
use crate::ext::priority::Priority;
use crate::ext::trace::Event;
use crate::ext::usage::Usage;
use crate::hooks::slots::{Listen, SchedulerSlot};
use crate::kernel::color::Color;
use crate::kernel::lane::{
    Common, Dispatch, GivenBack, Held, Lane, LanePtr, LaneRef, Owner, ReadyLane, Runner, Slice,
    Tenure, push,
};
use crate::kernel::task::{Cell, Join, TaskPanic};
use crate::sync::{Arc, Mutex, UnsafeCell, arc_dyn};
use loom::thread::{self, JoinHandle};
use std::collections::VecDeque;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// A scheduler that collects the lanes that became runnable.
pub(crate) struct Port {
    ready: Mutex<VecDeque<ReadyLane>>,
    common: Common,
}

impl Port {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            ready: Mutex::new(VecDeque::new()),
            common: Common::new(1, 2, SchedulerSlot::new(0)),
        })
    }

    pub(crate) fn take(&self) -> Option<ReadyLane> {
        self.ready.lock().pop_front()
    }

    /// How many tasks have waited with their lanes and not left them.
    pub(crate) fn waiting_sections(&self) -> usize {
        self.common.sections.len()
    }

    /// Runs one slice of one lane, if there is one.
    pub(crate) fn run_one(&self, mut turns: Turns) -> bool {
        let Some(lane) = self.take() else { return false };
        match lane.run(&mut turns) {
            Slice::Over => {}
            Slice::More(lane) | Slice::Elsewhere(lane, _) => self.ready.lock().push_back(lane),
        }
        true
    }

    /// Runs until nothing is runnable.
    pub(crate) fn run_all(&self) {
        while self.run_one(Turns::Endless) {
            // A producer that is half done has to go on before the lane can.
            thread::yield_now();
        }
    }
}

impl Dispatch for Port {
    fn common(&self) -> &Common {
        &self.common
    }

    fn accept(&self, lane: ReadyLane, _pin: u32, owner: Owner) -> Result<(), ReadyLane> {
        if owner == Owner::Worker {
            return Err(lane);
        }
        self.ready.lock().push_back(lane);
        Ok(())
    }

    fn retire(&self, lane: LanePtr, refs: usize, owner: Owner) -> bool {
        if owner == Owner::Worker {
            return false;
        }
        // SAFETY: the caller of `retire` owns the references and gives them up.
        let is_last = match unsafe { lane.release_unpublished(refs) } {
            GivenBack::Last => true,
            GivenBack::NotLast => false,
            // SAFETY: the references are still the caller's; there is no table in which the lane could be found.
            GivenBack::Published => unsafe { lane.release_published(refs) },
        };
        if is_last {
            // SAFETY: every lane is from `from_box`, and this one has no reference left.
            drop(unsafe { lane.into_box() });
        }
        true
    }

    fn publish(&self, _lane: LanePtr) {}

    fn spare(&self, _color: Color, _tenure: Tenure) -> Option<Box<Lane>> {
        None
    }

    fn raise(&self, _lane: &Lane, _to: Priority) {
        unreachable!("no color has a priority")
    }

    fn now(&self) -> u64 {
        0
    }

    fn noted_time(&self) -> u64 {
        0
    }

    fn count_wait(&self) {}

    fn panicked(&self, _panic: &TaskPanic<'_>) {}

    fn show(&self, _lane: Held<'_>) {}
}

impl Listen for Port {
    fn keep_usage(&self, _color: Color, _usage: Usage) {}

    fn record(&self, _level: Level, _event: Event) {}
}

/// A lane of `port`.
pub(crate) fn lane(port: &Arc<Port>) -> LaneRef {
    lane_of(port, 1)
}

/// A lane of `port` under that color.
pub(crate) fn lane_of(port: &Arc<Port>, color: u64) -> LaneRef {
    let port = arc_dyn!(Arc::clone(port) => dyn Dispatch);
    let lane = Box::new(Lane::new(Color::new(color), port, Tenure::Unpublished));
    // SAFETY: a new lane has one reference.
    unsafe { LaneRef::from_counted(LanePtr::from_box(lane)) }
}

/// A scheduler, a lane of it, and what its turns may touch.
pub(crate) fn scene() -> (Arc<Port>, LaneRef, Arc<Witness>) {
    let port = Port::new();
    let lane = lane(&port);
    (port, lane, Witness::new())
}

/// Another thread, which calls `act`, runs until nothing is runnable, and then drops what `act` has returned.
pub(crate) fn run_beside<T>(
    port: &Arc<Port>,
    act: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<()> {
    let port = Arc::clone(port);
    thread::spawn(move || {
        let _kept = act();
        port.run_all();
    })
}

/// Pushes a turn that leaves a mark.
pub(crate) fn post(lane: &LaneRef, witness: &Arc<Witness>, mark: u32) {
    let witness = Arc::clone(witness);
    push::post(lane, move || witness.note(mark));
}

/// Spawns on a lane.
pub(crate) fn spawn<F>(lane: &LaneRef, future: F) -> Join<F::Output, LanePtr>
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    let lane = lane.for_node().into_counted();
    // SAFETY: the future is `Send`, and borrows nothing.
    let (task, join) = unsafe { Cell::allocate(future, lane, 0, false, Location::caller()) };
    // SAFETY: the task is fresh, and owns the reference to the lane.
    unsafe { lane.push(task.node()) };
    join
}

/// Runs nodes: for ever, or for one turn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turns {
    Endless,
    One,
}

impl Runner for Turns {
    fn may_run(&self, _pin: u32) -> bool {
        true
    }

    fn is_closing(&self) -> bool {
        false
    }

    fn count_completed(&self) {}

    fn count_turn(&mut self, _: i64) -> bool {
        *self == Turns::Endless
    }
}

/// State without a lock, which loom watches: two unordered accesses fail the model.
#[derive(Debug)]
pub(crate) struct Witness(UnsafeCell<Vec<u32>>);

// SAFETY: not sound by itself; loom checks that every access is exclusive.
unsafe impl Sync for Witness {}
// SAFETY: a `Vec<u32>` may move between threads, and loom checks that every access is exclusive.
unsafe impl Send for Witness {}

impl Witness {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(UnsafeCell::new(Vec::new())))
    }

    pub(crate) fn touch(&self) {
        self.note(0);
    }

    pub(crate) fn note(&self, mark: u32) {
        // SAFETY: loom checks that no other access runs meanwhile.
        self.0.with_mut(|marks| unsafe { (*marks).push(mark) });
    }

    pub(crate) fn marks(&self) -> Vec<u32> {
        // SAFETY: loom checks that no thread changes the marks meanwhile.
        self.0.with(|marks| unsafe { (*marks).clone() })
    }
}

/// Opens once; wakes the task that waits.
pub(crate) struct Gate(Arc<Mutex<GateState>>);

/// Waits for the gate. Owns a tracked allocation: a future that is not dropped fails the model.
pub(crate) struct Wait(Arc<Mutex<GateState>>);

struct GateState {
    open: bool,
    waker: Option<Waker>,
}

pub(crate) fn gate() -> (Gate, Wait) {
    let state = Arc::new(Mutex::new(GateState { open: false, waker: None }));
    (Gate(Arc::clone(&state)), Wait(state))
}

impl Gate {
    pub(crate) fn open(&self) {
        let waker = {
            let mut state = self.0.lock();
            state.open = true;
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Future for Wait {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let waker = cx.waker().clone();
        let old = {
            let mut state = self.0.lock();
            if state.open {
                return Poll::Ready(());
            }
            state.waker.replace(waker)
        };
        drop(old);
        Poll::Pending
    }
}

/// Moves the task that polls it to another lane, as [`hop`](crate::hop) does to a color.
pub(crate) struct HopTo(pub(crate) LaneRef);

impl Future for HopTo {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<()> {
        if self.0.is_current() {
            return Poll::Ready(());
        }
        assert!(crate::kernel::lane::current::task().is_some(), "only a task can move");
        let moved = self.0.clone().hop();
        assert!(moved.is_ok(), "this is a task");
        Poll::Pending
    }
}
