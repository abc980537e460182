//! The names of strategies, as attributes and variables give them.

use crate::strategy::Strategy;
use std::fmt;
use std::str::FromStr;

/// The strategies without a number.
const NAMES: &[(&str, Strategy)] = &[
    ("portfolio", Strategy::Portfolio),
    ("random", Strategy::Random),
    ("round_robin", Strategy::RoundRobin),
    ("starve", Strategy::Starve),
];

/// A text that names no [`Strategy`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StrategyError(String);

impl fmt::Display for StrategyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is no strategy: allowed are ", self.0)?;
        for (name, _) in NAMES {
            write!(f, "{name:?}, ")?;
        }
        f.write_str("and \"pct(3)\" with a depth from 1")
    }
}

impl std::error::Error for StrategyError {}

impl FromStr for Strategy {
    type Err = StrategyError;

    fn from_str(text: &str) -> Result<Self, StrategyError> {
        let pct = || {
            let depth = text.strip_prefix("pct(")?.strip_suffix(')')?.parse().ok()?;
            (depth > 0).then_some(Strategy::Pct { depth })
        };
        let named = NAMES.iter().find(|(name, _)| *name == text).map(|(_, strategy)| *strategy);
        named.or_else(pct).ok_or_else(|| StrategyError(text.to_owned()))
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.iter().find(|(_, strategy)| strategy == self) {
            Some((name, _)) => f.write_str(name),
            None => match self {
                Strategy::Pct { depth } => write!(f, "pct({depth})"),
                other => fmt::Debug::fmt(other, f),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Strategy;

    #[test]
    fn a_name_is_read_as_it_is_written() {
        for name in ["portfolio", "random", "round_robin", "starve", "pct(1)", "pct(3)"] {
            assert_eq!(name.parse::<Strategy>().unwrap().to_string(), name);
        }
        for name in ["", "Random", "pct", "pct()", "pct(0)", "pct(-1)", "pct(2) "] {
            let error = name.parse::<Strategy>().unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("{name:?} is no strategy: allowed are ")),
                "{error}"
            );
            assert!(error.contains("\"random\"") && error.contains("\"pct(3)\""), "{error}");
        }
    }
}
