//! How runs are made: each on a thread that finds nothing of others, or several on one thread that shows that it has nothing.

use super::control::{Cancelled, Control, Ended, Noted, Run, with};
use super::cpus::Cpus;
use super::evidence::Watch;
use super::faults::Rng;
use super::hosts::{Hosts, MAIN};
use super::panics::{self, Keeps};
use super::run::{self, Setup};
use super::turns::{Stuck, THREAD, Turns, Way};
use crate::world::World;
use crate::{Ahead, Asked, Choices, Lent, Outcome, Replay, run_on_a_thread, stacks};
use std::collections::HashMap;
use std::io::{self, Write};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How long no choice is made before a thread that waits counts as stuck, at most twice as long.
const STUCK: Duration = Duration::from_millis(250);

/// A turn is reported when it has lasted for so many times [`STUCK`].
const ENDLESS: u32 = 20;

/// How the runs of a search are made from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum Mode {
    /// A run that explores is made on stacks.
    Stacks,
    Threads,
    /// On threads, of which none waits inside a turn.
    WholeTurns,
}

/// What makes the runs of a search, for each of its threads.
pub(super) struct Attempts<'p, P> {
    lent: Program<'p, P>,
    mode: AtomicU8,
    /// The thread of a run was given up: it may hold a lock.
    has_given_up: AtomicBool,
    /// The awaits that have been cancelled, by the runs whose turn has come.
    cancelled: Mutex<Arc<Cancelled>>,
}

/// What a run begins with.
struct Program<'p, P> {
    program: &'p P,
    setup: &'p Setup,
}

/// What has become of a run.
pub(super) enum Made {
    /// It has ended so. No outcome if a thread was stuck.
    Ended(Option<Outcome>, Ended),
    /// Its thread was given up.
    GivenUp,
}

/// A run that was made before its turn: it has ended well, or was given up.
pub(super) struct MadeAhead {
    pub(super) mode: Mode,
    pub(super) made: Made,
}

/// What a thread of a search keeps from run to run.
#[derive(Default)]
pub(super) struct Place;

/// A run that is being made, as the thread sees it that waits for it.
#[derive(Default)]
struct Running {
    replay: Option<Replay>,
    /// While they can be stuck.
    turns: Option<Arc<Turns>>,
}

type Watched = Arc<Mutex<Running>>;

fn lock(running: &Watched) -> MutexGuard<'_, Running> {
    running.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'p, P> Attempts<'p, P> {
    pub(super) fn new(program: &'p P, setup: &'p Setup) -> Self {
        let on_threads = setup.on_threads || !stacks::ARE_HERE;
        let mode = if on_threads { Mode::Threads } else { Mode::Stacks };
        let (lent, mode) = (Program { program, setup }, AtomicU8::new(mode as u8));
        Self { lent, mode, has_given_up: AtomicBool::new(false), cancelled: Mutex::default() }
    }

    pub(super) fn mode(&self) -> Mode {
        // Ordering: a hint for runs made ahead; the thread that takes them is the one that stores.
        match self.mode.load(Ordering::Relaxed) {
            0 => Mode::Stacks,
            1 => Mode::Threads,
            _ => Mode::WholeTurns,
        }
    }

    /// Further runs are made so, unless they are already made in a mode behind it.
    pub(super) fn turn_to(&self, mode: Mode) {
        // Ordering: see `mode`.
        self.mode.fetch_max(mode as u8, Ordering::Relaxed);
    }

    pub(super) fn set_cancelled(&self, cancelled: Arc<Cancelled>) {
        *self.cancelled.lock().unwrap_or_else(PoisonError::into_inner) = cancelled;
    }
}

impl<P, F> Ahead for Attempts<'_, P>
where
    P: Fn() -> F + Sync,
    F: Future<Output = ()> + Send + 'static,
{
    type Made = MadeAhead;
    type Place = Place;

    fn place(&self) -> Place {
        Place
    }

    fn make(&self, place: &mut Place, asked: Vec<Asked>) -> Vec<MadeAhead> {
        let mode = self.mode();
        let way = match mode {
            Mode::Stacks => Way::Stacks,
            Mode::Threads => Way::Threads,
            Mode::WholeTurns => return Vec::new(),
        };
        let cancelled = Arc::clone(&self.cancelled.lock().unwrap_or_else(PoisonError::into_inner));
        let made = Attempts::make(self, place, asked, way, cancelled, true).into_iter();
        let is_well = |made: &Made| matches!(made, Made::GivenUp | Made::Ended(Some(Ok(())), _));
        made.filter(is_well).map(|made| MadeAhead { mode, made }).collect()
    }
}

