//! The state of each task, from which follows what a wake, an abort or the end of a poll does to its place.

use super::{Entry, Hue, LimitKey, Oracle, Over};
use crate::slab::Key;
use crate::world::Actor;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Scheduled,
    Running,
    Waiting,
    Complete(Outcome),
}

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Value,
    Panicked,
    Cancelled,
}

/// How a poll that was not ready ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The task waits to be woken.
    Waits,
    /// The task wants to run again behind the others.
    Yields,
    /// The task goes on under another color.
    Hops(Hue),
}

#[derive(Debug)]
pub(crate) struct Task {
    /// How many tasks were spawned before.
    pub(super) serial: u64,
    pub(super) hue: Hue,
    state: State,
    /// Whether the task was woken in its own poll.
    notified: bool,
    aborted: bool,
    /// The task that waits for its end.
    joiner: Option<Key>,
    /// The worker on which the task stays.
    pin: Option<u32>,
    /// Whether the program still has its handle.
    handle: bool,
    /// Whether the task is in a section, and so keeps its lane when it waits.
    pub(super) section: bool,
    /// Whether the task has had a section since its turn came, and so has given the color up if it is in none.
    held: bool,
    /// How many tasks had waited before it waited first under its color, and this one; 0 if it has not.
    came: u64,
    /// Whether the task waits, and has kept its lane.
    keeps: bool,
    /// The limit that the task is inside.
    limit: Option<LimitKey>,
    /// Whether the task makes its color urgent while it is scheduled there.
    urgent: bool,
    /// The wait of the task of which the scheduler knows.
    pub(super) over: Option<Over>,
}

impl Task {
    pub(crate) fn is_complete(&self) -> bool {
        matches!(self.state, State::Complete(_))
    }

    /// Whether the task waits, for an event that the scheduler knows or for its turn. A task that is polled while
    /// it waits looks for the event, and goes on waiting.
    pub(super) fn rests(&self) -> bool {
        match self.state {
            State::Scheduled | State::Waiting => !self.section || self.over.is_some(),
            State::Running => self.over.is_some(),
            State::Complete(_) => false,
        }
    }
}

impl Oracle {
    /// A task is spawned.
    pub(crate) fn spawn(&mut self, hue: Hue, pin: Option<u32>) -> Key {
        self.spawn_as(hue, pin, false)
    }

    /// A task is spawned that is urgent, if the scheduler has priorities.
    pub(crate) fn spawn_urgent(&mut self, hue: Hue) -> Key {
        let urgent = self.name_class();
        self.classes.count_high(urgent, false);
        self.spawn_as(hue, None, urgent)
    }

    fn spawn_as(&mut self, hue: Hue, pin: Option<u32>, urgent: bool) -> Key {
        let key = self.tasks.insert(Task {
            serial: self.tally.spawned,
            hue,
            state: State::Scheduled,
            notified: false,
            aborted: false,
            joiner: None,
            pin,
            handle: true,
            section: false,
            held: false,
            came: 0,
            keeps: false,
            limit: None,
            urgent,
            over: None,
        });
        self.tally.spawned += 1;
        self.tally.pinned += u64::from(pin.is_some());
        self.lanes.get_mut(hue).tasks += 1;
        self.push(hue, Entry::Task(key), false);
        key
    }

    /// A task has a permit of a limit.
    pub(crate) fn spawned_inside(&mut self, key: Key, limit: LimitKey) {
        self.task(key).limit = Some(limit);
    }

    /// The worker on which a task stays.
    pub(crate) fn pin_of(&self, key: Key) -> Option<u32> {
        self.tasks.get(key)?.pin
    }

    pub(crate) fn is_urgent(&self, entry: Entry) -> bool {
        matches!(entry, Entry::Task(key) if self.tasks.get(key).is_some_and(|task| task.urgent))
    }

    /// The color of a task that is not complete.
    pub(crate) fn hue_of(&self, key: Key) -> Option<Hue> {
        self.tasks.get(key).map(|task| task.hue)
    }

    /// Whether a task is complete, or was, and has no handle any more.
    pub(crate) fn is_complete(&self, key: Key) -> bool {
        self.tasks.get(key).is_none_or(Task::is_complete)
    }

