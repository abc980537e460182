//! Priorities between colors: a queue for each class, once the program has set a priority.
//!
//! Until then the only cost is a flag in each worker's own cache line. From then on every lane that becomes runnable
//! goes into one of three queues of the worker that the plain scheduler would have chosen, or into one of three shared
//! queues. Lanes that were queued before count as normal until they have run.
//!
//! # Which lane is next
//!
//! A worker takes the highest class that its own queues and the shared queues have. Before it takes a lane that is not
//! [`Priority::High`], it looks for a high one in all workers' queues. Within a class each queue is first come, first
//! served, except that lanes that waited in a line run behind the others (`sched/remote.rs`), and the queues take turns.
//! Priority is between lanes only: a lane is one queue (G2). Every `LOWER_STEPS`th time the worker looks for one of
//! the lower classes first, in turn, so that neither starves (G7).
//!
//! A lane that is raised while it is queued moves to the end of the higher class in the same place, under the lock that
//! all three queues of the place share (`priority.rs` says why no raise is missed). The thread that raises the lane
//! searches the lower queues for it: some 0.2 µs for each thousand lanes that wait there. A raise of any other lane
//! searches nothing.
//!
//! # No lane is left behind (G6)
//!
//! A thread puts a lane into its queue, or moves it to a higher class, and then looks for sleepers. A move does not
//! change the number of lanes in the place. So the argument of `sched/idle.rs` holds with "publishes the lane" read as "puts
//! it into its queue". A single lane that is not high, on a worker that runs, causes no wake-up, as in the `next` slot;
//! any worker that is awake may take it, and `rescue` finds it.
//!
//! The flag is set before the first lane is queued by class. A worker that parks looks at the queues whether it has seen
//! the flag or not. Its fence, and the fence of the thread that put a lane there, show it both the flag and the lane.

use super::Priority;
use crate::hooks::queues::OtherQueues;
use crate::kernel::color::Color;
use crate::kernel::lane::{Lane, LaneRef, ReadyLane};
use crate::sync::{AtomicU32, AtomicUsize, Mutex, Ordering};
use crossbeam_utils::CachePadded;
use std::collections::{BTreeMap, VecDeque};
use std::ptr;

const CLASSES: usize = 3;

/// The classes, highest first.
pub(super) const DOWN: [Priority; CLASSES] = [Priority::High, Priority::Normal, Priority::Low];

pub(crate) struct Classes {
    /// One for each worker, and one that all workers share.
    places: Box<[CachePadded<Place>]>,
    /// Lanes of the highest class, anywhere.
    high: AtomicUsize,
    /// Colors with a priority of their own.
    pub(super) bases: Mutex<BTreeMap<Color, LaneRef>>,
}

/// The lanes of one class, oldest first.
#[derive(Default)]
struct Class {
    lanes: VecDeque<ReadyLane>,
    /// Lanes that run behind the others.
    behind: VecDeque<ReadyLane>,
}

impl Class {
    fn pop(&mut self) -> Option<ReadyLane> {
        if self.lanes.is_empty() {
            self.append_behind();
        }
        self.lanes.pop_front()
    }

    fn append_behind(&mut self) {
        self.lanes.append(&mut self.behind);
    }

    fn remove(&mut self, lane: &Lane) -> Option<ReadyLane> {
        [&mut self.lanes, &mut self.behind].into_iter().find_map(|queue| {
            let index = queue.iter().position(|queued| ptr::eq(queued.lane(), lane))?;
            queue.remove(index)
        })
    }

    fn len(&self) -> usize {
        self.lanes.len() + self.behind.len()
    }
}

/// A queue for each class.
struct Place {
    classes: Mutex<[Class; CLASSES]>,
    /// A bit for each class that has lanes.
    filled: AtomicU32,
}

fn bit(class: Priority) -> u32 {
    1 << class as u32
}

impl Place {
    fn new() -> Self {
        let classes = Mutex::new([(); CLASSES].map(|()| Class::default()));
        Self { classes, filled: AtomicU32::new(0) }
    }

    /// Calls `f` with the queues, under the lock.
    fn change<R>(&self, f: impl FnOnce(&mut [Class; CLASSES]) -> R) -> R {
        let mut classes = self.classes.lock();
        let result = f(&mut classes);
        let filled = DOWN.into_iter().filter(|class| classes[*class as usize].len() > 0);
        // Ordering: the write is under the lock; the look for sleepers that follows makes it visible.
        self.filled.store(filled.map(bit).sum(), Ordering::Relaxed);
        result
    }

