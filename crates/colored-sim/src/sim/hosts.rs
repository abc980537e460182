//! The hosts of a run: a runtime each, with one time.

use super::faults::Faults;
use super::places::Places;
use super::process_faults::{self, Undo};
use super::run::Setup;
use super::runtime::{Runtime, Settings, Shell};
use super::turns;
use crate::world::{Host, Order, World};
use colored_core::{JoinHandle, contain};
use colored_machine::Machine;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Waker;

/// The name of the host that runs the main future.
pub(super) const MAIN: &str = "main";

/// The program of a host: makes the future that runs there, anew at each start.
pub(super) type Program = Arc<dyn Fn() -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// The hosts of a run. Each has the same number of *actors*: its workers, one that runs blocking calls, and one that
/// delivers packets. The actors of the first host have the first numbers.
pub(super) struct Hosts {
    pub(super) world: Arc<World>,
    /// What faults have done, and when it ends.
    pub(super) undo: Vec<(u64, Undo)>,
    /// The turns that are left until the quiet phase.
    noisy_turns: u64,
    /// Whether faults may happen.
    has_faults: bool,
    /// Makes the runtimes.
    shell: Shell,
    workers: usize,
    /// Each runtime has a tokio runtime.
    tokio: bool,
    hosts: Vec<Running>,
}

/// What takes the turns of one actor.
pub(super) enum Taker {
    Runtime(Arc<dyn Runtime>, usize),
    /// The network brings the host what is due.
    Network(Arc<World>, usize),
}

impl Taker {
    /// Returns numbers that tell what has run.
    pub(super) fn take_turn(&self, thread: usize) -> [u64; 2] {
        match self {
            Taker::Runtime(runtime, actor) => runtime.take_turn(*actor, thread),
            Taker::Network(world, host) => {
                world.network().deliver(*host);
                [0; 2]
            }
        }
    }
}

struct Running {
    host: Arc<Host>,
    /// None for the host of the main future, which never starts anew.
    program: Option<Program>,
    /// None after a crash.
    runtime: Option<Arc<dyn Runtime>>,
    is_paused: bool,
}

