//! [`Handle`]: a scheduler, as code that spawns on it sees it.

use super::Scheduler;
use crate::color::Color;
use crate::lane::{Dispatch, Lane, LanePtr, LaneRef, Tenure, current};
use crate::queue::Node;
use crate::sync::{Arc, arc_dyn};
use crate::task::{self, Join};
use std::any::Any;
use std::panic::Location;

/// Spawns tasks on a scheduler. Cheap to clone.
#[derive(Clone)]
pub struct Handle {
    inner: Arc<Inner>,
}

struct Inner {
    scheduler: Arc<Scheduler>,
    /// A reference that keeps the default lane in the table.
    default: LaneRef,
}

impl Handle {
    pub(super) fn new(scheduler: Arc<Scheduler>) -> Self {
        let default = lane_of(&scheduler, Color::DEFAULT);
        Self { inner: Arc::new(Inner { scheduler, default }) }
    }

    /// The scheduler of lanes with this port; `None` for a port that is no scheduler.
    #[cold]
    pub(super) fn of(port: &Arc<dyn Dispatch>) -> Option<Self> {
        let any: &dyn Any = &**port;
        if !any.is::<Scheduler>() {
            return None;
        }
        let scheduler = Arc::into_raw(Arc::clone(port)).cast::<Scheduler>();
        // SAFETY: the pointer is from `into_raw`, of an allocation that was made for a value of
        // this type.
        Some(Self::new(unsafe { Arc::from_raw(scheduler) }))
    }

    /// The scheduler.
    #[must_use]
    pub fn scheduler(&self) -> &Scheduler {
        &self.inner.scheduler
    }

    /// Whether both handles are of one scheduler.
    #[must_use]
    pub fn same(&self, other: &Handle) -> bool {
        Arc::ptr_eq(&self.inner.scheduler, &other.inner.scheduler)
    }

    pub(crate) fn lane(&self, color: Color) -> LaneRef {
        if color.is_default() {
            return self.inner.default.clone();
        }
        lane_of(&self.inner.scheduler, color)
    }

    /// The lane of a color, for a task that the caller pushes on it next.
    fn lane_for_task(&self, color: Color) -> LaneRef {
        if color.is_default() {
            return self.inner.default.for_node();
        }
        lane_of(&self.inner.scheduler, color)
    }

    /// A fresh lane that only its task refers to.
    fn unique_lane(&self) -> LaneRef {
        let color = Color::unique();
        let scheduler = self.scheduler();
        let lane = scheduler.spare(color).unwrap_or_else(|| {
            let port = arc_dyn!(Arc::clone(&self.inner.scheduler) => dyn Dispatch);
            Box::new(Lane::new(color, port, Tenure::Unpublished))
        });
        // SAFETY: a fresh lane has one reference.
        unsafe { LaneRef::from_counted(LanePtr::from_box(lane)) }
    }

    /// Spawns under a color.
    #[track_caller]
    pub(crate) fn spawn<F>(&self, color: Color, future: F) -> Join<F::Output, LanePtr>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.spawn_from(Location::caller(), color, future)
    }

    /// As `spawn`; the lane is of the highest class while the task is scheduled there.
    pub(crate) fn spawn_urgent<F>(
        &self,
        site: &'static Location<'static>,
        color: Color,
        future: F,
    ) -> Join<F::Output, LanePtr>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.scheduler().use_classes();
        // SAFETY: the future is `Send` and borrows nothing.
        unsafe { self.spawn_as(self.lane_for_task(color), future, site, true) }
    }

    pub(crate) fn spawn_from<F>(
        &self,
        site: &'static Location<'static>,
        color: Color,
        future: F,
    ) -> Join<F::Output, LanePtr>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        // SAFETY: the future is `Send` and borrows nothing.
        unsafe { self.spawn_as(self.lane_for_task(color), future, site, false) }
    }

    /// Spawns under a fresh color.
    #[track_caller]
    pub(crate) fn spawn_unique<F>(&self, future: F) -> Join<F::Output, LanePtr>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.spawn_unique_from(Location::caller(), future)
    }

    pub(crate) fn spawn_unique_from<F>(
        &self,
        site: &'static Location<'static>,
        future: F,
    ) -> Join<F::Output, LanePtr>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        // SAFETY: the future is `Send` and borrows nothing.
        unsafe { self.spawn_as(self.unique_lane(), future, site, false) }
    }

    /// # Safety
    ///
    /// As for [`task::Cell::allocate`]. The lane is one of this scheduler.
    #[inline]
    unsafe fn spawn_as<F: Future>(
        &self,
        lane: LaneRef,
        future: F,
        site: &'static Location<'static>,
        urgent: bool,
    ) -> Join<F::Output, LanePtr> {
        let lane = lane.into_counted();
        // SAFETY: by contract the caller uses task and output only where `F` may be used, as
        // `allocate` requires.
        let mut task = unsafe { task::Cell::allocate(future, lane, 0, site) }.cast::<Node>();
        if urgent {
            // SAFETY: a task begins with its node, and no other thread knows this task.
            unsafe { task.as_mut() }.urgent = true;
        }
        // SAFETY: the task's second reference belongs to the handle.
        let join = unsafe { Join::new(task.cast()) };
        // SAFETY: the task is fresh, and owns the reference to the lane.
        unsafe { lane.push_in(task, self.scheduler()) };
        join
    }
}

fn lane_of(scheduler: &Arc<Scheduler>, color: Color) -> LaneRef {
    scheduler.table.get_or_insert(color, || {
        let port = arc_dyn!(Arc::clone(scheduler) => dyn Dispatch);
        Box::new(Lane::new(color, port, Tenure::Published))
    })
}

/// Spawns under the color that this thread runs under; returns the future if there is none.
#[track_caller]
pub(crate) fn spawn_here<F>(future: F) -> Result<Join<F::Output, LanePtr>, F>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let Some(lane) = current::lane() else { return Err(future) };
    current::retain(lane);
    // SAFETY: the reference was just counted.
    let lane = unsafe { LaneRef::from_counted(lane) };
    // SAFETY: the future is `Send` and borrows nothing.
    Ok(unsafe { spawn_on(lane, future, 0, Location::caller()) })
}

/// Spawns on a lane to which the caller has a reference.
#[track_caller]
pub(crate) fn spawn_on_lane<F>(lane: &LaneRef, future: F) -> Join<F::Output, LanePtr>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    // SAFETY: the future is `Send` and borrows nothing.
    unsafe { spawn_on(lane.for_node(), future, 0, Location::caller()) }
}

/// # Safety
///
/// As for [`task::Cell::allocate`].
#[inline]
pub(super) unsafe fn spawn_on<F: Future>(
    lane: LaneRef,
    future: F,
    pin: u32,
    site: &'static Location<'static>,
) -> Join<F::Output, LanePtr> {
    let lane = lane.into_counted();
    // SAFETY: by contract the caller uses task and output only where `F` may be used, as `allocate`
    // requires.
    let task = unsafe { task::Cell::allocate(future, lane, pin, site) };
    // SAFETY: the task's second reference belongs to the handle.
    let join = unsafe { Join::new(task) };
    // SAFETY: the task is fresh, and owns the reference to the lane.
    unsafe { lane.push(task.cast()) };
    join
}
