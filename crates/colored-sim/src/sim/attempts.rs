//! How runs are made: each on a thread of its own, or several on one thread whose thread-locals show that no run has left anything
//! there.

use super::control::{Cancelled, Control, Ended, LOOKED_UP, Noted, Run, with};
use super::cpus::Cpus;
use super::evidence::Watch;
use super::faults::Rng;
use super::hosts::{Hosts, MAIN};
use super::panics::{self, Keeps};
use super::run::{self, Setup};
use super::turns::{Stuck, THREAD, Turns, Way};
use super::warm_up::{are_unchanged, noise, warm_up};
use crate::locals::{Locals, are_random_numbers_ours, forget_unpark};
use crate::world::World;
use crate::{Ahead, Asked, Choices, Lent, Maker, Outcome, Replay, run_on_a_thread, stacks};
use colored_core::contain;
use std::collections::{HashMap, VecDeque};
use std::io::{self, Write};
use std::mem;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How long no choice is made before a thread that waits counts as stuck, at most twice as long.
const STUCK: Duration = Duration::from_millis(250);

/// A turn is reported when it has lasted for so many times [`STUCK`].
const ENDLESS: u32 = 20;

/// A run ahead is put off when the search is over and it has made no choice for so many times [`STUCK`].
const OVER: u32 = 8;

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
    /// No run that was made ahead is wanted any more.
    is_over: AtomicBool,
    /// Runs that have left something in the thread-locals of their thread.
    changes: AtomicU32,
    /// The awaits that have been cancelled, by the runs whose turn has come.
    cancelled: Mutex<Arc<Cancelled>>,
}

/// What a run begins with.
struct Program<'p, P> {
    program: &'p P,
    setup: &'p Setup,
    /// Of runs that have ended, for others.
    worlds: Worlds,
}

/// Worlds as new ones.
type Worlds = Arc<Mutex<Vec<Arc<World>>>>;

/// What has become of a run.
pub(super) enum Made {
    /// It has ended so. No outcome if a thread was stuck.
    Ended(Option<Outcome>, Box<Ended>),
    /// Its thread was given up.
    GivenUp,
    /// It was made ahead, and its thread was given up for a reason outside of the run.
    PutOff,
}

/// A run that was made before its turn: it has ended well, was given up, or was put off.
pub(super) struct MadeAhead {
    pub(super) mode: Mode,
    pub(super) made: Made,
}

/// What a thread of a search keeps from run to run: the thread that makes its runs on stacks, whose thread-locals are as they were
/// then.
#[derive(Default)]
pub(super) struct Place {
    maker: Option<Used>,
}

struct Used {
    maker: Maker,
    locals: Arc<Locals>,
    /// How often it was asked for runs.
    times: u32,
}

/// After so many threads of which the first runs have left something there, each run begins on a new one.
const MOST_CHANGES: u32 = 3;

/// Runs that are being made, as the thread sees them that waits for them.
struct Job {
    way: Way,
    state: Mutex<State>,
}

struct State {
    asked: VecDeque<Asked>,
    cancelled: Arc<Cancelled>,
    made: Vec<Made>,
    /// The one that is being made.
    replay: Option<Replay>,
    /// Its turns, while they can be stuck.
    turns: Option<Arc<Turns>>,
    /// What is noted of the run when its thread is given up.
    given_up: Made,
}