impl Hosts {
    /// Starts all hosts, and the main future on the first one.
    pub(super) fn start<F>(
        world: &Arc<World>,
        workers: usize,
        setup: &Setup,
        program: impl Fn() -> F,
    ) -> Result<(Self, JoinHandle<()>), String>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let programs = setup.hosts.iter().map(|(_, program)| Some(Arc::clone(program)));
        let programs = [None].into_iter().chain(programs);
        let hosts = programs.enumerate().map(|(number, program)| Running {
            host: Host::new(world, number),
            program,
            runtime: None,
            is_paused: false,
        });
        let hosts = hosts.collect();
        let mut this = Self {
            world: Arc::clone(world),
            undo: Vec::new(),
            noisy_turns: setup.max_turns / 2,
            has_faults: setup.faults != Faults::none(),
            shell: setup.shell,
            workers,
            tokio: setup.tokio,
            hosts,
        };
        for number in 0..this.hosts.len() {
            this.boot(number)?;
        }
        let first = this.first();
        let main = first.spawn_main(Box::pin(first.begin(program)?));
        Ok((this, main))
    }

    /// The runtime of the main future.
    pub(super) fn first(&self) -> Arc<dyn Runtime> {
        let first = self.hosts[0].runtime.as_ref();
        Arc::clone(first.expect("all have been started"))
    }

    /// Makes the runtime of a host, and spawns what runs there.
    fn boot(&mut self, number: usize) -> Result<(), String> {
        let running = &mut self.hosts[number];
        running.host.boot();
        let settings = Settings {
            workers: self.workers,
            policy: &Places,
            machine: Arc::clone(&running.host) as Arc<dyn Machine>,
            tokio: self.tokio,
        };
        let runtime = (self.shell.make)(settings, &mut self.world.memory())
            .map_err(|error| format!("the simulated runtime does not start: {error}"))?;
        if let Some(program) = &running.program {
            // A panic of the future is one of a task without a handle: it fails the run, too.
            drop(runtime.spawn_main(runtime.begin(|| program())?));
        }
        running.runtime = Some(runtime);
        Ok(())
    }

    /// Does what faults do between turns. No actor is inside a turn.
    #[inline]
    pub(super) fn begin_turn(&mut self) {
        self.noisy_turns = self.noisy_turns.saturating_sub(1);
        if self.noisy_turns == 0 {
            self.world.set_quiet();
        }
        if self.has_faults {
            self.change_faults();
        }
    }

    /// Does what faults and the program have asked for since the last call. No actor is inside a turn.
    pub(super) fn follow_orders(&mut self) -> Result<(), String> {
        for (number, order) in self.world.take_orders() {
            let running = &mut self.hosts[number];
            match order {
                Order::Crash => self.crash(number),
                Order::Restart if running.runtime.is_none() => self.boot(number)?,
                Order::Restart => {}
                Order::Pause => running.is_paused = true,
                Order::Resume => {
                    running.is_paused = false;
                    // Its timers have gone on meanwhile.
                    self.move_clocks(self.world.now());
                }
                Order::Fire => {
                    self.move_clocks(self.world.now());
                }
            }
        }
        Ok(())
    }

    fn crash(&mut self, number: usize) {
        let running = &mut self.hosts[number];
        if let Some(runtime) = running.runtime.take() {
            running.host.crash();
            running.is_paused = false;
            self.undo.retain(|(_, undo)| !undo.is_of_timers(number));
            end(runtime, &self.world);
        }
    }

    /// Whether the host is up, and not paused.
    pub(super) fn is_awake(&self, host: usize) -> bool {
        self.hosts[host].awake().is_some()
    }

    fn actors_of_a_host(&self) -> usize {
        self.workers + 2
    }

    /// The host of an actor, and the number of the actor there.
    fn place_of(&self, actor: usize) -> (usize, usize) {
        match self.hosts.len() {
            1 => (0, actor),
            _ => (actor / self.actors_of_a_host(), actor % self.actors_of_a_host()),
        }
    }

    /// Puts the actors that have something to run into `actors`, in their order.
    pub(super) fn list_runnable(&self, actors: &mut Vec<usize>) {
        actors.clear();
        let network = self.world.has_packets().then(|| self.world.network());
        for (number, running) in self.hosts.iter().enumerate() {
            let first = number * self.actors_of_a_host();
            if let Some(runtime) = running.awake() {
                runtime.list_runnable(first, actors);
            }
            // A host that is down, or stopped, is a place that packets come to all the same.
            if network.as_ref().is_some_and(|network| network.has_due(number)) {
                actors.push(first + self.workers + 1);
            }
        }
    }

    /// A number that is another one if others could go on. None if that cannot be told: there are several hosts, packets, or actors
    /// that [something is pinned](Self::has_pins) to.
    pub(super) fn changes(&self) -> Option<usize> {
        match &*self.hosts {
            [only] if !self.world.has_packets() => only.awake()?.changes(),
            _ => None,
        }
    }

    /// Whether something may be pinned to a worker that is inside no turn.
    pub(super) fn has_pins(&self) -> bool {
        let runtimes = self.hosts.iter().filter_map(|running| running.runtime.as_deref());
        runtimes.into_iter().any(Runtime::has_pins)
    }

    /// The thread that must take the turns of an actor, if something is pinned to it.
    pub(super) fn thread_of(&self, actor: usize) -> Option<usize> {
        let (host, actor) = self.place_of(actor);
        self.hosts[host].runtime.as_ref()?.thread_of(actor)
    }

    /// Sets what takes the turns of an actor. None if its host is down.
    #[inline]
    pub(super) fn set_taker(&self, taker: &mut Option<Taker>, actor: usize) {
        let (host, actor) = self.place_of(actor);
        let runtime = self.hosts[host].runtime.as_ref();
        match (runtime, &mut *taker) {
            _ if actor > self.workers => *taker = Some(Taker::Network(self.world.clone(), host)),
            // It is counted already.
            (Some(runtime), Some(Taker::Runtime(same, of))) if Arc::ptr_eq(runtime, same) => {
                *of = actor;
            }
            _ => *taker = runtime.map(|runtime| Taker::Runtime(Arc::clone(runtime), actor)),
        }
    }

    /// Ends all hosts. No actor is inside a turn.
    pub(super) fn end(&mut self) {
        self.undo.clear();
        for runtime in self.hosts.iter_mut().flat_map(|running| running.runtime.take()) {
            end(runtime, &self.world);
        }
    }

    /// What the actor has run in its last turn.
    pub(super) fn describe_turn(&self, actor: usize) -> String {
        let (host, actor) = self.place_of(actor);
        let running = &self.hosts[host];
        let what = match &running.runtime {
            _ if actor > self.workers => self.world.network().describe_last(),
            Some(runtime) => runtime.describe_turn(actor),
            None => "nothing".to_owned(),
        };
        if self.hosts.len() == 1 { what } else { format!("{}: {what}", running.host.name()) }
    }

    /// Goes on where nothing is runnable: ends waits that never would, or moves the clocks to the next time at which
    /// something is due. False if nothing will ever be runnable.
    pub(super) fn move_time(&mut self) -> bool {
        let mut is_runnable = false;
        for runtime in self.awake() {
            is_runnable |= runtime.end_deadlocks();
        }
        if is_runnable {
            return true;
        }
        let Some(next) = self.next_due() else {
            // Something that a fault has broken for good may go on.
            let was_quiet = self.world.is_quiet();
            self.world.set_quiet();
            return !was_quiet;
        };
        self.move_clocks(next)
    }

    /// The next time at which something is due.
    pub(super) fn next_due(&self) -> Option<u64> {
        let packet = self.world.network().next_due();
        let undo = self.undo.iter().map(|(at, _)| *at).min();
        let timers = self.awake().filter_map(|runtime| runtime.next_due());
        timers.chain(packet).chain(undo).min()
    }

    /// Moves the clocks, and lets happen what is due then. True if they have moved, or something was due.
    pub(super) fn move_clocks(&mut self, to: u64) -> bool {
        let to = to.max(self.world.now());
        let mut was_due = to > self.world.now();
        self.show_time(to);
        let known = self.undo.len();
        let Self { world, hosts, undo, .. } = self;
        for (host, running) in hosts.iter().enumerate() {
            if let Some(runtime) = running.awake() {
                was_due |= runtime.move_clock(to, &mut |worker, waker| {
                    if let Some(waker) = process_faults::keep(world, undo, (host, worker), waker) {
                        contain(|| waker.wake());
                    }
                });
            }
        }
        self.choose_lateness(known);
        was_due
    }

    /// Time passes inside a turn, up to then, which lies ahead. What is due then happens behind the turn.
    pub(super) fn pass_time(&self, to: u64) {
        debug_assert!(to > self.world.now(), "time does not go back");
        self.show_time(to);
        self.awake().for_each(|runtime| runtime.set_clock(to));
        self.world.order(0, Order::Fire);
    }

    fn show_time(&self, to: u64) {
        self.world.set_now(to);
        crate::thread::set_time(to);
    }

    /// Calls these wakers as code of a host, which is up.
    pub(super) fn wake(&self, host: usize, wakers: Vec<Waker>) {
        if let Some(runtime) = &self.hosts[host].runtime {
            runtime.call(|| wakers.into_iter().for_each(|waker| contain(|| waker.wake())));
        }
    }

    /// The runtimes that may take turns.
    fn awake(&self) -> impl Iterator<Item = &dyn Runtime> {
        self.hosts.iter().filter_map(Running::awake)
    }
}

/// Ends a runtime, which leaves its memory to the others of the world.
fn end(mut runtime: Arc<dyn Runtime>, world: &World) {
    runtime.end(&mut |worker| turns::drain(&runtime, worker));
    if let Some(runtime) = Arc::get_mut(&mut runtime) {
        runtime.leave_memory(&mut world.memory());
    }
}

impl Running {
    fn awake(&self) -> Option<&dyn Runtime> {
        self.runtime.as_deref().filter(|_| !self.is_paused)
    }
}
