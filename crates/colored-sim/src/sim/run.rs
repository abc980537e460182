//! One run of a simulation.

use super::control::{Control, Run, SeenByAll, with};
use super::cpus::Cpus;
use super::evidence::Watch;
use super::faults::{Faults, Rng};
use super::hosts::{Hosts, MAIN, Program};
use super::panics::{self, Keeps};
use super::runtime::Make;
use super::turns::{Stuck, THREAD, Turns, Way};
use crate::world::World;
use crate::{Choices, Outcome, Replay, begin_and_go_on, run_again, stacks};
use colored_core::Color;
use std::collections::HashMap;
use std::io::{self, Write};
use std::mem;
use std::panic::{Location, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How long no choice is made before a thread that waits counts as stuck, at most twice as long.
const STUCK: Duration = Duration::from_millis(250);

/// A turn is reported when it has lasted for so many times [`STUCK`].
const ENDLESS: u32 = 20;

/// After so many runs in which a thread was stuck, turns are whole.
const MOST_STUCK: u32 = 8;

/// After so many failures that threads did not show, all runs are made on threads.
const MOST_UNCONFIRMED: u32 = 8;

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
    with(|run| {
        let sometimes = &mut run.seen().sometimes;
        match sometimes.get_mut(name) {
            Some(held) => *held |= holds,
            None => drop(sometimes.insert(name.to_owned(), holds)),
        }
    });
}

/// What the runs of a simulation have in common.
#[derive(Clone)]
pub(super) struct Setup {
    pub(super) max_turns: u64,
    pub(super) faults: Faults,
    /// The hosts beside that of the main future, by name.
    pub(super) hosts: Vec<(String, Program)>,
    pub(super) on_threads: bool,
    /// Makes the runtimes of the hosts.
    pub(super) make: Make,
}

/// What all runs of a search have seen.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// The names of conditions that never held.
    pub(super) never: Vec<String>,
    /// The runs in which a thread was stuck, and which were made again.
    pub(super) stuck: u32,
    /// The runs that failed on stacks, and not on threads.
    pub(super) unconfirmed: u32,
    /// How many awaits were cancelled, each at least once.
    pub(super) cancelled: usize,
}