impl Job {
    fn new(asked: Vec<Asked>, way: Way, cancelled: Arc<Cancelled>) -> Self {
        let (asked, made) = (asked.into(), Vec::new());
        let given_up = Made::GivenUp;
        let state = State { asked, cancelled, made, replay: None, turns: None, given_up };
        Self { way, state: Mutex::new(state) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Whether there is a run to make, and all before it have ended well.
    fn goes_on(&self) -> bool {
        let state = self.lock();
        let is_well = |made: &Made| matches!(made, Made::Ended(Some(Ok(())), _));
        !state.asked.is_empty() && state.made.last().is_none_or(is_well)
    }

    /// Makes the next run on this thread.
    fn make_next<P, F>(&self, lent: &Lent<Program<'_, P>>, cpus: Option<Cpus>)
    where
        P: Fn() -> F + Sync,
        F: Future<Output = ()> + Send + 'static,
    {
        let (Asked { replay, choices }, cancelled) = {
            let mut state = self.lock();
            let asked = state.asked.pop_front().expect("there is one to make");
            state.replay = Some(asked.replay.clone());
            (asked, Arc::clone(&state.cancelled))
        };
        let keeps = panics::keep();
        let (started, worlds) = lent.with(|of| {
            let world = lock(&of.worlds).pop();
            let run = new_run(of.setup, replay.seed, choices, Noted::behind(cancelled), world);
            let started = start(of.program, run, &replay, of.setup, self.way, cpus);
            (started, Arc::clone(&of.worlds))
        });
        let (outcome, ended, world) = finish(started, keeps, |turns| self.lock().turns = turns);
        lock(&worlds).extend(World::reset(world));
        let mut state = self.lock();
        if let Some(Ok(())) = outcome
            && !ended.noted.cancelled.is_empty()
        {
            Arc::make_mut(&mut state.cancelled).extend(&ended.noted.cancelled);
        }
        state.made.push(Made::Ended(outcome, Box::new(ended)));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn thread_of_a_run() -> thread::Builder {
    thread::Builder::new().name(THREAD.to_owned())
}

fn no_thread(error: &io::Error) -> ! {
    panic!("cannot start the thread `{THREAD}`: {error}")
}

impl<'p, P> Attempts<'p, P> {
    pub(super) fn new(program: &'p P, setup: &'p Setup) -> Self {
        let on_threads = setup.on_threads || !stacks::ARE_HERE;
        let mode = if on_threads { Mode::Threads } else { Mode::Stacks };
        Self {
            lent: Program { program, setup, worlds: Worlds::default() },
            mode: AtomicU8::new(mode as u8),
            has_given_up: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            changes: AtomicU32::new(0),
            cancelled: Mutex::default(),
        }
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
        *lock(&self.cancelled) = cancelled;
    }
}

impl<P, F> Ahead for Attempts<'_, P>
where
    P: Fn() -> F + Sync,
    F: Future<Output = ()> + Send + 'static,
{
    type Made = MadeAhead;
    type Place = Place;

    fn make(&self, place: &mut Place, asked: Vec<Asked>) -> Vec<MadeAhead> {
        let mode = self.mode();
        let way = match mode {
            Mode::Stacks => Way::Stacks,
            Mode::Threads => Way::Threads,
            Mode::WholeTurns => return Vec::new(),
        };
        let cancelled = Arc::clone(&lock(&self.cancelled));
        let made = Attempts::make(self, place, asked, way, cancelled, true).into_iter();
        let is_bad = |made: &Made| matches!(made, Made::Ended(None | Some(Err(_)), _));
        made.filter(|made| !is_bad(made)).map(|made| MadeAhead { mode, made }).collect()
    }

    fn end(&self) {
        // Ordering: a hint for threads that watch others.
        self.is_over.store(true, Ordering::Relaxed);
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
        cancelled: Arc<Cancelled>,
        is_ahead: bool,
    ) -> Vec<Made> {
        let job = Arc::new(Job::new(asked, way, cancelled));
        while job.goes_on() {
            let used = place.maker.take().filter(|_| way == Way::Stacks);
            let used = used.or_else(|| if way == Way::Stacks { self.maker() } else { None });
            let ended = match used {
                Some(used) => self.make_there(used, place, &job, is_ahead),
                None => self.make_alone(&job, is_ahead),
            };
            match ended {
                None => {
                    let mut state = job.lock();
                    let made = mem::replace(&mut state.given_up, Made::GivenUp);
                    if matches!(made, Made::GivenUp) {
                        // Ordering: a hint for threads that watch others.
                        self.has_given_up.store(true, Ordering::Relaxed);
                    }
                    state.made.push(made);
                }
                Some(Ok(())) => {}
                Some(Err(panic)) => resume_unwind(panic),
            }
        }
        mem::take(&mut job.lock().made)
    }

    /// Makes runs on a thread that makes several, and keeps it unless one has left something there. None if it was given up.
    fn make_there(
        &self,
        mut used: Used,
        place: &mut Place,
        job: &Arc<Job>,
        is_ahead: bool,
    ) -> Option<thread::Result<()>> {
        let (of, first) = (Arc::clone(job), Arc::clone(&used.locals));
        let shell = self.lent.setup.shell;
        let body = move |lent: &Lent<Program<'_, P>>| {
            let mut is_unchanged = true;
            while is_unchanged && of.goes_on() {
                of.make_next(lent, None);
                forget_unpark();
                is_unchanged = are_unchanged(shell, &first);
            }
            is_unchanged
        };
        let mut elsewhere = 0;
        let is_given_up = || self.look(job, &mut elsewhere, is_ahead);
        let is_unchanged = match used.maker.run(&self.lent, body, STUCK, is_given_up)? {
            Ok(is_unchanged) => is_unchanged,
            Err(panic) => return Some(Err(panic)),
        };
        used.times += 1;
        if is_unchanged {
            place.maker = Some(used);
        } else if used.times < 4 {
            // Ordering: only counts.
            self.changes.fetch_add(1, Ordering::Relaxed);
        }
        Some(Ok(()))
    }

    /// Makes a run on a thread of its own. None if it was given up.
    fn make_alone(&self, job: &Arc<Job>, is_ahead: bool) -> Option<thread::Result<()>> {
        let of = Arc::clone(job);
        // The threads of the run hand over to each other, and this one only waits meanwhile. A run on stacks has one thread: the
        // system finds an idle CPU for it.
        let cpus = if job.way == Way::Threads { Cpus::of_this_thread() } else { None };
        let _bound = cpus.map(Cpus::bind_this);
        let body = move |lent: &Lent<Program<'_, P>>| {
            cpus.inspect(|cpus| cpus.release_this());
            of.make_next(lent, cpus);
        };
        let mut elsewhere = 0;
        let is_given_up = || self.look(job, &mut elsewhere, is_ahead);
        run_on_a_thread(thread_of_a_run(), &self.lent, body, STUCK, is_given_up)
            .unwrap_or_else(|error| no_thread(&error))
    }

    /// A thread that makes runs one after another. None if each needs a thread of its own.
    fn maker(&self) -> Option<Used> {
        let shell = self.lent.setup.shell;
        // Ordering: only counts.
        let is_used_again = self.changes.load(Ordering::Relaxed) < MOST_CHANGES;
        if !is_used_again || noise(shell).is_none() || are_random_numbers_ours() {
            return None;
        }
        let mut maker = Maker::start(thread_of_a_run()).unwrap_or_else(|error| no_thread(&error));
        // What a thread makes when it needs it first is there when its thread-locals are noted.
        let begin = move |_: &Lent<()>| {
            warm_up(shell, 0);
            Locals::now()
        };
        let locals = maker.run(&(), begin, Duration::MAX, || false)?;
        let locals = Arc::new(locals.unwrap_or_else(|panic| resume_unwind(panic))?);
        Some(Used { maker, locals, times: 0 })
    }

    /// Looks at a run that has not ended for a while: whether it is given up now. `elsewhere` counts the looks that have found no
    /// turns.
    fn look(&self, job: &Job, elsewhere: &mut u32, is_ahead: bool) -> bool {
        let (replay, turns) = {
            let state = job.lock();
            (state.replay.clone(), state.turns.clone())
        };
        // Ordering: see where they are stored.
        let has_given_up = self.has_given_up.load(Ordering::Relaxed);
        let is_over = is_ahead && self.is_over.load(Ordering::Relaxed);
        let Some(turns) = turns else {
            *elsewhere += 1;
            if is_over && *elsewhere >= OVER {
                // A call of the program itself is waited for.
                report_endless("the start or the end of a run that nobody needs", replay.as_ref());
                job.lock().given_up = Made::PutOff;
                return true;
            }
            if *elsewhere == ENDLESS && has_given_up {
                report_endless("the start or the end of the run", replay.as_ref());
            }
            return false;
        };
        *elsewhere = 0;
        if turns.look_at_stuck() == Stuck::GivenUp {
            return true;
        }
        let looks = turns.same_looks();
        // It may wait for what another run has, and is made again when its turn comes; or nobody waits for it.
        let waits = is_ahead && has_given_up && looks > 1 && turns.is_asleep();
        if (waits || is_over && looks >= OVER) && turns.give_up() {
            job.lock().given_up = Made::PutOff;
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

/// A run that begins.
pub(super) fn new_run(
    setup: &Setup,
    seed: u64,
    choices: Choices,
    noted: Noted,
    world: Option<Arc<World>>,
) -> Run {
    let mut world = world.unwrap_or_else(|| {
        let hosts = setup.hosts.iter().map(|of| of.0.clone());
        let names = [MAIN.to_owned()].into_iter().chain(hosts).collect();
        Arc::new(World::new(names, run::happens_at, run::tell))
    });
    Arc::get_mut(&mut world).expect("nobody else has it").rates = setup.faults.draw(seed);
    Run {
        choices,
        world,
        random: Rng(seed),
        noted,
        has_cancelled: false,
        panicked: None,
        shared: Vec::new(),
        numbers: HashMap::default(),
        looked_up: [None; LOOKED_UP],
    }
}

/// The turns of a run that has begun, or why there are none.
pub(super) type Started = Result<(Arc<Turns>, Watch), String>;

/// Begins the run on this thread: its hosts, and its main future.
pub(super) fn start<F, P>(
    program: &P,
    run: Run,
    replay: &Replay,
    setup: &Setup,
    way: Way,
    cpus: Option<Cpus>,
) -> Started
where
    P: Fn() -> F,
    F: Future<Output = ()> + Send + 'static,
{
    let world = Arc::clone(&run.world);
    Control::begin(run, replay.seed);
    let (hosts, main) = Hosts::start(&world, replay.workers, setup, program)?;
    let watch = Watch::begin(with(|run| run.choices.keeps_turns()).unwrap_or(false));
    Ok((Turns::new(hosts, main, setup.max_turns, way, cpus), watch))
}

/// Makes the turns of the run on this thread, and ends it. `show` shows the turns to others, while they can be stuck. Returns the
/// world as the run has left it.
pub(super) fn finish(
    started: Started,
    keeps: Keeps,
    mut show: impl FnMut(Option<Arc<Turns>>),
) -> (Option<Outcome>, Ended, Arc<World>) {
    let outcome = match started {
        Ok((turns, watch)) => {
            show(Some(Arc::clone(&turns)));
            let ended = turns.run();
            show(None);
            let panicked = || with(|run| run.panicked.take()).flatten();
            let outcome = ended.map(|ended| match (panicked(), turns.try_take_main()) {
                (Some(text), _) => Err(text),
                (None, Some(Err(error))) => {
                    Err(panics::take_last().unwrap_or_else(|| error.to_string()))
                }
                (None, Some(Ok(()))) => Ok(()),
                (None, None) => ended,
            });
            turns.end();
            // What is shared may ask for the run in its destructor.
            contain(|| drop(with(|run| mem::take(&mut run.shared))));
            drop(watch);
            // A destructor may have panicked just now.
            outcome.map(|outcome| outcome.and_then(|()| panicked().map_or(Ok(()), Err)))
        }
        Err(error) => Some(Err(error)),
    };
    let control = Control::take_from_thread().expect("nothing else takes it");
    drop::<Keeps>(keeps);
    let (ended, world) = control.into_ended();
    (outcome, ended, world)
}
