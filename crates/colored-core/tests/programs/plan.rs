//! The text of a program, made from a seed before anything runs.

use colored_core::{Options, Priority};
use std::sync::Arc;

/// A color of a runtime, by its place among the [`Plan::tints`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct At {
    pub(crate) runtime: usize,
    pub(crate) tint: usize,
}

/// A whole program.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) runtimes: Vec<Runtime>,
    /// How many colors each runtime has, the default one first. Colors at odd places have names, the others
    /// numbers.
    pub(crate) tints: usize,
    pub(crate) cells: Vec<(At, Option<Acts>)>,
    /// How many more cells there are, each of a unique color, and whether half of them are in the last runtime.
    pub(crate) row: Option<(usize, bool)>,
    pub(crate) limits: Vec<(At, usize)>,
    /// Whether the program ends only when all has run. Then a lost wake-up is a hang.
    pub(crate) is_quiet: bool,
    pub(crate) main: Acts,
    pub(crate) foreigners: Vec<Foreigner>,
    /// How often the main thread looks around before it ends a program that is not quiet.
    pub(crate) patience: u32,
    /// The acts of the main thread when everything has stopped.
    pub(crate) epilogue: Acts,
}

#[derive(Debug)]
pub(crate) struct Runtime {
    pub(crate) workers: usize,
    /// How many of them have no thread, and are stepped by any thread that comes along.
    pub(crate) roaming: usize,
    pub(crate) options: Options,
    pub(crate) is_watched: bool,
}

/// A thread that is no worker.
#[derive(Debug)]
pub(crate) struct Foreigner {
    /// Whether the thread's own thread-locals are older than the runtime's.
    pub(crate) is_early: bool,
    pub(crate) enters: Option<usize>,
    pub(crate) acts: Acts,
}

/// Acts without waiting, with some of the cells of the part that made them.
#[derive(Clone)]
pub(crate) struct Acts {
    pub(crate) keep: u32,
    pub(crate) list: Arc<[Act]>,
}

/// The body of a task, or a part of it.
pub(crate) struct Body {
    pub(crate) keep: u32,
    pub(crate) moves: bool,
    pub(crate) steps: Vec<Do>,
}

#[derive(Debug)]
pub(crate) enum Do {
    Act(Act),
    Await(Arc<Wait>),
    /// A value whose destructor does something, kept up to the end of the body.
    Keep(Acts),
}

/// How a task is spawned.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Spawn {
    Colored(At),
    Urgent(At),
    Alone(usize),
    Here,
    Local,
    Pinned(At, usize),
    Limited(usize),
}

/// The fate of a handle.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fate {
    Drop,
    Chest,
    Abort,
    AbortFromChest,
    Forget,
}

/// The end of a future that was polled now and then.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    Drop,
    Chest,
    Forget,
}

/// The waker with which an act polls a future by hand.
#[derive(Clone, Debug)]
pub(crate) enum Woken {
    /// The waker of the task that polls, or none outside a task.
    Task,
    Noop,
    /// A waker of foreign code, which runs on a wake and on the drop.
    Foreign(Acts, Acts),
}

/// The treatment of a thing that lies in the chest.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Find {
    Use,
    Drop,
    Forget,
    /// Leaves the thing in a thread-local, which the thread drops when it ends.
    Stash,
}

/// An act that needs no waiting. Any thread or task can do it.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    LookAtColor,
    LookAround,
    Spawn(Spawn, Arc<Body>, Fate),
    Post(usize, Acts),
    TryWith(usize, Acts),
    NewCell(usize, At, Acts),
    DropCell(usize),
    CellToChest(usize),
    DropHandle(usize),
    Poll { wait: Arc<Wait>, times: u32, woken: Woken, end: End },
    Chest(Find),
    Later(Acts),
    Stash(Acts),
    Priority(At, Priority),
    PostToWorker(At, usize, Acts),
    TryPost(usize, Acts),
    TrySpawn(usize, Arc<Body>, Fate),
    TryReserve(usize, bool),
    Close(usize),
    Local(usize),
    Enter(usize, Acts),
    EnterForEver(usize),
    BlockOn(usize, Arc<Body>),
    Step(usize, u32),
    Batch(usize, Arc<Act>),
    ShutDown(usize),
    Panic,
}

/// The cells that a `when` wants.
#[derive(Clone, Debug)]
pub(crate) enum Set {
    /// `x` for a cell to be changed, `s` for a shared one.
    Tuple(&'static str, Vec<usize>),
    Slice(Vec<usize>),
    Shared(Vec<usize>),
    /// A part of the row: its first place, and how many cells.
    Row(usize, usize),
    SharedRow(usize, usize),
}

/// A wait of a task.
#[derive(Debug)]
pub(crate) enum Wait {
    Yield,
    Hop(usize),
    /// Waits for a waker that lies in the chest.
    Signal,
    Join(Spawn, Arc<Body>),
    /// Waits for a task that is aborted at once.
    Aborted(Spawn, Arc<Body>),
    Job(Acts),
    RemoteCall(At, usize, Acts),
    Call(usize, Acts),
    CheckedCall(usize, Acts),
    Read(usize, Acts),
    CheckedRead(usize, Acts),
    When(Set, Acts),
    TryWhen(Set, Acts),
    Exclusive(Arc<Body>),
    CellExclusive(usize, Arc<Body>),
    Reserve(usize, Option<Arc<Body>>),
    Room(usize),
    LimitSpawn(usize, Arc<Body>),
    LimitCall(usize, Acts),
    LimitPost(usize, Acts),
    Both(Arc<Body>, Arc<Body>),
    Either(Arc<Body>, Arc<Body>),
}

impl std::fmt::Debug for Acts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.list.iter()).finish()
    }
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(&self.steps).finish()
    }
}

impl Wait {
    /// Whether the task that polls this wait may hop in it, and so be under another color afterwards.
    pub(crate) fn moves(&self) -> bool {
        match self {
            Self::Hop(_) => true,
            Self::Exclusive(body) | Self::CellExclusive(_, body) => body.moves,
            Self::Both(one, other) | Self::Either(one, other) => one.moves || other.moves,
            _ => false,
        }
    }
}

impl Act {
    pub(crate) fn moves(&self) -> bool {
        match self {
            Self::Poll { wait, .. } => wait.moves(),
            Self::Batch(_, act) => act.moves(),
            _ => false,
        }
    }
}

impl Body {
    pub(crate) fn new(keep: u32, steps: Vec<Do>) -> Arc<Self> {
        let moves = steps.iter().any(|step| match step {
            Do::Act(act) => act.moves(),
            Do::Await(wait) => wait.moves(),
            Do::Keep(_) => false,
        });
        Arc::new(Self { keep, moves, steps })
    }
}
