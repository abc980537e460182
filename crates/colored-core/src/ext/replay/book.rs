//! [`Book`]: what all colors of a scheduler share while it records or replays; and [`ColorOrder`], the order of one color.

use super::early::{Early, Next, Pushed};
use crate::kernel::color::{Color, ColorKind};
use crate::kernel::lane::base::LanePtr;
use crate::kernel::queue::{Kind, Node, Tag};
use crate::kernel::task::{Abort, TaskRef};
use crate::sync::{Arc, AtomicU32, AtomicU64, AtomicUsize, Mutex, Ordering};
use colored_record::{Event, File, Mark, Reader, Source, SourceKind, Turn, Writer, end, put_block};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::panic::Location;
use std::ptr::NonNull;
use std::task::Waker;

/// Takes the bytes of a record, in their order.
pub trait Sink: Send + 'static {
    /// Takes the next bytes.
    fn write(&mut self, bytes: &[u8]);
    /// These were the last ones.
    fn end(&mut self);
    /// The run has done something, for the first time at its place, that a replay of this record will refuse.
    fn warn(&mut self, text: &str);
}

/// The services that a replay needs from the operating system.
pub trait Shell: Send + Sync + 'static {
    /// Lets other threads run for a moment.
    fn pause(&self);
    /// The replay has stopped, for this reason.
    fn stopped(&self, reason: &str);
}

pub(super) const OPEN: u32 = 0;
pub(super) const CLOSED: u32 = 1;
pub(super) const STOPPED: u32 = 2;

pub(crate) struct Book {
    pub(super) colors: Mutex<HashMap<Source, Arc<ColorOrder>>>,
    pub(super) state: AtomicU32,
    /// Serial numbers that the thread outside has taken.
    pub(super) maker_serials: AtomicU64,
    pub(super) mode: Mode,
}

pub(super) enum Mode {
    Record { sink: Mutex<Option<Writing>> },
    Replay(Replay),
}

pub(super) struct Writing {
    pub(super) sink: Box<dyn Sink>,
    pub(super) blocks: u64,
    /// The places that have been warned of.
    pub(super) warned: HashSet<Location<'static>>,
}

pub(super) struct Replay {
    pub(super) file: Mutex<File>,
    pub(super) shell: Box<dyn Shell>,
    /// Turns that have been let in and are not over, but for those that wait for an outcome.
    pub(super) live: AtomicUsize,
    /// The blocking calls that are not over, by their numbers, and the places that have made them.
    pub(super) calls: Mutex<BTreeMap<u64, &'static Location<'static>>>,
    pub(super) reason: Mutex<Option<String>>,
    pub(super) roots: Mutex<Vec<Waker>>,
}

/// The source that a color is.
pub(super) fn source_of(color: Color) -> Source {
    let kind = match color.kind() {
        ColorKind::Default => SourceKind::Default,
        ColorKind::Numbered => SourceKind::Numbered,
        ColorKind::Unique => SourceKind::Unique,
    };
    Source { kind, number: color.number() }
}

impl Book {
    pub(super) fn of(self: &Arc<Self>, color: Color) -> Arc<ColorOrder> {
        let name = source_of(color);
        let make = || match &self.mode {
            Mode::Record { .. } => ColorOrder::recorded(color, Arc::clone(self)),
            Mode::Replay(replay) => {
                ColorOrder::replayed(color, Arc::clone(self), replay.file.lock().take(name))
            }
        };
        let mut colors = self.colors.lock();
        Arc::clone(colors.entry(name).or_insert_with(|| Arc::new(make())))
    }

    pub(super) fn replay(&self) -> Option<&Replay> {
        match &self.mode {
            Mode::Record { .. } => None,
            Mode::Replay(replay) => Some(replay),
        }
    }

    pub(super) fn state(&self) -> u32 {
        // Ordering: the locks of the colors order what depends on it.
        self.state.load(Ordering::Acquire)
    }

    pub(super) fn is_open(&self) -> bool {
        self.state() == OPEN
    }

