//! Waiting for room, which comes by any of those who are inside.

use super::graph::{Graph, To};
use super::waiter::again;
use super::{Turn, Wait};
use crate::lane::{LanePtr, LaneRef, current};
use crate::sched::Scheduler;
use crate::sync::Arc;
use crate::task::{Abort, Deadlock, Named};

/// Room for which somebody waits.
pub(crate) trait Room: Send + Sync {
    /// By what it comes, if that is known of all who are inside. Asked under the lock of the records:
    /// takes no lock under which waits are recorded.
    fn ways(&self) -> Option<Ways>;
}

/// What has to go on before there is room: any of these.
#[derive(Debug, Default)]
pub(crate) struct Ways {
    /// The color: some are at home there.
    pub(crate) by_color: bool,
    /// Those who have been called, and have not used their places yet.
    pub(crate) called: Vec<Called>,
}

/// A task that has to run before the place is used that it was given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Called {
    pub(super) task: Named,
    /// Where it runs next.
    pub(super) lane: LanePtr,
}

/// A wait for room that is recorded, until this is dropped, and whose it is.
pub(crate) struct RoomWait {
    wait: Wait,
    task: Caller,
}

/// A task that waits for room, or has been called.
pub(crate) struct Caller(Abort<LanePtr>);

impl RoomWait {
    /// Whether it is in a cycle by now, that has been closed without a wait.
    pub(crate) fn is_in_a_cycle(&self) -> bool {
        self.wait.is_in_a_cycle()
    }

    /// It has been called.
    pub(crate) fn ends(self) -> Caller {
        self.task
    }
}

impl Caller {
    /// What has to happen before it uses its place. Not known once it is complete: then somebody else
    /// polls the future that waited.
    pub(crate) fn called(&self) -> Option<Called> {
        let task = self.0.task();
        (!task.is_complete()).then(|| Called { task: task.named(), lane: task.lane() })
    }
}

/// Records that the current task waits for room. Each time it is polled: who is inside changes.
#[cold]
pub(crate) fn room(
    turn: Turn<'_>,
    room: impl FnOnce() -> Arc<dyn Room>,
) -> Result<Option<RoomWait>, Deadlock> {
    let (lane, color) = (turn.lane.ptr(), turn.lane.color());
    let to = |_: &mut Graph, _| To::Room { room: room(), lane, color, how: turn.how() };
    let Some(wait) = again(None, true, to)? else { return Ok(None) };
    let task = current::task().map(|task| {
        // SAFETY: this thread polls it.
        Caller(unsafe { task.abort_handle() })
    });
    Ok(task.map(|task| RoomWait { wait, task }))
}

impl Scheduler {
    /// Whether room may be shut off: all by which it comes are kept from going on by somebody who waits
    /// for other things.
    pub(crate) fn may_shut_off(&self, ways: &Ways, color: &LaneRef) -> bool {
        let graph = self.waits.graph.lock();
        let mut lanes = ways.called.iter().map(|called| called.lane);
        (!ways.by_color || graph.is_kept(color.ptr())) && lanes.all(|lane| graph.is_kept(lane))
    }
}
