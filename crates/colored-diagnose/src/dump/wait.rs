//! [`Wait`]: what a task waits for.

use crate::subject::{Kind, Notes};
use colored_core::dump::{TargetSeen, WaitSeen};
use colored_core::{Color, Id, Leaf};
use std::collections::HashMap;
use std::fmt;
use std::panic::Location;
use std::time::Duration;

/// A wait of a task, or a section that it is in.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Wait {
    /// What the task waits for.
    pub what: WaitFor,
    /// Where the program waits, or the section was made, if that is known.
    pub site: Option<&'static Location<'static>>,
    /// How long the wait has lasted, if that is known: to a slice (`Tuning::slice`), for sockets,
    /// locks and channels to a millisecond, for timers to a second.
    pub time: Option<Duration>,
    /// The words of the text.
    pub(super) how: &'static str,
}

/// What a task waits for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum WaitFor {
    /// Nothing: it is a section that the task is in.
    Section,
    /// The end of a task, and where that was spawned.
    Task(Id, &'static Location<'static>),
    /// The end of a blocking call, and where the call was made; no place for an operation of a file.
    Call(Option<&'static Location<'static>>),
    /// A turn under this color, or room under a `Limit` of it; or, for a
    /// `when`, the colors that it does not have yet.
    Colors(Box<[Color]>),
    /// A turn under the color to which the task hops.
    Hop,
    /// A descriptor: `readable`, `writable`, `accept` or `connect`.
    #[non_exhaustive]
    Descriptor {
        /// The kind of event.
        event: &'static str,
        /// The descriptor.
        number: u32,
        /// The addresses, as the dump has found them afterwards.
        addresses: Option<String>,
    },
    /// A timer, and the time that was left. `is_timeout` if it only limits the time of something that is unknown.
    #[non_exhaustive]
    Timer {
        /// The time that was left.
        left: Duration,
        /// It is the timer of a `timeout`.
        is_timeout: bool,
    },
    /// An operation of a file.
    File,
    /// The end of a child process, by its number.
    Child(u32),
    /// A signal, by its number.
    Signal(u32),
    /// A lock of `sync`.
    Lock,
    /// A permit of a `Semaphore`.
    Permit,
    /// A value of a channel.
    Receive,
    /// Room in a channel.
    Room,
    /// Another task's signal: a `Notify`, a `Barrier`, or the end of the
    /// other side of a channel.
    Notified,
    /// Something that the runtime does not know, such as a channel of another crate.
    Other,
}

impl Wait {
    pub(super) const OF_ITS_OWN: Self = Self {
        what: WaitFor::Other,
        site: None,
        time: None,
        how: "waits for something of its own",
    };

    /// None if the wait is just over.
    pub(super) fn of_record(wait: &WaitSeen, now: u64, notes: &Notes) -> Option<Self> {
        let mut site = Some(wait.site);
        let what = match &wait.target {
            TargetSeen::Section => WaitFor::Section,
            TargetSeen::Task(id, spawned) => {
                site = None;
                WaitFor::Task(*id, spawned)
            }
            TargetSeen::BlockingCall(_, made) => {
                site = None;
                WaitFor::Call((!(notes.is_of_files)(made)).then_some(*made))
            }
            TargetSeen::Color(color) => WaitFor::Colors(Box::new([*color])),
            TargetSeen::Colors { lacks, .. } => WaitFor::Colors(lacks.clone()),
            TargetSeen::Own => WaitFor::Hop,
            TargetSeen::Over => return None,
        };
        let time = Some(Duration::from_nanos(now.saturating_sub(wait.since)));
        Some(Self { what, site, time, how: wait.how })
    }

    pub(super) fn of_leaf(
        leaf: Leaf,
        nanos: u64,
        notes: &Notes,
        sockets: &HashMap<u32, String>,
    ) -> Option<Self> {
        let told = notes.told(leaf)?;
        let left = told.left.unwrap_or_default();
        let number = told.number.unwrap_or(0);
        let descriptor = |event| {
            let number = told.descriptor()?;
            let addresses = sockets.get(&number).cloned();
            Some(WaitFor::Descriptor { event, number, addresses })
        };
        let what = match told.kind {
            Kind::Readable => descriptor("readable")?,
            Kind::Writable => descriptor("writable")?,
            Kind::Accept => descriptor("accept")?,
            Kind::Connect => descriptor("connect")?,
            Kind::Timer => WaitFor::Timer { left, is_timeout: false },
            Kind::Timeout => WaitFor::Timer { left, is_timeout: true },
            Kind::File => WaitFor::File,
            Kind::Child => WaitFor::Child(number),
            Kind::Signal => WaitFor::Signal(number),
            Kind::Permit => WaitFor::Permit,
            Kind::Lock => WaitFor::Lock,
            Kind::Receive => WaitFor::Receive,
            Kind::Send => WaitFor::Room,
            Kind::Notified => WaitFor::Notified,
        };
        // That of a timer is known to a second.
        let is_timer = matches!(what, WaitFor::Timer { .. });
        let time = Some(Duration::from_nanos(nanos)).filter(|time| !(is_timer && time.is_zero()));
        Some(Self { what, site: leaf.site, time, how: told.kind.text() })
    }
}

impl WaitFor {
    /// A word for the kind.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Section => "section",
            Self::Task(..) => "task",
            Self::Call(Some(_)) => "call",
            Self::Call(None) | Self::File => "file",
            Self::Colors(_) => "colors",
            Self::Hop => "hop",
            Self::Descriptor { event, .. } => event,
            Self::Timer { is_timeout: false, .. } => "timer",
            Self::Timer { is_timeout: true, .. } => "timeout",
            Self::Child(_) => "child",
            Self::Signal(_) => "signal",
            Self::Lock => "lock",
            Self::Permit => "permit",
            Self::Receive => "receive",
            Self::Room => "send",
            Self::Notified => "notified",
            Self::Other => "other",
        }
    }
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.how)?;
        match &self.what {
            WaitFor::Section => f.write_str(" a section")?,
            WaitFor::Task(id, spawned) => write!(f, " {id:?} (spawned at {spawned})")?,
            WaitFor::Call(None) => f.write_str(" an operation of a file")?,
            WaitFor::Call(Some(made)) => write!(f, " a blocking call (made at {made})")?,
            WaitFor::Colors(colors) => {
                let mut before = " ";
                for color in colors {
                    write!(f, "{before}{color}")?;
                    before = " and ";
                }
            }
            WaitFor::Descriptor { number, addresses, .. } => {
                write!(f, ": descriptor {number}")?;
                if let Some(addresses) = addresses {
                    write!(f, ", {addresses}")?;
                }
            }
            WaitFor::Timer { left, .. } => write!(f, ", {left:?} more")?,
            WaitFor::Child(number) | WaitFor::Signal(number) => write!(f, " {number}")?,
            WaitFor::Hop
            | WaitFor::File
            | WaitFor::Lock
            | WaitFor::Permit
            | WaitFor::Receive
            | WaitFor::Room
            | WaitFor::Notified
            | WaitFor::Other => {}
        }
        if let Some(site) = self.site {
            write!(f, ", at {site}")?;
        }
        match self.time {
            Some(time) => write!(f, ", for {}", text(time)),
            None => Ok(()),
        }
    }
}

/// A time for people.
pub(super) fn text(time: Duration) -> String {
    match time.as_millis() {
        0..10 => format!("{:.1} ms", time.as_secs_f64() * 1e3),
        millis @ 10..10_000 => format!("{millis} ms"),
        _ => format!("{} s", time.as_secs()),
    }
}
