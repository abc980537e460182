//! The turns of a run, and the threads that take them, of which one goes on at a time.
//!
//! # Why each explored order is one that a real run can make
//!
//! A turn that is interrupted *is* a turn of the real core on a thread of its own, and that thread waits where the system
//! may have any thread wait: before or behind a push. The threads that go on meanwhile are other workers of the runtime, and
//! run the same code as on real threads. So what others see is what they see there: all that the turn has done until then,
//! and nothing that comes behind. This holds for channels and handles, whose outcome is seen before its wake; for calls at
//! once, sections, readers and behaviors over several colors, which find the color of the interrupted turn in use; for
//! aborts, wakers that are dropped, classes; and for memory that colors share. A simulation only chooses which thread goes
//! on, which no thread can know.
//!
//! Two other ways show orders that no real run has. If the turn's pushes were held back until it is over, and let out one
//! by one, others would see too early what the turn does behind a push: after `cell.post(a)` and then `sender.send(())`, the
//! receiver, which another message has woken, would see the message while `a` is held back, and its own post would come
//! before `a`. If other turns ran inside the push, on the same stack, a lock of std that the turn holds would never be
//! free for them.
//!
//! A thread that waits for such a lock here, while its holder is made to wait, is let go on: see
//! [`Turns::release_if_stuck`]. Nothing is reported of such a run, and it is made again in whole turns.

mod busy;
mod candidates;
mod ends;
mod slot;
mod state;

pub(super) use self::ends::drain;

use self::candidates::MOST_THREADS;
use self::slot::Slot;
use self::state::{Order, Paused, State, Turn};
use super::control::{Control, act, with};
use super::cpus::Cpus;
use super::hosts::Hosts;
use super::panics;
use crate::chance::wakes;
use crate::task::JoinHandle;
use crate::world::World;
use colored_core::budget;
use colored_core::port::{Moment, Point, on_points};
use colored_sim::{Choices, Outcome};
use std::cell::{Cell, RefCell};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The number of the thread that makes and ends the hosts.
const FIRST: usize = 0;

/// The name of all threads of runs.
pub(super) const THREAD: &str = "colored-sim";

/// The turns of one run.
pub(super) struct Turns {
    /// Locked behind `state`, if both are.
    hosts: Mutex<Hosts>,
    world: Arc<World>,
    max_turns: u64,
    state: Mutex<State>,
    /// By thread.
    slots: Box<[Slot]>,
    /// Of all threads, if these are several.
    cpus: Option<Cpus>,
    /// A thread that was released is idle.
    left: Condvar,
}

/// What a thread without a turn does next.
enum Next {
    Turn(Turn),
    Wait,
    End,
}

/// This thread's place in its run.
#[derive(Clone)]
struct Here {
    turns: Arc<Turns>,
    thread: usize,
}

thread_local! {
    static HERE: RefCell<Option<Here>> = const { RefCell::new(None) };
    /// The actor whose turn this thread takes.
    static ACTOR: Cell<Option<usize>> = const { Cell::new(None) };
}

/// The budget of a turn: in some turns its first operation lets others run, in some the second one. A small budget in each
/// turn would keep a program from going on: a time-out sets a unit aside for itself.
fn draw_budget(choices: &mut Choices) -> u32 {
    // Both are drawn, so that the faults behind them keep their numbers.
    match (choices.happens(4), choices.happens(2)) {
        (true, _) => 0,
        (false, true) => 1,
        (false, false) => budget::PER_POLL,
    }
}

/// The next turn of an actor.
fn begin_turn(hosts: &Hosts, actor: usize) -> Turn {
    let units = with(|run| draw_budget(&mut run.choices)).expect("this thread has the run");
    Turn { actor, taker: hosts.taker(actor), units }
}

/// Sees what this thread does to colors, and may have it give way.
fn look(point: Point) {
    if point.moment == Moment::Before {
        wakes::release();
    }
    let act = act(point.color, point.by, point.takes);
    let may_give_way = with(|run| {
        if matches!(point.moment, Moment::Pushed | Moment::Taken) {
            run.choices.note_act(act);
            if let Some(site) = point.site {
                run.choices.describe_call(|| {
                    let how = if point.takes { "calls" } else { "sends a call to" };
                    format!("{how} {} at {site}", point.color)
                });
            }
        }
        // A color that is taken is soon given back.
        let is_point = point.moment != Moment::Taken && ACTOR.get().is_some();
        is_point && run.choices.pass_point(act, point.moment == Moment::Before)
    });
    if let (Some(true), Some(actor)) = (may_give_way, ACTOR.get()) {
        let here = HERE.try_with(|here| here.borrow().clone()).ok().flatten();
        if let Some(Here { turns, thread }) = here {
            turns.give_way(thread, actor);
        }
    }
}

