//! A subscriber that remembers all spans and events.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Id, Metadata, Subscriber};
use tracing_core::span::Current;

/// What is known of a span.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) id: u64,
    pub(crate) name: &'static str,
    pub(crate) parent: Option<u64>,
    pub(crate) follows: Vec<u64>,
    /// The values of each field, in order.
    pub(crate) fields: HashMap<&'static str, Vec<String>>,
    pub(crate) enters: u32,
    pub(crate) exits: u32,
    handles: u32,
}

impl Seen {
    pub(crate) fn field(&self, name: &str) -> Vec<&str> {
        self.fields.get(name).into_iter().flatten().map(String::as_str).collect()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.handles == 0
    }

    pub(crate) fn is_entered(&self) -> bool {
        self.enters > self.exits
    }
}

#[derive(Default)]
struct State {
    spans: Vec<Seen>,
    metadata: HashMap<u64, &'static Metadata<'static>>,
    /// The texts of the events, and the spans around them.
    events: Vec<(String, Option<u64>)>,
    /// Spans of tasks that were entered inside another task's.
    nested: Vec<(u64, u64)>,
}

static STATE: Mutex<Option<State>> = Mutex::new(None);

thread_local! {
    /// The spans that this thread is inside of.
    static STACK: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
    /// Whether spans of tasks that this thread spawns are wanted.
    static WANTED: RefCell<bool> = const { RefCell::new(true) };
}

struct Collector;

/// Makes the collector the subscriber of the process.
pub(crate) fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        *lock() = Some(State::default());
        tracing::subscriber::set_global_default(Collector).expect("there is no other");
    });
}

/// Runs `f`, whose spawns on this thread get no span.
pub(crate) fn unwanted<R>(f: impl FnOnce() -> R) -> R {
    WANTED.set(false);
    let result = f();
    WANTED.set(true);
    result
}

/// The only span whose field has had this value.
#[track_caller]
pub(crate) fn find(field: &str, value: &str) -> Seen {
    let found = find_all(field, value);
    let [seen] = &found[..] else { panic!("not one span with {field}={value}: {found:?}") };
    seen.clone()
}

pub(crate) fn find_all(field: &str, value: &str) -> Vec<Seen> {
    with(|state| {
        state.spans.iter().filter(|span| span.field(field).contains(&value)).cloned().collect()
    })
}

/// The task with this name.
#[track_caller]
pub(crate) fn task(name: &str) -> Seen {
    find("task.name", name)
}

/// The span around the only event with this text.
#[track_caller]
pub(crate) fn around_event(text: &str) -> Option<u64> {
    let found: Vec<_> = with(|state| {
        state.events.iter().filter(|event| event.0 == text).map(|event| event.1).collect()
    });
    let [span] = found[..] else { panic!("not one event {text:?}: {found:?}") };
    span
}

/// Spans of tasks that were entered inside another task's.
pub(crate) fn nested() -> Vec<(u64, u64)> {
    with(|state| state.nested.clone())
}

fn lock() -> MutexGuard<'static, Option<State>> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn with<R>(f: impl FnOnce(&mut State) -> R) -> R {
    f(lock().as_mut().expect("the collector is installed"))
}

fn span<R>(id: &Id, f: impl FnOnce(&mut Seen) -> R) -> R {
    with(|state| {
        f(state.spans.iter_mut().find(|span| span.id == id.into_u64()).expect("a span of ours"))
    })
}

impl Subscriber for Collector {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        match metadata.target() {
            "colored::task" => Interest::sometimes(),
            "spans" => Interest::always(),
            _ => Interest::never(),
        }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "spans" || WANTED.with_borrow(|wanted| *wanted)
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        let contextual = || STACK.with_borrow(|stack| stack.last().copied());
        let parent = match attributes.parent() {
            Some(parent) => Some(parent.into_u64()),
            None => contextual().filter(|_| attributes.is_contextual()),
        };
        with(|state| {
            if let Some(parent) = parent {
                let open = |span: &Seen| span.id == parent && !span.is_closed();
                assert!(state.spans.iter().any(open), "the parent {parent} is closed");
            }
            let id = state.spans.len() as u64 + 1;
            let (metadata, handles) = (attributes.metadata(), 1);
            state.metadata.insert(id, metadata);
            let name = metadata.name();
            state.spans.push(Seen {
                id,
                name,
                parent,
                fields: fields.0,
                handles,
                ..Seen::default()
            });
            Id::from_u64(id)
        })
    }

    fn record(&self, id: &Id, values: &Record<'_>) {
        let mut fields = Fields::default();
        values.record(&mut fields);
        span(id, |span| {
            fields.0.into_iter().for_each(|(name, values)| {
                span.fields.entry(name).or_default().extend(values);
            });
        });
    }

    fn record_follows_from(&self, id: &Id, follows: &Id) {
        span(id, |span| span.follows.push(follows.into_u64()));
    }

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let text = fields.0.remove("message").expect("it has a text").remove(0);
        let around = STACK.with_borrow(|stack| stack.last().copied());
        with(|state| state.events.push((text, around)));
    }

    fn enter(&self, id: &Id) {
        span(id, |span| span.enters += 1);
        STACK.with_borrow_mut(|stack| {
            with(|state| {
                let is_task = |id: u64| state.metadata[&id].name() == "task";
                let own = id.into_u64();
                let outer = stack.iter().copied().find(|outer| is_task(*outer) && *outer != own);
                if let Some(outer) = outer.filter(|_| is_task(own)) {
                    state.nested.push((outer, own));
                }
            });
            stack.push(id.into_u64());
        });
    }

    fn exit(&self, id: &Id) {
        span(id, |span| span.exits += 1);
        STACK.with_borrow_mut(|stack| {
            let place = stack.iter().rposition(|entered| *entered == id.into_u64());
            stack.remove(place.expect("it was entered on this thread"));
        });
    }

    fn clone_span(&self, id: &Id) -> Id {
        span(id, |span| span.handles += 1);
        id.clone()
    }

    fn try_close(&self, id: Id) -> bool {
        span(&id, |span| {
            span.handles -= 1;
            span.is_closed()
        })
    }

    fn current_span(&self) -> Current {
        let current = STACK.with_borrow(|stack| stack.last().copied());
        current.map_or_else(Current::none, |id| {
            Current::new(Id::from_u64(id), with(|state| state.metadata[&id]))
        })
    }
}

#[derive(Default)]
struct Fields(HashMap<&'static str, Vec<String>>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.entry(field.name()).or_default().push(format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.entry(field.name()).or_default().push(value.to_owned());
    }
}
