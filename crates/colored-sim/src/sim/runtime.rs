//! [`Runtime`]: the runtime of a host, which belongs to a crate above this one.

use super::control::with;
use colored_core::{JoinHandle, Policy, WorkerMemory, contain};
use colored_machine::Machine;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Waker;

/// A crate that makes the runtimes of hosts. A [`Builder`](super::Builder) is of a type that does.
pub trait Runtimes: 'static {
    /// Makes a runtime, in this memory as far as it goes.
    ///
    /// # Errors
    ///
    /// When the system refuses something.
    fn make(settings: Settings, memory: &mut WorkerMemory) -> io::Result<Arc<dyn Runtime>>;

    /// A program that uses what the runtime has, in another way for each seed.
    fn warm_up(seed: u64) -> Main;
}

/// The functions of a [`Runtimes`].
#[derive(Clone, Copy)]
pub(super) struct Shell {
    pub(super) make: fn(Settings, &mut WorkerMemory) -> io::Result<Arc<dyn Runtime>>,
    pub(super) warm_up: fn(u64) -> Main,
}

impl Shell {
    pub(super) fn of<R: Runtimes>() -> Self {
        Self { make: R::make, warm_up: R::warm_up }
    }
}

/// A main future.
pub type Main = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What a runtime is made for.
#[derive(Debug)]
pub struct Settings {
    /// The number of workers.
    pub workers: usize,
    /// Where colors go.
    pub policy: &'static dyn Policy,
    /// The machine that it is on.
    pub machine: Arc<dyn Machine>,
    /// It has a tokio runtime, whose tasks run in its turns.
    pub tokio: bool,
}

/// A runtime whose caller chooses which of its *actors* takes the next turn. An actor is a worker; the last one, behind
/// the workers, runs blocking calls.
///
/// A turn is one poll or closure. While a thread is inside the turn of one actor, other threads may take turns of others:
/// these are threads of a real runtime then. Dropping it [ends](Self::end) it.
pub trait Runtime: Send + Sync {
    /// Spawns the main future under the default color.
    fn spawn_main(&self, main: Main) -> JoinHandle<()>;

    /// Calls `f` as code of this host: clocks are the run's.
    fn enter(&self, f: &mut dyn FnMut());

    /// What this thread knows of the stack that it runs on is exchanged with the stack from now on.
    fn begin_stacks(&self);

    /// Appends the actors that have something to run, in their order. Those that are inside a turn may be among them. `first` is
    /// the number of the first one.
    fn list_runnable(&self, first: usize, actors: &mut Vec<usize>);

    /// A number that is another one if [`list_runnable`](Self::list_runnable) would append others. None while blocking calls wait, or
    /// something may be pinned.
    fn changes(&self) -> Option<usize>;

    /// Whether something may be pinned to some worker that is inside no turn.
    fn has_pins(&self) -> bool;

    /// The thread that must take the turns of an actor that is inside none, if something is pinned to it.
    fn thread_of(&self, actor: usize) -> Option<usize>;

    /// Takes a turn of an actor that is runnable, and inside no turn, on the thread that the caller counts so. Returns numbers
    /// that tell what it has run.
    fn take_turn(&self, actor: usize, thread: usize) -> [u64; 2];

    /// What the actor has run in its last turn.
    fn describe_turn(&self, actor: usize) -> String;

    /// Ends waits that never would, where nothing is runnable. True if something is runnable now.
    fn end_deadlocks(&self) -> bool;

    /// The next time at which something is due, in nanoseconds.
    fn next_due(&self) -> Option<u64>;

    /// Moves the clock, and lets nothing happen that is due then.
    fn set_clock(&self, to: u64);

    /// Moves the clock, between turns, and hands `fire` each timer that is due then, with its worker. True if one was. The timers
    /// of a worker come in their order.
    fn move_clock(&self, to: u64, fire: &mut dyn FnMut(usize, Waker)) -> bool;

    /// Cancels all tasks, once, on the threads that must: `drain` is called with each worker until it says that the worker has
    /// nothing left, which [`drain`](Self::drain) finds out on the right thread. No actor is inside a turn.
    fn end(&self, drain: &mut dyn FnMut(usize) -> bool);

    /// Runs the worker until it is out of work. True if it has nothing left.
    fn drain(&self, worker: usize) -> bool;

    /// Leaves the memory of its workers to others, behind its [end](Self::end).
    fn leave_memory(&mut self, memory: &mut WorkerMemory);
}

impl dyn Runtime {
    /// Calls `f` as code of this host.
    pub(super) fn call<R>(&self, f: impl FnOnce() -> R) -> R {
        let (mut f, mut result) = (Some(f), None);
        self.enter(&mut || result = f.take().map(|f| f()));
        result.expect("the function is called once")
    }

    /// Makes the future of this host, or says how that panics.
    pub(super) fn begin<F>(&self, program: impl FnOnce() -> F) -> Result<F, String> {
        let mut made = None;
        self.call(|| contain(|| made = Some(program())));
        made.ok_or_else(|| with(|run| run.panicked.take()).flatten().unwrap_or_default())
    }
}
