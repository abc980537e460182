//! One run of a simulation.

use super::control::{Cancelled, Control, Run, Sometimes, with};
use super::cpus::Cpus;
use super::evidence::Watch;
use super::faults::{Faults, Rng};
use super::hosts::{Hosts, MAIN, Program};
use super::panics;
use super::turns::{THREAD, Turns};
use crate::runtime::Builder as RuntimeBuilder;
#[cfg(feature = "stage")]
use crate::services::current;
use crate::world::World;
use colored_core::Color;
use colored_sim::{Choices, Outcome, Replay};
use std::collections::HashMap;
use std::io::{self, Write};
use std::panic::Location;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How long no choice is made before a thread that waits counts as stuck, at most twice as long.
const STUCK: Duration = Duration::from_millis(250);

/// A turn is reported when it has lasted for so many times [`STUCK`].
const ENDLESS: u32 = 20;

/// After so many runs in which a thread was stuck, turns are whole.
const MOST_STUCK: u32 = 8;

pub(super) fn is_on() -> bool {
    with(|_| ()).is_some()
}

/// The world of the run that this thread simulates.
pub(super) fn world() -> Option<Arc<World>> {
    with(|run| Arc::clone(&run.world))
}

/// The number of a color, in the order in which colors became runnable first.
pub(super) fn number_of(color: Color) -> Option<usize> {
    with(|run| run.number_of(color))
}

pub(super) fn random() -> u64 {
    with(|run| run.random.next()).unwrap_or_else(|| {
        use std::hash::{BuildHasher, RandomState};
        RandomState::new().hash_one(0)
    })
}

/// For the macro `buggify!`: a choice of the place of the call, and of the color.
#[must_use]
#[track_caller]
pub fn happens(one_in: u32) -> bool {
    let (at, color) = (Location::caller(), Color::current());
    let happens = with(|run| {
        let color = color.map_or(0, |color| run.number_of(color) as u64 + 1);
        run.choices.happens_in_program(number_of_place(at), color, false, one_in)
    });
    happens.is_some_and(|happens| {
        if happens {
            tell(&|| format!("`buggify!` at {at}"));
        }
        happens
    })
}

/// A number that names a place in the program, in each build. Few other places have it.
pub(super) fn number_of_place(at: &Location<'_>) -> u32 {
    let bytes = at.file().bytes().chain(at.line().to_le_bytes()).chain(at.column().to_le_bytes());
    // FNV-1a, by Fowler, Noll and Vo.
    bytes.fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

fn happens_at(site: usize, time: u64, one_in: u32) -> bool {
    with(|run| run.choices.happens_at(site, time, one_in)).unwrap_or(false)
}

pub(super) fn tell(what: &dyn Fn() -> String) {
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

/// What all runs of a search have seen.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// The names of conditions that never held.
    pub(super) never: Vec<String>,
    /// The runs in which a thread was stuck, and which were made again.
    pub(super) stuck: u32,
    /// How many awaits were cancelled, each at least once.
    pub(super) cancelled: usize,
}

/// The runs of one search.
pub(super) struct Runs<'p, P> {
    program: &'p P,
    setup: &'p Setup,
    sometimes: Sometimes,
    cancelled: Cancelled,
    stuck: u32,
    colors: usize,
}

