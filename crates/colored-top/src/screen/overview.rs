//! The first page: the verdict, the workers, the colors, the warnings, the recorder.

use super::{colors, report, workers};
use crate::app::App;
use crate::model::Snapshot;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Widget};

/// The colors on this page.
const COLORS: usize = 10;

/// The workers on this page.
const WORKERS: usize = 8;

pub(super) fn draw(app: &App, area: Rect, buffer: &mut Buffer) {
    let snapshot = &app.snapshot;
    let verdict = report::verdict(snapshot);
    // Lines are broken between words, so one more may be needed than their width says.
    let lines = verdict.width() / usize::from(area.width.max(1)) + 2;
    // With the titles.
    let rows = snapshot.colors.len().min(COLORS) as u16 + 1;
    let bars = workers::bars(app, WORKERS);
    let heights = [lines.min(5) as u16, bars.len() as u16 + 1, rows + 1];
    let heights = heights.map(Constraint::Length).into_iter().chain([Constraint::Min(0)]);
    let [top, middle, table, rest] = Layout::vertical(heights).areas(area);
    Paragraph::new(verdict).wrap(report::WRAP).render(top, buffer);
    Paragraph::new(bars).render(middle, buffer);
    let [table, _] = Layout::vertical([Constraint::Length(rows), Constraint::Min(0)]).areas(table);
    colors::table(app, table, buffer);
    let mut lines = report::warnings(snapshot);
    lines.push(recorder(snapshot));
    Paragraph::new(lines).wrap(report::WRAP).render(rest, buffer);
}

/// What the runtime records.
fn recorder(snapshot: &Snapshot) -> Line<'static> {
    let waits = if snapshot.measures_waits {
        "waits are measured"
    } else {
        "waits are not measured, and run times are samples"
    };
    let style = if snapshot.measures_waits { Style::new() } else { Style::new().yellow() };
    Line::styled(format!("recorder: level {}, {waits}", snapshot.level), style)
}
