//! [`App`]: what is shown, and what the keys change.

use crate::model::{Color, Dump, Snapshot, Task};
use crossterm::event::KeyCode;
use std::cmp::Ordering;

/// A page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Page {
    #[default]
    Overview,
    Colors,
    Color,
    Workers,
    Sites,
    Polls,
    Timers,
    Report,
    Tasks,
    Task,
    Partitions,
    Help,
}

impl Page {
    /// The pages with a key of their own, which is the place in the list, from 1.
    pub(crate) const NUMBERED: [(Self, &'static str); 9] = [
        (Self::Overview, "overview"),
        (Self::Colors, "colors"),
        (Self::Workers, "workers"),
        (Self::Sites, "sites"),
        (Self::Polls, "polls"),
        (Self::Timers, "timers"),
        (Self::Report, "report"),
        (Self::Tasks, "tasks"),
        (Self::Partitions, "partitions"),
    ];
}

/// A column of the colors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Column {
    Name,
    Busy,
    #[default]
    Waits,
    WaitColor,
    WaitCpu,
    Depth,
    Turns,
    Moves,
}

impl Column {
    pub(crate) const ALL: [Self; 8] = [
        Self::Name,
        Self::Busy,
        Self::Waits,
        Self::WaitColor,
        Self::WaitCpu,
        Self::Depth,
        Self::Turns,
        Self::Moves,
    ];

    /// Whether `one` comes before `other`: largest first, names in order.
    fn compare(self, one: &Color, other: &Color, totals: bool) -> Ordering {
        let (a, b) = (one.usage.of(totals), other.usage.of(totals));
        let largest = |value: fn(&crate::model::Usage) -> f64| value(b).total_cmp(&value(a));
        let by_name = || one.name().cmp(other.name());
        let order = match self {
            Self::Name => by_name(),
            Self::Busy => largest(|usage| usage.run + usage.kept),
            Self::Waits => largest(|usage| usage.wait_color + usage.wait_cpu),
            Self::WaitColor => largest(|usage| usage.wait_color),
            Self::WaitCpu => largest(|usage| usage.wait_cpu),
            Self::Depth => b.depth.cmp(&a.depth),
            Self::Turns => b.turns.cmp(&a.turns),
            Self::Moves => b.moves.cmp(&a.moves),
        };
        // What runs without waits comes before what does nothing.
        order.then_with(|| largest(|usage| usage.run + usage.kept)).then_with(by_name)
    }
}

/// What is shown.
#[derive(Debug, Default)]
pub(crate) struct App {
    pub(crate) snapshot: Snapshot,
    /// The tasks, once somebody has wanted to see them.
    pub(crate) dump: Option<Dump>,
    pub(crate) page: Page,
    pub(crate) column: Column,
    /// Sums since the begin of the runtime, in place of the latest window.
    pub(crate) totals: bool,
    /// New snapshots are not shown.
    pub(crate) paused: bool,
    /// The row that is marked.
    pub(crate) row: usize,
    /// The color of the page of one color.
    pub(crate) chosen: Option<String>,
    /// The task of the page of one task.
    pub(crate) chosen_task: Option<u64>,
    /// A trace file is wanted.
    pub(crate) wants_trace: bool,
    /// What came of the last one.
    pub(crate) traced: Option<String>,
    pub(crate) ends: bool,
}

impl App {
    /// Takes a snapshot, unless it is paused.
    pub(crate) fn show(&mut self, snapshot: Snapshot) {
        if !self.paused {
            self.snapshot = snapshot;
        }
    }

    /// Takes a dump, unless it is paused.
    pub(crate) fn show_tasks(&mut self, dump: Dump) {
        if !self.paused {
            self.dump = Some(dump);
        }
    }

    /// Takes what came of a trace file.
    pub(crate) fn show_trace(&mut self, text: String) {
        self.traced = Some(text);
    }

    /// Whether a page shows tasks, which the program does not list otherwise.
    pub(crate) fn wants_tasks(&self) -> bool {
        matches!(self.page, Page::Tasks | Page::Task)
    }

    /// The tasks, the one that waits for longest first.
    pub(crate) fn tasks(&self) -> Vec<&Task> {
        let mut tasks: Vec<_> = self.dump.iter().flat_map(|dump| &dump.tasks).collect();
        tasks.sort_by(|one, other| {
            other.waited().total_cmp(&one.waited()).then(one.id.cmp(&other.id))
        });
        tasks
    }

    /// The colors in the order that is wanted.
    pub(crate) fn colors(&self) -> Vec<&Color> {
        let mut colors: Vec<_> = self.snapshot.colors.iter().collect();
        colors.sort_by(|one, other| self.column.compare(one, other, self.totals));
        colors
    }

    /// A key was pressed.
    pub(crate) fn press(&mut self, key: KeyCode) {
        self.traced = None;
        match key {
            KeyCode::Char('q') => self.ends = true,
            KeyCode::Esc => {
                self.page = match self.page {
                    Page::Color => Page::Colors,
                    Page::Task => Page::Tasks,
                    _ => Page::Overview,
                };
            }
            KeyCode::Char('?' | 'h') => self.page = Page::Help,
            KeyCode::Char('p' | ' ') => self.paused = !self.paused,
            KeyCode::Char('t') => self.totals = !self.totals,
            KeyCode::Char('w') => self.wants_trace = true,
            KeyCode::Char('s') | KeyCode::Right => self.sort_by_next(1),
            KeyCode::Left => self.sort_by_next(Column::ALL.len() - 1),
            KeyCode::Up => self.row = self.row.saturating_sub(1),
            KeyCode::Down => {
                let tasks = self.dump.as_ref().map_or(0, |dump| dump.tasks.len());
                let rows = if self.wants_tasks() { tasks } else { self.snapshot.colors.len() };
                self.row = (self.row + 1).min(rows.saturating_sub(1));
            }
            KeyCode::Enter if self.page == Page::Tasks => {
                let chosen = self.tasks().get(self.row).map(|task| task.id);
                if chosen.is_some() {
                    (self.chosen_task, self.page) = (chosen, Page::Task);
                }
            }
            KeyCode::Enter if matches!(self.page, Page::Overview | Page::Colors) => {
                let chosen = self.colors().get(self.row).map(|color| color.name().to_owned());
                if chosen.is_some() {
                    (self.chosen, self.page) = (chosen, Page::Color);
                }
            }
            KeyCode::Char(digit) => {
                let place = digit.to_digit(10).and_then(|digit| (digit as usize).checked_sub(1));
                if let Some((page, _)) = place.and_then(|place| Page::NUMBERED.get(place)) {
                    self.page = *page;
                }
            }
            _ => {}
        }
    }

    fn sort_by_next(&mut self, steps: usize) {
        let place = Column::ALL.iter().position(|column| *column == self.column).unwrap_or(0);
        self.column = Column::ALL[(place + steps) % Column::ALL.len()];
    }
}
