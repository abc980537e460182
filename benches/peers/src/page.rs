//! The table and the plot, made from the figures.

use crate::figures::{Figure, Figures};
use crate::rows::{ALL, Row};
use colored_benches::chart::{Axis, Bars, number};
use colored_benches::papers::page;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io;
use std::path::Path;

/// A row of the table: ours and the peers', the best of them first.
struct Line<'a> {
    row: &'static Row,
    ours: &'a Figure,
    peers: Vec<&'a Figure>,
}

impl<'a> Line<'a> {
    fn of(row: &'static Row, figures: &'a [Figure]) -> Option<Self> {
        let (ours, peers) = figures.split_first()?;
        let mut peers: Vec<_> = peers.iter().collect();
        peers.sort_by(|a, b| a.cost.total_cmp(&b.cost));
        (!peers.is_empty()).then_some(Self { row, ours, peers })
    }

    fn best(&self) -> &'a Figure {
        self.peers[0]
    }

    /// Our cost over the best peer's.
    fn ratio(&self) -> f64 {
        self.best().ratio[0]
    }
}

/// Prints a row: one `RATIO` line.
pub(crate) fn print(row: &'static Row, figures: &[Figure]) {
    let Some(line) = Line::of(row, figures) else { return };
    let [ratio, least, most] = line.best().ratio;
    let named = |figure: &&Figure| format!("{}={:.2}", figure.peer, figure.cost);
    let all: Vec<_> = [line.ours].iter().chain(&line.peers).map(named).collect();
    println!(
        "RATIO {} {ratio:.3} ({least:.3} to {most:.3}) {} {}",
        row.name,
        all.join(" "),
        row.unit
    );
}

/// Writes the block of the page at `folder/benchmarks.md`, and its plot.
pub(crate) fn write(folder: &Path, figures: &Figures) -> io::Result<()> {
    let (body, plots) = render(figures);
    page::write(folder, "peers", &body, &plots)
}

/// The block's text, and the plots by file name.
fn render(figures: &Figures) -> (String, Vec<(String, String)>) {
    let lines: Vec<_> = ALL.iter().filter_map(|row| Line::of(row, figures.of(row.name))).collect();
    let mut body = origin(&lines);
    body.push_str("| | ratio | of each process | colored | best peer | the others |\n|---|---:|---:|---:|---:|---|\n");
    for line in &lines {
        body.push_str(&table_row(line));
    }
    body.push_str(&losses(&lines));
    body.push_str(&versions(&lines));
    let plots = match plot(&lines) {
        Some(svg) => {
            body.push_str("\n![our cost over the best peer's, by row](plots/peers.svg)\n");
            vec![(String::from("peers.svg"), svg)]
        }
        None => Vec::new(),
    };
    (body, plots)
}

