//! The page of the partitions that consumers of logs own.

use super::format::{end, number, seconds};
use crate::app::App;
use crate::model::Partition;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Stylize;
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Widget};

/// The letters of a name.
const NAME: usize = 30;

/// A row for each partition, the one that has stood for longest first, and below it the key that holds it back.
pub(super) fn draw_all(app: &App, area: Rect, buffer: &mut Buffer) {
    if app.snapshot.partitions.is_empty() {
        let text = "partitions: none; consumers tell of theirs if they have the feature `diagnose`";
        return text.render(area, buffer);
    }
    let mut partitions: Vec<_> = app.snapshot.partitions.iter().collect();
    partitions.sort_by(|one, other| other.stood().total_cmp(&one.stood()));
    let titles = ["lag", "in flight", "done above", "retries", "dead letters", "stands"];
    let mut lines = vec![Line::raw(row("partition", titles.map(String::from))).bold()];
    lines.extend(partitions.into_iter().flat_map(describe));
    Paragraph::new(lines).render(area, buffer);
}

fn row(name: &str, cells: [String; 6]) -> String {
    let cells = cells.map(|cell| format!("{cell:>13}")).concat();
    format!("{:<NAME$}{cells}", end(name, NAME))
}

fn describe(partition: &Partition) -> impl Iterator<Item = Line<'static>> + use<> {
    let paused = if partition.paused { " (paused)" } else { "" };
    let first = partition.first.as_ref();
    let of = partition;
    let counts = [of.lag, of.in_flight, of.done_above, of.retries, of.dead_letters];
    let [lag, in_flight, done_above, retries, dead] = counts.map(|count| number(count as f64));
    let stands = first.map_or_else(String::new, |first| seconds(first.seconds));
    let cells = [lag, in_flight, done_above, retries, dead, stands];
    let line = Line::raw(row(&format!("{}{paused}", of.partition), cells));
    // What keeps records above it from being committed is worth a look.
    let holds = of.done_above > 0 && of.stood() >= 1.0;
    let held_by = first.map(|first| {
        let failed = match first.attempts {
            0 => String::new(),
            1 => String::from(", failed once"),
            attempts => format!(", failed {attempts} times"),
        };
        let (key, offset, waits_for) = (&first.key, first.offset, &first.waits_for);
        Line::raw(format!("  {key} at {offset}{failed}: {waits_for}"))
    });
    let lines = std::iter::once(line).chain(held_by);
    lines.map(move |line| if holds { line.yellow() } else { line })
}