/// The runs of one search.
pub(super) struct Runs<'p, P> {
    program: &'p P,
    setup: &'p Setup,
    seen: Arc<Mutex<SeenByAll>>,
    stuck: u32,
    unconfirmed: u32,
    /// All further runs are made on threads.
    needs_threads: bool,
    /// The thread of a run was given up: it may hold a lock.
    has_given_up: bool,
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
            seen: Arc::default(),
            stuck: 0,
            unconfirmed: 0,
            needs_threads: setup.on_threads || !stacks::ARE_HERE,
            has_given_up: false,
            colors: 0,
        }
    }

    /// The most colors of a run.
    pub(super) fn colors(&self) -> usize {
        self.colors
    }

    pub(super) fn seen(self) -> Seen {
        let Self { stuck, unconfirmed, .. } = self;
        let all = mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner));
        let never = all.sometimes.into_iter().filter(|(_, held)| !held).map(|(name, _)| name);
        Seen { never: never.collect(), stuck, unconfirmed, cancelled: all.cancelled.len() }
    }

    /// Makes one run: on stacks where a search makes it for its own sake, and otherwise on threads. A run on stacks only finds:
    /// its failure is that of the run on threads with the same choices. If that one does not fail, there is none; but for a run
    /// that does not fail on stacks a second time: then something else than the choices decides, and the caller finds that out.
    pub(super) fn make(&mut self, replay: &Replay, choices: Choices) -> (Outcome, Choices) {
        if self.needs_threads || !choices.explores() {
            return self.make_on_threads(replay, choices);
        }
        let again = choices.again();
        match self.attempt(replay, choices, Way::Stacks) {
            (Some(Err(message)), Some(choices)) => {
                self.confirm(&replay.of(&choices), message, choices)
            }
            (Some(Ok(())), Some(choices)) => (Ok(()), choices),
            _ => {
                (self.needs_threads, self.has_given_up) = (true, true);
                self.make_on_threads(replay, again)
            }
        }
    }

    /// A run on stacks, which is this one now, has failed in that way.
    fn confirm(
        &mut self,
        replay: &Replay,
        message: String,
        choices: Choices,
    ) -> (Outcome, Choices) {
        let on_threads = run_again(replay, |replay, choices| self.make_on_threads(replay, choices));
        if on_threads.0.is_err() {
            return on_threads;
        }
        let mut is_given_up = false;
        let (again, _) =
            run_again(replay, |replay, again| match self.attempt(replay, again, Way::Stacks) {
                (Some(outcome), Some(choices)) => (outcome, choices),
                _ => {
                    is_given_up = true;
                    (Ok(()), on_threads.1)
                }
            });
        if is_given_up {
            (self.needs_threads, self.has_given_up) = (true, true);
        } else if again.is_ok() {
            return (Err(message), choices);
        }
        self.unconfirmed += 1;
        self.needs_threads |= self.unconfirmed >= MOST_UNCONFIRMED;
        (Ok(()), choices)
    }

    fn make_on_threads(&mut self, replay: &Replay, choices: Choices) -> (Outcome, Choices) {
        let whole = choices.in_whole_turns();
        if self.stuck < MOST_STUCK {
            if let (Some(outcome), Some(choices)) = self.attempt(replay, choices, Way::Threads) {
                return (outcome, choices);
            }
            self.stuck += 1;
        }
        let (outcome, choices) = self.attempt(replay, whole, Way::Threads);
        let outcome = outcome.expect("nobody waits inside a turn");
        (outcome, choices.expect("the run has ended"))
    }

    /// Makes one run on a thread of its own, so that it finds the program's thread-locals as they are at first. No outcome if a
    /// thread was stuck, and no choices if the thread was given up.
    fn attempt(
        &mut self,
        replay: &Replay,
        choices: Choices,
        way: Way,
    ) -> (Option<Outcome>, Option<Choices>) {
        let (program, setup, workers, seed) =
            (self.program, self.setup, replay.workers, replay.seed);
        let names = [MAIN.to_owned()].into_iter().chain(setup.hosts.iter().map(|of| of.0.clone()));
        let run = Run {
            choices,
            world: World::new(names.collect(), setup.faults.draw(seed), happens_at, tell),
            random: Rng(seed),
            seen: Arc::clone(&self.seen),
            has_cancelled: false,
            panicked: None,
            numbers: HashMap::default(),
        };
        let place = Place::default();
        // This thread only waits meanwhile.
        let cpus = Cpus::of_this_thread();
        let bound = cpus.map(Cpus::bind_this);
        let begin = || {
            cpus.inspect(|cpus| cpus.release_this());
            Control::begin(run, seed);
            let keeps = panics::keep();
            (keeps, start(program, workers, setup, way, cpus))
        };
        let turns = Arc::clone(&place);
        let go_on = move |(keeps, started)| {
            let outcome = match started {
                Ok(started) => go(started, &turns),
                Err(error) => Some(Err(error)),
            };
            let control = Control::take_from_thread().expect("nothing else takes it");
            drop::<Keeps>(keeps);
            (outcome, control.into_run())
        };
        let builder = thread::Builder::new().name(THREAD.to_owned());
        let mut elsewhere = 0;
        let is_given_up = || self.is_given_up(replay, &place, &mut elsewhere);
        let ended = begin_and_go_on(builder, begin, go_on, STUCK, is_given_up)
            .unwrap_or_else(|error| panic!("cannot start the thread `{THREAD}`: {error}"));
        let Some(ended) = ended else { return (None, None) };
        let (outcome, run) = ended.unwrap_or_else(|panic| resume_unwind(panic));
        drop(bound);
        self.colors = self.colors.max(run.numbers.len());
        (outcome, Some(run.choices))
    }

    /// Looks at a run that has not ended for a while: whether it is given up now. `elsewhere` counts the looks that have found no
    /// turns.
    fn is_given_up(&self, replay: &Replay, place: &Place, elsewhere: &mut u32) -> bool {
        let turns = place.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(turns) = turns else {
            *elsewhere += 1;
            if *elsewhere == ENDLESS && self.has_given_up {
                report_endless("the start or the end of the run", replay);
            }
            return false;
        };
        if turns.look_at_stuck() == Stuck::GivenUp {
            return true;
        }
        let looks = turns.same_looks();
        if looks == ENDLESS {
            report_endless(&turns.describe_running(), replay);
        }
        assert!(
            !(looks >= ENDLESS && self.has_given_up && turns.is_asleep()),
            "a turn waits for what a run has that was given up, as for a std lock in a static that another turn held: {}; \
             simulate this program by `Builder::on_threads`",
            turns.describe_running()
        );
        false
    }
}

/// Where the turns of a run are while they can be stuck.
type Place = Arc<Mutex<Option<Arc<Turns>>>>;

/// Says where a run stands still. A harness of tests shows what `eprintln!` writes when the test has ended.
fn report_endless(what: &str, replay: &Replay) {
    let (Replay { seed, workers, .. }, time) = (replay, STUCK * ENDLESS);
    let _ = writeln!(
        io::stderr(),
        "colored: a turn of a simulation has lasted for {time:?}, with seed {seed} and {workers} workers: {what}. The run ends only \
         with it. If it waits for what another turn has, as for a lock of std that is held across an await, it never ends"
    );
}

/// Starts the hosts of a run, and its main future.
fn start<F, P>(
    program: &P,
    workers: usize,
    setup: &Setup,
    way: Way,
    cpus: Option<Cpus>,
) -> Result<(Arc<Turns>, Watch), String>
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
    let world = world().expect("this thread simulates a run");
    let (hosts, main) = Hosts::start(&world, note_panic, workers, setup, program)?;
    let watch = Watch::begin(with(|run| run.choices.keeps_turns()).unwrap_or(false));
    Ok((Turns::new(hosts, main, setup.max_turns, way, cpus), watch))
}

fn go((turns, watch): (Arc<Turns>, Watch), place: &Place) -> Option<Outcome> {
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
