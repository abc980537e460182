//! The command line of the experiments.

use colored_benches::measure::{Case, Entry, Mode, Outcome, Pace, Unit};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where `cargo build --release --manifest-path benches/peers/Cargo.toml` leaves its program.
const PEERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../peers/target/release/colored-peers");

/// The options of the command line.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How much time the run may take.
    pub mode: Mode,
    /// Transfers of the bank's long run in all.
    pub transfers: Option<u64>,
    /// The date to print, if not today's.
    pub date: Option<String>,
    /// The program that serves HTTP, `http-server`.
    pub server: PathBuf,
    /// The program of `benches/peers`, if it is built: it has servers that need more libraries.
    pub peers: Option<PathBuf>,
    /// The one experiment to run in this process, for a child of the supervisor.
    pub child: Option<String>,
    /// Whether the page of the tree is to be written.
    write: bool,
    filters: Vec<String>,
}

impl Plan {
    /// Reads arguments: `--quick`, `--full`, `--bench` (which cargo adds, and means full),
    /// `--write`, `--transfers=<count>`, `--date=<text>`, `--peers=<program>`. Without a mode it is a smoke run, as under
    /// `cargo test`. Every other argument that is no option is a filter: an experiment runs if its
    /// name contains any of them. Unknown options are ignored, because cargo passes its own.
    ///
    /// `server` is the program that serves HTTP.
    ///
    /// # Errors
    ///
    /// If a value is missing, or is not the number that it should be.
    pub fn parse(server: &Path, arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut plan = Self {
            mode: Mode::Smoke,
            server: server.to_owned(),
            transfers: None,
            date: None,
            peers: Some(PathBuf::from(PEERS)).filter(|program| program.is_file()),
            child: None,
            write: false,
            filters: Vec::new(),
        };
        let (mut quick, mut full) = (false, false);
        for argument in arguments {
            let (name, value) = match argument.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
                _ => (argument.as_str(), None),
            };
            let wanted = || value.clone().ok_or(format!("{name} wants a value: {name}=<value>"));
            match name {
                "--quick" => quick = true,
                "--write" => plan.write = true,
                "--full" | "--bench" => full = true,
                "--date" => plan.date = Some(wanted()?),
                "--peers" => plan.peers = Some(wanted()?.into()),
                "--child" => plan.child = Some(wanted()?),
                "--transfers" => plan.transfers = Some(count(&wanted()?)?),
                option if option.starts_with('-') => {}
                filter => plan.filters.push(filter.to_owned()),
            }
        }
        plan.mode = match (quick, full) {
            (true, _) => Mode::Quick,
            (false, true) => Mode::Full,
            (false, false) => Mode::Smoke,
        };
        Ok(plan)
    }

    /// The arguments for a child process that runs `experiment`.
    #[must_use]
    pub fn to_child(&self, experiment: &str) -> Vec<String> {
        let mut arguments = vec![format!("--child={experiment}")];
        match self.mode {
            Mode::Full => arguments.push(String::from("--full")),
            Mode::Quick => arguments.push(String::from("--quick")),
            Mode::Smoke => {}
        }
        arguments.extend(self.write.then(|| String::from("--write")));
        arguments.extend(self.transfers.map(|count| format!("--transfers={count}")));
        arguments.extend(self.date.as_ref().map(|date| format!("--date={date}")));
        let peers = self.peers.as_ref().map(|program| format!("--peers={}", program.display()));
        arguments.extend(peers);
        arguments
    }

    /// Whether this run writes the page of the tree: a full one that was asked to.
    #[must_use]
    pub fn writes(&self) -> bool {
        self.write && self.mode == Mode::Full
    }

    /// Whether the experiment called `name` shall run.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        self.filters.is_empty() || self.filters.iter().any(|filter| name.contains(filter.as_str()))
    }

    /// One of three values, by mode.
    #[must_use]
    pub fn pick<T>(&self, full: T, quick: T, smoke: T) -> T {
        match self.mode {
            Mode::Full => full,
            Mode::Quick => quick,
            Mode::Smoke => smoke,
        }
    }

    /// Samples `entries` in turn for `time`, or a fraction of it in a shorter run, and returns their
    /// medians.
    #[must_use]
    pub fn alternate(&self, time: Duration, entries: Vec<Entry>) -> Vec<Outcome> {
        let time = self.pick(time, time / 8, Duration::ZERO);
        // The unit is only for printing, which the caller does.
        let case = Case { unit: Unit::ns(""), pace: Pace::Within(time), entries };
        case.alternate(self.mode)
    }

    /// How long all experiments together may take.
    #[must_use]
    pub fn limit(&self) -> Duration {
        Duration::from_secs(self.pick(22 * 60, 120, 180)) + self.asked()
    }

    /// How long one experiment may take, so that an experiment that hangs leaves time for the others.
    #[must_use]
    pub fn limit_of_one(&self) -> Duration {
        Duration::from_secs(self.pick(9 * 60, 30, 60)) + self.asked()
    }

    /// The time of a requested long run: up to 10 us a transfer.
    fn asked(&self) -> Duration {
        Duration::from_micros(10 * self.transfers.unwrap_or(0))
    }
}

/// A whole number, also written as `1e8` or `100_000_000`.
fn count(text: &str) -> Result<u64, String> {
    let plain = text.replace('_', "");
    if let Ok(count) = plain.parse() {
        return Ok(count);
    }
    match plain.parse::<f64>() {
        Ok(count) if count >= 0.0 && count.fract() == 0.0 && count < 1e18 => Ok(count as u64),
        _ => Err(format!("{text:?} is no whole number")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(arguments: &[&str]) -> Result<Plan, String> {
        Plan::parse(Path::new(""), arguments.iter().copied().map(String::from))
    }

    #[test]
    fn a_child_is_told_what_its_parent_was() {
        let given = [
            "--quick",
            "--bench",
            "--transfers=1e8",
            "--date=today",
            "bank",
            "kv",
            "--peers=p",
            "--write",
        ];
        let given = plan(&given);
        let given = given.expect("all is well-formed");
        assert!(given.matches("bank") && given.matches("kv") && !given.matches("table2"));
        let child =
            Plan::parse(Path::new(""), given.to_child("bank").into_iter()).expect("so is this");
        assert_eq!((child.mode, child.transfers), (Mode::Quick, Some(100_000_000)));
        assert_eq!(child.child.as_deref(), Some("bank"));
        assert_eq!(child.date.as_deref(), Some("today"));
        assert_eq!(child.peers.as_deref(), Some(Path::new("p")));
        assert!(!child.writes(), "a short run writes nothing");
        let full = plan(&["--bench", "--write"]).expect("well-formed");
        assert!(full.writes() && !plan(&["--bench"]).expect("well-formed").writes());
        let child = Plan::parse(Path::new(""), full.to_child("bank").into_iter());
        assert!(child.expect("so is this").writes());
    }

    #[test]
    fn mistakes_name_themselves() {
        assert_eq!(plan(&["--transfers=many"]).unwrap_err(), "\"many\" is no whole number");
        assert_eq!(plan(&["--date"]).unwrap_err(), "--date wants a value: --date=<value>");
    }
}
