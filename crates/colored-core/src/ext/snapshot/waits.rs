//! The waits of a task, written down for a dump.

use crate::kernel::color::Color;
use crate::kernel::lane::LanePtr;
use crate::kernel::task::{Cause, Id, Named, Unpolled, WaitRecord};
use crate::kernel::wait::{Target, WaitKind};
use std::panic::Location;

/// A wait of a task, or a section that it is in.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WaitSeen {
    /// The words between the task and the target: "awaits", "calls", "is in".
    pub how: &'static str,
    /// Where the program waits. For a [`JoinHandle`](crate::JoinHandle) the place where the awaited task was spawned.
    pub site: &'static Location<'static>,
    /// When the wait began: nanoseconds of the scheduler.
    pub since: u64,
    /// The target.
    pub target: TargetSeen,
}

/// The target of a wait.
#[derive(Clone, Debug)]
pub enum TargetSeen {
    /// None: it is a section that the task is in.
    Section,
    /// A task, and where it was spawned.
    Task(Id, &'static Location<'static>),
    /// A blocking call, and where it was made.
    BlockingCall(Id, &'static Location<'static>),
    /// A turn under a color, or room there.
    Color(Color),
    /// A turn under several colors.
    Colors {
        /// Those that are missing.
        lacks: Box<[Color]>,
        /// Those that the wait has, and keeps from all others.
        has: Box<[Color]>,
    },
    /// The task's own color, to which it moves.
    Own,
    /// The wait is just over.
    Over,
}

/// Calls `f` for each wait and each section of a task, the oldest first.
pub(crate) fn each_wait_of(task: &Unpolled<'_, LanePtr>, mut f: impl FnMut(WaitSeen)) {
    for record in task.records().into_iter().rev() {
        if record.is_listed() {
            f(seen(record));
        }
    }
}

fn seen(record: &WaitRecord) -> WaitSeen {
    let &Cause { how, site, .. } = record.cause();
    let target = if record.is_section() {
        TargetSeen::Section
    } else {
        record.pinned(target_of).unwrap_or(TargetSeen::Over)
    };
    WaitSeen { how: how.text, site, since: record.since(), target }
}

/// The record of the cause is pinned.
fn target_of(cause: &Cause) -> TargetSeen {
    let kind: &WaitKind = cause.kind.downcast_ref().expect("a wait has a kind");
    // SAFETY: the record is pinned, so the future that made the cause for this kind is not dropped meanwhile.
    match unsafe { (kind.target)(cause) } {
        None => TargetSeen::Over,
        Some(Target::Own) => TargetSeen::Own,
        Some(Target::Lane(lane)) => TargetSeen::Color(lane.color()),
        Some(Target::Room(room)) => TargetSeen::Color(room.address().color()),
        Some(Target::Behavior(behavior)) => {
            let of = |has| {
                let wants = behavior.wants().filter(move |want| want.has == has);
                wants.map(|want| want.color).collect()
            };
            TargetSeen::Colors { lacks: of(false), has: of(true) }
        }
        Some(Target::Task(joined)) => {
            let task = joined.task();
            let Named { id, spawned } = task.named();
            match task.lane() == LanePtr::nowhere() {
                true => TargetSeen::BlockingCall(id, spawned),
                false => TargetSeen::Task(id, spawned),
            }
        }
    }
}
