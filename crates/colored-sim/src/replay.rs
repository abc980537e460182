//! [`Replay`]: one run as a text.

use crate::choices::{Choices, Deviation, Deviations, Moment, Place};
use std::fmt;
use std::str::FromStr;

/// What makes a run: the seed of its random numbers, its number of workers, and the choices that are not the default. The
/// text `v2:417:8:2.5n1_1.3d0` means: seed 417, 8 workers; after its fifth turn actor 2 gives way, and actor 1 is next; what is
/// drawn first in the third turn of actor 1 is 1, so that the first fault that was possible happens. `1.3d0v2` means that 2 is
/// drawn, and `2.5p4n1` that actor 2 gives way inside that turn, at its fourth possible point. `1000017.352d0` is the first
/// fault that was possible at site 17 at the time 352; `2004711.3d0` is the first choice with the number 3 of a place in the
/// program.
///
/// No shell takes a character of it for its own. It begins with its version: choices are named by counts of turns, and in a run
/// of another version the same counts are other turns. So a text of another version is refused, unless it has no choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// The seed of the random numbers.
    pub seed: u64,
    /// The number of workers.
    pub workers: usize,
    pub(crate) deviations: Deviations,
}

impl Replay {
    /// The run that these choices have made, by the seed and with the workers of this one.
    #[must_use]
    pub fn of(&self, choices: &Choices) -> Self {
        Self { deviations: choices.deviations(), ..*self }
    }

    /// A run without deviations.
    #[must_use]
    pub fn new(seed: u64, workers: usize) -> Self {
        Self { seed, workers, deviations: Deviations::new() }
    }

    /// How many choices are not the default.
    #[must_use]
    pub fn choices(&self) -> usize {
        self.deviations.len()
    }
}

/// What a text begins with. Another one whenever the turns of a run are counted in another way. Before the second version it was
/// left out, and a worker that found nothing to run had a turn.
const VERSION: &str = "v2:";

impl fmt::Display for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{VERSION}{}:{}:", self.seed, self.workers)?;
        let mut between = "";
        for ((place, moment), deviation) in &self.deviations {
            write!(f, "{between}{}.{}", place.actor, place.turns)?;
            match moment {
                Moment::Point(number) => write!(f, "p{number}")?,
                Moment::Draw(number) => write!(f, "d{number}")?,
                Moment::End => {}
            }
            match deviation {
                Deviation::Next(actor) => write!(f, "n{actor}")?,
                Deviation::Drawn(1) => {}
                Deviation::Drawn(drawn) => write!(f, "v{drawn}")?,
            }
            between = "_";
        }
        Ok(())
    }
}

/// A text that is no [`Replay`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayError {
    text: String,
    /// Whether it is one of another version.
    is_of_another: bool,
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { text, is_of_another } = self;
        match is_of_another {
            true => write!(
                f,
                "{text:?} names a run of another version of `colored`, in which turns were counted in another way: remove it, \
                 and search anew; texts of this version begin with {VERSION:?}"
            ),
            false => write!(
                f,
                "{text:?} names no run: allowed is what a failure prints, `{VERSION}SEED:WORKERS:CHOICES`, with 1 to 64 workers"
            ),
        }
    }
}

impl std::error::Error for ReplayError {}

impl FromStr for Replay {
    type Err = ReplayError;

    fn from_str(text: &str) -> Result<Self, ReplayError> {
        let (version, rest) = split_version(text);
        let error = |is_of_another| ReplayError { text: text.to_owned(), is_of_another };
        let parse = || {
            let mut parts = rest.splitn(3, ':');
            let seed = parts.next()?.parse().ok()?;
            let workers = parts.next()?.parse().ok()?;
            let listed = parts.next()?;
            (1..=64).contains(&workers).then_some((Self::new(seed, workers), listed))
        };
        let (mut replay, listed) = parse().ok_or(error(false))?;
        if version != VERSION && !listed.is_empty() {
            return Err(error(true));
        }
        for part in listed.split('_').filter(|_| !listed.is_empty()) {
            let (key, deviation) = parse_deviation(part).ok_or(error(false))?;
            replay.deviations.insert(key, deviation);
        }
        Ok(replay)
    }
}

/// The version of a text, which may be empty, and the rest.
fn split_version(text: &str) -> (&str, &str) {
    let is_version = |version: &str| {
        version.strip_prefix('v').is_some_and(|number| number.bytes().all(|of| of.is_ascii_digit()))
    };
    match text.find(':') {
        Some(at) if is_version(&text[..at]) => text.split_at(at + 1),
        _ => ("", text),
    }
}

fn parse_deviation(text: &str) -> Option<((Place, Moment), Deviation)> {
    let (actor, rest) = text.split_once('.')?;
    let place =
        |turns: &str| Some(Place { actor: actor.parse().ok()?, turns: turns.parse().ok()? });
    if let Some((turns, draw)) = rest.split_once('d') {
        let (number, drawn) = draw.split_once('v').unwrap_or((draw, "1"));
        let drawn = drawn.parse().ok().filter(|drawn| *drawn > 0)?;
        return Some((
            (place(turns)?, Moment::Draw(number.parse().ok()?)),
            Deviation::Drawn(drawn),
        ));
    }
    let (moment, next) = rest.split_once('n')?;
    let (turns, moment) = match moment.split_once('p') {
        Some((turns, number)) => (turns, Moment::Point(number.parse().ok()?)),
        None => (moment, Moment::End),
    };
    Some(((place(turns)?, moment), Deviation::Next(next.parse().ok()?)))
}

#[cfg(test)]
mod tests {
    use super::Replay;

    #[test]
    fn a_text_names_its_run() {
        for text in
            ["v2:417:8:1.3p4n2_1.3d0_1.4d2v3_2.5n1", "v2:0:1:", "v2:18446744073709551615:64:0.0n3"]
        {
            assert_eq!(text.parse::<Replay>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_text_of_another_version_is_refused_if_it_has_choices() {
        for text in ["417:8:1.3n2", "417:8:1.3+4>2,1.3!0", "v1:417:8:1.3n2", "v3:417:8:another"] {
            let error = text.parse::<Replay>().unwrap_err().to_string();
            let begin = format!("{text:?} names a run of another version");
            assert!(error.starts_with(&begin) && error.ends_with("\"v2:\""), "{error}");
        }
        for text in ["417:8:", "v1:417:8:"] {
            assert_eq!(text.parse::<Replay>().unwrap(), Replay::new(417, 8));
        }
    }

    #[test]
    fn another_text_is_refused() {
        for text in [
            "",
            "1",
            "1:2",
            "1:0:",
            "1:65:",
            "v2:1:65:",
            "v2:1:2",
            "v2:1:2:3",
            "v2:1:2:3n4",
            "v2:1:2:3.1n",
            "v2:1:2:3.1n4_",
            "v2:1:2:3.1d4v0",
            "v2:1:2:3.1>4",
            "v2:1:2:3.1n4n5",
            "v2:-1:2:",
            "vx:1:2:",
            "a:2:",
        ] {
            let error = text.parse::<Replay>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("{text:?} names no run")), "{error}");
        }
    }
}
