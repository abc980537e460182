//! [`History`]: the latest snapshots, which all readers share.

use super::paced;
use crate::dump::{Patience, partitions, sample};
use crate::report::Report;
use crate::subject::Subject;
use crate::usage::{ColorUsage, Snapshot, Waits, Window, snapshot};
use crate::wall;
use std::cmp::Reverse;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The time between two looks at the workers, while a reader waits.
const LOOK: Duration = Duration::from_millis(50);

/// The windows of a report: 5 s.
const WINDOWS: usize = 10;

/// The colors that a window keeps, so that ten of them take 16 MB at most. The report takes the rest for colors that are
/// gone, and each of the rest has less to do than ten thousand others.
const COLORS: usize = 10_000;

/// Of more tasks a snapshot does not tell what they wait for: a look takes 15 ms.
const MOST_TASKS: u64 = 20_000;

/// The latest snapshot, and the windows before it.
#[derive(Default)]
pub(super) struct History {
    latest: Option<(Instant, Snapshot)>,
    windows: VecDeque<Window>,
    /// Looks at the workers since the latest snapshot, and how many were blocked in them.
    looks: u32,
    blocked: usize,
}

impl History {
    /// How long it takes until the next look at the workers, or the next snapshot.
    pub(super) fn rest(&self) -> Duration {
        self.wait().min(LOOK)
    }

    /// Looks which workers are blocked, so that the report can tell.
    pub(super) fn look(&mut self, subject: &dyn Subject) {
        let (scheduler, threads) = (subject.scheduler(), &subject.diagnosis().threads);
        let workers = 0..scheduler.workers() + scheduler.spares();
        self.blocked += workers.filter(|worker| threads.is_blocked(*worker, scheduler)).count();
        self.looks += 1;
    }

    /// How long it takes until the next snapshot may be made.
    pub(super) fn wait(&self) -> Duration {
        paced::rest(self.latest.as_ref().map(|(made, _)| *made))
    }

    /// Makes a snapshot.
    pub(super) fn make(&mut self, subject: &dyn Subject) {
        let now = wall::now();
        let snapshot = snapshot(subject);
        if let Some((_, before)) = &self.latest {
            if self.windows.len() == WINDOWS {
                self.windows.pop_front();
            }
            let mut window = bounded(Window::between(before, &snapshot));
            window.blocked = Some(self.blocked as f64 / f64::from(self.looks.max(1)));
            window.waits.extend(waits(subject));
            window.partitions = partitions(subject, MOST_TASKS);
            self.windows.push_back(window);
        } else {
            subject.diagnosis().partitions.refresh();
        }
        self.latest = Some((now, snapshot));
        (self.looks, self.blocked) = (0, 0);
    }

    /// The latest snapshot.
    pub(super) fn latest(&self) -> Option<&Snapshot> {
        self.latest.as_ref().map(|(_, snapshot)| snapshot)
    }

    /// What was used up to the latest snapshot.
    pub(super) fn window(&self) -> Option<&Window> {
        self.windows.back()
    }

    /// What the windows tell.
    pub(super) fn report(&mut self) -> Option<Report> {
        (!self.windows.is_empty()).then(|| Report::of(self.windows.make_contiguous()))
    }
}

/// What the tasks wait for at this moment, unless there are too many of them.
fn waits(subject: &dyn Subject) -> Option<Waits> {
    let is_allowed = subject.scheduler().live_tasks() <= MOST_TASKS;
    is_allowed.then(|| sample(subject, Patience::Some)).flatten()
}

/// The window, with the colors that matter most.
fn bounded(mut window: Window) -> Window {
    if window.colors.len() > COLORS {
        let weight = |color: &ColorUsage| {
            Reverse(color.usage.busy() + color.usage.wait_color + color.usage.wait_cpu)
        };
        window.colors.sort_by_key(weight);
        for color in window.colors.drain(COLORS..) {
            window.others += color.usage;
        }
        window.colors.shrink_to_fit();
    }
    window
}

#[cfg(test)]
mod tests {
    use super::{COLORS, bounded};
    use crate::usage::{ColorUsage, Usage, Window};
    use colored_core::{Color, Priority};
    use std::time::Duration;

    #[test]
    fn a_window_keeps_the_colors_that_matter_and_the_sum_of_the_rest() {
        let color = |number: u64| {
            let mut usage = Usage::default();
            (usage.run, usage.turns) = (Duration::from_nanos(number), 1);
            let color = Color::new(number);
            ColorUsage { color, usage, error: Duration::ZERO, priority: Priority::Normal }
        };
        let many = COLORS as u64 + 3;
        let colors = (1..=many).map(color).collect();
        let window = bounded(Window { colors, ..Window::default() });
        assert_eq!(window.colors.len(), COLORS);
        assert!(window.colors.iter().all(|color| color.usage.run >= Duration::from_nanos(4)));
        assert_eq!(window.others.run, Duration::from_nanos(1 + 2 + 3));
        assert_eq!(window.others.turns, 3);
    }
}
