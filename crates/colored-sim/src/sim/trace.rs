//! The turns of a failing run as a file for <https://ui.perfetto.dev>, in the JSON of trace events.

use crate::Turn;
use std::io::{self, Write};

/// How long a turn is shown, in nanoseconds. No time passes in a turn of a simulation, and one of no length would not be seen.
const LENGTH: u64 = 1000;

/// Writes a track for each actor, with its turns. Turns of one time stand one behind another.
pub(super) fn write(out: &mut impl Write, turns: &[Turn]) -> io::Result<()> {
    let mut actors: Vec<usize> = turns.iter().map(|turn| turn.actor).collect();
    actors.sort_unstable();
    actors.dedup();
    write!(out, "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    for actor in &actors {
        let name = format!("{{\"name\":\"actor {actor}\"}}");
        writeln!(
            out,
            "{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":{actor},\"args\":{name}}},"
        )?;
    }
    let mut free = 0;
    for (at, turn) in turns.iter().enumerate() {
        let begin = turn.nanos.max(free);
        free = begin + LENGTH;
        let comma = if at + 1 < turns.len() { "," } else { "" };
        writeln!(
            out,
            "{{\"ph\":\"X\",\"name\":\"{}\",\"pid\":1,\"tid\":{},\"ts\":{},\"dur\":{},\"args\":{{\"turn\":{},\"chosen\":{},\"drawn\":\"{:?}\",\"calls\":\"{}\"}}}}{comma}",
            escape(&turn.what),
            turn.actor,
            micros(begin),
            micros(LENGTH),
            at + 1,
            turn.is_chosen,
            turn.drawn,
            escape(&turn.calls.join(", ")),
        )?;
    }
    writeln!(out, "]}}")
}

fn micros(nanos: u64) -> String {
    format!("{}.{:03}", nanos / 1000, nanos % 1000)
}

fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for of in text.chars() {
        match of {
            '"' | '\\' => escaped.extend(['\\', of]),
            _ if of.is_control() => escaped.push(' '),
            _ => escaped.push(of),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::write;
    use crate::Turn;

    #[test]
    fn turns_of_one_time_stand_one_behind_another() {
        let turn = |actor, nanos, what: &str| Turn {
            actor,
            nanos,
            what: what.to_owned(),
            ..Turn::default()
        };
        let turns = [turn(0, 0, "a \"color\""), turn(3, 0, "b"), turn(0, 7_000_500, "c")];
        let mut out = Vec::new();
        write(&mut out, &turns).unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 6, "{text}");
        assert!(lines[1].contains("\"args\":{\"name\":\"actor 3\"}},"), "{text}");
        assert!(
            lines[2].contains("\"name\":\"a \\\"color\\\"\",\"pid\":1,\"tid\":0,\"ts\":0.000,")
        );
        assert!(lines[3].contains("\"ts\":1.000,\"dur\":1.000,"), "{text}");
        assert!(lines[4].contains("\"ts\":7000.500,") && lines[4].ends_with("}}"), "{text}");
        assert_eq!(lines[5], "]}");
    }
}