impl<'p, P, F> Runs<'p, P>
where
    P: Fn() -> F + Sync,
    F: Future<Output = ()> + Send + 'static,
{
    pub(super) fn new(program: &'p P, setup: &'p Setup) -> Self {
        Self {
            program,
            setup,
            sometimes: Sometimes::new(),
            cancelled: Cancelled::new(),
            stuck: 0,
            colors: 0,
        }
    }

    /// The most colors of a run.
    pub(super) fn colors(&self) -> usize {
        self.colors
    }

    pub(super) fn seen(self) -> Seen {
        let never = self.sometimes.into_iter().filter(|(_, held)| !held).map(|(name, _)| name);
        Seen { never: never.collect(), stuck: self.stuck, cancelled: self.cancelled.len() }
    }

    /// Makes one run.
    pub(super) fn make(&mut self, replay: &Replay, choices: Choices) -> (Outcome, Choices) {
        let whole = choices.in_whole_turns();
        if self.stuck < MOST_STUCK {
            if let (Some(outcome), choices) = self.attempt(replay, choices) {
                return (outcome, choices);
            }
            self.stuck += 1;
        }
        let (outcome, choices) = self.attempt(replay, whole);
        (outcome.expect("nobody waits inside a turn"), choices)
    }

    /// Makes one run on threads of its own, so that it finds the program's thread-locals as they are at first. No outcome if
    /// a thread was stuck.
    fn attempt(&mut self, replay: &Replay, choices: Choices) -> (Option<Outcome>, Choices) {
        let (program, setup, workers, seed) =
            (self.program, self.setup, replay.workers, replay.seed);
        let names = [MAIN.to_owned()].into_iter().chain(setup.hosts.iter().map(|of| of.0.clone()));
        let run = Run {
            choices,
            world: World::new(names.collect(), setup.faults.draw(seed), happens_at, tell),
            random: Rng(seed),
            sometimes: std::mem::take(&mut self.sometimes),
            cancelled: std::mem::take(&mut self.cancelled),
            has_cancelled: false,
            panicked: None,
            numbers: HashMap::default(),
        };
        let turns = Mutex::new(None);
        // This thread only waits meanwhile.
        let cpus = Cpus::of_this_thread();
        let bound = cpus.map(Cpus::bind_this);
        let (outcome, run) = thread::scope(|scope| {
            let (ended, has_ended) = channel::<()>();
            let turns = &turns;
            let body = move || {
                let _ended = ended;
                cpus.inspect(|cpus| cpus.release_this());
                Control::begin(run, seed);
                let _keeps = panics::keep();
                let outcome = go(program, workers, setup, cpus, turns);
                let control = Control::take_from_thread().expect("nothing else takes it");
                (outcome, control.into_run())
            };
            let thread = thread::Builder::new().name(THREAD.to_owned());
            let thread = thread
                .spawn_scoped(scope, body)
                .unwrap_or_else(|error| panic!("cannot start the thread `{THREAD}`: {error}"));
            while has_ended.recv_timeout(STUCK) == Err(RecvTimeoutError::Timeout) {
                let turns = turns.lock().unwrap_or_else(PoisonError::into_inner).clone();
                if let Some(turns) = turns {
                    turns.release_if_stuck();
                    turns.describe_after(ENDLESS).inspect(|what| report_endless(what, replay));
                }
            }
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        drop(bound);
        (self.sometimes, self.cancelled) = (run.sometimes, run.cancelled);
        self.colors = self.colors.max(run.numbers.len());
        (outcome, run.choices)
    }
}

/// Says where a run stands still. A harness of tests shows what `eprintln!` writes when the test has ended.
fn report_endless(what: &str, replay: &Replay) {
    let (Replay { seed, workers, .. }, time) = (replay, STUCK * ENDLESS);
    let _ = writeln!(
        io::stderr(),
        "colored: a turn of a simulation has lasted for {time:?}, with seed {seed} and {workers} workers: {what}. The run ends only \
         with it. If it waits for what another turn has, as for a lock of std that is held across an await, it never ends"
    );
}

/// `place` has the turns of the run while they can be stuck.
fn go<F, P>(
    program: &P,
    workers: usize,
    setup: &Setup,
    cpus: Option<Cpus>,
    place: &Mutex<Option<Arc<Turns>>>,
) -> Option<Outcome>
where
    P: Fn() -> F,
    F: Future<Output = ()> + Send + 'static,
{
    let note_panic = |panic: &colored_core::TaskPanic<'_>| {
        if panic.is_detached {
            let text = panics::take_last().unwrap_or_else(|| panic.to_string());
            with(|run| {
                run.panicked.get_or_insert(text);
            });
        }
    };
    #[cfg(feature = "stage")]
    colored_stage::follow_simulations(|| current::host().map(|host| host.present()));
    let settings = RuntimeBuilder::new().on_task_panic(note_panic);
    let world = world().expect("this thread simulates a run");
    let started = Hosts::start(&world, settings, workers, setup, program);
    let (hosts, main) = match started {
        Ok(started) => started,
        Err(error) => return Some(Err(error)),
    };
    let watch = Watch::begin(with(|run| run.choices.keeps_turns()).unwrap_or(false));
    let turns = Turns::new(hosts, main, setup.max_turns, cpus);
    *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&turns));
    let ended = turns.run();
    *place.lock().unwrap_or_else(PoisonError::into_inner) = None;
    let panicked = with(|run| run.panicked.take()).flatten();
    let outcome = ended.map(|ended| match (panicked, turns.try_take_main()) {
        (Some(text), _) => Err(text),
        (None, Some(Err(error))) => Err(panics::take_last().unwrap_or_else(|| error.to_string())),
        (None, Some(Ok(()))) => Ok(()),
        (None, None) => ended,
    });
    turns.end();
    drop(watch);
    outcome
}
