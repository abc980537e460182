//! [`Replay`]: one run as a text.

use crate::choices::{Deviation, Deviations, Moment, Place};
use std::fmt;
use std::str::FromStr;

/// What makes a run: the seed of its random numbers, its number of workers, and the choices that are not the default. The
/// text `417:8:2.5>1,1.3!0` means: seed 417, 8 workers; after its fifth turn actor 2 gives way to actor 1; in the third
/// turn of actor 1 the first fault that was possible happens. `1000017.352!0` is the first fault that was possible at site
/// 17 at the time 352; `2004711.3!0` is the first choice with the number 3 of a place in the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// The seed of the random numbers.
    pub seed: u64,
    /// The number of workers.
    pub workers: usize,
    pub(crate) deviations: Deviations,
}

impl Replay {
    /// A run without deviations.
    pub(crate) fn new(seed: u64, workers: usize) -> Self {
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
        let mut comma = "";
        for ((place, moment), deviation) in &self.deviations {
            write!(f, "{comma}{}.{}", place.actor, place.turns)?;
            match moment {
                Moment::Point(number) => write!(f, "+{number}")?,
                Moment::Draw(number) => write!(f, "!{number}")?,
                Moment::End => {}
            }
            match deviation {
                Deviation::Next(actor) => write!(f, ">{actor}")?,
                Deviation::Drawn(1) => {}
                Deviation::Drawn(drawn) => write!(f, "={drawn}")?,
            }
            comma = ",";
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
            let listed = parts.next()?;
            let mut deviations = Deviations::new();
            for part in listed.split(',').filter(|_| !listed.is_empty()) {
                let (key, deviation) = parse_deviation(part)?;
                deviations.insert(key, deviation);
            }
            (1..=64).contains(&workers).then_some(Self { seed, workers, deviations })
        };
        parse().ok_or_else(|| ReplayError(text.to_owned()))
    }
}

fn parse_deviation(text: &str) -> Option<((Place, Moment), Deviation)> {
    let (actor, rest) = text.split_once('.')?;
    let place =
        |turns: &str| Some(Place { actor: actor.parse().ok()?, turns: turns.parse().ok()? });
    if let Some((turns, draw)) = rest.split_once('!') {
        let (number, drawn) = draw.split_once('=').unwrap_or((draw, "1"));
        let drawn = drawn.parse().ok().filter(|drawn| *drawn > 0)?;
        return Some((
            (place(turns)?, Moment::Draw(number.parse().ok()?)),
            Deviation::Drawn(drawn),
        ));
    }
    let (moment, next) = rest.split_once('>')?;
    let (turns, moment) = match moment.split_once('+') {
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
        for text in ["417:8:1.3+4>2,1.3!0,1.4!2=3,2.5>1", "0:1:", "18446744073709551615:64:0.0>3"] {
            assert_eq!(text.parse::<Replay>().unwrap().to_string(), text);
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
            "1:2:3",
            "1:2:3>4",
            "1:2:3.1>",
            "1:2:3.1>4,",
            "1:2:3.1!4=0",
            "-1:2:",
            "a:2:",
        ] {
            let error = text.parse::<Replay>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("{text:?} names no run")), "{error}");
        }
    }
}