    fn filled(&self) -> u32 {
        // Ordering: as in `change`.
        self.filled.load(Ordering::Relaxed)
    }
}

impl Classes {
    pub(crate) fn new(workers: usize) -> Self {
        Self {
            places: (0..=workers).map(|_| CachePadded::new(Place::new())).collect(),
            high: AtomicUsize::new(0),
            bases: Mutex::new(BTreeMap::new()),
        }
    }

    /// The place that all workers share.
    pub(super) fn for_all(&self) -> usize {
        self.places.len() - 1
    }

    /// Whether a lane of the highest class may be queued anywhere. A hint.
    pub(super) fn has_high(&self) -> bool {
        // Ordering: a hint, see `count_high`.
        self.high.load(Ordering::Relaxed) > 0
    }

    fn count_high(&self, class: Priority) {
        if class == Priority::High {
            // Ordering: a hint: a worker that misses it looks everywhere before it parks.
            self.high.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Queues a lane by its class. Returns the class, and how many lanes the place has now.
    pub(super) fn put(&self, place: usize, lane: ReadyLane, behind: bool) -> (Priority, usize) {
        self.places[place].change(|classes| {
            let class = lane.lane().enter_class_queue(place);
            self.count_high(class);
            let of_class = &mut classes[class as usize];
            let queue = if behind { &mut of_class.behind } else { &mut of_class.lanes };
            queue.push_back(lane);
            (class, classes.iter().map(Class::len).sum())
        })
    }

    /// Takes the oldest lane of the first of these classes that has one.
    pub(super) fn take(&self, place: usize, of: &[Priority]) -> Option<ReadyLane> {
        let place = &self.places[place];
        let filled = place.filled();
        if !of.iter().any(|class| filled & bit(*class) != 0) {
            return None;
        }
        place.change(|classes| {
            let mut of = of.iter();
            let (class, lane) =
                of.find_map(|class| Some((*class, classes[*class as usize].pop()?)))?;
            lane.lane().priority.leave_queue();
            if class == Priority::High {
                // Ordering: as in `count_high`.
                self.high.fetch_sub(1, Ordering::Relaxed);
            }
            Some(lane)
        })
    }

    /// Moves a lane to a higher class, if it is still queued in a lower one. Returns the place.
    pub(super) fn move_up(&self, lane: &Lane, to: Priority) -> Option<usize> {
        let place = lane.class_place();
        self.places[place].change(|classes| {
            let mut lower = classes[..to as usize].iter_mut();
            let lane = lower.find_map(|class| class.remove(lane))?;
            self.count_high(to);
            classes[to as usize].lanes.push_back(lane);
            Some(place)
        })
    }

    /// Now and then, lets the lanes behind be the last, in the worker's queues and in the shared ones.
    pub(super) fn append_behind(&self, worker: usize) {
        for place in [worker, self.for_all()].map(|place| &self.places[place]) {
            if place.filled() != 0 {
                place.classes.lock().iter_mut().for_each(Class::append_behind);
            }
        }
    }
}

impl OtherQueues for Classes {
    fn has_work_for(&self, worker: usize, steals: bool) -> bool {
        let is_filled = |place: &CachePadded<Place>| place.filled() != 0;
        if steals {
            return self.places.iter().any(is_filled);
        }
        is_filled(&self.places[worker]) || is_filled(&self.places[self.for_all()])
    }

    fn is_empty(&self) -> bool {
        self.places.iter().all(|place| place.filled() == 0)
    }

    fn any_ready(&self) -> Option<ReadyLane> {
        (0..self.places.len()).find_map(|place| self.take(place, &DOWN))
    }

    fn hand_over(&self, worker: usize) -> bool {
        let mut any = false;
        while let Some(lane) = self.take(worker, &DOWN) {
            self.put(self.for_all(), lane, false);
            any = true;
        }
        any
    }

    fn forget(&self) {
        let bases = std::mem::take(&mut *self.bases.lock());
        for lane in bases.into_values() {
            // A lane that is queued stays where it is.
            let _raised = lane.priority.set_base(Priority::Normal);
        }
    }
}
