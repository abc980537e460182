//! The text of a dump.

use super::group::{Group, Groups};
use super::keeper::since;
use super::wait::text;
use super::{CallDump, Dump, TaskState, WorkerDump, WorkerState};
use colored_core::{Color, task_name};
use std::fmt;

impl fmt::Display for Dump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_head(f)?;
        self.workers.iter().try_for_each(|worker| writeln!(f, "{worker}"))?;
        self.calls.iter().try_for_each(|call| writeln!(f, "{call}"))?;
        self.deadlocks().iter().try_for_each(|deadlock| writeln!(f, "deadlock: {deadlock}"))?;
        let groups = Groups::of(self);
        let mut color: Option<Color> = None;
        for task in self.tasks().filter(|task| !groups.has(task.id())) {
            if color != Some(task.color()) {
                color = Some(task.color());
                self.write_color(f, task.color())?;
            }
            writeln!(f, "  {task}")?;
            task.waits().iter().try_for_each(|wait| writeln!(f, "    {wait}"))?;
        }
        groups.iter().try_for_each(|group| self.write_group(f, group))?;
        for line in self.seen.sheet.lines() {
            let more = if line.goes_on { ", and more behind them" } else { "" };
            let kept = self.keepers.get(&line.color);
            let kept = kept.map(|by| format!("; {by} keeps the color, {}", since(by)));
            let (color, closures, kept) = (line.color, line.closures, kept.unwrap_or_default());
            writeln!(f, "{color}: closures that are scheduled: {closures}{more}{kept}")?;
        }
        self.unread().iter().try_for_each(|color| match self.keepers.get(color) {
            Some(by) => {
                let since = since(by);
                writeln!(f, "{color}: kept by {by}, {since}, so not all of its tasks are listed")
            }
            None => writeln!(
                f,
                "{color}: in use or queued all the time, so not all of its tasks are listed"
            ),
        })
    }
}

impl Dump {
    fn write_head(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = self.count(|task| task.kept_by().is_some());
        let queued = self.count(|task| task.state() == TaskState::Queued) - kept;
        write!(
            f,
            "{} tasks: {} run, {queued} have a turn coming, {} wait",
            self.tasks().len(),
            self.count(|task| task.state() == TaskState::Running),
            self.count(|task| task.state() == TaskState::Waiting)
        )?;
        if kept > 0 {
            write!(f, ", {kept} wait for a color that is kept")?;
        }
        writeln!(f, ". The dump took {}", text(self.took))
    }

    /// The head of a color's tasks.
    fn write_color(&self, f: &mut fmt::Formatter<'_>, color: Color) -> fmt::Result {
        match self.keepers.get(&color) {
            Some(by) => writeln!(f, "{color}\n  kept by {by}, {}", since(by)),
            None => writeln!(f, "{color}"),
        }
    }

    fn write_group(&self, f: &mut fmt::Formatter<'_>, group: &Group<'_>) -> fmt::Result {
        let Group { oldest: task, tasks, colors, .. } = group;
        let (spawned, color) = (task.spawned(), task.color());
        write!(f, "{tasks} tasks (spawned at {spawned}) ")?;
        match (task.kept_by(), task.state()) {
            (Some(by), _) => write!(f, "wait for {color}, which {by} keeps, {}", since(by))?,
            (None, TaskState::Waiting) => write!(f, "wait alike")?,
            (None, _) => write!(f, "have a turn coming")?,
        }
        match *colors {
            1 if task.kept_by().is_some() => {}
            1 => write!(f, ", all under {color}")?,
            more => write!(f, ", under {more} colors")?,
        }
        let waits = task.waits();
        let end = if waits.is_empty() { "" } else { ":" };
        let which =
            if waits.iter().any(|wait| wait.time.is_some()) { "the longest" } else { "one" };
        writeln!(f, "; {which} is {:?} under {color}{end}", task.id())?;
        waits.iter().try_for_each(|wait| writeln!(f, "    {wait}"))
    }
}

impl fmt::Display for WorkerDump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "worker {} ", self.worker)?;
        match &self.state {
            WorkerState::Parked => f.write_str("sleeps")?,
            WorkerState::Searching => f.write_str("looks for work")?,
            WorkerState::Absent => f.write_str("is not wanted")?,
            WorkerState::Running { color, task, time } => {
                match task {
                    None => f.write_str("runs a closure")?,
                    Some((id, spawned)) => {
                        write!(f, "runs {id:?}")?;
                        if let Some(name) = task_name(*id) {
                            write!(f, " {name:?}")?;
                        }
                        write!(f, " (spawned at {spawned})")?;
                    }
                }
                write!(f, " under {color}, for {}", text(*time))?;
            }
        }
        if let Some(thread) = &self.thread {
            write!(f, "; {thread}")?;
        }
        self.stack.iter().try_for_each(|frame| write!(f, "\n    in {frame}"))
    }
}

impl fmt::Display for CallDump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a blocking call of `{}`", self.class)?;
        if let Some(spawned) = self.spawned {
            write!(f, " (made at {spawned})")?;
        }
        write!(f, " has run for {}", text(self.time))
    }
}
