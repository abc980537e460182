//! The names of faults, as attributes give them.

use super::{Fault, Faults};
use std::fmt;
use std::str::FromStr;

/// The name of a family: that of its variant, in small letters.
fn name_of(family: Fault) -> String {
    format!("{family:?}").to_lowercase()
}

/// Several families.
const GROUPS: &[(&str, Faults)] =
    &[("net", Faults::network()), ("none", Faults::none()), ("swarm", Faults::swarm())];

/// A text that names no [`Faults`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultsError(String);

impl fmt::Display for FaultsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let groups = GROUPS.iter().map(|(name, _)| (*name).to_owned());
        let mut families = Fault::ALL.map(name_of);
        families.sort_unstable();
        let names: Vec<_> = groups.chain(families).collect();
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
            let family = Fault::ALL.into_iter().find(|family| name_of(*family) == word);
            match (group, family) {
                (Some((_, group)), _) => {
                    faults.families |= group.families;
                    faults.is_swarm |= group.is_swarm;
                }
                (None, Some(family)) => faults = faults.with(family),
                (None, None) => return Err(FaultsError(word.to_owned())),
            }
        }
        Ok(faults)
    }
}

#[cfg(test)]
mod tests {
    use super::{Fault, Faults};

    #[test]
    fn names_are_added() {
        let parse = |text: &str| text.parse::<Faults>().unwrap();
        assert_eq!(parse("swarm"), Faults::swarm());
        assert_eq!(parse("net, crash"), Faults::network().with(Fault::Crash));
        assert_eq!(parse("loss,delay"), Faults::none().with(Fault::Delay).with(Fault::Loss));
        assert_eq!(parse("none"), Faults::none());
        let error = "net, disc".parse::<Faults>().unwrap_err().to_string();
        assert!(
            error.starts_with("\"disc\" is no fault: allowed are net, none, swarm, clock,"),
            "{error}"
        );
    }
}
