//! [`Replay`]: one run as a text.

use crate::choices::{Choices, Deviation, Deviations, Moment, Place};
use std::fmt;
use std::str::FromStr;

/// What makes a run: the seed of its random numbers, its number of workers, and the choices that are not the default. The
/// text `417:8:2.5n1_1.3d0` means: seed 417, 8 workers; after its fifth turn actor 2 gives way, and actor 1 is next; what is
/// drawn first in the third turn of actor 1 is 1, so that the first fault that was possible happens. `1.3d0v2` means that 2 is
/// drawn, and `2.5p4n1` that actor 2 gives way inside that turn, at its fourth possible point. `1000017.352d0` is the first
/// fault that was possible at site 17 at the time 352; `2004711.3d0` is the first choice with the number 3 of a place in the
/// program.
///
/// No shell takes a character of it for its own. Texts of earlier versions, with `,`, `>`, `!`, `=` and `+` in place of `_`,
/// `n`, `d`, `v` and `p`, are read as well.
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

impl fmt::Display for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:", self.seed, self.workers)?;
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
pub struct ReplayError(String);

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} names no run: allowed is what a failure prints, `SEED:WORKERS:CHOICES`, with 1 to 64 workers",
            self.0
        )
    }
}

impl std::error::Error for ReplayError {}

impl FromStr for Replay {
    type Err = ReplayError;

    fn from_str(text: &str) -> Result<Self, ReplayError> {
        let parse = || {
            let mut parts = text.splitn(3, ':');
            let seed = parts.next()?.parse().ok()?;
            let workers = parts.next()?.parse().ok()?;
            let listed: String = parts.next()?.chars().map(of_today).collect();
            let mut deviations = Deviations::new();
            for part in listed.split('_').filter(|_| !listed.is_empty()) {
                let (key, deviation) = parse_deviation(part)?;
                deviations.insert(key, deviation);
            }
            (1..=64).contains(&workers).then_some(Self { seed, workers, deviations })
        };
        parse().ok_or_else(|| ReplayError(text.to_owned()))
    }
}

/// A character of a text that an earlier version has printed is another one today.
fn of_today(of: char) -> char {
    match of {
        ',' => '_',
        '>' => 'n',
        '!' => 'd',
        '=' => 'v',
        '+' => 'p',
        of => of,
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
        for text in ["417:8:1.3p4n2_1.3d0_1.4d2v3_2.5n1", "0:1:", "18446744073709551615:64:0.0n3"] {
            assert_eq!(text.parse::<Replay>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_text_of_an_earlier_version_names_the_same_run() {
        let (old, new) = ("417:8:1.3+4>2,1.3!0,1.4!2=3,2.5>1", "417:8:1.3p4n2_1.3d0_1.4d2v3_2.5n1");
        assert_eq!(old.parse::<Replay>().unwrap(), new.parse().unwrap());
    }

    #[test]
    fn another_text_is_refused() {
        for text in [
            "",
            "1",
            "1:2",
            "1:0:",
            "1:65:",
            "1:2:3",
            "1:2:3>4",
            "1:2:3.1>",
            "1:2:3.1>4,",
            "1:2:3.1!4=0",
            "1:2:3.1d4v0",
            "1:2:3.1n4_",
            "1:2:3.1n4n5",
            "-1:2:",
            "a:2:",
        ] {
            let error = text.parse::<Replay>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("{text:?} names no run")), "{error}");
        }
    }
}
