//! [`Book`]: what all colors of a scheduler share while it records or replays.

use super::color::ColorOrder;
use super::early::Next;
use super::here;
use crate::color::{Color, ColorKind};
use crate::lane::order::turn::LaneOrder;
use crate::replay_ids;
use crate::sync::{Arc, AtomicU32, AtomicU64, AtomicUsize, Mutex, Ordering};
use colored_record::{File, Source, SourceKind, end, put_block};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::panic::Location;
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

/// Whether a scheduler records, replays, or does neither.
#[derive(Clone, Default)]
pub struct Order(Option<Arc<Book>>);

impl Order {
    /// Records into a sink. This thread is the one that makes the runtime.
    pub fn record(sink: Box<dyn Sink>) -> Self {
        let sink = Mutex::new(Some(Writing { sink, blocks: 0, warned: HashSet::new() }));
        Self::new(Mode::Record { sink })
    }

    /// Replays a record. This thread is the one that makes the runtime.
    pub fn replay(file: File, shell: Box<dyn Shell>) -> Self {
        Self::new(Mode::Replay(Replay {
            file: Mutex::new(file),
            shell,
            live: AtomicUsize::new(0),
            calls: Mutex::new(BTreeMap::new()),
            reason: Mutex::new(None),
            roots: Mutex::new(Vec::new()),
        }))
    }

    fn new(mode: Mode) -> Self {
        let book = Arc::new(Book {
            colors: Mutex::new(HashMap::new()),
            state: AtomicU32::new(OPEN),
            maker_serials: AtomicU64::new(0),
            mode,
        });
        replay_ids::ask(here::next_serial);
        here::set_maker(&book);
        Self(Some(book))
    }

    /// What a lane of this color needs.
    pub(crate) fn of(&self, color: Color) -> LaneOrder {
        LaneOrder::new(self.0.as_ref().map(|book| book.of(color)))
    }

    /// The scheduler shuts down: what happens from now on is not part of the record.
    pub(crate) fn close(&self) {
        if let Some(book) = &self.0 {
            book.let_go(CLOSED);
        }
    }

    /// The scheduler has shut down: writes the rest of a record.
    pub fn finish(&self) {
        if let Some(book) = &self.0 {
            book.finish();
        }
    }

    /// Has waiting tasks woken that the record wants next, if nothing runs. Returns whether nothing runs, and nothing was
    /// woken: for a thread that calls this now and then.
    pub fn wake_waiting(&self) -> bool {
        self.0.as_ref().is_some_and(|book| book.wake_waiting())
    }

    /// Stops the replay if something is missing, where nothing has run for a while. `is_alone` says that no thread outside
    /// can bring it. A blocking call can: returns what the replay waits for then.
    #[must_use]
    pub fn report_missing(&self, is_alone: bool) -> Option<String> {
        self.0.as_ref()?.report_missing(is_alone)
    }

    /// Why the replay has stopped, if it has. Otherwise `waker` is woken when it does.
    #[must_use]
    pub fn reason(&self, waker: &Waker) -> Option<String> {
        self.0.as_ref()?.reason(waker)
    }

    /// Why the replay has stopped, if it has.
    #[must_use]
    pub fn stopped(&self) -> Option<String> {
        let Mode::Replay(replay) = &self.0.as_ref()?.mode else { return None };
        replay.reason.lock().clone()
    }

    /// Whether this replays.
    #[must_use]
    pub fn is_replay(&self) -> bool {
        self.0.as_ref().is_some_and(|book| book.replay().is_some())
    }
}

impl fmt::Debug for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Order").field("is_on", &self.0.is_some()).finish_non_exhaustive()
    }
}

pub(super) const OPEN: u32 = 0;
pub(super) const CLOSED: u32 = 1;
pub(super) const STOPPED: u32 = 2;

/// So much is named of what is missing.
const MOST_NAMED: usize = 8;

pub(crate) struct Book {
    colors: Mutex<HashMap<Source, Arc<ColorOrder>>>,
    state: AtomicU32,
    /// Serial numbers that the thread outside has taken.
    pub(super) maker_serials: AtomicU64,
    mode: Mode,
}

enum Mode {
    Record { sink: Mutex<Option<Writing>> },
    Replay(Replay),
}

struct Writing {
    sink: Box<dyn Sink>,
    blocks: u64,
    /// The places that have been warned of.
    warned: HashSet<Location<'static>>,
}

pub(super) struct Replay {
    file: Mutex<File>,
    pub(super) shell: Box<dyn Shell>,
    /// Turns that have been let in and are not over, but for those that wait for an outcome.
    pub(super) live: AtomicUsize,
    /// The blocking calls that are not over, by their numbers, and the places that have made them.
    pub(super) calls: Mutex<BTreeMap<u64, &'static Location<'static>>>,
    reason: Mutex<Option<String>>,
    roots: Mutex<Vec<Waker>>,
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
    fn of(self: &Arc<Self>, color: Color) -> Arc<ColorOrder> {
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

    fn all(&self) -> Vec<Arc<ColorOrder>> {
        self.colors.lock().values().cloned().collect()
    }

    /// Lets go all that waits for its turn, and takes no more events.
    fn let_go(&self, state: u32) {
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

    fn finish(&self) {
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

    fn reason(&self, waker: &Waker) -> Option<String> {
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

    fn is_quiet(&self) -> bool {
        // Ordering: a hint. A task that is woken once too often does not run before its turn.
        let is_zero = |count: &AtomicUsize| count.load(Ordering::Acquire) == 0;
        self.replay().is_some_and(|replay| is_zero(&replay.live))
    }

    fn wake_waiting(&self) -> bool {
        if !self.is_quiet() || !self.is_open() {
            return false;
        }
        let woken = self.all().iter().filter(|color| color.go_on(true)).count();
        woken == 0 && self.is_quiet()
    }

    /// Stops the replay if nothing runs and something is missing; returns what it waits for if blocking calls may bring that.
    fn report_missing(&self, is_alone: bool) -> Option<String> {
        let replay = self.replay()?;
        if !self.is_open() || !self.is_quiet() {
            return None;
        }
        let calls: Vec<_> = replay.calls.lock().values().copied().collect();
        let calls = calls.iter().take(MOST_NAMED);
        let mut waits: Vec<_> =
            calls.map(|site| format!("a blocking call made at {site} has not returned")).collect();
        let has_calls = !waits.is_empty();
        waits.extend(self.find_missing(is_alone)?);
        if has_calls {
            return Some(waits.join("; "));
        }
        if waits.is_empty() && is_alone {
            waits.push("the recorded run has ended here, and this one waits".to_owned());
        }
        if !waits.is_empty() {
            let text = waits.join("; ");
            self.stop(&format!("this is not the recorded run. Nothing goes on: {text}"));
        }
        None
    }

    /// Names what the record has next and nothing brings; `None` if a thread outside may bring it.
    fn find_missing(&self, is_alone: bool) -> Option<Vec<String>> {
        let mut missing = Vec::new();
        for color in self.all() {
            let next = color.next();
            if let Next::Missing { is_outside: true, .. } = next
                && !is_alone
            {
                return None;
            }
            if let Next::Missing { text, .. } | Next::Over { text } | Next::Blocked { text } = next
            {
                missing.push(text);
            }
        }
        missing.sort();
        missing.truncate(MOST_NAMED);
        Some(missing)
    }
}