impl Turns {
    pub(super) fn new(
        hosts: Hosts,
        main: JoinHandle<()>,
        max_turns: u64,
        cpus: Option<Cpus>,
    ) -> Arc<Self> {
        Arc::new(Self {
            world: Arc::clone(&hosts.world),
            hosts: Mutex::new(hosts),
            max_turns,
            state: Mutex::new(State::new(main)),
            slots: (0..MOST_THREADS).map(|_| Slot::default()).collect(),
            cpus,
            left: Condvar::new(),
        })
    }

    /// Takes turns until the run has ended, on this thread, which has the run, and on others. Returns how the run has ended,
    /// which says nothing if the main future is finished; `None` if a thread was stuck.
    pub(super) fn run(self: &Arc<Self>) -> Option<Outcome> {
        {
            let mut state = self.lock();
            state.ids.push(thread::current().id());
        }
        self.work(FIRST);
        let mut state = self.lock();
        if let Some(left) = state.left.take() {
            left.give_to_thread();
        }
        if state.is_released { None } else { state.ended.take() }
    }

    /// The result of the main future.
    pub(super) fn try_take_main(&self) -> Option<Result<(), crate::task::JoinError>> {
        self.lock().main.try_take()
    }

    fn hosts(&self) -> MutexGuard<'_, Hosts> {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a thread of the run does, from its start or its first turn on.
    fn work(self: &Arc<Self>, thread: usize) {
        HERE.set(Some(Here { turns: Arc::clone(self), thread }));
        on_points(Some(look));
        if let Some(stat) = busy::stat_of_this_thread() {
            self.lock().stats.insert(thread, stat);
        }
        let mut next = if thread == FIRST { self.next(thread) } else { Next::Wait };
        loop {
            match next {
                Next::Turn(turn) => self.take_turn(turn),
                Next::End => return,
                Next::Wait => match self.slots[thread].wait() {
                    Order::Turn(turn, control) => {
                        control.give_to_thread();
                        self.take_turn(turn);
                    }
                    Order::Drain(runtime, worker, asker, control) => {
                        control.give_to_thread();
                        let is_drained = runtime.drain(worker);
                        drop(runtime);
                        self.lock().idle.push(thread);
                        self.slots[asker]
                            .put(Order::Drained(is_drained, Control::take_from_thread()));
                        next = Next::Wait;
                        continue;
                    }
                    Order::End(control) => {
                        if let Some(control) = control {
                            control.give_to_thread();
                        }
                        return;
                    }
                    // All go on at once.
                    Order::Resume(_) => {}
                    Order::Drained(..) => unreachable!("this thread has asked for nothing"),
                },
            }
            next = self.next(thread);
        }
    }

    fn take_turn(&self, turn: Turn) {
        let Turn { actor, taker, units } = turn;
        budget::begin_polls_with(units);
        ACTOR.set(Some(actor));
        taker.take_turn();
        wakes::release();
        ACTOR.set(None);
        with(|run| {
            taker.note_turn(|value| run.choices.note(value));
            run.choices.describe(actor, self.world.now(), || self.hosts().describe_turn(actor));
        });
    }

    /// Chooses the next turn. If another thread takes it, hands that one the run.
    fn next(self: &Arc<Self>, thread: usize) -> Next {
        let mut state = self.lock();
        loop {
            if state.is_released {
                return self.leave_released(state, thread);
            }
            if state.ended.is_none() {
                state.ended = self.outcome(&state);
            }
            if state.ended.is_some() {
                return self.end_turns(state, thread);
            }
            let mut hosts = self.hosts();
            if state.paused.is_empty() {
                hosts.begin_turn();
                if self.world.has_orders() {
                    // Hosts come and go, and may have something pinned to another thread.
                    drop((state, hosts));
                    let followed = self.hosts().follow_orders();
                    state = self.lock();
                    if let Err(error) = followed {
                        state.ended = Some(Err(error));
                        continue;
                    }
                    hosts = self.hosts();
                }
            }
            self.list_candidates(&mut state, &hosts, None, thread);
            if state.candidates.runnable.is_empty() {
                drop(state);
                let may_go_on = hosts.move_time();
                drop(hosts);
                state = self.lock();
                if !may_go_on {
                    let text = "the main future waits, nothing is runnable, and no timer is due";
                    state.ended = Some(Err(text.to_owned()));
                }
                continue;
            }
            state.choices += 1;
            let of = &state.candidates;
            let chosen = with(|run| run.choices.choose(&of.runnable, &of.paused));
            let chosen = chosen.expect("this thread has the run");
            return self.go_on_with(state, hosts, thread, chosen);
        }
    }

