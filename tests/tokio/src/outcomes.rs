//! The list of tokio's tests with their outcomes.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    Pass,
    Fail,
    /// It does not end.
    Hang,
    /// It passes, or it does not.
    Race,
    /// It does not compile.
    Absent,
}

const NAMES: [(Outcome, &str); 5] = [
    (Outcome::Pass, "pass"),
    (Outcome::Fail, "fail"),
    (Outcome::Hang, "hang"),
    (Outcome::Race, "race"),
    (Outcome::Absent, "absent"),
];

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAMES.iter().find(|(outcome, _)| outcome == self).unwrap().1)
    }
}

/// By the test's name, its outcome and the reason. A test is a line: the outcome, the name, and the reason behind a `#`.
#[derive(Clone, Default)]
pub(crate) struct Outcomes(pub(crate) BTreeMap<String, (Outcome, String)>);

impl Outcomes {
    pub(crate) fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap_or_default();
        let line = |line: &str| {
            let (outcome, rest) = line.split_once(' ').unwrap();
            let (name, reason) = rest.split_once(" # ").unwrap_or((rest, ""));
            let outcome = NAMES.iter().find(|(_, name)| *name == outcome);
            let outcome = outcome.unwrap_or_else(|| panic!("no outcome: {line}")).0;
            (name.trim().to_owned(), (outcome, reason.to_owned()))
        };
        Self(text.lines().map(line).collect())
    }

    pub(crate) fn write(&self, path: &Path) {
        let mut text = String::new();
        for (name, (outcome, reason)) in &self.0 {
            text += &format!("{outcome} {name}");
            if !reason.is_empty() {
                text += &format!(" # {reason}");
            }
            text += "\n";
        }
        fs::write(path, text).unwrap();
    }

    /// The names of the tests with this outcome.
    pub(crate) fn of(&self, wanted: Outcome) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(_, (outcome, _))| *outcome == wanted).map(|(name, _)| &**name)
    }

    pub(crate) fn get(&self, name: &str) -> Option<Outcome> {
        self.0.get(name).map(|(outcome, _)| *outcome)
    }

    pub(crate) fn count(&self) -> String {
        let count = |(outcome, name)| format!("{} {name}", self.of(outcome).count());
        NAMES.map(count).join(", ")
    }

    /// What was seen and was not expected.
    pub(crate) fn differences(&self, seen: &Self) -> Vec<String> {
        let differs = |(name, (outcome, _)): (&String, &(Outcome, String))| match self.get(name) {
            Some(expected) if expected == *outcome || expected == Outcome::Race => None,
            Some(expected) => Some(format!("{name}: {outcome}, expected: {expected}")),
            None => Some(format!("{name}: {outcome}, and not in the list")),
        };
        seen.0.iter().filter_map(differs).collect()
    }

    /// The outcomes that were seen in place of these; a reason stays for as long as the outcome does.
    pub(crate) fn with(mut self, seen: Self) -> Self {
        for (name, (outcome, reason)) in seen.0 {
            if !matches!(self.get(&name), Some(expected) if expected == outcome || expected == Outcome::Race)
            {
                self.0.insert(name, (outcome, reason));
            }
        }
        self
    }
}
