//! The state that the parts of a program share, and its counts.

use crate::here;
use crate::plan::Plan;
use crate::value::Value;
use crate::wait::Future as Waiting;
use crate::witness::Witness;
use colored_core::{AbortHandle, Color, ColorCell, Job, JoinHandle, SchedulerHandle, Worker};
use colored_limit::{LimitedCell, Permit};
use std::any::Any;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

pub(crate) type Cell = ColorCell<Value>;

/// The state that the parts of a program share.
pub(crate) struct World {
    pub(crate) plan: Plan,
    /// For each runtime, the witnesses of the colors.
    witnesses: Vec<Vec<Arc<Witness>>>,
    pub(crate) colors: Vec<Color>,
    /// The things that one part has left, for any other to find.
    chest: Mutex<Vec<Thing>>,
    /// The workers that any thread may step.
    pub(crate) seats: Vec<Mutex<Option<Worker>>>,
    /// How many of the workers in `seats` have stopped.
    stopped: AtomicUsize,
    /// Tasks and posts that are not over.
    pub(crate) open: AtomicUsize,
    made: AtomicUsize,
    gone: AtomicUsize,
    has_forgotten: AtomicBool,
    failures: Mutex<Vec<String>>,
}

/// A thing that one part leaves and another finds.
pub(crate) enum Thing {
    Waker(Waker),
    Join(JoinHandle<Token>),
    Abort(AbortHandle),
    Future(Waiting),
    Cell(Cell),
    Permit(Permit),
    Job(Job),
    Later(Later),
}

/// A color of a runtime, as the program knows it.
#[derive(Clone)]
pub(crate) struct Hue {
    pub(crate) runtime: usize,
    /// `None` for a color of one task.
    pub(crate) color: Option<Color>,
    pub(crate) witness: Arc<Witness>,
}

impl World {
    pub(crate) fn new(plan: Plan, seats: Vec<Worker>) -> Arc<Self> {
        let names = ["one", "two", "three"];
        let color = |tint: usize| match tint {
            0 => Color::DEFAULT,
            1 | 3 | 5 => Color::named(names[tint / 2]),
            // From 0 on, which is another color than the default one.
            _ => Color::new(tint as u64 - 2),
        };
        let row = |_| (0..plan.tints).map(|_| Arc::default()).collect();
        Arc::new(Self {
            witnesses: (0..plan.runtimes.len()).map(row).collect(),
            colors: (0..plan.tints).map(color).collect(),
            plan,
            chest: Mutex::default(),
            seats: seats.into_iter().map(|worker| Mutex::new(Some(worker))).collect(),
            stopped: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
            made: AtomicUsize::new(0),
            gone: AtomicUsize::new(0),
            has_forgotten: AtomicBool::new(false),
            failures: Mutex::default(),
        })
    }

    pub(crate) fn hue(&self, runtime: usize, tint: usize) -> Hue {
        let witness = Arc::clone(&self.witnesses[runtime][tint]);
        Hue { runtime, color: Some(self.colors[tint]), witness }
    }

    /// The hue of a color that the program has a name for.
    pub(crate) fn hue_of(&self, runtime: usize, color: Color) -> Option<Hue> {
        let tint = self.colors.iter().position(|known| *known == color)?;
        Some(self.hue(runtime, tint))
    }

    pub(crate) fn fail(&self, what: String) {
        lock(&self.failures).push(what);
    }

