//! The requests of a dump to the holders of lanes, and what they have written down.
//!
//! A request is an entry in the list of [`Requests`](sheet::Requests), and a flag in the lane. The thread that has the right to run the lane and
//! sees the flag takes the place out of the entry, writes a page without the lock, and hands the page in: the holder when
//! its slice begins, or the thread that dumps, when it finds the lane idle. Only the thread with the right to run the lane
//! takes the place out, so a page is written once; and the place is back, or the entry gone, before that right goes on.

pub(crate) mod sheet;
pub(crate) mod view;
pub(crate) mod waits;

use self::sheet::{Progress, Sheet, SnapshotRequests};
use crate::ext::snapshot::view::View;
use crate::kernel::lane::LaneRef;
use crate::kernel::sched::scheduler::Scheduler;
use crate::sync::Ordering;
use std::mem;

impl Scheduler {
    fn snapshots(&self) -> &SnapshotRequests {
        let requests = self.common.slot.dump.get_or_init(|| Box::<SnapshotRequests>::default());
        requests.downcast_ref().expect("they have just been made, or as these")
    }
}

impl Scheduler {
    /// Begins a dump; false if another one has begun and not ended.
    pub(in crate::ext) fn begin_snapshot(&self) -> bool {
        // Ordering: Acquire pairs with the Release of `end_snapshot`.
        !self.snapshots().taken.swap(true, Ordering::Acquire)
    }

    /// Asks the holder of a lane to write down the rest of its tasks.
    pub(in crate::ext) fn request_view(&self, lane: &LaneRef, place: Progress) {
        let mut requests = self.snapshots().requests.lock();
        requests.places.insert(lane.ptr(), Some(place));
        // Under the lock, as below, so that a late visitor of the last dump does not clear the flag of this one.
        lane.slot.ask(true);
    }

    /// Whether the lane has not been written down to its end.
    pub(in crate::ext) fn is_asked(&self, lane: &LaneRef) -> bool {
        self.snapshots().requests.lock().places.contains_key(&lane.ptr())
    }

    /// Whether some of the lane's tasks have been written down, or are now.
    pub(in crate::ext) fn is_begun(&self, lane: &LaneRef) -> bool {
        let requests = self.snapshots().requests.lock();
        let place = requests.places.get(&lane.ptr());
        place.is_some_and(|place| place.as_ref().is_none_or(|place| !place.seen.is_empty()))
    }

    /// The tasks that have been written down on request.
    pub(in crate::ext) fn written(&self) -> usize {
        self.snapshots().requests.lock().sheet.tasks().len()
    }

    /// Ends the dump: returns what was written down on request.
    pub(in crate::ext) fn end_snapshot(&self) -> Sheet {
        let mut requests = self.snapshots().requests.lock();
        requests.dump += 1;
        // The references to tasks are dropped outside the lock.
        let places = mem::take(&mut requests.places);
        let sheet = mem::take(&mut requests.sheet);
        drop(requests);
        drop(places);
        // Ordering: Release pairs with the Acquire of `begin_snapshot`.
        self.snapshots().taken.store(false, Ordering::Release);
        sheet
    }
}

/// Writes down a page of a lane that this thread has the right to run, if the dump has asked for it.
pub(crate) fn show_asked(scheduler: &Scheduler, view: View<'_>) {
    let mut requests = scheduler.snapshots().requests.lock();
    let place = requests.places.get_mut(&view.ptr()).and_then(Option::take);
    let Some(mut place) = place else {
        // Of a dump that is over.
        return view.ask(false);
    };
    let dump = requests.dump;
    drop(requests);
    let mut sheet = Sheet::default();
    let is_done = sheet.write(view, &mut place, scheduler.now());
    let mut requests = scheduler.snapshots().requests.lock();
    let is_meant = requests.dump == dump;
    if is_meant {
        requests.sheet.append(&mut sheet);
    }
    if is_meant && !is_done {
        requests.places.insert(view.ptr(), Some(place));
        return;
    }
    if is_meant {
        requests.places.remove(&view.ptr());
    }
    view.ask(requests.places.contains_key(&view.ptr()));
    drop(requests);
    // The references to tasks are dropped outside the lock.
    drop(place);
}
