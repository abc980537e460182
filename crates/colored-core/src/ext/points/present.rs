//! A simulation may look.

use crate::kernel::color::Color;
use crate::kernel::lane::base::{Held, Lane};
use crate::sync::thread_slot;
use std::cell::Cell;
use std::panic::Location;

/// A moment in an act on a lane: a node is pushed there, or the lane is taken at once.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// The color of the lane.
    pub color: Color,
    /// The color that this thread runs under.
    pub by: Option<Color>,
    /// Whether the lane is taken at once. Otherwise a node is pushed.
    pub takes: bool,
    /// How far the act is.
    pub moment: Moment,
    /// The place in the program of the call whose act this is, where that is known.
    pub site: Option<&'static Location<'static>>,
}

/// How far an act is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The act is about to happen. A lane that is not idle is not taken: then nothing follows.
    Before,
    /// The node has been pushed.
    Pushed,
    /// The lane has been taken, and is this thread's.
    Taken,
    /// The lane that was taken has been given back.
    Left,
}

/// What a thread calls at each [`Point`].
type Look = fn(Point);

thread_slot!(static LOOKS: Cell<Option<Look>> = Cell::new(None));

thread_slot!(static SITE: Cell<Option<&'static Location<'static>>> = Cell::new(None));

/// Calls `f`, whose first act is that of a call at this place of the program.
#[inline]
pub(crate) fn at_site<R>(site: &'static Location<'static>, f: impl FnOnce() -> R) -> R {
    SITE.with(|of| of.set(Some(site)));
    let result = f();
    // There was no act if the lane is the caller's own.
    SITE.with(|of| of.set(None));
    result
}

/// Exchanges the place of the call that this thread begins.
pub(crate) fn exchange_site(other: &Cell<Option<&'static Location<'static>>>) {
    SITE.with(|site| site.swap(other));
}

/// Has this thread call the function at each [`Point`], or no function any more. The function must not panic. Returns the
/// earlier one.
pub fn on_points(look: Option<fn(Point)>) -> Option<fn(Point)> {
    LOOKS.with(|looks| looks.replace(look))
}

/// An act on a lane, of a thread that looks.
pub(crate) struct Act(Option<Seen>);

#[derive(Clone, Copy)]
struct Seen {
    color: Color,
    takes: bool,
    look: Look,
    site: Option<&'static Location<'static>>,
}

impl Act {
    /// The thread is about to push a node. It holds no lock.
    #[inline]
    pub(crate) fn push(lane: &Lane) -> Self {
        Self::begin(lane, false)
    }

    /// The thread is about to take the lane at once, if that is idle. It holds no lock.
    #[inline]
    pub(crate) fn take(lane: &Lane) -> Self {
        Self::begin(lane, true)
    }

    #[inline]
    fn begin(lane: &Lane, takes: bool) -> Self {
        let seen = |look| {
            let site = SITE.with(Cell::take);
            Seen { color: lane.color(), takes, look, site }
        };
        let act = Self(LOOKS.with(Cell::get).map(seen));
        act.report(Moment::Before);
        act
    }

    /// The thread has pushed the node; the lane may be gone. It holds no lock.
    #[inline]
    pub(crate) fn end(self) {
        self.report(Moment::Pushed);
    }

    /// The thread has taken the lane.
    #[inline]
    pub(crate) fn note(&self) {
        self.report(Moment::Taken);
    }

    /// The thread has given the lane back, which may be gone. It holds no lock.
    #[inline]
    pub(crate) fn leave(self) {
        self.report(Moment::Left);
    }

    fn report(&self, moment: Moment) {
        if let Some(Seen { color, takes, look, site }) = self.0 {
            let by = Held::with_current(|lane| lane.map(|lane| lane.color()));
            look(Point { color, by, takes, moment, site });
        }
    }
}

/// Pushes on several lanes, as one act.
pub(crate) struct Acts(Vec<Act>);

impl Acts {
    pub(crate) fn push<'l>(lanes: impl Iterator<Item = &'l Lane>) -> Self {
        Self(lanes.map(Act::push).collect())
    }

    pub(crate) fn end(self) {
        self.0.into_iter().for_each(Act::end);
    }
}
