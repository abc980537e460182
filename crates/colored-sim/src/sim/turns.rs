//! The turns of a run, and the threads that take them, of which one goes on at a time.
//!
//! # Why each failure that is reported is one of a real run
//!
//! **On threads.** A turn that is interrupted *is* a turn of the real core on a thread of its own, and that thread waits where
//! the system may have any thread wait: before or behind a push. The threads that go on meanwhile are other workers of the
//! runtime, and run the same code as on real threads. So what others see is what they see there: all that the turn has done
//! until then, and nothing that comes behind. This holds for channels and handles, whose outcome is seen before its wake; for
//! calls at once, sections, readers and behaviors over several colors, which find the color of the interrupted turn in use; for
//! aborts, wakers that are dropped, classes; and for memory that colors share. A simulation only chooses which thread goes
//! on, which no thread can know. One option of the core is another one: workers keep no memory and no lanes for reuse, which
//! changes no order. So a simulation finds no bug of that reuse.
//!
//! **On stacks.** A search makes its runs on one thread of the system: what is a thread above is a stack of that one
//! ([`crate::stacks`]), and all else is the same code, so the same choices have the same names. What our thread-locals
//! tell of a worker goes with its stack. Two things differ. A thread-local of the program is one for all turns, so a turn may
//! find there what another one, which waits inside, has left. And a lock of std that a turn holds which waits inside is never
//! free for the others: the thread waits for itself. So a run on stacks may fail where no real run does. Therefore it only
//! *finds*: its failure is reported if a run on threads with the same choices fails, and that run is what is reported
//! ([`Runs::make`](super::run::Runs::make)). A run that stands still is given up, with its thread
//! ([`Turns::look_at_stuck`]), and is made again on threads, as are all later ones. Where a run on stacks misses what threads
//! show, a seed has found nothing; no failure is invented. On both ways, a turn does not give way while it unwinds or lends a
//! task-local to a closure: what std knows of a panic, and that value, belong to the thread.
//!
//! Two other ways show orders that no real run has. If the turn's pushes were held back until it is over, and let out one
//! by one, others would see too early what the turn does behind a push: after `cell.post(a)` and then `sender.send(())`, the
//! receiver, which another message has woken, would see the message while `a` is held back, and its own post would come
//! before `a`. If other turns ran inside the push, on the same stack, the turn could go on only when all of these have ended.
//!
//! A thread that waits for a lock of std, while its holder is made to wait, is let go on: see
//! [`Turns::look_at_stuck`]. Nothing is reported of such a run, and it is made again in whole turns.

mod busy;
mod candidates;
mod ends;
mod hand_over;
mod state;

pub(super) use self::ends::{Stuck, drain};
pub(super) use self::hand_over::Way;

use self::candidates::MOST_THREADS;
use self::hand_over::HandOver;
use self::state::{Order, Paused, State, Turn};
use super::control::{act, with};
use super::cpus::Cpus;
use super::hosts::{Hosts, Taker};
use super::panics;
use super::runtime::Runtime;
use crate::loans;
use crate::world::World;
use crate::{Choices, Outcome, stacks, wakes};
use colored_core::port::{Moment, OfStack, Point, exchange_with_stacks, on_points};
use colored_core::{JoinError, JoinHandle, budget};
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
    hand_over: HandOver,
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

thread_local! {
    /// The run that this thread of the system has a part in.
    static TURNS: RefCell<Option<Arc<Turns>>> = const { RefCell::new(None) };
    /// Its number there, on threads.
    static NUMBER: Cell<usize> = const { Cell::new(FIRST) };
    /// The actor whose turn this thread takes.
    static ACTOR: Cell<Option<usize>> = const { Cell::new(None) };
}

static ACTOR_OF_STACK: OfStack<Cell<Option<usize>>> = OfStack(&ACTOR);

/// The run that the caller has a part in, and the number of its thread there.
fn here() -> Option<(Arc<Turns>, usize)> {
    let turns = TURNS.try_with(|turns| turns.borrow().clone()).ok().flatten()?;
    let number = match turns.hand_over.way {
        Way::Threads => NUMBER.get(),
        Way::Stacks => stacks::running(),
    };
    Some((turns, number))
}

/// Whether the caller is inside a turn.
pub(super) fn is_inside() -> bool {
    ACTOR.get().is_some()
}

/// Time passes inside the turn that the caller is in.
pub(super) fn pass_time(to: u64) {
    if let Some((turns, _)) = here() {
        turns.hosts().pass_time(to);
    }
}

