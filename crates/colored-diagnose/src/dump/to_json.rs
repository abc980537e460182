//! The JSON text of a dump.

use super::{Dump, Keeper, TaskDump, TaskState, Wait, WaitFor, WorkerDump, WorkerState};
use crate::json::{Object, object};

const STATES: [(&str, TaskState); 3] = [
    ("running", TaskState::Running),
    ("queued", TaskState::Queued),
    ("waiting", TaskState::Waiting),
];

impl Dump {
    /// The dump as a JSON object. Times are in seconds, places are `file:line:column`, colors and tasks are named as in
    /// texts. Later versions may add fields.
    ///
    /// | field | an array of |
    /// |---|---|
    /// | `counts` | an object: `running`, `queued`, `waiting` |
    /// | `workers` | `worker`, `state` (`running`, `parked`, `searching`); of a running one `color`, `task`, `spawned`, `seconds`, `thread`, `stack` |
    /// | `stack` of a worker | texts, the innermost function first |
    /// | `tasks` | `id`, `name`, `color`, `spawned`, `state` (`running`, `queued`, `waiting`), `waits` |
    /// | `waits` of a task | `text`, `for` (a word for the kind), `site`, `seconds`, and as it applies `task`, `spawned`, `colors`, `descriptor`, `addresses`, `seconds_left`, `number` |
    /// | `kept` | `color`, `task`, `spawned`, `by` (`section` or `when`), `site`, `seconds`: colors that a waiting task keeps from all others |
    /// | `lines` | `color`, `closures`, `more`: closures that are scheduled |
    /// | `calls` | `class`, `made`, `seconds`: blocking calls |
    /// | `deadlocks` | texts |
    /// | `unread` | colors |
    #[must_use]
    pub fn to_json(&self) -> String {
        object(|all| {
            all.field("seconds", self.took);
            all.object("counts", |counts| {
                for (name, state) in STATES {
                    counts.field(name, self.count(|task| task.state() == state));
                }
            });
            all.array("workers", |list| {
                self.workers.iter().for_each(|worker| list.object(|one| worker.write(one)));
            });
            all.array("tasks", |list| {
                self.tasks().for_each(|task| list.object(|one| task.write(one)));
            });
            all.array("kept", |list| {
                self.keepers().for_each(|keeper| list.object(|one| keeper.write(one)));
            });
            all.array("lines", |list| {
                for line in self.seen.sheet.lines() {
                    list.object(|one| {
                        one.field("color", format_args!("{}", line.color));
                        one.field("closures", line.closures);
                        one.field("more", line.goes_on);
                    });
                }
            });
            all.array("calls", |list| {
                for call in &self.calls {
                    list.object(|one| {
                        one.field("class", &call.class);
                        if let Some(made) = call.spawned {
                            one.field("made", format_args!("{made}"));
                        }
                        one.field("seconds", call.time);
                    });
                }
            });
            all.array("deadlocks", |list| {
                self.deadlocks().iter().for_each(|one| list.element(format_args!("{one}")));
            });
            all.array("unread", |list| {
                self.unread().iter().for_each(|color| list.element(format_args!("{color}")));
            });
        })
    }
}

impl WorkerDump {
    fn write(&self, one: &mut Object<'_>) {
        one.field("worker", self.worker);
        let state = match &self.state {
            WorkerState::Parked => "parked",
            WorkerState::Searching => "searching",
            WorkerState::Absent => "absent",
            WorkerState::Running { .. } => "running",
        };
        one.field("state", state);
        if let WorkerState::Running { color, task, time } = &self.state {
            one.field("color", format_args!("{color}"));
            if let Some((id, spawned)) = task {
                one.field("task", id.get());
                one.field("spawned", format_args!("{spawned}"));
            }
            one.field("seconds", *time);
            one.field("thread", self.thread.as_deref());
            one.array("stack", |list| {
                self.stack.iter().for_each(|frame| list.element(format_args!("{frame}")));
            });
        }
    }
}

impl TaskDump<'_> {
    fn write(&self, one: &mut Object<'_>) {
        one.field("id", self.id().get());
        one.field("name", self.name());
        one.field("color", format_args!("{}", self.color()));
        one.field("spawned", format_args!("{}", self.spawned()));
        let state = STATES.iter().find(|(_, state)| *state == self.state());
        one.field("state", state.map(|(name, _)| *name));
        one.array("waits", |list| {
            self.waits().iter().for_each(|wait| list.object(|one| wait.write(one)));
        });
    }
}

impl Keeper {
    fn write(&self, one: &mut Object<'_>) {
        one.field("color", format_args!("{}", self.color));
        one.field("task", self.task.get());
        one.field("spawned", format_args!("{}", self.spawned));
        one.field("by", self.by.word());
        one.field("site", format_args!("{}", self.site));
        one.field("seconds", self.time);
    }
}

impl Wait {
    fn write(&self, one: &mut Object<'_>) {
        one.field("text", format_args!("{self}"));
        one.field("for", self.what.word());
        if let Some(site) = self.site {
            one.field("site", format_args!("{site}"));
        }
        one.field("seconds", self.time);
        match &self.what {
            WaitFor::Task(id, spawned) => {
                one.field("task", id.get());
                one.field("spawned", format_args!("{spawned}"));
            }
            WaitFor::Call(Some(made)) => one.field("spawned", format_args!("{made}")),
            WaitFor::Colors(colors) => one.array("colors", |list| {
                colors.iter().for_each(|color| list.element(format_args!("{color}")));
            }),
            WaitFor::Descriptor { number, addresses, .. } => {
                one.field("descriptor", u64::from(*number));
                one.field("addresses", addresses.as_deref());
            }
            WaitFor::Timer { left, .. } => one.field("seconds_left", *left),
            WaitFor::Child(number) | WaitFor::Signal(number) => {
                one.field("number", u64::from(*number));
            }
            WaitFor::Call(None)
            | WaitFor::Section
            | WaitFor::Hop
            | WaitFor::File
            | WaitFor::Lock
            | WaitFor::Permit
            | WaitFor::Receive
            | WaitFor::Room
            | WaitFor::Notified
            | WaitFor::Other => {}
        }
    }
}
