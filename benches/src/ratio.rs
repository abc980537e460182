//! The paired runner: which rows to run, and how a result is printed.
//!
//! One line a case, `RATIO <name> <ratio> colored=<x> <peer>=<y> <unit>`: `colored`'s cost over the
//! peer's, lower is better. With several peers that do the same, the line shows the best of them.
//! `INFO` lines show the other figures.

use crate::measure::{Mode, Outcome, Role, Unit};
use crate::rivals::Runtimes;
use crate::workload::Row;

/// The options of the command line.
#[derive(Clone, Debug)]
pub struct Options {
    /// How much time the run may take.
    pub mode: Mode,
    filters: Vec<String>,
}

impl Options {
    /// Reads this process's arguments.
    ///
    /// `--quick` and `--full` set the mode. Without either, `--bench` (which cargo adds) means
    /// full, and its absence a smoke run, as under `cargo test`. Another option ends the process with an error;
    /// every other argument is a filter, and a row runs if its name contains any of them.
    #[must_use]
    pub fn from_arguments() -> Self {
        Self::parse(std::env::args().skip(1)).unwrap_or_else(|flag| {
            eprintln!(
                "no option {flag}: there are --quick and --full, and parts of the rows' names"
            );
            std::process::exit(2)
        })
    }

    /// Returns the first option that there is not.
    fn parse(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let (mut mode, mut filters) = (Mode::Smoke, Vec::new());
        for argument in arguments {
            match &*argument {
                "--quick" => mode = Mode::Quick,
                "--full" | "--bench" if mode == Mode::Quick => {}
                "--full" | "--bench" => mode = Mode::Full,
                _ if argument.starts_with('-') => return Err(argument),
                _ => filters.push(argument),
            }
        }
        Ok(Self { mode, filters })
    }

    /// The arguments that ask for the same in a child process.
    #[must_use]
    pub fn to_arguments(&self) -> Vec<String> {
        let mode = match self.mode {
            Mode::Full => &["--full"][..],
            Mode::Quick => &["--quick"],
            Mode::Smoke => &[],
        };
        mode.iter().map(|&flag| flag.to_owned()).chain(self.filters.clone()).collect()
    }

    /// Whether the row called `name` shall run.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        self.filters.is_empty() || self.filters.iter().any(|filter| name.contains(filter))
    }
}

/// Runs the rows that match inside this process. The runtimes start with the first of them.
pub fn in_process(
    options: &Options,
    runtimes: impl FnOnce() -> Runtimes,
    suffix: &str,
    families: &[&[Row]],
) {
    let rows = families.iter().copied().flatten();
    let named = rows.map(|row| (format!("{}{suffix}", row.name), row.build));
    let wanted: Vec<_> = named.filter(|(name, _)| options.matches(name)).collect();
    if wanted.is_empty() {
        return;
    }
    let on = runtimes();
    for (name, build) in wanted {
        let case = build(on, options.mode);
        let unit = case.unit;
        against_best(&name, unit, &case.alternate(options.mode));
    }
}

/// Prints the subject beside the best of its peers, and an `INFO` line for each of the others.
///
/// # Panics
///
/// If there is no subject or no peer.
pub fn against_best(name: &str, unit: Unit, outcomes: &[Outcome]) {
    let (subject, peers) = split(outcomes);
    let best = peers.iter().min_by(|a, b| a.cost.total_cmp(&b.cost)).expect("a case has a peer");
    print(name, unit, subject, best);
    for other in peers.iter().filter(|other| other.name != best.name) {
        let cost = other.cost * unit.per_second;
        println!("INFO {name} {}={cost:.2} {}", other.name, unit.text);
    }
}

/// Prints one line per peer, called `<name>_vs_<peer>`, and the rates of all.
///
/// # Panics
///
/// If there is no subject.
pub fn against_each(name: &str, unit: Unit, outcomes: &[Outcome]) {
    let (subject, peers) = split(outcomes);
    for peer in peers {
        let name = format!("{name}_vs_{}", peer.name);
        print(&name, unit, subject, peer);
        println!("INFO {name} paired={:.3} (median of the rounds' ratios)", peer.paired);
    }
    let rates: Vec<_> =
        outcomes.iter().map(|one| format!("{}={:.0}", one.name, one.rate)).collect();
    println!("INFO {name} {} requests/s", rates.join(" "));
}

/// Prints one `RATIO` line.
pub fn line(name: &str, colored: f64, peer: &str, other: f64, unit: &str) {
    println!("RATIO {name} {:.3} colored={colored:.2} {peer}={other:.2} {unit}", colored / other);
}

fn print(name: &str, unit: Unit, subject: &Outcome, peer: &Outcome) {
    let scale = unit.per_second;
    line(name, subject.cost * scale, peer.name, peer.cost * scale, unit.text);
}

fn split(outcomes: &[Outcome]) -> (&Outcome, Vec<&Outcome>) {
    let subject = outcomes.iter().find(|one| one.role == Role::Subject);
    let peers = outcomes.iter().filter(|one| one.role == Role::Peer).collect();
    (subject.expect("a case has a subject"), peers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(arguments: &[&str]) -> Options {
        Options::parse(arguments.iter().copied().map(String::from)).unwrap()
    }

    #[test]
    fn cargo_bench_means_full_unless_quick_is_asked_for() {
        assert_eq!(options(&["--bench"]).mode, Mode::Full);
        assert_eq!(options(&["--quick", "--bench"]).mode, Mode::Quick);
        assert_eq!(options(&[]).mode, Mode::Smoke);
        let unknown = ["--quick", "--help"].map(String::from);
        assert_eq!(Options::parse(unknown.into_iter()).unwrap_err(), "--help");
    }

    #[test]
    fn a_row_matches_any_filter_and_a_child_gets_the_same() {
        let given = options(&["http", "--bench", "spawn_many"]);
        let child = Options::parse(given.to_arguments().into_iter()).unwrap();
        for options in [given, child] {
            assert_eq!(options.mode, Mode::Full);
            assert!(options.matches("http_64"));
            assert!(options.matches("spawn_many_unique"));
            assert!(!options.matches("echo"));
        }
    }
}
