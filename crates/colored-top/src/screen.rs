//! What a screen looks like: [`draw`] for a terminal, [`text`] for everything else.

mod colors;
mod format;
mod help;
mod lists;
mod overview;
mod partitions;
mod report;
mod tasks;
mod workers;

use self::format::{count, seconds};
use crate::app::{App, Page};
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

/// Draws the page that the user wants to see.
pub(crate) fn draw(app: &App, area: Rect, buffer: &mut Buffer) {
    let [top, body, bottom] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(0), Constraint::Length(1)])
            .areas(area);
    header(app).render(top, buffer);
    page(app, body, buffer);
    footer(app).render(bottom, buffer);
}

/// The page as lines of text, without the keys.
pub(crate) fn text(app: &App, width: u16, height: u16) -> String {
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    let [top, body] = Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(area);
    header(app).render(top, &mut buffer);
    page(app, body, &mut buffer);
    let line = |y| -> String { (0..width).map(|x| buffer[(x, y)].symbol()).collect() };
    let lines: Vec<_> = (0..height).map(|y| line(y).trim_end().to_owned()).collect();
    lines.join("\n").trim_end().to_owned() + "\n"
}

fn page(app: &App, area: Rect, buffer: &mut Buffer) {
    let snapshot = &app.snapshot;
    match app.page {
        _ if snapshot.protocol == 0 => "waiting for the program".render(area, buffer),
        Page::Overview => overview::draw(app, area, buffer),
        Page::Colors => colors::draw_all(app, area, buffer),
        Page::Color => colors::draw_one(app, area, buffer),
        Page::Workers => workers::draw_all(app, area, buffer),
        Page::Sites => lists::sites(app, area, buffer),
        Page::Polls => lists::long_polls(snapshot, area, buffer),
        Page::Timers => lists::timers(app, area, buffer),
        Page::Report => report::draw_all(snapshot, area, buffer),
        Page::Tasks => tasks::draw_all(app, area, buffer),
        Page::Task => tasks::draw_one(app, area, buffer),
        Page::Partitions => partitions::draw_all(app, area, buffer),
        Page::Help => help::draw(area, buffer),
    }
}

/// Which program, how old, and what is counted.
fn header(app: &App) -> Line<'static> {
    let snapshot = &app.snapshot;
    let what = match snapshot.window.filter(|_| !app.totals) {
        Some(window) => format!("the last {}", seconds(window)),
        None => "since its begin".into(),
    };
    let mut spans = vec![
        Span::styled(format!("{}[{}]", snapshot.program, snapshot.pid), Style::new().bold()),
        Span::raw(format!(
            " runs for {}: {what}, {}, {}, {}, {}",
            seconds(snapshot.seconds),
            count(snapshot.tasks, "task"),
            count(snapshot.colors_in_use, "color"),
            count(snapshot.active_workers, "worker"),
            count(snapshot.cpus, "CPU"),
        )),
    ];
    if app.paused {
        spans.push(Span::styled("  PAUSED", Style::new().yellow().bold()));
    }
    Line::from(spans)
}

fn footer(app: &App) -> Line<'static> {
    if let Some(text) = &app.traced {
        return Line::styled(text.clone(), Style::new().bold());
    }
    let mut spans = Vec::new();
    for (place, (page, name)) in Page::NUMBERED.into_iter().enumerate() {
        let style = if page == app.page { Style::new().reversed() } else { Style::new() };
        spans.push(Span::styled(format!("{} {name}", place + 1), style));
        spans.push(Span::raw(" "));
    }
    spans.push(Span::raw(" ? help  q quit  p pause  s sort  t total  w trace"));
    Line::from(spans)
}

#[cfg(test)]
mod tests;
