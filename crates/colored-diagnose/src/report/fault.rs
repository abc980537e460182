//! [`Fault`] and [`Finding`]: what a report names.

use super::digest::ColorLoad;
use crate::json::Object;
use colored_core::Color;
use std::fmt;
use std::panic::Location;

/// A kind of fault: something in the program that its author can change.
///
/// That the CPUs are full is no fault, and not in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Fault {
    /// A color runs nearly all the time, and tasks wait for it.
    HotColor,
    /// A color is kept across awaits, by a section or a `when`, and tasks wait for it.
    Convoy,
    /// A task keeps a color all the time and does not go on, while others wait for the color.
    StuckColor,
    /// Nearly all the time some task waits for a lock of `sync`, and the CPUs have room.
    LockWait,
    /// A few polls compute for far longer than the others.
    LongPoll,
    /// The default color runs nearly all the time, and tasks wait for it.
    DefaultColor,
    /// Colors have so little to do at a time that their dispatch costs more than their work.
    TooFine,
    /// Colors change the worker with almost every turn, and do little there.
    PingPong,
    /// Polls block their threads.
    BlockedWorker,
    /// Timers fire so often that the workers do little else.
    TimerStorm,
    /// A queue grows without an end.
    UnboundedQueue,
    /// Colors of a higher priority leave the others hardly any time.
    StarvedClass,
}

impl Fault {
    /// All of them.
    pub const ALL: [Fault; 12] = [
        Fault::HotColor,
        Fault::Convoy,
        Fault::StuckColor,
        Fault::LockWait,
        Fault::LongPoll,
        Fault::DefaultColor,
        Fault::TooFine,
        Fault::PingPong,
        Fault::BlockedWorker,
        Fault::TimerStorm,
        Fault::UnboundedQueue,
        Fault::StarvedClass,
    ];

    /// The name, as `hot-color`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Fault::HotColor => "hot-color",
            Fault::Convoy => "convoy",
            Fault::StuckColor => "stuck-color",
            Fault::LockWait => "lock-wait",
            Fault::LongPoll => "long-poll",
            Fault::DefaultColor => "default-color",
            Fault::TooFine => "too-fine",
            Fault::PingPong => "ping-pong",
            Fault::BlockedWorker => "blocked-worker",
            Fault::TimerStorm => "timer-storm",
            Fault::UnboundedQueue => "unbounded-queue",
            Fault::StarvedClass => "starved-class",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A fault that a report has found.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Finding {
    /// The kind.
    pub fault: Fault,
    /// What is wrong, in a sentence without an end.
    pub sentence: String,
    /// What gives it away, a sentence each.
    pub evidence: Vec<String>,
    /// What to change, in terms of this crate.
    pub remedy: String,
    /// The color that it is about, if it is about one.
    pub color: Option<Color>,
    /// The place in the program that it is about, if that is known: of a lock, of a section, of a spawn.
    pub site: Option<&'static Location<'static>>,
    /// The place of the lock for which the keeper of the color waits, if it waits for one.
    pub(super) lock: Option<&'static Location<'static>>,
    /// The part of the observation, by workers, that the fault took: for the order of the findings.
    pub(super) share: f64,
}

impl Finding {
    pub(super) fn new(fault: Fault, share: f64, sentence: String) -> Self {
        let (evidence, remedy) = (Vec::new(), String::new());
        Self { fault, sentence, evidence, remedy, color: None, site: None, lock: None, share }
    }

    pub(super) fn about(self, color: &ColorLoad) -> Self {
        Self { color: Some(color.color), ..self }
    }

    pub(super) fn at(self, site: Option<&'static Location<'static>>) -> Self {
        Self { site, ..self }
    }

    pub(super) fn waits_for(self, lock: Option<&'static Location<'static>>) -> Self {
        Self { lock, ..self }
    }

    pub(super) fn because(mut self, evidence: impl Into<String>) -> Self {
        self.evidence.push(evidence.into());
        self
    }

    pub(super) fn mend(self, remedy: impl Into<String>) -> Self {
        Self { remedy: remedy.into(), ..self }
    }

    pub(super) fn write(&self, object: &mut Object<'_>) {
        object.field("fault", self.fault.name());
        object.field("color", self.color.map(|color| color.to_string()).as_ref());
        object.field("sentence", &self.sentence);
        object.array("evidence", |list| {
            self.evidence.iter().for_each(|evidence| list.element(evidence));
        });
        object.field("remedy", &self.remedy);
        object.field("site", self.site.map(ToString::to_string).as_ref());
    }
}

impl fmt::Display for Finding {
    /// The name and the sentence; then, each on a line of its own, the evidence and the remedy.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.fault, self.sentence)?;
        for evidence in &self.evidence {
            write!(f, "\n  {evidence}")?;
        }
        write!(f, "\n  to mend it: {}", self.remedy)
    }
}
