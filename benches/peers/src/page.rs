//! The table and the plots, made from the figures.

mod plots;

use crate::figures::{Figure, Figures};
use crate::rows::{ALL, Row};
use colored_benches::chart::number;
use colored_benches::page;
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

    /// Ours, then the peers'.
    fn all(&self) -> impl Iterator<Item = &'a Figure> {
        [self.ours].into_iter().chain(self.peers.iter().copied())
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
    let named = |figure: &Figure| format!("{}={:.2}", figure.peer, figure.cost);
    let all: Vec<_> = line.all().map(named).collect();
    println!(
        "RATIO {} {ratio:.3} ({least:.3} to {most:.3}) {} {}",
        row.name,
        all.join(" "),
        row.unit
    );
}

/// Writes the block of the page at `folder/peers.md`, and its plots.
pub(crate) fn write(folder: &Path, figures: &Figures) -> io::Result<()> {
    let (body, plots) = render(figures);
    page::write(&folder.join("peers.md"), "peers", &body, &plots)
}

/// The block's text, and the plots by file name.
fn render(figures: &Figures) -> (String, Vec<(String, String)>) {
    let lines: Vec<_> = ALL.iter().filter_map(|row| Line::of(row, figures.of(row.name))).collect();
    let mut body = origin(&lines);
    body.push_str("| row | | ratio | of each process | colored | best peer | the others |\n");
    body.push_str("|---|---|---:|---:|---:|---:|---|\n");
    for line in &lines {
        body.push_str(&table_row(line));
    }
    body.push_str(&losses(&lines));
    body.push_str(&versions(&lines));
    let mut files = Vec::new();
    for (file, what, svg) in plots::all(&lines) {
        // Writing to a string does not fail.
        let _ = write!(body, "\n![{what}](plots/{file})\n");
        files.push((file, svg));
    }
    (body, files)
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
    let [ratio, least, most] = line.best().ratio.map(short);
    let ratio = if wins(line) { format!("**{ratio}**") } else { ratio };
    let unit = line.row.unit.replace("us", "µs");
    let named = |figure: &&Figure| format!("{} {}", figure.peer, number(figure.cost));
    let others: Vec<_> = line.peers[1..].iter().map(named).collect();
    format!(
        "| `{}` | {} | {ratio} | {least} to {most} | {} {unit} | {} | {} |\n",
        line.row.name,
        line.row.text,
        number(line.ours.cost),
        named(&line.best()),
        others.join(", "),
    )
}

/// A ratio, to two decimal places unless it is far from 1.
fn short(ratio: f64) -> String {
    if ratio < 10.0 { format!("{ratio:.2}") } else { number(ratio) }
}

/// Whether our cost is less by as much as the table shows.
fn wins(line: &Line<'_>) -> bool {
    short(line.ratio()) != "1.00" && line.ratio() < 1.0
}

/// The rows in which our cost is more than a peer's.
fn losses(lines: &[Line<'_>]) -> String {
    let won = lines.iter().filter(|line| wins(line)).count();
    let more = |figure: &&&Figure| figure.ratio[0] > 1.0 && short(figure.ratio[0]) != "1.00";
    let mut text = format!(
        "\nOur cost is the least in {won} of {} rows. It is more than that of ",
        lines.len()
    );
    let mut lost = Vec::new();
    for line in lines {
        let names: Vec<_> = line.peers.iter().filter(more).map(|one| one.peer.as_str()).collect();
        if !names.is_empty() {
            lost.push(format!("{} in `{}`", names.join(", "), line.row.name));
        }
    }
    text.push_str(&lost.join("; "));
    text.push_str(".\n");
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
        assert!(
            body.contains("least in 1 of 2 rows. It is more than that of tokio in `sleeps_cpu`.\n"),
            "{body}"
        );
        assert_eq!(plots.len(), 2, "of all rows, and of the messages");
    }

    /// The page is not written by hand: it says what the file of figures says.
    #[test]
    fn the_page_shows_the_figures() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let figures = Figures::read(&here.join("figures.tsv")).expect("it is well-formed");
        let text = std::fs::read_to_string(here.join("results/peers.md")).expect("it is there");
        let (body, plots) = render(&figures);
        let written = page::with_block(&text, "peers", &body).expect("it has the block");
        assert!(written == text, "the page does not show what the file of figures says");
        for (file, svg) in plots {
            let plot = here.join("results/plots").join(file);
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
