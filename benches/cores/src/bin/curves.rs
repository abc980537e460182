//! Draws the gains that `cores` has printed: `curves TITLE < PRINTED > PLOT.svg`.

use colored_figures::chart::{Axis, Chart, Series};
use std::io::{Read, stdin};

/// The load, the workers and the gain of a line that `cores` has printed.
fn parsed(line: &str) -> Option<(&str, f64, f64)> {
    let (head, rest) = line.split_once(" workers ")?;
    let (name, workers) = head.trim_end().rsplit_once(' ')?;
    let (_, rest) = rest.split_once("gain ")?;
    let (gain, _) = rest.split_once(',')?;
    Some((name.trim(), workers.parse().ok()?, gain.trim().parse().ok()?))
}

fn main() {
    let title = std::env::args().nth(1).unwrap_or_default();
    let mut text = String::new();
    stdin().read_to_string(&mut text).expect("what was printed");
    let mut series = Vec::<Series>::new();
    for (name, workers, gain) in text.lines().filter_map(parsed) {
        match series.iter_mut().find(|series| series.name == name) {
            Some(series) => series.points.push((workers, gain)),
            None => series.push(Series::measured(name, vec![(workers, gain)])),
        }
    }
    let most = series.iter().flat_map(|series| &series.points).map(|point| point.0);
    let most = most.fold(1.0, f64::max);
    series.push(Series::reference("as many times", vec![(1.0, 1.0), (most, most)]));
    let (x, y) = (Axis::log("workers"), Axis::log("throughput over that of one worker"));
    print!("{}", Chart { title, x, y, series }.draw());
}

#[cfg(test)]
mod tests {
    use super::parsed;

    #[test]
    fn a_line_has_a_load_a_number_and_a_gain() {
        let line =
            "empty storm    32 workers     282.5 ns/op, gain   0.22, efficiency 0.01; asleep 7 %";
        assert_eq!(parsed(line), Some(("empty storm", 32.0, 0.22)));
        assert_eq!(parsed("      deque    4 moves, moving 1 %"), None);
    }
}
