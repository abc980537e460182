//! The file of all figures, by row and peer: what the page is made from.
//!
//! A run replaces the rows that it measures, and keeps the others with their dates.

use crate::foreign;
use colored_benches::machine::{machine, today};
use colored_benches::measure::median;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::{fs, io};

const HEAD: &str = "row\tpeer\tversion\tcost\tratio\tleast\tmost\tdate\tmachine";

/// The costs that one process measured, by peer, ours first.
pub(crate) type Run = Vec<(String, f64)>;

/// One figure.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Figure {
    pub(crate) peer: String,
    pub(crate) version: String,
    /// In the row's unit, the median over the processes; lower is better.
    pub(crate) cost: f64,
    /// Our cost over this one in the same process: the median over the processes, the least and the
    /// most.
    pub(crate) ratio: [f64; 3],
    pub(crate) date: String,
    pub(crate) machine: String,
}

/// All figures, by row; ours comes first in each.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Figures(BTreeMap<String, Vec<Figure>>);

impl Figures {
    /// Reads the file; if there is none, there are no figures yet.
    pub(crate) fn read(file: &Path) -> io::Result<Self> {
        match fs::read_to_string(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            text => Self::parse(&text?).map_err(io::Error::other),
        }
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut figures = Self::default();
        for line in text.lines().skip(1) {
            let fields: Vec<_> = line.split('\t').collect();
            let [row, peer, version, cost, ratio, least, most, date, machine] = fields[..] else {
                return Err(format!("{line:?} has not the fields {HEAD:?}"));
            };
            let number = |text: &str| {
                text.parse::<f64>().map_err(|_| format!("{text:?} is no number in {line:?}"))
            };
            let (cost, ratio) = (number(cost)?, [number(ratio)?, number(least)?, number(most)?]);
            let [peer, version, date, machine] = [peer, version, date, machine].map(str::to_owned);
            let figure = Figure { peer, version, cost, ratio, date, machine };
            figures.0.entry(row.to_owned()).or_default().push(figure);
        }
        Ok(figures)
    }

    pub(crate) fn write(&self, file: &Path) -> io::Result<()> {
        fs::write(file, self.text())
    }

    fn text(&self) -> String {
        let mut text = format!("{HEAD}\n");
        for (row, figures) in &self.0 {
            for Figure { peer, version, cost, ratio, date, machine } in figures {
                let [ratio, least, most] = ratio;
                // Writing to a string does not fail.
                let _ = writeln!(
                    text,
                    "{row}\t{peer}\t{version}\t{cost}\t{ratio}\t{least}\t{most}\t{date}\t{machine}"
                );
            }
        }
        text
    }

    /// Sets a row to what some processes measured now, here.
    pub(crate) fn replace(&mut self, row: &str, runs: Vec<Run>) {
        let figure = |(index, (peer, _)): (usize, &(String, f64))| {
            let ratios = || runs.iter().map(|run| run[0].1 / run[index].1);
            let ratio = [
                median(ratios()),
                ratios().fold(f64::INFINITY, f64::min),
                ratios().fold(0.0, f64::max),
            ];
            Figure {
                peer: peer.clone(),
                version: version(peer).unwrap_or_default(),
                cost: rounded(median(runs.iter().map(|run| run[index].1))),
                ratio: ratio.map(rounded),
                date: today(),
                machine: machine(),
            }
        };
        let figures = runs[0].iter().enumerate().map(figure).collect();
        self.0.insert(row.to_owned(), figures);
    }

    /// The figures of a row; none if it was never measured.
    pub(crate) fn of(&self, row: &str) -> &[Figure] {
        self.0.get(row).map_or(&[], Vec::as_slice)
    }
}

/// To four decimal places: more would be noise in the file.
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

/// The version of a peer.
fn version(peer: &str) -> Option<String> {
    let package = match peer {
        "colored" => "colored-rt",
        "std mutexes" | "futures" | "threads" | "colored queues" => return None,
        name if name.starts_with("tokio") => "tokio",
        other => other,
    };
    locked(include_str!("../Cargo.lock"), package).or_else(|| foreign::version(peer))
}

/// The version of a package in a lock file; the newest, which comes last, if there are several.
fn locked(lock: &str, package: &str) -> Option<String> {
    let head = format!("name = \"{package}\"");
    let versions = lock.lines().zip(lock.lines().skip(1)).filter(|(name, _)| *name == head);
    let (_, version) = versions.last()?;
    Some(version.strip_prefix("version = \"")?.trim_end_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_as_they_were_written() {
        let mut figures = Figures::default();
        let run =
            |ours, tokio| vec![(String::from("colored"), ours), (String::from("tokio"), tokio)];
        figures.replace("call", vec![run(26.5, 1e3), run(30.0, 1.0), run(40.0, 80.0)]);
        figures.replace("idle", vec![vec![(String::from("colored"), 128.0)]]);
        assert_eq!(figures.of("call")[1].cost, 80.0);
        assert_eq!(figures.of("call")[1].ratio, [0.5, 0.0265, 30.0]);
        assert_eq!(Figures::parse(&figures.text()), Ok(figures));
        assert!(Figures::parse("head\nonly two\tfields").is_err());
    }

    #[test]
    fn a_run_replaces_its_rows_only() {
        let mut figures = Figures::default();
        for cost in [1.0, 2.0] {
            figures.replace("call", vec![vec![(String::from("colored"), cost)]]);
        }
        figures.replace("idle", vec![vec![(String::from("colored"), 3.0)]]);
        let costs = ["call", "idle", "post"].map(|row| figures.of(row).first().map(|one| one.cost));
        assert_eq!(costs, [Some(2.0), Some(3.0), None]);
    }

    #[test]
    fn a_version_is_that_of_the_lock_file() {
        let lock = "name = \"a\"\nversion = \"1.2.3\"\n\nname = \"ab\"\nversion = \"4.5.6\"\n";
        assert_eq!(locked(lock, "ab").as_deref(), Some("4.5.6"));
        assert_eq!(locked(lock, "b"), None);
        assert!(version("tokio, one runtime a core").is_some());
    }
}