/// Where and when: one line, or one for each of several runs with the names of its rows.
fn origin(lines: &[Line<'_>]) -> String {
    let mut runs: BTreeMap<_, Vec<&str>> = BTreeMap::new();
    for line in lines {
        let run = (line.ours.date.as_str(), line.ours.machine.as_str());
        runs.entry(run).or_default().push(line.row.name);
    }
    let several = runs.len() > 1;
    let mut text = String::new();
    for ((date, machine), rows) in runs {
        let rows = if several { format!(": {}", rows.join(", ")) } else { String::new() };
        // Writing to a string does not fail.
        let _ = writeln!(text, "*{date}, {machine}{rows}.*\n");
    }
    text
}

fn table_row(line: &Line<'_>) -> String {
    let [ratio, least, most] = line.best().ratio.map(|ratio| format!("{ratio:.2}"));
    let ratio = if line.ratio() < 1.0 { format!("**{ratio}**") } else { ratio };
    let unit = line.row.unit.replace("us", "µs");
    let named = |figure: &&Figure| format!("{} {}", figure.peer, number(figure.cost));
    let others: Vec<_> = line.peers[1..].iter().map(named).collect();
    format!(
        "| {} | {ratio} | {least} to {most} | {} {unit} | {} | {} |\n",
        line.row.text,
        number(line.ours.cost),
        named(&line.best()),
        others.join(", "),
    )
}

/// The rows in which a peer is better.
fn losses(lines: &[Line<'_>]) -> String {
    let lost: Vec<_> = lines.iter().filter(|line| line.ratio() > 1.0).collect();
    if lost.is_empty() {
        return String::from("\nNo peer is better in any row.\n");
    }
    let mut text = format!("\nA peer is better in {} of {} rows:\n\n", lost.len(), lines.len());
    for line in lost {
        let better = line.peers.iter().filter(|peer| peer.ratio[0] > 1.0);
        let names: Vec<_> = better.map(|peer| peer.peer.as_str()).collect();
        // Writing to a string does not fail.
        let _ = writeln!(text, "* `{}`: {}", line.row.name, names.join("; "));
    }
    text
}

fn versions(lines: &[Line<'_>]) -> String {
    let all = lines.iter().flat_map(|line| &line.peers).filter(|peer| !peer.version.is_empty());
    let mut versions: Vec<_> = all
        .filter(|peer| !peer.peer.starts_with("tokio "))
        .filter(|peer| !peer.peer.starts_with("tokio,"))
        .map(|peer| format!("{} {}", peer.peer, peer.version))
        .collect();
    versions.sort_by_key(|text| text.to_lowercase());
    versions.dedup();
    format!("\nVersions: {}.\n", versions.join(", "))
}

fn plot(lines: &[Line<'_>]) -> Option<String> {
    let name = |line: &Line<'_>| format!("{} ({})", line.row.name, line.best().peer);
    let bars = Bars {
        title: String::from("our cost over the best peer's, whose name is in brackets"),
        axis: Axis::log("ratio: below 1, ours is less"),
        groups: lines.iter().map(name).collect(),
        series: vec![(
            String::from("colored over the best peer"),
            lines.iter().map(|line| Some(line.ratio())).collect(),
        )],
    };
    (!lines.is_empty()).then(|| bars.draw())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures() -> Figures {
        let mut figures = Figures::default();
        let found = [("colored", 50.0), ("tokio", 200.0), ("Go", 100.0)];
        figures.replace("call", vec![found.map(|(name, cost)| (name.to_owned(), cost)).into()]);
        let found = [("colored", 3.0), ("tokio", 2.0)];
        figures
            .replace("sleeps_cpu", vec![found.map(|(name, cost)| (name.to_owned(), cost)).into()]);
        figures
    }

    #[test]
    fn the_best_peer_is_named_and_losses_are_listed() {
        let (body, plots) = render(&figures());
        assert!(
            body.contains("| **0.50** | 0.50 to 0.50 | 50 ns/call | Go 100 | tokio 200 |"),
            "{body}"
        );
        assert!(body.contains("| 1.50 | 1.50 to 1.50 | 3 µs/sleep | tokio 2 |  |"), "{body}");
        assert!(body.contains("better in 1 of 2 rows:\n\n* `sleeps_cpu`: tokio\n"), "{body}");
        assert_eq!(plots.len(), 1);
    }

    /// The page is not written by hand: it says what the file of figures says.
    #[test]
    fn the_page_shows_the_figures() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let figures = Figures::read(&here.join("figures.tsv")).expect("it is well-formed");
        let text =
            std::fs::read_to_string(here.join("../../docs/benchmarks.md")).expect("it is there");
        let (body, plots) = render(&figures);
        let written = page::with_block(&text, "peers", &body).expect("it has the block");
        assert!(written == text, "the page does not show what the file of figures says");
        for (file, svg) in plots {
            let plot = here.join("../../docs/plots").join(file);
            assert!(std::fs::read_to_string(&plot).expect("it is there") == svg, "{plot:?}");
        }
    }

    #[test]
    fn every_row_has_a_name_of_its_own() {
        let mut names: Vec<_> = ALL.iter().map(|row| row.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len());
    }
}
