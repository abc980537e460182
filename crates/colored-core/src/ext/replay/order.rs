//! [`Order`]: whether a scheduler records, replays, or does neither.

use super::book::{Book, CLOSED, Mode, OPEN, Replay, Shell, Sink, Writing};
use super::here;
use crate::hooks::ids;
use crate::hooks::slots::{Orders, SchedulerSlot};
use crate::kernel::color::Color;
use crate::sync::{Arc, AtomicU32, AtomicU64, AtomicUsize, Mutex};
use colored_record::File;
use std::any::Any;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::task::Waker;

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
        ids::ask(here::next_serial);
        here::set_maker(&book);
        Self(Some(book))
    }

    /// The scheduler with this slot records, or replays.
    pub(crate) fn fill(self, slot: &mut SchedulerSlot) {
        slot.orders = self.0.map(|book| Box::new(book) as Box<dyn Orders>);
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

impl Orders for Arc<Book> {
    fn of(&self, color: Color) -> Box<dyn Any + Send + Sync> {
        Box::new(Book::of(self, color))
    }

    /// What happens from now on is not part of the record.
    fn close(&self) {
        self.let_go(CLOSED);
    }
}