    pub(super) fn all(&self) -> Vec<Arc<ColorOrder>> {
        self.colors.lock().values().cloned().collect()
    }

    /// Lets go all that waits for its turn, and takes no more events.
    pub(super) fn let_go(&self, state: u32) {
        // Ordering: pairs with the Acquire in `state`; the locks of the colors order the rest.
        let before = self.state.swap(state, Ordering::AcqRel);
        if before == OPEN && self.replay().is_some() {
            self.all().iter().for_each(|color| color.let_go(state == STOPPED));
        }
    }

    /// Adds bytes of a color to the record.
    pub(super) fn write(&self, color: Source, events: &[u8]) {
        let Mode::Record { sink } = &self.mode else { return };
        let mut sink = sink.lock();
        if let Some(Writing { sink, blocks, .. }) = &mut *sink {
            let mut bytes = Vec::with_capacity(events.len() + 32);
            put_block(&mut bytes, color, events);
            sink.write(&bytes);
            *blocks += 1;
        }
    }

    /// The run does what no record covers.
    pub(super) fn warn(&self, what: &str, color: Color, place: &'static Location<'static>) {
        let Mode::Record { sink } = &self.mode else { return };
        let mut sink = sink.lock();
        if let Some(Writing { sink, warned, .. }) = &mut *sink
            && warned.insert(*place)
        {
            sink.warn(&format!(
                "no record covers {what}: {color}, at {place}; a replay ends there"
            ));
        }
    }

    pub(super) fn finish(&self) {
        self.let_go(CLOSED);
        let colors = std::mem::take(&mut *self.colors.lock());
        colors.values().for_each(|color| color.flush());
        let Mode::Record { sink } = &self.mode else { return };
        if let Some(mut writing) = sink.lock().take() {
            writing.sink.write(&end(writing.blocks));
            writing.sink.end();
        }
    }

    /// Ends the replay: the first reason counts.
    pub(super) fn stop(&self, text: &str) {
        let Some(replay) = self.replay() else { return };
        let mut reason = replay.reason.lock();
        if reason.is_some() || self.state() == CLOSED {
            return;
        }
        *reason = Some(text.to_owned());
        drop(reason);
        replay.shell.stopped(text);
        self.let_go(STOPPED);
        let roots = std::mem::take(&mut *replay.roots.lock());
        roots.into_iter().for_each(Waker::wake);
    }

    pub(super) fn reason(&self, waker: &Waker) -> Option<String> {
        let replay = self.replay()?;
        let waker = waker.clone();
        let reason = replay.reason.lock();
        if reason.is_none() {
            // Under the lock of the reason: the stop comes behind, and wakes it.
            let mut roots = replay.roots.lock();
            roots.retain(|root| !root.will_wake(&waker));
            roots.push(waker);
        }
        reason.clone()
    }

    pub(super) fn is_quiet(&self) -> bool {
        // Ordering: a hint. A task that is woken once too often does not run before its turn.
        let is_zero = |count: &AtomicUsize| count.load(Ordering::Acquire) == 0;
        self.replay().is_some_and(|replay| is_zero(&replay.live))
    }

    pub(super) fn wake_waiting(&self) -> bool {
        if !self.is_quiet() || !self.is_open() {
            return false;
        }
        let woken = self.all().iter().filter(|color| color.go_on(true)).count();
        woken == 0 && self.is_quiet()
    }
}

/// A block is written when it has so many bytes. A guess: with less, the heads of the blocks count.
const BLOCK: usize = 4096;

pub(crate) struct ColorOrder {
    pub(super) name: Source,
    pub(super) color: Color,
    pub(super) book: Arc<Book>,
    /// Serial numbers that its turns have taken.
    pub(super) serials: AtomicU64,
    state: Mutex<State>,
}

enum State {
    Record { writer: Writer, next_task: u32 },
    Replay(Early),
}

// SAFETY: the nodes in `Early` wait to be pushed on a lane, and the lock hands them over as a chain would. Tasks and callbacks
// are made to move between threads, or are pinned.
unsafe impl Send for ColorOrder {}
// SAFETY: as above; all else is behind the lock, or atomic.
unsafe impl Sync for ColorOrder {}