    /// A waker of the task is woken.
    pub(crate) fn wake(&mut self, key: Key) {
        let closing = self.closing;
        let Some(task) = self.tasks.get_mut(key) else { return };
        match task.state {
            State::Waiting => {
                task.state = State::Scheduled;
                let (hue, keeps) = (task.hue, task.keeps);
                if keeps {
                    // The task is at the head of its lane all the time.
                    return;
                }
                // A shutdown may have aborted the tasks that wait, of which the oracle hears when they are dropped.
                self.push(hue, Entry::Task(key), closing);
            }
            State::Running => task.notified = true,
            State::Scheduled | State::Complete(_) => {}
        }
    }

    /// As `wake`, of a task that has waited for several colors.
    pub(super) fn wake_behind(&mut self, key: Key) {
        self.wake(key);
        if let Some(hue) = self.hue_of(key) {
            self.put_behind(hue);
        }
    }

    /// The task is aborted.
    pub(crate) fn abort(&mut self, key: Key) {
        let Some(task) = self.tasks.get_mut(key) else { return };
        task.aborted = true;
        self.wake(key);
    }

    /// A section of a task begins, in a poll.
    pub(crate) fn section_begins(&mut self, key: Key) {
        let task = self.task(key);
        let (hue, held) = (task.hue, task.held);
        (task.section, task.held) = (true, true);
        if held && let Some(ahead) = self.lanes.surely_waits(hue) {
            let task = key.slot;
            let what = format!("a section of task {task} begins at once although {ahead} waits");
            self.violated("G7", what);
        }
        self.lanes.get_mut(hue).sections += 1;
        self.tally.sections += 1;
    }

    /// A section of a task does not begin in this poll: the task goes behind the others.
    pub(crate) fn section_is_put_off(&mut self, key: Key) {
        let task = self.task(key);
        let (hue, held) = (task.hue, task.held);
        if !held || (self.lanes.front(hue).is_none() && !self.closing) {
            let what = format!("a section of task {} is put off for nothing", key.slot);
            self.violated("G7", what);
        }
        self.tally.put_off += 1;
        self.wake(key);
    }

    /// A section of a task ends, or will never begin.
    pub(crate) fn section_ends(&mut self, key: Key) {
        self.task(key).section = false;
    }

    pub(crate) fn is_in_section(&self, key: Key) -> bool {
        self.tasks.get(key).is_some_and(|task| task.section)
    }

    /// How many tasks are in sections.
    pub(crate) fn in_sections(&self) -> usize {
        self.tasks.iter().filter(|task| task.section).count()
    }

    /// A poll begins.
    pub(crate) fn poll_begins(&mut self, key: Key) -> Hue {
        let closing = self.closing;
        let told = self
            .tasks
            .get(key)
            .and_then(|task| task.over)
            .is_some_and(|over| self.may_be_told(key, over));
        let actor = self.actor();
        let task = self.task(key);
        let (hue, aborted, pin, mut state) = (task.hue, task.aborted, task.pin, task.state);
        task.state = State::Running;
        if std::mem::take(&mut task.keeps) {
            if told && state == State::Waiting {
                // The scheduler has found that the task's wait never ends, and has woken the task.
                state = State::Scheduled;
            }
            self.kept_turn(hue);
        } else {
            self.turn_begins(hue, Entry::Task(key), false);
        }
        if state != State::Scheduled {
            self.violated("G1", format!("task {} is polled while it is {state:?}", key.slot));
        }
        if closing || aborted {
            self.violated("G8", format!("task {} is polled after its abort", key.slot));
        }
        self.keep_thread(key, pin, actor);
        hue
    }

    fn keep_thread(&mut self, key: Key, pin: Option<u32>, actor: Actor) {
        if let Some(pin) = pin
            && actor != Actor::Worker(pin)
        {
            let slot = key.slot;
            self.violated("G8", format!("task {slot} belongs to worker {pin}, not {actor}"));
        }
    }

