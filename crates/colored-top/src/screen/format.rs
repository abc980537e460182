//! How numbers are written: three digits or so.

/// A time, as `1.5 ms`, or `2 h 5 min`.
pub(super) fn seconds(seconds: f64) -> String {
    if seconds >= 120.0 {
        let minutes = (seconds / 60.0) as u64;
        return match minutes {
            0..120 => format!("{minutes} min"),
            120..2880 => format!("{} h {} min", minutes / 60, minutes % 60),
            _ => format!("{} d {} h", minutes / 1440, minutes / 60 % 24),
        };
    }
    let (value, unit) = match seconds {
        seconds if seconds >= 1.0 || seconds <= 0.0 => (seconds, "s"),
        seconds if seconds >= 1e-3 => (seconds * 1e3, "ms"),
        seconds if seconds >= 1e-6 => (seconds * 1e6, "µs"),
        seconds => (seconds * 1e9, "ns"),
    };
    if value >= 10.0 || value <= 0.0 {
        format!("{value:.0} {unit}")
    } else {
        format!("{value:.1} {unit}")
    }
}

/// A number, as `7`, `4.1`, `380`, `12 k` or `3.4 M`.
pub(super) fn number(number: f64) -> String {
    match number {
        number if number >= 1e7 => format!("{:.0} M", number / 1e6),
        number if number >= 1e6 => format!("{:.1} M", number / 1e6),
        number if number >= 1e4 => format!("{:.0} k", number / 1e3),
        number if number >= 10.0 || number.fract() == 0.0 => format!("{number:.0}"),
        number => format!("{number:.1}"),
    }
}

/// The count with the name, in the plural unless it is one.
pub(super) fn count(count: u64, name: &str) -> String {
    format!("{} {name}{}", number(count as f64), if count == 1 { "" } else { "s" })
}

/// The end of a text that is longer than so many letters: of a path it tells more than the beginning.
pub(super) fn end(text: &str, most: usize) -> String {
    match text.chars().count().checked_sub(most) {
        Some(more @ 1..) => format!("…{}", text.chars().skip(more + 1).collect::<String>()),
        _ => text.to_owned(),
    }
}

/// `part` of `whole` as `93 %`.
pub(super) fn percent(part: f64, whole: f64) -> String {
    format!("{:.0} %", 100.0 * ratio(part, whole))
}

/// `part` by `whole`, and 0 of nothing.
pub(super) fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::{count, end, number, percent, seconds};

    #[test]
    fn numbers_have_few_digits() {
        let times = [0.0, 0.5, 12.3, 150.0, 7500.0, 200_000.0].map(seconds);
        assert_eq!(times, ["0 s", "500 ms", "12 s", "2 min", "2 h 5 min", "2 d 7 h"]);
        assert_eq!([2e-9, 1.5e-6, 0.0123].map(seconds), ["2.0 ns", "1.5 µs", "12 ms"]);
        let numbers = [0.0, 7.0, 4.12, 380.4, 12_345.0, 3.4e6, 25e6].map(number);
        assert_eq!(numbers, ["0", "7", "4.1", "380", "12 k", "3.4 M", "25 M"]);
        assert_eq!([1, 2].map(|all| count(all, "task")), ["1 task", "2 tasks"]);
        assert_eq!(["src/b.rs", "src/bc.rs"].map(|text| end(text, 8)), ["src/b.rs", "…c/bc.rs"]);
        assert_eq!(percent(0.93, 1.0), "93 %");
        assert_eq!(percent(1.0, 0.0), "0 %");
    }
}