impl ColorOrder {
    pub(super) fn recorded(color: Color, book: Arc<Book>) -> Self {
        Self::new(color, book, State::Record { writer: Writer::default(), next_task: 0 })
    }

    pub(super) fn replayed(color: Color, book: Arc<Book>, reader: Reader) -> Self {
        Self::new(color, book, State::Replay(Early::new(reader)))
    }

    fn new(color: Color, book: Arc<Book>, state: State) -> Self {
        let (serials, state) = (AtomicU64::new(0), Mutex::new(state));
        Self { name: source_of(color), color, book, serials, state }
    }

    /// Adds an event to the record.
    pub(super) fn add(&self, event: Event) {
        if let State::Record { writer, .. } = &mut *self.state.lock() {
            writer.add(event);
        }
    }

    /// Takes the next event from the record if `is_it`; otherwise the replay stops, and this panics.
    pub(super) fn take<T>(
        &self,
        found: &dyn std::fmt::Display,
        is_it: impl Fn(Event) -> Option<T>,
    ) -> T {
        if self.book.state() == STOPPED {
            panic!("the replay has stopped before {found}");
        }
        let (next, turn) = {
            let State::Replay(early) = &mut *self.state.lock() else {
                unreachable!("it is replayed")
            };
            let next = early.reader.peek().ok().flatten();
            if let Some(value) = next.and_then(is_it) {
                let _taken = early.reader.take();
                return value;
            }
            (next, early.reader.turns())
        };
        let text = match next {
            Some(event) => format!(
                "this is not the recorded run: {}, turn {turn}: the record has {event}, and the program {found}",
                self.color
            ),
            None => format!(
                "the record of {} ends in its turn {turn}: the program goes on with {found}",
                self.color
            ),
        };
        self.fail(&text)
    }

    /// The next event of the record stays.
    pub(super) fn peek(&self) -> Option<Event> {
        match &mut *self.state.lock() {
            State::Replay(early) => early.reader.peek().ok().flatten(),
            State::Record { .. } => None,
        }
    }

    /// Stops the replay in the turn of this thread, and panics. Not to be called with the lock.
    pub(super) fn fail(&self, text: &str) -> ! {
        self.book.stop(text);
        panic!("{text}")
    }

    /// As `fail`, for an operation that no record covers.
    pub(super) fn refuse(&self, what: &str) -> ! {
        let turn = self.turns();
        self.fail(&format!("no record covers {what}: {}, turn {turn}", self.color))
    }

    fn turns(&self) -> u64 {
        match &*self.state.lock() {
            State::Replay(early) => early.reader.turns(),
            State::Record { .. } => 0,
        }
    }

    pub(super) fn set_blocked(&self, mark: Option<Mark>) {
        if let State::Replay(early) = &mut *self.state.lock() {
            early.blocked = mark;
        }
    }

    /// Writes what has not been written.
    pub(super) fn flush(&self) {
        if let State::Record { writer, .. } = &mut *self.state.lock()
            && !writer.is_empty()
        {
            self.book.write(self.name, &writer.take());
        }
    }

    /// The turn of a node begins. Returns whether it is to be cancelled: so if the replay has stopped.
    #[inline(never)]
    pub(super) fn begin(&self, kind: Kind, pin: u32, node: NonNull<Node>, tag: &Tag) -> bool {
        let state = self.book.state();
        if state != OPEN {
            return state == STOPPED && pin == 0;
        }
        let is_task = kind == Kind::Task;
        match &mut *self.state.lock() {
            State::Record { writer, next_task } => {
                let turn = match tag.task() {
                    Some(task) => Turn::Again { task, outside: tag.is_from_outside() },
                    None => Turn::Push(tag.source()),
                };
                writer.add(Event::Turn(turn));
                if is_task && tag.task().is_none() {
                    tag.set_task(Some(*next_task));
                    *next_task += 1;
                }
                if writer.len() >= BLOCK {
                    self.book.write(self.name, &writer.take());
                }
                return false;
            }
            State::Replay(early) => {
                let lane = LanePtr::nowhere();
                let pushed = Pushed { node, lane, is_task };
                if early.begin(pushed, tag) {
                    return false;
                }
            }
        }
        let text =
            format!("this is not the recorded run: a turn of {} came out of order", self.color);
        self.book.stop(&text);
        pin == 0
    }