    /// Goes on with an actor: on this thread, which is in no turn, or on another one.
    fn go_on_with(
        &self,
        mut state: MutexGuard<'_, State>,
        hosts: MutexGuard<'_, Hosts>,
        thread: usize,
        actor: usize,
    ) -> Next {
        state.running = actor;
        // The thread that wakes up finds both unlocked.
        if let Some(to) = state.take_paused(actor) {
            state.idle.push(thread);
            drop((hosts, state));
            self.slots[to].put(Order::Resume(Control::take_from_thread()));
            return Next::Wait;
        }
        let turn = begin_turn(&hosts, actor);
        drop(hosts);
        match turn.taker.thread().and_then(|id| state.thread(id)) {
            Some(to) if to != thread => {
                state.idle.retain(|idle| *idle != to);
                state.idle.push(thread);
                drop(state);
                let control = Control::take_from_thread().expect("this thread has the run");
                self.slots[to].put(Order::Turn(turn, control));
                Next::Wait
            }
            _ => Next::Turn(turn),
        }
    }

    /// This thread is inside the turn of an actor, and may let another one go on first.
    fn give_way(self: &Arc<Self>, thread: usize, actor: usize) {
        let mut state = self.lock();
        if state.ended.is_some() {
            return;
        }
        let hosts = self.hosts();
        self.list_candidates(&mut state, &hosts, Some(actor), thread);
        let of = &state.candidates;
        if of.runnable.len() < 2 {
            return;
        }
        let chosen = with(|run| run.choices.give_way(&of.runnable, &of.paused));
        state.choices += 1;
        let Some(chosen) = chosen.filter(|chosen| *chosen != actor) else { return };
        state.running = chosen;
        let (to, turn) = match state.take_paused(chosen) {
            Some(to) => (to, None),
            None => {
                let turn = begin_turn(&hosts, chosen);
                let pinned = turn.taker.thread().and_then(|id| state.thread(id));
                let to = pinned.or_else(|| state.idle.pop());
                (to.unwrap_or_else(|| self.start_helper(&mut state)), Some(turn))
            }
        };
        drop(hosts);
        state.idle.retain(|idle| *idle != to);
        state.paused.push(Paused { actor, thread });
        drop(state);
        let control = Control::take_from_thread().expect("this thread has the run");
        let order = match turn {
            Some(turn) => Order::Turn(turn, control),
            None => Order::Resume(Some(control)),
        };
        self.slots[to].put(order);
        match self.slots[thread].wait() {
            Order::Resume(Some(control)) => control.give_to_thread(),
            Order::Resume(None) => {}
            _ => unreachable!("this thread is inside a turn"),
        }
    }

    /// How the run has ended, if it has. If the main future is finished, that says how.
    fn outcome(&self, state: &State) -> Option<Outcome> {
        if state.main.is_finished() {
            return Some(Ok(()));
        }
        let max = self.max_turns;
        let outcome = with(|run| match &run.panicked {
            Some(panic) => Some(Err(panic.clone())),
            None if run.choices.made() >= max => {
                Some(Err(format!("the main future has not ended after {max} turns")))
            }
            None => None,
        });
        outcome.flatten()
    }

    fn start_helper(self: &Arc<Self>, state: &mut State) -> usize {
        let (number, turns) = (state.ids.len(), Arc::clone(self));
        let body = move || {
            turns.cpus.inspect(|cpus| cpus.release_this());
            let _keeps = panics::keep();
            turns.work(number);
            HERE.take();
        };
        let bound = self.cpus.map(Cpus::bind_this);
        let helper = thread::Builder::new().name(THREAD.to_owned()).spawn(body);
        drop(bound);
        let helper =
            helper.unwrap_or_else(|error| panic!("cannot start the thread `{THREAD}`: {error}"));
        state.ids.push(helper.thread().id());
        state.helpers.push(helper);
        number
    }
}
