//! What this thread runs, and what that reads from outside.

use super::book::{Book, ColorOrder};
use crate::kernel::lane::base::{Held, Lane};
use crate::kernel::queue::{Kind, Node, Tag};
use crate::sync::{Arc, AtomicU64, Ordering, thread_slot};
use colored_record::{Event, Mark, Source, SourceKind, Value};
use std::cell::RefCell;
use std::panic::Location;
use std::sync::Weak;

thread_slot!(static MAKER: RefCell<Weak<Book>> = RefCell::new(Weak::new()));
thread_slot!(static CALL: RefCell<Option<Arc<Call>>> = RefCell::new(None));

/// This thread makes the scheduler of this book.
pub(super) fn set_maker(book: &Arc<Book>) {
    MAKER.with(|maker| *maker.borrow_mut() = Arc::downgrade(book));
}

/// A blocking call.
struct Call {
    book: Arc<Book>,
    number: u64,
    serials: AtomicU64,
}

impl Call {
    fn source(&self) -> Source {
        Source { kind: SourceKind::Call, number: self.number }
    }
}

/// The order of the lane's color, if its scheduler records or replays.
#[inline(always)]
pub(super) fn order_of(lane: &Lane) -> Option<&Arc<ColorOrder>> {
    let order = lane.slot.order.as_deref()?;
    Some(order.downcast_ref().expect("`Orders::of` has made it"))
}

/// The order of the color that this thread runs under, if it has one.
fn here<R>(f: impl FnOnce(Option<&Arc<ColorOrder>>) -> R) -> R {
    Held::with_current(|lane| match lane {
        Some(lane) => f(order_of(&lane)),
        None => f(None),
    })
}

fn holds_a_lane() -> bool {
    Held::with_current(|lane| lane.is_some())
}

/// What this thread runs, where it holds no lane.
fn with_outside<R>(f: impl FnOnce(Source, &Arc<Book>, &AtomicU64) -> R) -> Option<R> {
    if let Some(call) = CALL.with(|call| call.borrow().clone()) {
        return Some(f(call.source(), &call.book, &call.serials));
    }
    let book = MAKER.with(|maker| maker.borrow().upgrade())?;
    Some(f(Source { kind: SourceKind::Maker, number: 0 }, &book, &book.maker_serials))
}

/// The source in this book that this thread is at the moment.
pub(super) fn source_in(book: &Arc<Book>) -> Option<Source> {
    let mine = |own: &Arc<Book>, source| Arc::ptr_eq(own, book).then_some(source);
    Held::with_current(|lane| match lane {
        Some(lane) => order_of(&lane).and_then(|order| mine(&order.book, order.name)),
        None => with_outside(|source, own, _| mine(own, source)).flatten(),
    })
}

/// The source that this thread is at the moment.
#[must_use]
pub fn source() -> Source {
    let stranger = Source { kind: SourceKind::Stranger, number: 0 };
    if holds_a_lane() {
        return here(|order| order.map_or(stranger, |order| order.name));
    }
    with_outside(|source, _, _| source).unwrap_or(stranger)
}

/// A number that follows from what this thread runs, and how many it has taken.
pub(super) fn next_serial() -> Option<u64> {
    // Ordering: one thread at a time runs a source, and the lane hands the count over.
    let next = |serials: &AtomicU64| serials.fetch_add(1, Ordering::Relaxed);
    if holds_a_lane() {
        return here(|order| order.map(|order| hash(order.name, next(&order.serials))));
    }
    with_outside(|source, _, serials| hash(source, next(serials)))
}