/// What this thread knows of the stack that it runs on is exchanged with the stack.
fn begin_stacks(runtime: &dyn Runtime) {
    stacks::begin();
    exchange_with_stacks(&ACTOR_OF_STACK);
    exchange_with_stacks(&wakes::WOKEN_OF_STACK);
    runtime.begin_stacks();
}

/// The budget of a turn: in some turns its first operation lets others run, in some the second one. A small budget in each
/// turn would keep a program from going on: a time-out sets a unit aside for itself.
fn draw_budget(choices: &mut Choices) -> u32 {
    // Both are drawn, so that the faults behind them keep their numbers.
    match choices.happen([4, 2]) {
        [true, _] => 0,
        [false, true] => 1,
        [false, false] => budget::PER_POLL,
    }
}

/// Sees what this thread does to colors, and may have it give way.
fn look(point: Point) {
    let is_ahead = point.moment == Moment::Before;
    if is_ahead {
        wakes::release();
    }
    let actor = ACTOR.get();
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
        // A color that is taken is soon given back. A value that is lent, and what std knows of a panic, belong to the thread.
        let is_point = point.moment != Moment::Taken
            && actor.is_some()
            && !(loans::is_open() || thread::panicking());
        is_point && run.choices.pass_point(act, is_ahead)
    });
    if let (Some(true), Some(actor)) = (may_give_way, actor)
        && let Some((turns, thread)) = here()
    {
        turns.give_way(thread, actor);
    }
}

impl Turns {
    pub(super) fn new(
        hosts: Hosts,
        main: JoinHandle<()>,
        max_turns: u64,
        way: Way,
        cpus: Option<Cpus>,
    ) -> Arc<Self> {
        Arc::new(Self {
            world: Arc::clone(&hosts.world),
            hosts: Mutex::new(hosts),
            max_turns,
            state: Mutex::new(State::new(main)),
            hand_over: HandOver::new(way, MOST_THREADS),
            cpus,
            left: Condvar::new(),
        })
    }

    /// Takes turns until the run has ended, on this thread, which has the run, and on others. Returns how the run has ended,
    /// which says nothing if the main future is finished; `None` if a thread was stuck.
    pub(super) fn run(self: &Arc<Self>) -> Option<Outcome> {
        if self.hand_over.way == Way::Stacks {
            begin_stacks(&*self.hosts().first());
        }
        self.lock().threads = 1;
        TURNS.set(Some(Arc::clone(self)));
        on_points(Some(look));
        self.note_thread();
        self.work(FIRST);
        let mut state = self.lock();
        if let Some(left) = state.left.take() {
            left.give_to_thread();
        }
        if state.is_released { None } else { state.ended.take() }
    }

    /// The result of the main future.
    pub(super) fn try_take_main(&self) -> Option<Result<(), JoinError>> {
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
        // Of the last turn on this thread.
        let mut taker = None;
        let mut next = if thread == FIRST { self.next(thread, &mut taker) } else { Next::Wait };
        loop {
            let turn = match next {
                Next::Turn(turn) => Some(turn),
                Next::End => return,
                Next::Wait => {
                    debug_assert!(taker.is_none(), "a host that crashes ends with its last count");
                    match self.hand_over.wait(thread) {
                        Order::Turn(turn) => {
                            self.hosts().set_taker(&mut taker, turn.actor);
                            Some(turn)
                        }
                        Order::Drain(runtime, worker, asker) => {
                            let is_drained = runtime.drain(worker);
                            drop(runtime);
                            self.lock().idle.push(thread);
                            self.hand_over.pass(asker, Order::Drained(is_drained));
                            next = Next::Wait;
                            continue;
                        }
                        Order::End => return,
                        // All go on at once.
                        Order::Resume => None,
                        Order::Drained(_) => unreachable!("this thread has asked for nothing"),
                    }
                }
            };
            if let Some(turn) = turn {
                self.take_turn(turn, taker.as_ref(), thread);
            }
            next = self.next(thread, &mut taker);
        }
    }

    /// Notes by which number the system tells whether this thread is busy.
    fn note_thread(&self) {
        self.lock().known.extend(busy::number_of_this_thread());
    }

    #[inline]
    fn take_turn(&self, turn: Turn, taker: Option<&Taker>, thread: usize) {
        let Turn { actor, units } = turn;
        budget::begin_polls_with(units);
        ACTOR.set(Some(actor));
        let has_run = taker.map_or([0; 2], |taker| taker.take_turn(thread));
        wakes::release();
        ACTOR.set(None);
        with(|run| {
            has_run.into_iter().for_each(|number| run.choices.note(number));
            run.choices.describe(actor, self.world.now(), || self.hosts().describe_turn(actor));
        });
    }

