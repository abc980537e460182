//! Who runs on the stack, and how long slices and waits may be (G7).

use super::Hue;
use crate::policy::Policy;
use crate::world::Actor;

/// Polls between two looks at the clock, so a slice is over by that many turns after its time.
const LATE_TURNS: u32 = 8;

/// Slices of a worker between two lanes of its deque, that of the deque included: three lanes of
/// the `next` slot in a row, or one from the inbox at every other step.
pub(super) const PER_LANE: u64 = 8;

/// Steps between two looks into the injector.
pub(super) const PER_INJECTED: u64 = 61;

/// Time that a lane may wait for a worker to wake up: three ticks of the backstop.
const WAKE: u64 = 3 * crate::world::RESCUE_NANOS;

#[derive(Debug)]
struct Frame {
    actor: Actor,
    began: u64,
    hue: Option<Hue>,
    turns: u32,
    late: u32,
}

#[derive(Debug)]
pub(crate) struct Slices {
    stack: Vec<Frame>,
    begun: u64,
    turns: u64,
    /// When each worker's last step began, unless it has slept since.
    last: Vec<Option<u64>>,
    /// The longest step, and the longest time between two steps of a worker that was awake.
    longest: u64,
    /// Turns in a slice, at most.
    most_turns: u32,
    /// Nanoseconds after which a slice ends.
    nanos: u64,
}

impl Slices {
    pub(crate) fn new(workers: u32, policy: &Policy) -> Self {
        Self {
            stack: Vec::new(),
            begun: 0,
            turns: 0,
            last: vec![None; workers as usize],
            longest: 0,
            most_turns: policy.turns(),
            nanos: policy.options.slice_nanos,
        }
    }

    pub(crate) fn actor(&self) -> Actor {
        self.stack.last().map_or(Actor::World, |frame| frame.actor)
    }

    pub(crate) fn begun(&self) -> u64 {
        self.begun
    }

    /// How many workers' and others' steps are in progress.
    pub(crate) fn depth(&self) -> u64 {
        self.stack.len() as u64
    }

    pub(crate) fn workers_on_stack(&self) -> u32 {
        let workers = self.stack.iter().filter(|frame| matches!(frame.actor, Actor::Worker(_)));
        workers.count() as u32
    }

    /// The worker whose slice has not had a turn yet, if there is one on top.
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
        self.stack.push(Frame { actor, began: now, hue: None, turns: 0, late: 0 });
    }

    /// A worker hands out events: no step.
    pub(crate) fn enter_events(&mut self, actor: Actor, now: u64) {
        self.stack.push(Frame { actor, began: now, hue: None, turns: 0, late: 0 });
    }

    pub(crate) fn leave(&mut self, now: u64) {
        if let Some(frame) = self.stack.pop() {
            self.longest = self.longest.max(now - frame.began);
        }
    }

    /// A worker goes to sleep.
    pub(crate) fn sleeps(&mut self, worker: u32) {
        self.last[worker as usize] = None;
    }

    /// A turn of a color begins, which has waited for so many slices and nanoseconds, and may wait
    /// for so many slices.
    pub(crate) fn turn(
        &mut self,
        hue: Hue,
        now: u64,
        waited: (u64, u64),
        slices: u64,
    ) -> Result<(), String> {
        let workers = self.last.len();
        let Some(frame) = self.stack.last_mut() else { return Ok(()) };
        if !matches!(frame.actor, Actor::Worker(_)) {
            return Ok(());
        }
        self.turns += 1;
        frame.turns += 1;
        if frame.hue.is_some_and(|before| before != hue) {
            return Err(format!("a slice of color {:?} goes on with color {hue}", frame.hue));
        }
        if frame.turns > self.most_turns {
            return Err(format!("turn {} of one slice of color {hue}", frame.turns));
        }
        frame.late += u32::from(now - frame.began >= self.nanos);
        if frame.late > LATE_TURNS {
            let micros = (now - frame.began) / 1000;
            return Err(format!("a slice of color {hue} goes on after {micros} us"));
        }
        if frame.hue.replace(hue).is_some() {
            return Ok(());
        }
        self.begun += 1;
        if workers == 1 && waited.0 > slices {
            return Err(format!(
                "color {hue} has waited for {} slices, and at most {slices} may come first",
                waited.0
            ));
        }
        let in_progress = self.stack.first().map_or(0, |frame| now - frame.began);
        let nanos = slices * (self.longest.max(in_progress) + 1000) + WAKE;
        if waited.1 > nanos {
            return Err(format!(
                "color {hue} has waited for {} us, and at most {slices} slices of {} us may come \
                 first",
                waited.1 / 1000,
                self.longest / 1000
            ));
        }
        Ok(())
    }
}
