//! The text of a dump.

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
        let mut color: Option<Color> = None;
        for task in self.tasks() {
            if color != Some(task.color()) {
                color = Some(task.color());
                writeln!(f, "{}", task.color())?;
            }
            writeln!(f, "  {task}")?;
            task.waits().iter().try_for_each(|wait| writeln!(f, "    {wait}"))?;
        }
        for line in self.seen.sheet.lines() {
            let more = if line.goes_on { ", and more behind them" } else { "" };
            writeln!(f, "{}: closures that are scheduled: {}{more}", line.color, line.closures)?;
        }
        self.unread().iter().try_for_each(|color| {
            writeln!(
                f,
                "{color}: in use or queued all the time, so not all of its tasks are listed"
            )
        })
    }
}

impl Dump {
    fn write_head(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} tasks: {} run, {} have a turn coming, {} wait. The dump took {}",
            self.tasks().len(),
            self.count(TaskState::Running),
            self.count(TaskState::Queued),
            self.count(TaskState::Waiting),
            text(self.took)
        )
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