    /// Chooses the next turn, and sets what takes it. If another thread takes it, hands that one the run.
    fn next(self: &Arc<Self>, thread: usize, taker: &mut Option<Taker>) -> Next {
        let mut state = self.lock();
        loop {
            if state.is_given_up {
                ends::sleep_for_ever(state);
            }
            if state.is_released {
                *taker = None;
                return self.leave_released(state, thread);
            }
            if state.ended.is_none()
                && let Some(outcome) = self.outcome(&state)
            {
                state.ended = Some(outcome);
            }
            if state.ended.is_some() {
                *taker = None;
                return self.end_turns(state, thread);
            }
            let mut hosts = self.hosts();
            if state.paused.is_empty() {
                hosts.begin_turn();
                if self.world.has_orders() {
                    // A host that crashes ends with its last count.
                    *taker = None;
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
            let chosen = with(|run| {
                let actor = run.choices.choose(&of.runnable, &of.paused);
                let begins = !of.paused.contains(&actor);
                (actor, begins.then(|| draw_budget(&mut run.choices)))
            });
            let (actor, units) = chosen.expect("this thread has the run");
            return self.go_on_with(actor, units, state, hosts, thread, taker);
        }
    }

    /// Goes on with an actor, on this thread, which is in no turn, or on another one. Without units it is inside its turn.
    #[inline]
    fn go_on_with(
        &self,
        actor: usize,
        units: Option<u32>,
        mut state: MutexGuard<'_, State>,
        hosts: MutexGuard<'_, Hosts>,
        thread: usize,
        taker: &mut Option<Taker>,
    ) -> Next {
        state.running = actor;
        // The thread that wakes up finds both unlocked, and a host that it crashes ends with its last count.
        let Some(units) = units else {
            let to = state.take_paused(actor).expect("it is paused");
            state.idle.push(thread);
            *taker = None;
            drop((hosts, state));
            self.hand_over.pass(to, Order::Resume);
            return Next::Wait;
        };
        let turn = Turn { actor, units };
        let has_pins = state.candidates.changes.is_none();
        match has_pins.then(|| hosts.thread_of(actor)).flatten() {
            Some(to) if to != thread => {
                state.idle.retain(|idle| *idle != to);
                state.idle.push(thread);
                *taker = None;
                drop((hosts, state));
                self.hand_over.pass(to, Order::Turn(turn));
                Next::Wait
            }
            _ => {
                hosts.set_taker(taker, actor);
                Next::Turn(turn)
            }
        }
    }

    /// This thread is inside the turn of an actor, and may let another one go on first.
    fn give_way(self: &Arc<Self>, thread: usize, actor: usize) {
        let mut state = self.lock();
        if state.is_given_up {
            ends::sleep_for_ever(state);
        }
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
                let units = with(|run| draw_budget(&mut run.choices));
                let units = units.expect("this thread has the run");
                let to = hosts.thread_of(chosen).or_else(|| state.idle.pop());
                let to = to.unwrap_or_else(|| self.start_helper(&mut state));
                (to, Some(Turn { actor: chosen, units }))
            }
        };
        drop(hosts);
        state.idle.retain(|idle| *idle != to);
        state.paused.push(Paused { actor, thread });
        drop(state);
        self.hand_over.pass(to, turn.map_or(Order::Resume, Order::Turn));
        let order = self.hand_over.wait(thread);
        assert!(matches!(order, Order::Resume), "this thread is inside a turn");
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
        let (number, turns) = (state.threads, Arc::clone(self));
        state.threads += 1;
        if self.hand_over.way == Way::Stacks {
            let stack = stacks::start(move || {
                turns.work(number);
                FIRST
            });
            assert_eq!(stack, number, "stacks are counted as threads are");
            return number;
        }
        let body = move || {
            turns.cpus.inspect(|cpus| cpus.release_this());
            let _keeps = panics::keep();
            TURNS.set(Some(Arc::clone(&turns)));
            NUMBER.set(number);
            on_points(Some(look));
            turns.note_thread();
            turns.work(number);
            TURNS.take();
        };
        let bound = self.cpus.map(Cpus::bind_this);
        let helper = thread::Builder::new().name(THREAD.to_owned()).spawn(body);
        drop(bound);
        let helper =
            helper.unwrap_or_else(|error| panic!("cannot start the thread `{THREAD}`: {error}"));
        state.helpers.push(helper);
        number
    }
}
