//! Rounds: how a worker divides its turns between its own lanes and lanes from outside (G7).
//!
//! A lane that another thread makes runnable waits in the injector, where every worker finds it: a
//! foreign thread has spawned a task, a blocking thread has finished a call, the reactor thread has
//! found an event. A worker that is never out of lanes of its own must look there too, and how often it looks decides
//! how long the lanes in the injector wait. A fixed interval is wrong for any number of them: with one look in 61
//! steps, 500 lanes wait for 30,000 slices of other lanes.
//!
//! So a worker works in rounds. A **round** is two counts, taken when it begins: the number of lanes in the injector,
//! which come first, and the number of lanes in the worker's deque. When both counts are used up, or the worker finds a
//! queue empty before, the next round begins as soon as the injector holds a lane: without one there is nothing to
//! count. The worker takes lanes of the injector one by one, when they run. Until then all workers share them, and idle
//! workers take them in batches.
//!
//! # The lanes ahead of a lane
//!
//! Let a lane become runnable, and look at one worker that goes on stepping. *Ahead* of the lane are
//!
//! * if it is in the injector: the lanes before it there, and the lanes in that worker's deque at that moment. The rest
//!   of the round takes no more than these lanes, and the next round counts the lane itself;
//! * if it is in the deque: the lanes before it there, and the lanes in the injector when the next round begins. A
//!   round that began before the lane came does not count it, and the next one does.
//!
//! Each lane that is ahead has at most one slice before the lane has its own, since it goes behind the lane when its
//! slice is over. The worker moves its home queue to the deque before each turn of a queue, so those lanes count as in
//! the deque. Beside these slices there are, for each of them, at most
//!
//! * three of the `next` slot, which holds the lane that this worker made runnable last, or a lane that a theft has
//!   given a turn;
//! * and as many as all these together, of lanes that are pinned to this worker: its inbox has every second step.
//!   Likewise, a lane in the inbox waits for two slices for each lane before it there.
//!
//! A lane in the `next` slot waits for at most one lane of the queues, or goes into the deque, behind the others,
//! because another lane has taken its place. A thief takes the older half of a deque, at most 32 lanes, in its order, and only when it is
//! out of lanes and the injector is empty. The stolen lanes are its round. So a theft puts no lane behind another. A
//! batch from the injector is a round likewise, for the same reason.
//!
//! All this is per worker, and other workers cannot break it: they can only take away lanes that are ahead. There are
//! three exceptions. A lane that has waited in a line comes later, by a bound of its own (`sched/home_queue.rs`). With
//! priorities, this order holds within one class, and a class takes turns between its two queues (`classes.rs`). A
//! guest runs the lanes that it is sent in the order of their arrival (`guest.rs`).

/// The rest of a worker's round.
#[derive(Debug, Default)]
pub(super) struct Round {
    /// The lanes of the injector that are left in this round.
    pub(super) outside: usize,
    /// The lanes of the deque that are left in this round; the injector's lanes come first.
    pub(super) own: usize,
}

impl Round {
    /// Begins a round of lanes that are in the deque, and have waited for longer than any in the injector.
    pub(super) fn begin(&mut self, own: usize) {
        *self = Self { outside: 0, own };
    }

    pub(super) fn is_over(&self) -> bool {
        self.outside == 0 && self.own == 0
    }
}
