//! Spans of `tracing`.
//!
//! # The parent
//!
//! The parent of a task's span is the span that was current at the spawn, unless that is itself the span of a task. Then
//! the new task gets the parent of that task, and its span follows from that task's span. Otherwise the whole program
//! would be below the span of the main task, in one trace that ends with the program, and a task that spawns its
//! successor would make a chain that grows for ever, for a span keeps its parent open.

use super::Origin;
use crate::kernel::color::Color;
use crate::kernel::lane::current::shown_color;
use crate::kernel::task::Id;
use crate::sync::thread_slot;
use pin_project_lite::pin_project;
use std::cell::Cell;
use std::fmt;
use std::num::NonZeroU64;
use std::pin::Pin;
use std::task::{Context, Poll};
use tracing::field::{Empty, display};
use tracing::instrument::{Instrument, Instrumented};
use tracing::{Span, span, trace_span};

/// The target of all spans of tasks.
const TARGET: &str = "colored::task";

/// A task with a span that this thread polls.
#[derive(Clone, Copy)]
pub(crate) struct Inside {
    own: NonZeroU64,
    parent: Option<NonZeroU64>,
}

thread_slot!(static INSIDE: Cell<Option<Inside>> = Cell::new(None));

/// Exchanges the task with a span that this thread polls.
#[cfg(feature = "sim")]
pub(crate) fn exchange_inside(other: &Cell<Option<Inside>>) {
    INSIDE.with(|inside| inside.swap(other));
}

/// The time in which this thread polls a task with a span, or runs a closure for one.
struct EnteredSpan {
    outer: Option<Inside>,
}

impl EnteredSpan {
    fn begin(inside: Option<Inside>) -> Self {
        Self { outer: INSIDE.replace(inside) }
    }
}

impl Drop for EnteredSpan {
    fn drop(&mut self) {
        INSIDE.set(self.outer);
    }
}

/// The spans that a new span has to do with.
#[derive(Default)]
struct Relatives {
    parent: Option<span::Id>,
    /// The span of the task that spawns.
    spawner: Option<span::Id>,
}

impl Relatives {
    /// Looks for them, and returns the parent.
    fn find(&mut self) -> Option<span::Id> {
        let current = Span::current().id();
        *self = match INSIDE.get() {
            Some(Inside { own, parent })
                if current.as_ref().is_some_and(|id| id.into_non_zero_u64() == own) =>
            {
                Self { parent: parent.map(span::Id::from_non_zero_u64), spawner: current }
            }
            _ => Self { parent: current, spawner: None },
        };
        self.parent.clone()
    }
}

/// The span of a new task, or of a blocking call.
pub(crate) struct TaskSpan {
    span: Span,
    parent: Option<NonZeroU64>,
    color: Option<Color>,
}

impl TaskSpan {
    /// The span of a task that is about to be spawned under a color; none if no subscriber wants it.
    pub(crate) fn of_task(color: Color, Origin { site, name }: Origin<'_>) -> Option<Self> {
        let mut relatives = Relatives::default();
        let span = trace_span!(
            target: TARGET,
            parent: relatives.find(),
            "task",
            task.id = Empty,
            task.name = name,
            color = %Label(color),
            spawned = %site,
        );
        Self::new(span, relatives, Some(color))
    }

    /// As [`of_task`](Self::of_task), for a call on a thread that may block.
    pub(crate) fn of_blocking_call(Origin { site, name }: Origin<'_>) -> Option<Self> {
        let mut relatives = Relatives::default();
        let span = trace_span!(
            target: TARGET,
            parent: relatives.find(),
            "blocking",
            task.id = Empty,
            task.name = name,
            spawned = %site,
        );
        Self::new(span, relatives, None)
    }

    fn new(span: Span, relatives: Relatives, color: Option<Color>) -> Option<Self> {
        if span.is_disabled() {
            return None;
        }
        span.follows_from(relatives.spawner);
        let parent = relatives.parent.map(|id| id.into_non_zero_u64());
        Some(Self { span, parent, color })
    }

    /// The future inside the span.
    pub(crate) fn around<F>(&self, future: F) -> Spanned<F> {
        let future = future.instrument(self.span.clone());
        Spanned { future, parent: self.parent, color: self.color }
    }

    /// The task has this id.
    pub(crate) fn set_id(&self, id: Id) {
        self.span.record("task.id", id.get());
    }
}

pin_project! {
    /// A future that is polled and dropped inside its span.
    pub(crate) struct Spanned<F> {
        #[pin]
        future: Instrumented<F>,
        parent: Option<NonZeroU64>,
        // The color that the span has been told.
        color: Option<Color>,
    }
}

impl<F: Future> Future for Spanned<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let span = this.future.span();
        let color = shown_color();
        if let Some(now) = color
            && color != *this.color
        {
            span.record("color", display(Label(now)));
            *this.color = color;
        }
        let parent = *this.parent;
        let own = span.id().map(|id| id.into_non_zero_u64());
        let _entered = EnteredSpan::begin(own.map(|own| Inside { own, parent }));
        this.future.poll(cx)
    }
}

/// The current span of a task that has one, for a closure that runs elsewhere on its behalf.
pub(crate) struct Carried(Option<(Span, Inside)>);

impl Carried {
    pub(crate) fn from_here() -> Self {
        Self(INSIDE.get().map(|inside| (Span::current(), inside)))
    }

    pub(crate) fn within<R>(&self, f: impl FnOnce() -> R) -> R {
        let Some((span, inside)) = &self.0 else { return f() };
        let _entered = EnteredSpan::begin(Some(*inside));
        span.in_scope(f)
    }
}

/// A color as the value of a field.
struct Label(Color);

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(color) = self;
        match color.name() {
            Some(name) => f.write_str(name),
            None if color.is_default() => f.write_str("default"),
            None if color.is_unique() => write!(f, "unique-{}", color.number()),
            None => write!(f, "{:#x}", color.number()),
        }
    }
}