    /// A poll ends, and the task is not complete.
    pub(crate) fn poll_ends(&mut self, key: Key, end: End) {
        self.tally.waited += 1;
        let (came, closing) = (self.tally.waited, self.closing);
        let task = self.task(key);
        let from = task.hue;
        let notified = std::mem::take(&mut task.notified);
        let stays = !matches!(end, End::Hops(_));
        // A shutdown aborts a task that it finds in a poll at once, if the task had a section when the poll began: the task
        // may go before older ones.
        task.came = if !stays || closing {
            0
        } else if task.came == 0 {
            came
        } else {
            task.came
        };
        if task.section {
            task.state = if notified { State::Scheduled } else { State::Waiting };
            task.keeps = true;
            return;
        }
        task.held = false;
        let again = match end {
            End::Hops(to) => {
                task.hue = to;
                true
            }
            End::Yields => true,
            End::Waits => notified,
        };
        task.state = if again { State::Scheduled } else { State::Waiting };
        let to = task.hue;
        if again {
            // The hop may make another lane ready. The task's own lane goes on as before.
            self.move_task(from, to);
            self.push(to, Entry::Task(key), false);
        }
        self.turn_ends(from);
    }

    fn move_task(&mut self, from: Hue, to: Hue) {
        self.lanes.get_mut(from).tasks -= 1;
        self.lanes.get_mut(to).tasks += 1;
        self.tally.hops += u64::from(from != to);
    }

    /// A future is about to be dropped. That is a turn, unless it is the end of a poll.
    pub(crate) fn drop_begins(&mut self, key: Key) -> Hue {
        let (closing, actor) = (self.closing, self.actor());
        let Some(task) = self.tasks.get_mut(key) else {
            self.violated("G8", format!("the future of task {} is dropped again", key.slot));
            return 0;
        };
        let (hue, aborted, pin, state) = (task.hue, task.aborted, task.pin, task.state);
        let came = task.came;
        match state {
            State::Running => {}
            State::Complete(_) => {
                self.violated("G8", format!("the future of task {} is dropped twice", key.slot));
            }
            State::Scheduled | State::Waiting => {
                task.state = State::Running;
                let by_end = closing && state == State::Waiting;
                if std::mem::take(&mut task.keeps) {
                    self.kept_turn(hue);
                } else {
                    self.turn_begins(hue, Entry::Task(key), by_end);
                    if by_end && came > 0 && self.lanes.note_end(hue, came) {
                        let what = format!("task {} is dropped behind a younger one", key.slot);
                        self.violated("G8", what);
                    }
                }
                if !aborted && !closing {
                    self.violated("G8", format!("task {} is dropped though alive", key.slot));
                }
            }
        }
        self.keep_thread(key, pin, actor);
        hue
    }

    /// The future is gone, and the output is there.
    pub(crate) fn complete(&mut self, key: Key, outcome: Outcome) {
        match outcome {
            Outcome::Value => self.tally.finished += 1,
            Outcome::Panicked => self.tally.panicked += 1,
            Outcome::Cancelled => self.tally.cancelled += 1,
        }
        let Some(task) = self.tasks.get_mut(key) else { return };
        let (hue, joiner, handle) = (task.hue, task.joiner.take(), task.handle);
        let (limit, urgent) = (task.limit.take(), task.urgent);
        task.state = State::Complete(outcome);
        if !handle {
            self.tasks.remove(key);
        }
        self.classes.count_high(false, urgent);
        // The permit goes with the future, before the outcome is there.
        if let Some(limit) = limit {
            self.limit_leave(limit);
        }
        if let Some(joiner) = joiner {
            self.wake(joiner);
        }
        self.lanes.get_mut(hue).tasks -= 1;
        self.turn_ends(hue);
    }

    /// A task waits for the end of another one that is not complete.
    pub(crate) fn join(&mut self, key: Key, joiner: Key) {
        self.task(key).joiner = Some(joiner);
    }

    /// A handle has given its output, or is dropped.
    pub(crate) fn handle_gone(&mut self, key: Key) -> Option<Outcome> {
        let task = self.tasks.get_mut(key)?;
        (task.handle, task.joiner) = (false, None);
        match task.state {
            State::Complete(outcome) => {
                self.tasks.remove(key);
                Some(outcome)
            }
            _ => None,
        }
    }
}
