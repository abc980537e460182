//! How a report writes numbers: two or three digits, with a unit.

use colored_core::Color;
use std::panic::Location;
use std::time::Duration;

/// A share as `93 %`.
pub(super) fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent >= 1.0 || percent <= 0.0 {
        format!("{percent:.0} %")
    } else {
        format!("{percent:.1} %")
    }
}

/// A factor, as `2.3`.
pub(super) fn factor(factor: f64) -> String {
    if factor >= 100.0 { "more than 100".into() } else { format!("{factor:.1}") }
}

/// A mean number, as `4.1` or `380`.
pub(super) fn number(number: f64) -> String {
    match number {
        number if number >= 999_500.0 => format!("{:.1} million", number / 1e6),
        number if number >= 10_000.0 => format!("{:.0},000", number / 1e3),
        number if number >= 10.0 => format!("{number:.0}"),
        number => format!("{number:.1}"),
    }
}

/// A mean number of tasks: `1 task`, `4.1 tasks`.
pub(super) fn count(tasks: f64) -> String {
    match tasks.round() {
        1.0 if (tasks - 1.0).abs() < 0.05 => "1 task".into(),
        whole if (tasks - whole).abs() < 0.05 && whole < 10.0 => format!("{whole:.0} tasks"),
        _ => format!("{} tasks", number(tasks)),
    }
}

/// A time in seconds, as `1.5 ms`.
pub(super) fn seconds(seconds: f64) -> String {
    let (value, unit) = match seconds {
        seconds if seconds >= 1.0 => (seconds, "s"),
        seconds if seconds >= 1e-3 => (seconds * 1e3, "ms"),
        seconds if seconds >= 1e-6 => (seconds * 1e6, "µs"),
        seconds => (seconds * 1e9, "ns"),
    };
    if value >= 10.0 || unit == "ns" {
        format!("{value:.0} {unit}")
    } else {
        format!("{value:.1} {unit}")
    }
}

/// A time, as `1.5 ms`.
pub(super) fn time(time: Duration) -> String {
    seconds(time.as_secs_f64())
}

/// A color as the subject of a sentence.
pub(super) fn color(color: Color) -> String {
    if color.is_default() { "the default color".into() } else { color.to_string() }
}

/// The place of a spawn, for the end of a sentence.
pub(super) fn spawned(place: Option<&'static Location<'static>>) -> String {
    match place {
        Some(place) => format!("spawned at {place}"),
        None => "a callback of a cell".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::{factor, number, percent, seconds};

    #[test]
    fn numbers_have_few_digits_and_a_unit() {
        assert_eq!([0.0, 0.004, 0.93, 1.0].map(percent), ["0 %", "0.4 %", "93 %", "100 %"]);
        assert_eq!([1.0, 2.34, 1e9].map(factor), ["1.0", "2.3", "more than 100"]);
        let numbers = [0.04, 4.12, 380.4, 12_345.0, 999_999.0, 2.51e6].map(number);
        assert_eq!(numbers, ["0.0", "4.1", "380", "12,000", "1.0 million", "2.5 million"]);
        let times = [4.12, 0.0123, 0.0015, 2e-6, 150e-9].map(seconds);
        assert_eq!(times, ["4.1 s", "12 ms", "1.5 ms", "2.0 µs", "150 ns"]);
    }
}
