//! Tasks and what they wait for: the list, and the page of one task.

use super::format::{count, end, seconds};
use crate::app::{App, Page};
use crate::model::{Dump, Task, name};
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Style, Stylize};
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Row, StatefulWidget, Table, TableState, Widget};

/// The letters of a place.
const SITE: usize = 30;

/// The tasks, and cycles of waits above them.
pub(super) fn draw_all(app: &App, area: Rect, buffer: &mut Buffer) {
    let Some(dump) = &app.dump else { return "waiting for the list of tasks".render(area, buffer) };
    let notes = notes(dump);
    let heights = [Constraint::Max(notes.len() as u16), Constraint::Min(0)];
    let [top, bottom] = Layout::vertical(heights).areas(area);
    Paragraph::new(notes).render(top, buffer);
    let row = |task: &&Task| {
        let waits: Vec<_> = task.waits.iter().map(|wait| wait.text.as_str()).collect();
        let waits = if waits.is_empty() { task.state.clone() } else { waits.join("; ") };
        Row::new([task.title(), name(&task.color).to_owned(), waits, end(&task.spawned, SITE)])
    };
    let widths = [
        Constraint::Length(14),
        Constraint::Length(16),
        Constraint::Min(20),
        Constraint::Length(SITE as u16),
    ];
    let rows: Vec<_> = app.tasks().iter().map(row).collect();
    let table = Table::new(rows, widths)
        .header(Row::new(["task", "color", "does", "spawned at"]).style(Style::new().bold()))
        .row_highlight_style(Style::new().reversed());
    let marked = (app.page == Page::Tasks).then_some(app.row);
    let mut state = TableState::new().with_selected(marked);
    StatefulWidget::render(table, bottom, buffer, &mut state);
}

fn notes(dump: &Dump) -> Vec<Line<'static>> {
    let mut notes: Vec<_> =
        dump.deadlocks.iter().map(|text| Line::raw(text.clone()).red().bold()).collect();
    notes.extend(dump.error.iter().map(|text| Line::raw(text.clone()).yellow()));
    if !dump.unread.is_empty() {
        let colors = count(dump.unread.len() as u64, "color");
        notes.push(Line::raw(format!("{colors} could not be read: they were busy")).yellow());
    }
    notes
}

/// Everything about the task that was chosen.
pub(super) fn draw_one(app: &App, area: Rect, buffer: &mut Buffer) {
    let chosen = app.chosen_task.unwrap_or_default();
    let Some(task) = app.tasks().into_iter().find(|task| task.id == chosen) else {
        return format!("task {chosen} has ended").render(area, buffer);
    };
    let mut lines = vec![
        Line::raw(format!("task {}", task.title())).bold(),
        Line::raw(format!("  under color {}", name(&task.color))),
        Line::raw(format!("  spawned at {}", task.spawned)),
        Line::raw(format!("  {}", task.state)),
    ];
    for wait in &task.waits {
        lines.push(Line::raw(format!("  {}", wait.text)));
        let time = wait.seconds.map(|time| format!("for {}", seconds(time)));
        let site = wait.site.as_ref().map(|site| format!("at {site}"));
        let both: Vec<_> = time.into_iter().chain(site).collect();
        if !both.is_empty() {
            lines.push(Line::raw(format!("    {}", both.join(", "))));
        }
    }
    Paragraph::new(lines).render(area, buffer);
}
