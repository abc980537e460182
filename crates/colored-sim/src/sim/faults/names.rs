//! The names of faults, as attributes give them.

use super::{Fault, Faults};
use std::fmt;
use std::str::FromStr;

const FAMILIES: &[(&str, Fault)] = &[
    ("clock", Fault::Clock),
    ("crash", Fault::Crash),
    ("delay", Fault::Delay),
    ("disk", Fault::Disk),
    ("doubling", Fault::Doubling),
    ("loss", Fault::Loss),
    ("partition", Fault::Partition),
    ("pause", Fault::Pause),
    ("pieces", Fault::Pieces),
    ("reset", Fault::Reset),
    ("stall", Fault::Stall),
];

/// Several families.
const GROUPS: &[(&str, Faults)] =
    &[("net", Faults::network()), ("none", Faults::none()), ("swarm", Faults::swarm())];

/// A text that names no [`Faults`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultsError(String);

impl fmt::Display for FaultsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let groups = GROUPS.iter().map(|(name, _)| *name);
        let names: Vec<_> = groups.chain(FAMILIES.iter().map(|(name, _)| *name)).collect();
        write!(f, "{:?} is no fault: allowed are {}, separated by commas", self.0, names.join(", "))
    }
}

impl std::error::Error for FaultsError {}

/// Names separated by commas: `swarm`, `net` for the families of the network, `none`, and those of the families, as in
/// `"net, crash"`.
impl FromStr for Faults {
    type Err = FaultsError;

    fn from_str(text: &str) -> Result<Self, FaultsError> {
        let mut faults = Faults::none();
        for word in text.split(',').map(str::trim) {
            let group = GROUPS.iter().find(|(name, _)| *name == word);
            let family = FAMILIES.iter().find(|(name, _)| *name == word);
            match (group, family) {
                (Some((_, group)), _) => {
                    faults.families |= group.families;
                    faults.is_swarm |= group.is_swarm;
                }
                (None, Some((_, family))) => faults = faults.with(*family),
                (None, None) => return Err(FaultsError(word.to_owned())),
            }
        }
        Ok(faults)
    }
}

#[cfg(test)]
mod tests {
    use super::{FAMILIES, Fault, Faults};
    use crate::world::Family;

    #[test]
    fn names_are_added() {
        let parse = |text: &str| text.parse::<Faults>().unwrap();
        assert_eq!(parse("swarm"), Faults::swarm());
        assert_eq!(parse("net, crash"), Faults::network().with(Fault::Crash));
        assert_eq!(parse("loss,delay"), Faults::none().with(Fault::Delay).with(Fault::Loss));
        assert_eq!(parse("none"), Faults::none());
        assert_eq!(FAMILIES.len(), Family::ALL.len(), "each family has a name");
        let error = "net, disc".parse::<Faults>().unwrap_err().to_string();
        assert!(
            error.starts_with("\"disc\" is no fault: allowed are net, none, swarm, clock,"),
            "{error}"
        );
    }
}
