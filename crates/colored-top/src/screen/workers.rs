//! Workers: a bar each, and the page with their counters.

use super::format::{number, percent, ratio, seconds};
use crate::app::App;
use crate::model::{Both, Worker};
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Row, Table, Widget};

/// The cells of a bar.
const WIDTH: usize = 40;

/// A part of a worker's time: its name, its cell, its color on the screen, and how long it was.
type Part = (&'static str, &'static str, Color, fn(&Worker) -> f64);

/// The parts of a worker's time, in the order of the bar.
const PARTS: [Part; 5] = [
    ("run", "█", Color::Green, |worker| worker.run),
    ("search", "▒", Color::Yellow, |worker| worker.search),
    ("I/O", "▓", Color::Blue, |worker| worker.io),
    ("timers", "▚", Color::Magenta, |worker| worker.timers),
    ("parked", "·", Color::DarkGray, |worker| worker.parked),
];

/// The workers that have done something, and those that are in use.
fn present(app: &App) -> impl Iterator<Item = (usize, &Both<Worker>)> {
    let active = app.snapshot.active_workers as usize;
    let workers = app.snapshot.workers.iter().enumerate();
    workers.filter(move |(index, worker)| *index < active || worker.of(app.totals).run > 0.0)
}

/// A line a worker, for so many, and a line that explains them.
pub(super) fn bars(app: &App, most: usize) -> Vec<Line<'static>> {
    let mut lines: Vec<_> =
        present(app).take(most).map(|(index, worker)| bar(index, worker.of(app.totals))).collect();
    let more = present(app).count().saturating_sub(most);
    let mut legend = vec![Span::raw("           ")];
    for (name, cell, color, _) in PARTS {
        legend.push(Span::styled(cell, Style::new().fg(color)));
        legend.push(Span::raw(format!(" {name}  ")));
    }
    if more > 0 {
        legend.push(Span::raw(format!("and {more} more workers on page 3")));
    }
    lines.push(Line::from(legend));
    lines
}

fn bar(index: usize, worker: &Worker) -> Line<'static> {
    let length = worker.length();
    let mut spans = vec![Span::raw(format!("worker {index:>2} [")).bold()];
    let (mut sum, mut drawn) = (0.0, 0);
    for (_, cell, color, part) in PARTS {
        sum += ratio(part(worker), length);
        let end = (sum * WIDTH as f64).round() as usize;
        spans.push(Span::styled(cell.repeat(end.saturating_sub(drawn)), Style::new().fg(color)));
        drawn = drawn.max(end);
    }
    spans.push(Span::raw(" ".repeat(WIDTH.saturating_sub(drawn))));
    let parts = PARTS.map(|(name, _, _, part)| format!("{name} {}", percent(part(worker), length)));
    spans.push(Span::raw(format!("] {}", parts.join("  "))));
    Line::from(spans)
}

/// Bars and counters of all workers.
pub(super) fn draw_all(app: &App, area: Rect, buffer: &mut Buffer) {
    let bars = bars(app, usize::MAX);
    let [top, bottom] =
        Layout::vertical([Constraint::Max(bars.len() as u16 + 1), Constraint::Min(0)]).areas(area);
    Paragraph::new(bars).render(top, buffer);
    let row = |(index, worker): (usize, &Both<Worker>)| {
        let worker = worker.of(app.totals);
        let rate = |count: u64| number(ratio(count as f64, worker.length()));
        Row::new([
            format!("worker {index}"),
            rate(worker.polls),
            rate(worker.slices),
            rate(worker.steals),
            rate(worker.parks),
            seconds(ratio(worker.run, worker.slices as f64)),
            worker.delayed.map_or("unknown".into(), |time| percent(time, worker.length())),
        ])
    };
    let titles = ["", "polls/s", "slices/s", "steals/s", "sleeps/s", "a slice", "had no CPU"];
    let widths = [12, 10, 10, 10, 10, 10, 12].map(Constraint::Length);
    Table::new(present(app).map(row), widths)
        .header(Row::new(titles).style(Style::new().bold()))
        .render(bottom, buffer);
}
