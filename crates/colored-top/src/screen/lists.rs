//! The pages of places, long polls and timers.

use super::format::{number, percent, ratio, seconds};
use crate::app::App;
use crate::model::{Site, Snapshot, name};
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Rect};
use ratatui::style::Style;
use ratatui::widgets::{Paragraph, Row, Table, Widget};

/// Where tasks are spawned, and how long they run.
pub(super) fn sites(app: &App, area: Rect, buffer: &mut Buffer) {
    let run = |site: &Site| {
        let usage = site.usage.of(app.totals);
        usage.run_default + usage.run_colored
    };
    let mut sites: Vec<_> = app.snapshot.sites.iter().collect();
    sites.sort_by(|one, other| run(other).total_cmp(&run(one)));
    let all: f64 = sites.iter().map(|site| run(site)).sum();
    let row = |site: &Site| {
        Row::new([
            percent(run(site), all),
            seconds(site.usage.of(app.totals).run_default),
            seconds(site.usage.of(app.totals).run_colored),
            site.site.clone().unwrap_or("callbacks".into()),
        ])
    };
    let titles = ["run", "default color", "other colors", "spawned at (samples)"];
    let widths = [6, 14, 14].map(Constraint::Length).into_iter().chain([Constraint::Min(30)]);
    Table::new(sites.into_iter().map(row), widths)
        .header(Row::new(titles).style(Style::new().bold()))
        .render(area, buffer);
}

/// The latest long polls, the youngest first.
pub(super) fn long_polls(snapshot: &Snapshot, area: Rect, buffer: &mut Buffer) {
    if snapshot.long_polls.is_empty() {
        return "long polls: none so far".render(area, buffer);
    }
    let rows = snapshot.long_polls.iter().rev().map(|poll| {
        Row::new([
            seconds(poll.seconds),
            poll.cpu.map_or("unknown".into(), |time| percent(time, poll.seconds)),
            poll.worker.to_string(),
            name(&poll.color).to_owned(),
            poll.site.clone().unwrap_or("callback".into()),
        ])
    });
    let titles = ["long poll", "on a CPU", "worker", "color", "spawned at"];
    let widths = [9, 9, 7, 24].map(Constraint::Length).into_iter().chain([Constraint::Min(30)]);
    Table::new(rows, widths)
        .header(Row::new(titles).style(Style::new().bold()))
        .render(area, buffer);
}

/// Timers.
pub(super) fn timers(app: &App, area: Rect, buffer: &mut Buffer) {
    let timers = app.snapshot.timers;
    let usage = timers.usage.of(app.totals);
    let length = app.snapshot.window.filter(|_| !app.totals).unwrap_or(app.snapshot.seconds);
    let time: f64 = app.snapshot.workers.iter().map(|worker| worker.of(app.totals).timers).sum();
    let awake: f64 = app
        .snapshot
        .workers
        .iter()
        .map(|worker| worker.of(app.totals))
        .map(|worker| worker.length() - worker.parked)
        .sum();
    let text = format!(
        "{} timers are set\n{} fired a second, {} at a time\nwaking their tasks took {} of the time in which workers were awake\n{} times a second a sleeping worker was woken by another thread",
        number(timers.pending as f64),
        number(ratio(usage.fired as f64, length)),
        number(ratio(usage.fired as f64, usage.turns as f64)),
        percent(time, awake),
        number(ratio(*app.snapshot.wakes.of(app.totals) as f64, length)),
    );
    Paragraph::new(text).render(area, buffer);
}