    /// The task with this id has had its last turn here. If it hops, it is its own source: the push comes when another
    /// thread may have the lane.
    pub(super) fn forget(&self, tag: &Tag, id: u64) {
        if let Some(task) = tag.task()
            && let State::Replay(early) = &mut *self.state.lock()
        {
            early.forget(task);
        }
        tag.set_task(None);
        tag.set_own(Source { kind: SourceKind::Hop, number: id });
    }

    /// Takes a node that is pushed, if it may have to wait: true in a replay.
    pub(super) fn hold_back(&self, pushed: Pushed, tag: &Tag) -> bool {
        let mut state = self.state.lock();
        match &mut *state {
            State::Replay(early) if self.book.is_open() => early.put(pushed, tag),
            _ => return false,
        }
        true
    }

    /// The turn that was let in is over.
    pub(super) fn end_turn(&self) {
        let missed = match &mut *self.state.lock() {
            State::Replay(early) => early.end(),
            State::Record { .. } => return,
        };
        if let Some(replay) = self.book.replay() {
            // Ordering: as in `go_on`.
            replay.live.fetch_sub(1, Ordering::AcqRel);
        }
        if let Some(event) = missed.filter(|_| self.book.is_open()) {
            let turn = self.turns();
            self.book.stop(&format!(
                "this is not the recorded run: {}, turn {turn}: the record has {event}, and the turn is over",
                self.color
            ));
        }
        self.go_on(false);
    }

    /// A reference to a task that is known to the color, whose lock the caller has.
    fn task(pushed: Pushed) -> Abort<LanePtr> {
        // SAFETY: it is a task of the color that has not had its last turn: before that `forget` takes the lock.
        unsafe { TaskRef::<LanePtr>::from_node(pushed.node) }.abort_handle()
    }

    /// What the record has next.
    pub(super) fn next(&self) -> Next {
        match &mut *self.state.lock() {
            State::Replay(early) => early.next(self.name, false, false),
            State::Record { .. } => Next::Busy,
        }
    }

    /// Lets in what the record has next, if it has come, or wakes it. Returns whether it has done something.
    pub(super) fn go_on(&self, is_forced: bool) -> bool {
        if !self.book.is_open() {
            return false;
        }
        let mut state = self.state.lock();
        let State::Replay(early) = &mut *state else { return false };
        match early.next(self.name, is_forced, true) {
            Next::Admit(pushed) => {
                if let Some(replay) = self.book.replay() {
                    // Ordering: a hint, for a thread that looks whether something runs.
                    replay.live.fetch_add(1, Ordering::AcqRel);
                }
                drop(state);
                // SAFETY: `push` was called with the node, and it is in no chain; nothing else has taken it out.
                unsafe { pushed.lane.push_admitted(pushed.node) };
                true
            }
            Next::Refused { text } => {
                drop(state);
                self.book.stop(&text);
                true
            }
            Next::Wake(pushed) => {
                let task = Self::task(pushed);
                drop(state);
                task.task().wake();
                true
            }
            _ => false,
        }
    }

    /// Lets go what waits. After a stop, also wakes the tasks that would wait for ever: a poll whose recorded answer was no
    /// has given its waker to nobody.
    pub(super) fn let_go(&self, wakes: bool) {
        let (mut all, mut tasks) = (Vec::new(), Vec::new());
        if let State::Replay(early) = &mut *self.state.lock() {
            if wakes {
                tasks.extend(early.known().map(Self::task));
            }
            all = early.take_all();
        }
        tasks.into_iter().for_each(|task| task.task().wake());
        for pushed in all {
            // SAFETY: as in `go_on`.
            unsafe { pushed.lane.push_admitted(pushed.node) };
        }
    }
}