    pub(crate) fn failures(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.failures))
    }

    pub(crate) fn put(&self, thing: Thing) {
        lock(&self.chest).push(thing);
    }

    /// The oldest thing in the chest.
    pub(crate) fn find(&self) -> Option<Thing> {
        let mut chest = lock(&self.chest);
        (!chest.is_empty()).then(|| chest.remove(0))
    }

    pub(crate) fn take_worker(&self, seat: usize) -> Option<Worker> {
        lock(&self.seats[seat]).take()
    }

    /// Gives a worker back, unless it has stopped.
    pub(crate) fn put_worker(&self, seat: usize, worker: Worker, goes_on: bool) {
        if goes_on {
            *lock(&self.seats[seat]) = Some(worker);
        } else {
            drop(worker);
            // Ordering: pairs with the Acquire in `have_left`.
            self.stopped.fetch_add(1, Ordering::Release);
        }
    }

    /// Whether every worker without a thread of its own has stopped.
    pub(crate) fn have_left(&self) -> bool {
        // Ordering: pairs with the Release in `put_worker`.
        self.stopped.load(Ordering::Acquire) == self.seats.len()
    }

    /// Keeps something for ever, where a leak sanitizer still sees it: its destructor never runs.
    pub(crate) fn forget(&self, thing: impl Any + Send) {
        static FORGOTTEN: Mutex<Vec<ManuallyDrop<Box<dyn Any + Send>>>> = Mutex::new(Vec::new());
        self.has_forgotten.store(true, Ordering::Relaxed);
        lock(&FORGOTTEN).push(ManuallyDrop::new(Box::new(thing)));
    }

    /// The failures at the very end: also values that were made and never dropped.
    pub(crate) fn finish(self: Arc<Self>) -> Vec<String> {
        self.settle();
        self.failures()
    }

    fn settle(self: &Arc<Self>) {
        if self.has_forgotten.load(Ordering::Relaxed) {
            return;
        }
        let (made, gone) = (self.made.load(Ordering::Relaxed), self.gone.load(Ordering::Relaxed));
        let open = self.open.load(Ordering::Relaxed);
        if (made, 0) != (gone, open) {
            self.fail(format!(
                "{made} values were made, {gone} dropped; {open} tasks and posts left"
            ));
        } else if Arc::strong_count(self) != 1 {
            let others = Arc::strong_count(self) - 1;
            self.fail(format!("somebody has leaked the program {others} times"));
        }
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A value that is counted when it is made and when it is dropped. It owns memory, so that a sanitizer sees a
/// second drop, or a use afterwards.
pub(crate) struct Token {
    world: Arc<World>,
    alive: Box<u32>,
    opens: bool,
}

const ALIVE: u32 = 0x00A1_14E5;

impl Token {
    pub(crate) fn new(world: &Arc<World>) -> Self {
        world.made.fetch_add(1, Ordering::Relaxed);
        Self { world: Arc::clone(world), alive: Box::new(ALIVE), opens: false }
    }

    /// A token of a task or a post, which ends by itself.
    pub(crate) fn open(world: &Arc<World>) -> Self {
        // Ordering: the main thread looks until it is zero, and what it does then is ordered by the
        // runtime's end.
        world.open.fetch_add(1, Ordering::Relaxed);
        let mut token = Self::new(world);
        token.opens = true;
        token
    }

    pub(crate) fn look(&self) {
        assert_eq!(*self.alive, ALIVE, "a value was used after its end");
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        if std::mem::replace(&mut *self.alive, 0) != ALIVE {
            self.world.fail("a value was dropped twice".into());
        }
        self.world.gone.fetch_add(1, Ordering::Relaxed);
        if self.opens {
            self.world.open.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// The handles and cells that a part of a program has in hands.
#[derive(Clone)]
pub(crate) struct Hands {
    pub(crate) world: Arc<World>,
    pub(crate) handles: Vec<Option<SchedulerHandle>>,
    pub(crate) cells: Vec<Option<Cell>>,
    pub(crate) row: Option<Arc<Vec<Cell>>>,
    pub(crate) limits: Vec<Option<LimitedCell<Value>>>,
    /// The number of the part that acts, and how often it has posted or called. Its posts must come in their order.
    pub(crate) who: u64,
    pub(crate) count: u64,
}

impl Hands {
    /// Hands for another part, with the cells that `keep` names.
    pub(crate) fn give(&self, keep: u32) -> Self {
        let kept = |index: usize| keep >> (index % 32) & 1 == 1;
        let some = |cells: &[Option<Cell>]| {
            cells.iter().enumerate().map(|(i, cell)| cell.clone().filter(|_| kept(i))).collect()
        };
        Self {
            world: Arc::clone(&self.world),
            handles: self.handles.clone(),
            cells: some(&self.cells),
            row: self.row.clone().filter(|_| kept(30)),
            limits: if kept(31) { self.limits.clone() } else { vec![None; self.limits.len()] },
            who: here::next_number(),
            count: 0,
        }
    }

    /// Hands without cells, for a part that may be inside a cell.
    pub(crate) fn bare(&self) -> Self {
        Self {
            cells: vec![None; self.cells.len()],
            row: None,
            limits: vec![None; self.limits.len()],
            handles: self.handles.clone(),
            world: Arc::clone(&self.world),
            who: here::next_number(),
            count: 0,
        }
    }

    pub(crate) fn cell(&self, index: usize) -> Option<Cell> {
        match index.checked_sub(self.cells.len()) {
            None => self.cells[index].clone(),
            Some(index) => self.row.as_ref()?.get(index).cloned(),
        }
    }

    pub(crate) fn handle(&self, runtime: usize) -> Option<SchedulerHandle> {
        self.handles[runtime].clone()
    }

    pub(crate) fn limit(&self, limit: usize) -> Option<LimitedCell<Value>> {
        self.limits[limit].clone()
    }

    /// The number of the next post or call.
    pub(crate) fn next(&mut self) -> (u64, u64) {
        self.count += 1;
        (self.who, self.count)
    }

    /// The runtime and color that this thread is under, if the color has a name. `None` if there may be two: a
    /// worker of one runtime cancels tasks of another.
    pub(crate) fn hue_now(&self) -> Option<Hue> {
        let runs_here = |handle: &Option<SchedulerHandle>| {
            handle.as_ref().is_some_and(SchedulerHandle::runs_here)
        };
        let mut here = (0..self.handles.len()).filter(|runtime| runs_here(&self.handles[*runtime]));
        let runtime = here.next().filter(|_| here.next().is_none())?;
        self.world.hue_of(runtime, Color::current()?)
    }
}

/// Does its acts when it is dropped.
pub(crate) struct Later {
    pub(crate) token: Token,
    pub(crate) hands: Option<Hands>,
    pub(crate) acts: crate::plan::Acts,
}

impl Later {
    pub(crate) fn new(hands: &Hands, acts: &crate::plan::Acts) -> Self {
        let hands = hands.give(acts.keep);
        Self { token: Token::new(&hands.world), hands: Some(hands), acts: acts.clone() }
    }

    /// As `new`, without cells.
    pub(crate) fn bare(hands: &Hands, acts: &crate::plan::Acts) -> Self {
        let hands = hands.bare();
        Self { token: Token::new(&hands.world), hands: Some(hands), acts: acts.clone() }
    }
}

impl Drop for Later {
    fn drop(&mut self) {
        self.token.look();
        if let Some(mut hands) = self.hands.take() {
            here::in_destructor(|| crate::act::all(&mut hands, &self.acts, None));
        }
    }
}
