//! What a store with a fencing token does: it refuses the effects of members that have lost their partition.

use std::collections::HashMap;

/// A time in nanoseconds since 1970, and what may go wrong until then.
#[derive(Clone, Debug)]
pub(crate) struct Trouble {
    /// The process that may have lost its partitions, or everybody.
    pub(crate) process: Option<String>,
    pub(crate) from: u128,
    pub(crate) until: u128,
}

struct Line<'a> {
    text: &'a str,
    process: &'a str,
    generation: u64,
    start: u128,
    end: u128,
    partition: &'a str,
}

fn line(text: &str) -> Line<'_> {
    let words: Vec<_> = text.split(' ').collect();
    let [_, _, member, generation, start, end, partition, _] = words[..] else {
        panic!("{text:?} is no effect")
    };
    Line {
        text,
        process: member.split('.').next().unwrap(),
        generation: generation.parse().unwrap(),
        start: start.parse().unwrap(),
        end: end.parse().unwrap(),
        partition,
    }
}

/// The effects whose generation is not below one that the store has seen for the partition.
pub(crate) fn accepted(lines: &[String]) -> Vec<String> {
    let mut seen: HashMap<&str, u64> = HashMap::new();
    let mut accepted = Vec::new();
    for line in lines.iter().map(|text| line(text)) {
        let seen = seen.entry(line.partition).or_default();
        *seen = line.generation.max(*seen);
        if line.generation == *seen {
            accepted.push(line.text.to_owned());
        }
    }
    accepted
}

/// The effects but those that ended after a later owner had begun, while their process was in trouble.
pub(crate) fn without_stale(lines: &[String], troubles: &[Trouble]) -> Vec<String> {
    let parsed: Vec<_> = lines.iter().map(|text| line(text)).collect();
    let mut begun: HashMap<&str, Vec<(u64, u128)>> = HashMap::new();
    for line in &parsed {
        begun.entry(line.partition).or_default().push((line.generation, line.start));
    }
    let is_stale = |line: &Line<'_>| {
        let others = &begun[line.partition];
        let is_late = others
            .iter()
            .any(|(generation, start)| *generation > line.generation && *start < line.end);
        is_late
            && troubles.iter().any(|trouble| {
                trouble.process.as_deref().is_none_or(|process| process == line.process)
                    && (trouble.from..trouble.until).contains(&line.end)
            })
    };
    parsed.iter().filter(|line| !is_stale(line)).map(|line| line.text.to_owned()).collect()
}
