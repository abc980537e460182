//! What a run has done, as far as another process can compare it.

use super::evidence::Evidence;
use crate::{Choices, Outcome, Turn};
use std::fmt::Write;

/// What a run has done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// What was wrong, as one line.
    pub(super) failure: Option<String>,
    pub(super) trail: u64,
    /// A line a turn.
    pub(super) turns: Vec<String>,
}

impl Record {
    pub(super) fn new(outcome: &Outcome, choices: &Choices) -> Self {
        let failure = outcome.as_ref().err().map(|message| one_line(message));
        Self { failure, trail: choices.trail(), turns: choices.turns().iter().map(text).collect() }
    }

    /// How the other run differs, if it does.
    pub(super) fn difference(&self, other: &Self) -> Option<Difference> {
        if self == other {
            return None;
        }
        let what = match (&self.failure, &other.failure) {
            (one, other) if one == other => "it makes other turns".to_owned(),
            (_, None) => "it ends without a failure".to_owned(),
            (_, Some(failure)) => failure.replace("\\n", "\n"),
        };
        let differs = self.turns.iter().zip(&other.turns).position(|(one, other)| one != other);
        let turn = differs.unwrap_or_else(|| self.turns.len().min(other.turns.len()));
        let of = |turns: &[String]| turns.get(turn).map_or("the end", |turn| turn).to_owned();
        let [one, other] = [of(&self.turns), of(&other.turns)];
        let first_turn = (one != other).then(|| (turn + 1, one, other));
        Some(Difference { what, first_turn })
    }
}

/// How two runs of the same choices differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    pub(super) what: String,
    /// The number of the first turn that differs, and what it was in both.
    pub(super) first_turn: Option<(usize, String, String)>,
}

fn one_line(text: &str) -> String {
    text.replace('\n', "\\n")
}

fn text(turn: &Turn) -> String {
    let mut text = format!("{}.{} {}", turn.actor, turn.number, one_line(&turn.what));
    for call in &turn.calls {
        let _ = write!(text, ", {}", one_line(call));
    }
    for (number, drawn) in &turn.drawn {
        let _ = write!(text, " !{number}={drawn}");
    }
    for fault in &turn.faults {
        let _ = write!(text, " !{fault}");
    }
    text
}

/// The lines of a process that repeats a run: the evidence, and two records.
pub(super) fn write(evidence: &Evidence, records: [&Record; 2]) -> String {
    let mut text = format!("hashers {}\n", evidence.hashers);
    for (word, names) in [("thread", &evidence.threads), ("waker", &evidence.wakers)] {
        names
            .iter()
            .for_each(|name| writeln!(text, "{word} {}", one_line(name)).expect("it is a text"));
    }
    for record in records {
        let _ = writeln!(text, "trail {:x}", record.trail);
        record.turns.iter().for_each(|turn| writeln!(text, "turn {turn}").expect("it is a text"));
        let _ = match &record.failure {
            Some(failure) => writeln!(text, "fails {failure}"),
            None => writeln!(text, "passes "),
        };
    }
    text
}

/// Reads what [`write()`] has written. None if the text is not whole.
pub(super) fn read(text: &str) -> Option<(Evidence, [Record; 2])> {
    let mut evidence = Evidence::default();
    let (mut records, mut turns, mut trail) = (Vec::new(), Vec::new(), 0);
    for line in text.lines() {
        let (word, rest) = line.split_once(' ')?;
        match word {
            "hashers" => evidence.hashers = rest.parse().ok()?,
            "thread" => evidence.threads.push(rest.to_owned()),
            "waker" => evidence.wakers.push(rest.to_owned()),
            "trail" => trail = u64::from_str_radix(rest, 16).ok()?,
            "turn" => turns.push(rest.to_owned()),
            "fails" | "passes" => {
                let failure = (word == "fails").then(|| rest.to_owned());
                records.push(Record { failure, trail, turns: std::mem::take(&mut turns) });
            }
            _ => return None,
        }
    }
    Some((evidence, records.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::{Difference, Evidence, Record, read, write};

    fn record(failure: Option<&str>, turns: &[&str]) -> Record {
        let turns = turns.iter().map(|turn| (*turn).to_owned()).collect();
        Record { failure: failure.map(str::to_owned), trail: 0xfe, turns }
    }

    #[test]
    fn what_is_written_is_read() {
        let evidence = Evidence {
            hashers: 3,
            threads: vec!["a b".to_owned()],
            wakers: vec!["c".to_owned(), "d".to_owned()],
        };
        let (one, two) = (record(Some("not 3\\n  at x"), &["0.1 a", "1.1 b"]), record(None, &[]));
        let text = write(&evidence, [&one, &two]);
        assert_eq!(read(&text), Some((evidence, [one, two])));
        // Neither half of a text is a text.
        let half = text.find("passes").unwrap();
        assert_eq!(read(&text[..half]), None);
        assert_eq!(read("nonsense"), None);
    }

    #[test]
    fn a_difference_is_named_with_its_first_turn() {
        let one = record(Some("it is 4"), &["0.1 a", "1.1 b", "0.2 c"]);
        assert_eq!(one.difference(&one.clone()), None);
        let differs = |other: &Record| {
            let Difference { what, first_turn } = one.difference(other).unwrap();
            let (turn, one, other) = first_turn.unwrap();
            format!("{what}; {turn}: {one}; {other}")
        };
        let other = record(None, &["0.1 a", "2.1 b", "0.2 c"]);
        assert_eq!(differs(&other), "it ends without a failure; 2: 1.1 b; 2.1 b");
        let longer = record(Some("it is 4"), &["0.1 a", "1.1 b", "0.2 c", "0.3 d"]);
        assert_eq!(differs(&longer), "it makes other turns; 4: the end; 0.3 d");
    }
}
