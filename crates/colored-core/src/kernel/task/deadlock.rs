//! [`Deadlock`]: the text of a cycle of waits.

use super::id::{Id, task_name};
use crate::kernel::color::Color;
use std::fmt;
use std::panic::Location;

/// A wait that would never end: it is part of a cycle of waits, at least one of which is inside a
/// section ([`exclusive`](crate::exclusive())).
///
/// The text lists every wait of the cycle, one per line; each wait is for the subject of the next
/// line. It names the places in the source of spawns, sections, calls and hops.
#[derive(Clone, PartialEq, Eq)]
pub struct Deadlock(Box<[Link]>);

/// A task, and where it was spawned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) id: Id,
    pub(crate) spawned: &'static Location<'static>,
}

/// One wait of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// A task awaits another one.
    Join { task: Named, joined: Named },
    /// A task wants a turn under a color.
    Turn { task: Named, how: &'static str, color: Color, site: &'static Location<'static> },
    /// A task can go on under its color only.
    Own { task: Named, color: Color },
    /// A color waits for the end of a section.
    Kept { color: Color, task: Named, section: &'static Location<'static> },
    /// A `when` is queued first under a color.
    Behind { color: Color, task: Option<Named>, site: &'static Location<'static> },
    /// Some holders of room need this color to go on.
    Inside { color: Color },
    /// A holder of room is a task that was given it, and has not used it.
    Called { task: Named },
    /// A `when` has its turn under all of its colors at once.
    Lacks { color: Color, site: &'static Location<'static> },
}

impl Deadlock {
    pub(crate) fn new(links: Vec<Link>) -> Self {
        Self(links.into())
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.id)?;
        if let Some(name) = task_name(self.id) {
            write!(f, " {name:?}")?;
        }
        write!(f, " (spawned at {})", self.spawned)
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Join { task, joined } => write!(f, "{task} awaits {joined}"),
            Self::Turn { task, how, color, site } => write!(f, "{task} {how} {color} at {site}"),
            Self::Own { task, color } => write!(f, "{task} needs {color}, its own, to go on"),
            Self::Kept { color, task, section } => {
                write!(f, "{color} is held by the section of {section}, in {task}")
            }
            Self::Behind { color, task, site } => {
                write!(f, "{color} goes first to the `when` at {site}")?;
                task.map_or(Ok(()), |task| write!(f, ", of {task}"))
            }
            Self::Inside { color } => write!(f, "what has room there needs {color} to go on"),
            Self::Called { task } => {
                write!(f, "{task} was given room there, and needs its own color to use it")
            }
            Self::Lacks { color, site } => write!(f, "the `when` at {site} waits for {color} too"),
        }
    }
}

impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this wait would never end, for it closes a cycle:")?;
        self.0.iter().try_for_each(|link| write!(f, "\n  {link}"))
    }
}

impl fmt::Debug for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Deadlock").field(&self.0).finish()
    }
}

impl std::error::Error for Deadlock {}
