//! Colors: the table, and the page of one color.

use super::format::{number, percent, ratio, seconds};
use crate::app::{App, Column, Page};
use crate::model::{Color, Usage, name};
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Style, Stylize};
use ratatui::text::Line;
use ratatui::widgets::{Cell, Paragraph, Row, StatefulWidget, Table, TableState, Widget};

/// The title of a column, and its width; 0 is what is left.
fn layout(column: Column) -> (&'static str, u16) {
    match column {
        Column::Name => ("color", 0),
        Column::Busy => ("busy", 6),
        Column::Waits => ("waits", 9),
        Column::WaitColor => ("for color", 10),
        Column::WaitCpu => ("for CPU", 9),
        Column::Depth => ("depth", 7),
        Column::Turns => ("turns/s", 9),
        Column::Moves => ("moves/s", 9),
    }
}

/// The length of what is counted.
fn length(app: &App) -> f64 {
    app.snapshot.window.filter(|_| !app.totals).unwrap_or(app.snapshot.seconds)
}

/// All colors that the program has told.
pub(super) fn draw_all(app: &App, area: Rect, buffer: &mut Buffer) {
    let [top, bottom] = Layout::vertical([Constraint::Min(0), Constraint::Length(2)]).areas(area);
    table(app, top, buffer);
    let (others, length) = (app.snapshot.others.of(app.totals), length(app));
    let told = app.snapshot.colors.len();
    let text = format!(
        "{told} of {} colors in use; colors that are gone: busy {}, waits {}\n\
         busy: of one CPU; waits: the mean number of tasks that wait; depth: tasks in line now",
        app.snapshot.colors_in_use,
        percent(others.run + others.kept, length),
        number(ratio(others.wait_color + others.wait_cpu, length)),
    );
    Paragraph::new(text).dim().render(bottom, buffer);
}

/// The colors in the order that is wanted, as many as there is room for.
pub(super) fn table(app: &App, area: Rect, buffer: &mut Buffer) {
    let length = length(app);
    let row = |color: &&Color| {
        let usage = color.usage.of(app.totals);
        Row::new(Column::ALL.map(|column| match column {
            Column::Name => Cell::new(title(color)),
            _ => Cell::new(Line::raw(value(column, usage, length)).right_aligned()),
        }))
    };
    let titles = Column::ALL.map(|column| {
        let title = Line::raw(layout(column).0);
        let title = if column == Column::Name { title } else { title.right_aligned() };
        Cell::new(if column == app.column { title.reversed() } else { title })
    });
    let widths = Column::ALL.map(|column| match layout(column).1 {
        0 => Constraint::Min(16),
        width => Constraint::Length(width),
    });
    let rows: Vec<_> = app.colors().iter().map(row).collect();
    let table = Table::new(rows, widths)
        .header(Row::new(titles).style(Style::new().bold()))
        .row_highlight_style(Style::new().reversed());
    let marked = matches!(app.page, Page::Overview | Page::Colors).then_some(app.row);
    let mut state = TableState::new().with_selected(marked);
    StatefulWidget::render(table, area, buffer, &mut state);
}

fn title(color: &Color) -> String {
    match color.priority.as_str() {
        "normal" | "" => color.name().to_owned(),
        priority => format!("{} ({priority})", color.name()),
    }
}

fn value(column: Column, usage: &Usage, length: f64) -> String {
    let rate = |count: u64| number(ratio(count as f64, length));
    match column {
        Column::Name => String::new(),
        Column::Busy => percent(usage.run + usage.kept, length),
        Column::Waits => number(ratio(usage.wait_color + usage.wait_cpu, length)),
        Column::WaitColor => number(ratio(usage.wait_color, length)),
        Column::WaitCpu => number(ratio(usage.wait_cpu, length)),
        Column::Depth => number(usage.depth as f64),
        Column::Turns => rate(usage.turns),
        Column::Moves => rate(usage.moves),
    }
}

/// Everything about the color that was chosen.
pub(super) fn draw_one(app: &App, area: Rect, buffer: &mut Buffer) {
    let chosen = app.chosen.as_deref().unwrap_or_default();
    let Some(color) = app.snapshot.colors.iter().find(|color| color.name() == chosen) else {
        let text = format!("color {chosen}: the program tells nothing of it at the moment");
        return text.render(area, buffer);
    };
    let mut lines = vec![Line::raw(format!("color {}", title(color))).bold(), Line::raw("")];
    let usages = [
        ("since the begin", Some(&color.usage.total), app.snapshot.seconds),
        ("in the window", color.usage.window.as_ref(), app.snapshot.window.unwrap_or_default()),
    ];
    for (when, usage, length) in usages {
        let Some(usage) = usage else { continue };
        lines.push(Line::raw(format!("{when}, {}", seconds(length))).bold());
        lines.extend(facts(usage, length).map(Line::raw));
        lines.push(Line::raw(""));
    }
    let polls = app.snapshot.long_polls.iter().filter(|poll| name(&poll.color) == chosen);
    let polls: Vec<_> = polls.rev().take(5).collect();
    if !polls.is_empty() {
        lines.push(Line::raw("latest long polls").bold());
    }
    for poll in polls {
        let site = poll.site.as_deref().unwrap_or("a callback");
        lines.push(Line::raw(format!("  {} by {site}", seconds(poll.seconds))));
    }
    Paragraph::new(lines).render(area, buffer);
}

fn facts(usage: &Usage, length: f64) -> [String; 5] {
    let turn = ratio(usage.run, usage.turns as f64);
    let wait = |time: f64| seconds(ratio(time, usage.turns as f64));
    [
        format!(
            "  busy {}: ran {}, kept {}",
            percent(usage.run + usage.kept, length),
            seconds(usage.run),
            seconds(usage.kept)
        ),
        format!(
            "  waits for the color {}, {} a turn",
            seconds(usage.wait_color),
            wait(usage.wait_color)
        ),
        format!("  waits for a CPU {}, {} a turn", seconds(usage.wait_cpu), wait(usage.wait_cpu)),
        format!(
            "  {} turns of {}, {} slices, {} on another worker than the one before",
            number(usage.turns as f64),
            seconds(turn),
            number(usage.slices as f64),
            number(usage.moves as f64)
        ),
        format!("  depth {}, at most {}", usage.depth, usage.max_depth),
    ]
}
