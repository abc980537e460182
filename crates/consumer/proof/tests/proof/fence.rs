//! What a store with a fencing token does: it refuses the effects of members that have lost their partition.

use std::collections::HashMap;
use std::sync::Arc;

/// A time in nanoseconds since 1970, and what may go wrong until then.
#[derive(Clone, Debug)]
pub(crate) struct Trouble {
    /// The process that may have lost its partitions, or everybody.
    pub(crate) process: Option<String>,
    pub(crate) from: u128,
    pub(crate) until: u128,
}

struct Line<'a> {
    text: &'a Arc<str>,
    process: &'a str,
    generation: u64,
    start: u128,
    end: u128,
    partition: &'a str,
}

fn line(text: &Arc<str>) -> Line<'_> {
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
pub(crate) fn accepted(lines: &[Arc<str>]) -> Vec<Arc<str>> {
    let mut seen: HashMap<&str, u64> = HashMap::new();
    let mut accepted = Vec::new();
    for line in lines.iter().map(line) {
        let seen = seen.entry(line.partition).or_default();
        *seen = line.generation.max(*seen);
        if line.generation == *seen {
            accepted.push(Arc::clone(line.text));
        }
    }
    accepted
}

/// Whether each effect is stale: it ended after a later owner had begun, while its process was in trouble.
pub(crate) fn are_stale(lines: &[Arc<str>], troubles: &[Trouble]) -> Vec<bool> {
    let parsed: Vec<_> = lines.iter().map(line).collect();
    // When each generation of a partition began.
    let mut begun: HashMap<(&str, u64), u128> = HashMap::new();
    for line in &parsed {
        let begun = begun.entry((line.partition, line.generation)).or_insert(line.start);
        *begun = line.start.min(*begun);
    }
    let mut by_partition: HashMap<&str, Vec<(u64, u128)>> = HashMap::new();
    for ((partition, generation), start) in begun {
        by_partition.entry(partition).or_default().push((generation, start));
    }
    let is_stale = |line: &Line<'_>| {
        let is_late = by_partition[line.partition]
            .iter()
            .any(|(generation, start)| *generation > line.generation && *start < line.end);
        is_late
            && troubles.iter().any(|trouble| {
                trouble.process.as_deref().is_none_or(|process| process == line.process)
                    && (trouble.from..trouble.until).contains(&line.end)
            })
    };
    parsed.iter().map(is_stale).collect()
}