/// 63 bits, and the highest one: no number that threads count comes there.
fn hash(source: Source, serial: u64) -> u64 {
    let kind = (source.kind as u64) << 56;
    let name = mix(source.number ^ kind.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    1 << 63 | mix(name ^ serial.wrapping_mul(0xd1b5_4a32_d192_ed03)) >> 1
}

/// The finalizer of splitmix64, by Steele, Lea and Flood.
fn mix(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// What an operation does whose answer depends on the time of the asking.
pub(super) enum Telling {
    /// As usual.
    Free,
    /// As usual, and the answer is noted.
    Record,
    /// The answer is this.
    Told(bool),
}

#[inline]
pub(super) fn tell(mark: Mark) -> Telling {
    here(|order| match order {
        Some(order) if order.book.is_on() => order.tell(mark),
        _ => Telling::Free,
    })
}

impl Book {
    /// Whether events are taken: also after a stop, where each operation fails.
    fn is_on(&self) -> bool {
        self.state() != super::book::CLOSED
    }
}

impl ColorOrder {
    #[cold]
    fn tell(&self, mark: Mark) -> Telling {
        if self.book.replay().is_none() {
            return Telling::Record;
        }
        Telling::Told(self.take(&mark, |event| match event {
            Event::Mark(told, yes) if told == mark => Some(yes),
            _ => None,
        }))
    }
}

/// The answer to a question whose answer depends on the time of the asking: in a replay, the recorded one.
pub fn answer(mark: Mark, ask: impl FnOnce() -> bool) -> bool {
    match tell(mark) {
        Telling::Free => ask(),
        Telling::Record => {
            let yes = ask();
            note(mark, yes);
            yes
        }
        Telling::Told(yes) => yes,
    }
}

/// The recorded answer, in a replay.
#[must_use]
pub fn told(mark: Mark) -> Option<bool> {
    match tell(mark) {
        Telling::Told(yes) => Some(yes),
        _ => None,
    }
}

/// Whether something is over that stays so. If the record says yes, waits for it.
pub(crate) fn is_over(ask: impl Fn() -> bool) -> bool {
    match tell(Mark::Finished) {
        Telling::Free => ask(),
        Telling::Record => {
            let yes = ask();
            note(Mark::Finished, yes);
            yes
        }
        Telling::Told(yes) => {
            if yes {
                wait_until(Mark::Finished, ask);
            }
            yes
        }
    }
}

/// Whether the closure of a call is to run, whose turn has come: `is_wanted` says whether its caller waits.
pub(crate) fn is_wanted(is_wanted: bool) -> bool {
    answer(Mark::Wanted, || is_wanted)
}

/// Adds an answer to the record, where there is one.
pub fn note(mark: Mark, yes: bool) {
    add(Event::Mark(mark, yes));
}

/// What a receive has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// The channel is empty.
    Nothing,
    /// It is closed, and empty.
    Closed,
    /// A message of this source.
    From(Source),
}

/// Adds what a receive has found to the record, where there is one: one event.
pub fn note_received(found: Received) {
    add(match found {
        Received::Nothing => Event::Mark(Mark::Receive, false),
        Received::Closed => Event::Mark(Mark::Message, false),
        Received::From(source) => Event::From(source),
    });
}

/// What the recorded receive has found, in a replay.
#[must_use]
pub fn told_received() -> Option<Received> {
    here(|order| match order {
        Some(order) if order.book.is_on() && order.book.replay().is_some() => {
            Some(order.take(&Mark::Receive, |event| match event {
                Event::Mark(Mark::Receive, false) => Some(Received::Nothing),
                Event::Mark(Mark::Message, false) => Some(Received::Closed),
                Event::From(source) => Some(Received::From(source)),
                _ => None,
            }))
        }
        _ => None,
    })
}

/// Adds an event to the record of the color that this thread runs under, if it is recorded.
fn add(event: Event) {
    here(|order| {
        if let Some(order) = order
            && order.book.is_open()
        {
            order.add(event);
        }
    });
}

/// A number from outside, by `read`: in a replay, the recorded one.
pub fn number(value: Value, read: impl FnOnce() -> u64) -> u64 {
    let told = here(|order| match order {
        Some(order) if order.book.is_on() && order.book.replay().is_some() => {
            Some(order.take(&value, |event| match event {
                Event::Value(told, number) if told == value => Some(number),
                _ => None,
            }))
        }
        _ => None,
    });
    if let Some(number) = told {
        return number;
    }
    refuse_in_a_call(&value);
    let number = read();
    add(Event::Value(value, number));
    number
}

/// Whether this thread runs something that is recorded or replayed.
#[inline]
#[must_use]
pub fn is_ordered() -> bool {
    if holds_a_lane() {
        return here(|order| order.is_some_and(|order| order.book.is_on()));
    }
    with_outside(|_, book, _| book.is_on()).unwrap_or(false)
}

/// Whether this thread runs something that is replayed: also outside of a turn.
#[must_use]
pub fn is_replay_here() -> bool {
    let is_replay = |book: &Arc<Book>| book.is_on() && book.replay().is_some();
    if holds_a_lane() {
        return here(|order| order.is_some_and(|order| is_replay(&order.book)));
    }
    with_outside(|_, book, _| is_replay(book)).unwrap_or(false)
}

/// This thread is about to do what no record covers: a replay ends here, and a recorded run warns of the caller's place.
///
/// # Panics
///
/// In a replay.
#[inline]
#[track_caller]
pub fn refuse(what: &str) {
    refuse_at(what, Location::caller());
}

/// As [`refuse`], of a place that is known.
#[inline]
pub(crate) fn refuse_at(what: &str, place: &'static Location<'static>) {
    here(|order| {
        if let Some(order) = order {
            refuse_under(order, what, place);
        }
    });
}

#[cold]
fn refuse_under(order: &ColorOrder, what: &str, place: &'static Location<'static>) {
    match &order.book {
        book if !book.is_on() => {}
        book if book.replay().is_some() => order.refuse(what),
        book => book.warn(what, order.color, place),
    }
}

/// As [`refuse`], inside a blocking call.
fn refuse_in_a_call(what: &dyn std::fmt::Display) {
    if holds_a_lane() {
        return;
    }
    let Some(call) = CALL.with(|call| call.borrow().clone()) else { return };
    if call.book.is_open() && call.book.replay().is_some() {
        let text = format!("no record covers {what} in a blocking call");
        call.book.stop(&text);
        panic!("{text}");
    }
}

/// Waits in the poll of this thread until the outcome is there that the record says the poll has found.
///
/// # Panics
///
/// If the replay stops meanwhile.
pub fn wait_until(mark: Mark, is_there: impl Fn() -> bool) {
    if is_there() {
        return;
    }
    let order = here(|order| order.cloned());
    let Some(order) = order else { return };
    let Some(replay) = order.book.replay() else { return };
    order.set_blocked(Some(mark));
    // Ordering: a hint, for a thread that looks whether something runs.
    replay.live.fetch_sub(1, Ordering::AcqRel);
    while !is_there() && order.book.is_open() {
        replay.shell.pause();
    }
    // Ordering: as above.
    replay.live.fetch_add(1, Ordering::AcqRel);
    order.set_blocked(None);
    if !is_there() {
        panic!("the replay has stopped while {mark} waited");
    }
}

/// The source that a blocking call is. From its making to its end it counts as running.
pub(crate) struct CallOrder(Option<Arc<Call>>);

impl CallOrder {
    /// For a call that this thread makes at a place.
    pub(crate) fn new(number: u64, site: &'static Location<'static>) -> Self {
        let book = if holds_a_lane() {
            here(|order| order.map(|order| Arc::clone(&order.book)))
        } else {
            with_outside(|_, book, _| Arc::clone(book))
        };
        let Some(book) = book else { return Self(None) };
        if let Some(replay) = book.replay() {
            replay.calls.lock().insert(number, site);
        }
        Self(Some(Arc::new(Call { book, number, serials: AtomicU64::new(0) })))
    }

    /// Runs the call on this thread.
    pub(crate) fn run<R>(&self, run: impl FnOnce() -> R) -> R {
        struct Restore(Option<Arc<Call>>);
        impl Drop for Restore {
            fn drop(&mut self) {
                let before = self.0.take();
                drop(CALL.with(|call| call.replace(before)));
            }
        }
        let Some(call) = &self.0 else { return run() };
        let _restore = Restore(CALL.with(|place| place.replace(Some(Arc::clone(call)))));
        run()
    }
}

impl Drop for CallOrder {
    fn drop(&mut self) {
        if let Some(call) = &self.0
            && let Some(replay) = call.book.replay()
        {
            replay.calls.lock().remove(&call.number);
        }
    }
}

/// The source that the end of a cell is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndSerial(u64);

impl EndSerial {
    /// For a cell that this thread makes.
    pub(crate) fn new(lane: &Lane) -> Self {
        Self(if order_of(lane).is_some() { next_serial().unwrap_or(0) } else { 0 })
    }
}

/// The node of the end of a cell.
pub(crate) fn end_node(lane: &Lane, serial: EndSerial) -> Node {
    let mut node = Node::new(Kind::Callback, 0);
    if order_of(lane).is_some() {
        node.tag = Tag::of(Source { kind: SourceKind::End, number: serial.0 });
    }
    node
}
