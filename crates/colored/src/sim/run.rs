//! One run of a simulation.

use super::evidence::Watch;
use super::faults::{Faults, Rng};
use super::hosts::{Hosts, MAIN, Program};
use super::panics;
use crate::chance;
use crate::runtime::Builder as RuntimeBuilder;
use crate::world::World;
use colored_core::budget;
use colored_core::port::restart_ids;
use colored_sim::{Choices, Outcome, Replay};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;

thread_local!(static RUN: RefCell<Option<Run>> = const { RefCell::new(None) });

/// The run that this thread simulates.
struct Run {
    choices: Choices,
    world: Arc<World>,
    random: Rng,
    sometimes: BTreeMap<String, bool>,
    /// The panic of a task without a handle.
    panicked: Option<String>,
}

/// By name, whether the condition of a `sometimes!` has held.
pub(super) type Sometimes = BTreeMap<String, bool>;

fn with<R>(f: impl FnOnce(&mut Run) -> R) -> Option<R> {
    RUN.try_with(|run| run.try_borrow_mut().ok()?.as_mut().map(f)).ok()?
}

pub(super) fn is_on() -> bool {
    with(|_| ()).is_some()
}

/// The world of the run that this thread simulates.
pub(super) fn world() -> Option<Arc<World>> {
    with(|run| Arc::clone(&run.world))
}

pub(super) fn random() -> u64 {
    with(|run| run.random.next()).unwrap_or_else(|| {
        use std::hash::{BuildHasher, RandomState};
        RandomState::new().hash_one(0)
    })
}

/// A choice among so many, of which the first is the default.
fn choose_below(bound: u32) -> u32 {
    with(|run| run.choices.choose_below(bound)).unwrap_or(0)
}

/// For the macro `buggify!`.
#[must_use]
pub fn happens(one_in: u32) -> bool {
    with(|run| run.choices.happens(one_in)).unwrap_or(false)
}

fn happens_at(site: usize, time: u64, one_in: u32) -> bool {
    with(|run| run.choices.happens_at(site, time, one_in)).unwrap_or(false)
}

fn tell(what: &dyn Fn() -> String) {
    with(|run| run.choices.describe_fault(what));
}

/// For the macro `sometimes!`.
pub fn note_sometimes(name: &str, holds: bool) {
    with(|run| match run.sometimes.get_mut(name) {
        Some(held) => *held |= holds,
        None => drop(run.sometimes.insert(name.to_owned(), holds)),
    });
}

/// What the runs of a simulation have in common.
#[derive(Clone)]
pub(super) struct Setup {
    pub(super) max_turns: u64,
    pub(super) faults: Faults,
    /// The hosts beside that of the main future, by name.
    pub(super) hosts: Vec<(String, Program)>,
}

/// Makes one run on a thread of its own, so that it finds the program's thread-locals as they are at first.
pub(super) fn make<F, P>(
    program: &P,
    replay: &Replay,
    choices: Choices,
    setup: &Setup,
    sometimes: &mut Sometimes,
) -> (Outcome, Choices)
where
    P: Fn() -> F + Sync,
    F: Future<Output = ()> + Send + 'static,
{
    let names = [MAIN.to_owned()].into_iter().chain(setup.hosts.iter().map(|of| of.0.clone()));
    let run = Run {
        choices,
        world: World::new(names.collect(), setup.faults.draw(replay.seed), happens_at, tell),
        random: Rng(replay.seed),
        sometimes: std::mem::take(sometimes),
        panicked: None,
    };
    let (seed, workers) = (replay.seed, replay.workers);
    let (outcome, run) = thread::scope(|scope| {
        let body = move || {
            RUN.set(Some(run));
            colored_sim::thread::begin(seed);
            chance::draw_by(choose_below);
            chance::wakes::begin();
            let _keeps = panics::keep();
            let outcome = go(program, workers, setup);
            colored_sim::thread::end();
            (outcome, RUN.take().expect("nothing else takes it"))
        };
        let thread =
            thread::Builder::new().name("colored-sim".to_owned()).spawn_scoped(scope, body);
        let thread =
            thread.unwrap_or_else(|error| panic!("cannot start the thread `colored-sim`: {error}"));
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    *sometimes = run.sometimes;
    (outcome, run.choices)
}

fn go<F, P>(program: &P, workers: usize, setup: &Setup) -> Outcome
where
    P: Fn() -> F,
    F: Future<Output = ()> + Send + 'static,
{
    restart_ids();
    let note_panic = |panic: &colored_core::TaskPanic<'_>| {
        if panic.is_detached {
            let text = panics::take_last().unwrap_or_else(|| panic.to_string());
            with(|run| {
                run.panicked.get_or_insert(text);
            });
        }
    };
    let settings = RuntimeBuilder::new().on_task_panic(note_panic).seed(0);
    let world = world().expect("this thread simulates a run");
    let (mut hosts, mut main) = Hosts::start(&world, settings, workers, setup, program())?;
    let watch = Watch::begin(with(|run| run.choices.keeps_turns()).unwrap_or(false));
    let ended = take_turns(&mut hosts, setup.max_turns, || main.is_finished());
    let panicked = with(|run| run.panicked.take()).flatten();
    let outcome = match (panicked, main.try_take()) {
        (Some(text), _) => Err(text),
        (None, Some(Err(error))) => Err(panics::take_last().unwrap_or_else(|| error.to_string())),
        (None, Some(Ok(()))) => Ok(()),
        (None, None) => ended,
    };
    drop(main);
    drop(hosts);
    drop(watch);
    outcome
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

/// Runs until the main future is finished, or the run has failed.
fn take_turns(hosts: &mut Hosts, max_turns: u64, is_finished: impl Fn() -> bool) -> Outcome {
    let mut actors = Vec::new();
    while !is_finished() && !with(|run| run.panicked.is_some()).unwrap_or(false) {
        hosts.begin_turn()?;
        hosts.list_runnable(&mut actors);
        if actors.is_empty() {
            if hosts.move_time() {
                colored_sim::thread::set_time(hosts.nanos());
                continue;
            }
            return Err(
                "the main future waits, nothing is runnable, and no timer is due".to_owned()
            );
        }
        let next = with(|run| {
            let choices = &mut run.choices;
            let is_over = choices.made() >= max_turns;
            (!is_over).then(|| (choices.choose(&actors), draw_budget(choices)))
        });
        match next.flatten() {
            Some((actor, units)) => {
                budget::begin_polls_with(units);
                hosts.take_turn(actor);
                chance::wakes::release();
                with(|run| {
                    hosts.note_turn(actor, |value| run.choices.note(value));
                    run.choices.describe(hosts.nanos(), || hosts.describe_turn(actor));
                });
            }
            None => return Err(format!("the main future has not ended after {max_turns} turns")),
        }
    }
    Ok(())
}