impl<P, F> Attempts<'_, P>
where
    P: Fn() -> F + Sync,
    F: Future<Output = ()> + Send + 'static,
{
    /// Makes runs in their order, up to the first one that does not end well. Each finds the program's thread-locals as they are
    /// at first. `cancelled` are the awaits that runs before them have cancelled.
    pub(super) fn make(
        &self,
        place: &mut Place,
        asked: Vec<Asked>,
        way: Way,
        mut cancelled: Arc<Cancelled>,
        is_ahead: bool,
    ) -> Vec<Made> {
        let mut all = Vec::with_capacity(asked.len());
        for Asked { replay, choices } in asked {
            let noted = Noted::behind(Arc::clone(&cancelled));
            let made = self.make_one(place, replay, choices, noted, way, is_ahead);
            let goes_on = match &made {
                Made::Ended(Some(Ok(())), ended) => {
                    if !ended.noted.cancelled.is_empty() {
                        Arc::make_mut(&mut cancelled).extend(&ended.noted.cancelled);
                    }
                    true
                }
                _ => false,
            };
            all.push(made);
            if !goes_on {
                break;
            }
        }
        all
    }

    fn make_one(
        &self,
        _place: &mut Place,
        replay: Replay,
        choices: Choices,
        noted: Noted,
        way: Way,
        is_ahead: bool,
    ) -> Made {
        let running = Watched::default();
        let watched = Arc::clone(&running);
        // This thread only waits meanwhile.
        let cpus = Cpus::of_this_thread();
        let bound = cpus.map(Cpus::bind_this);
        let body = move |lent: &Lent<Program<'_, P>>| {
            cpus.inspect(|cpus| cpus.release_this());
            make_here(lent, replay, choices, noted, way, cpus, &running)
        };
        let mut elsewhere = 0;
        let is_given_up = || self.look(&watched, &mut elsewhere, is_ahead);
        let builder = thread::Builder::new().name(THREAD.to_owned());
        let ended = run_on_a_thread(builder, &self.lent, body, STUCK, is_given_up)
            .unwrap_or_else(|error| panic!("cannot start the thread `{THREAD}`: {error}"));
        drop(bound);
        match ended {
            None => {
                // Ordering: a hint for threads that watch others.
                self.has_given_up.store(true, Ordering::Relaxed);
                Made::GivenUp
            }
            Some(Ok((outcome, ended))) => Made::Ended(outcome, ended),
            Some(Err(panic)) => resume_unwind(panic),
        }
    }

    /// Looks at a run that has not ended for a while: whether it is given up now. `elsewhere` counts the looks that have found no
    /// turns.
    fn look(&self, running: &Watched, elsewhere: &mut u32, is_ahead: bool) -> bool {
        let (replay, turns) = {
            let running = lock(running);
            (running.replay.clone(), running.turns.clone())
        };
        // Ordering: see where it is stored.
        let has_given_up = self.has_given_up.load(Ordering::Relaxed);
        let Some(turns) = turns else {
            *elsewhere += 1;
            if *elsewhere == ENDLESS && has_given_up {
                report_endless("the start or the end of the run", replay.as_ref());
            }
            return false;
        };
        if turns.look_at_stuck() == Stuck::GivenUp {
            return true;
        }
        let looks = turns.same_looks();
        if is_ahead && has_given_up && looks > 1 && turns.is_asleep() {
            // It is made again when its turn comes, and found to be stuck then.
            return true;
        }
        if looks == ENDLESS {
            report_endless(&turns.describe_running(), replay.as_ref());
        }
        assert!(
            !(looks >= ENDLESS && has_given_up && turns.is_asleep()),
            "a turn waits for what a run has that was given up, as for a std lock in a static that another turn held: {}; \
             simulate this program by `Builder::on_threads`",
            turns.describe_running()
        );
        false
    }
}

/// Makes one run on this thread.
fn make_here<P, F>(
    lent: &Lent<Program<'_, P>>,
    replay: Replay,
    choices: Choices,
    noted: Noted,
    way: Way,
    cpus: Option<Cpus>,
    running: &Watched,
) -> (Option<Outcome>, Ended)
where
    P: Fn() -> F + Sync,
    F: Future<Output = ()> + Send + 'static,
{
    let (seed, workers) = (replay.seed, replay.workers);
    lock(running).replay = Some(replay);
    let keeps = panics::keep();
    let started = lent.with(|of| {
        let setup = of.setup;
        let names = [MAIN.to_owned()].into_iter().chain(setup.hosts.iter().map(|of| of.0.clone()));
        let (happens_at, tell) = (run::happens_at, run::tell);
        let run = Run {
            choices,
            world: World::new(names.collect(), setup.faults.draw(seed), happens_at, tell),
            random: Rng(seed),
            noted,
            has_cancelled: false,
            panicked: None,
            numbers: HashMap::default(),
        };
        Control::begin(run, seed);
        start(of.program, workers, setup, way, cpus)
    });
    let outcome = match started {
        Ok(started) => go(started, running),
        Err(error) => Some(Err(error)),
    };
    let control = Control::take_from_thread().expect("nothing else takes it");
    drop::<Keeps>(keeps);
    (outcome, control.into_ended())
}

/// Says where a run stands still. A harness of tests shows what `eprintln!` writes when the test has ended.
fn report_endless(what: &str, replay: Option<&Replay>) {
    let (seed, workers) = replay.map_or((0, 0), |replay| (replay.seed, replay.workers));
    let time = STUCK * ENDLESS;
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
    let world = run::world().expect("this thread simulates a run");
    let (hosts, main) = Hosts::start(&world, note_panic, workers, setup, program)?;
    let watch = Watch::begin(with(|run| run.choices.keeps_turns()).unwrap_or(false));
    Ok((Turns::new(hosts, main, setup.max_turns, way, cpus), watch))
}

fn go((turns, watch): (Arc<Turns>, Watch), running: &Watched) -> Option<Outcome> {
    lock(running).turns = Some(Arc::clone(&turns));
    let ended = turns.run();
    lock(running).turns = None;
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
