//! The steps on the stack, and how long slices and waits may be (G7).

use super::Hue;
use crate::policy::Policy;
use crate::world::Actor;

/// Polls between two looks at the clock. A slice is over by that many turns after its time.
const LATE_TURNS: u32 = 8;

/// Slices of a worker for each lane ahead: that lane's, and before it three of the `next` slot in a row. Where a
/// lane or a task is pinned, as many again, for the inbox has every other step.
pub(super) const PER_LANE: u64 = 4;

/// The weight of a poll in a slice; a closure weighs 1.
pub(super) const POLL: u64 = 64;

/// Slices for which a task that has waited in a line stays behind.
pub(super) const BEHIND: u64 = 61;

/// Workers up to which the slices of each are counted. More of them rob each other all the time.
pub(crate) const COUNTED: u32 = 4;

/// Time that a lane may wait for a worker to wake up: three ticks of the backstop.
const WAKE: u64 = 3 * crate::world::RESCUE_NANOS;

#[derive(Debug)]
struct Frame {
    actor: Actor,
    began: u64,
    hue: Option<Hue>,
    /// What the turns so far weigh.
    weight: u64,
    late: u32,
}

/// How long a lane has been ready, and how much may come before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    /// The time, and the number of slices that had begun.
    pub(super) now: u64,
    pub(super) slices: u64,
    /// Slices of the worker that comes to the lane, where the oracle knows that worker.
    pub(super) here: Option<u64>,
    /// Slices of all workers.
    pub(super) most: u64,
}

#[derive(Debug)]
pub(crate) struct Slices {
    stack: Vec<Frame>,
    begun: u64,
    /// How many slices had begun in all when each of a worker's slices began.
    of_worker: Vec<Vec<u64>>,
    turns: u64,
    /// When each worker's last step began, unless it has slept since.
    last: Vec<Option<u64>>,
    /// The longest step, and the longest time between two steps of a worker that was awake.
    longest: u64,
    /// How much the turns of a slice may weigh.
    most: u64,
    /// Nanoseconds after which a slice ends.
    nanos: u64,
}

impl Slices {
    pub(crate) fn new(policy: &Policy) -> Self {
        let workers = policy.seats();
        Self {
            stack: Vec::new(),
            begun: 0,
            of_worker: vec![Vec::new(); workers as usize],
            turns: 0,
            last: vec![None; workers as usize],
            longest: 0,
            most: u64::from(policy.options.slice_polls) * POLL,
            nanos: policy.options.slice_nanos,
        }
    }

    pub(crate) fn actor(&self) -> Actor {
        self.stack.last().map_or(Actor::World, |frame| frame.actor)
    }

    pub(crate) fn begun(&self) -> u64 {
        self.begun
    }

    /// How many slices each worker has begun since `begun`.
    pub(crate) fn of_each_since(&self, begun: u64) -> impl Iterator<Item = u64> {
        self.of_worker.iter().map(move |of| {
            let before = of.partition_point(|slice| *slice < begun);
            (of.len() - before) as u64
        })
    }

    /// How many steps of workers and other threads are in progress.
    pub(crate) fn depth(&self) -> u64 {
        self.stack.len() as u64
    }

    pub(crate) fn workers_on_stack(&self) -> u32 {
        let workers = self.stack.iter().filter(|frame| matches!(frame.actor, Actor::Worker(_)));
        workers.count() as u32
    }

    /// The worker on top of the stack, if its slice has not had a turn yet.
    pub(crate) fn fresh_slice(&self) -> Option<u32> {
        match self.stack.last()? {
            Frame { actor: Actor::Worker(worker), hue: None, .. } => Some(*worker),
            _ => None,
        }
    }

    pub(crate) fn is_on_stack(&self, actor: Actor) -> bool {
        self.stack.iter().any(|frame| frame.actor == actor)
    }

    /// Turns that workers have taken.
    pub(crate) fn turns(&self) -> u64 {
        self.turns
    }

    pub(crate) fn enter(&mut self, actor: Actor, now: u64) {
        if let Actor::Worker(worker) = actor
            && let Some(last) = self.last[worker as usize].replace(now)
        {
            self.longest = self.longest.max(now - last);
        }
        self.stack.push(Frame { actor, began: now, hue: None, weight: 0, late: 0 });
    }

    /// A worker hands out events, which is no step.
    pub(crate) fn enter_events(&mut self, actor: Actor, now: u64) {
        self.stack.push(Frame { actor, began: now, hue: None, weight: 0, late: 0 });
    }

    pub(crate) fn leave(&mut self, now: u64) {
        if let Some(frame) = self.stack.pop() {
            self.longest = self.longest.max(now - frame.began);
        }
    }

    /// A worker goes to sleep.
    pub(crate) fn begin_sleep(&mut self, worker: u32) {
        self.last[worker as usize] = None;
    }

    /// A turn of a color begins, of this weight. `wait` says since when the color is ready, and for how many slices it may wait.
    pub(crate) fn turn(
        &mut self,
        hue: Hue,
        weight: u64,
        now: u64,
        wait: Wait,
    ) -> Result<(), String> {
        let Some(frame) = self.stack.last_mut() else { return Ok(()) };
        let Actor::Worker(worker) = frame.actor else { return Ok(()) };
        self.turns += 1;
        frame.weight += weight;
        if frame.hue.is_some_and(|before| before != hue) {
            return Err(format!("a slice of color {:?} goes on with color {hue}", frame.hue));
        }
        // The last turn may go beyond the weight.
        if frame.weight >= self.most + weight {
            return Err(format!(
                "a slice of color {hue} weighs {} before its last turn",
                frame.weight - weight
            ));
        }
        frame.late += u32::from(now - frame.began >= self.nanos);
        if frame.late > LATE_TURNS {
            let micros = (now - frame.began) / 1000;
            return Err(format!("a slice of color {hue} goes on after {micros} us"));
        }
        if frame.hue.replace(hue).is_some() {
            return Ok(());
        }
        let waited = self.of_each_since(wait.slices).nth(worker as usize).unwrap_or(0);
        self.of_worker[worker as usize].push(self.begun);
        self.begun += 1;
        if let Some(here) = wait.here
            && waited > here
        {
            return Err(format!(
                "color {hue} has waited for {waited} slices of worker {worker}, and at most {here} may come \
                 first"
            ));
        }
        let in_progress = self.stack.first().map_or(0, |frame| now - frame.began);
        let (most, waited) = (wait.most, now - wait.now);
        let nanos = most * (self.longest.max(in_progress) + 1000) + WAKE;
        if waited > nanos {
            return Err(format!(
                "color {hue} has waited for {} us, and at most {most} slices of {} us may come \
                 first",
                waited / 1000,
                self.longest / 1000
            ));
        }
        Ok(())
    }
}
