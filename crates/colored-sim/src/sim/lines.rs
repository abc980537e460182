//! The turns of a failing run, as a person reads them.

use crate::Turn;
use std::fmt::{self, Write};

/// How many calls of a turn are shown.
const CALLS: usize = 3;

/// Writes at most `most` lines: first the turns around the choices that the failure needs, then the last ones.
pub(super) fn write(f: &mut fmt::Formatter<'_>, turns: &[Turn], most: usize) -> fmt::Result {
    let shown = choose(turns, most);
    let mut next = 0;
    for at in shown {
        if at > next {
            let left_out = at - next;
            writeln!(f, "       .. {left_out} turn{}", if left_out == 1 { "" } else { "s" })?;
        }
        next = at + 1;
        writeln!(f, "  {:>5}  {}", at + 1, line(&turns[at]))?;
    }
    Ok(())
}

/// The numbers of the turns that are shown, from 0.
fn choose(turns: &[Turn], most: usize) -> Vec<usize> {
    let is_chosen = |at: usize| {
        let turn: &Turn = &turns[at];
        turn.is_chosen || !turn.drawn.is_empty() || !turn.faults.is_empty()
    };
    let chosen = (0..turns.len()).filter(|at| is_chosen(*at));
    // What a turn is chosen before is the one that was to go on.
    let around = chosen.clone().flat_map(|at| at.checked_sub(1));
    let last = (0..turns.len()).rev();
    let mut shown: Vec<usize> = Vec::new();
    for at in chosen.chain(around).chain(last) {
        if shown.len() < most && !shown.contains(&at) {
            shown.push(at);
        }
    }
    shown.sort_unstable();
    shown
}

fn line(turn: &Turn) -> String {
    let mut line = format!("actor {}  {}", turn.actor, turn.what);
    for call in turn.calls.iter().take(CALLS) {
        let _ = write!(line, ", {call}");
    }
    if turn.calls.len() > CALLS {
        let _ = write!(line, ", {} calls more", turn.calls.len() - CALLS);
    }
    if turn.is_chosen {
        line.push_str("  <- chosen");
    }
    for (number, drawn) in &turn.drawn {
        let _ = write!(line, "  <- draw {number} is {drawn}");
    }
    for fault in &turn.faults {
        let _ = write!(line, "  <- fault: {fault}");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::{choose, line};
    use crate::Turn;

    #[test]
    fn choices_and_the_end_are_shown_first() {
        let mut turns = vec![Turn::default(); 100];
        turns[40].is_chosen = true;
        turns[70].drawn.push((2, 3));
        assert_eq!(choose(&turns, 6), [39, 40, 69, 70, 98, 99]);
        assert_eq!(choose(&turns, 2), [40, 70]);
        assert_eq!(choose(&turns, 1000).len(), 100);
        assert_eq!(choose(&[], 5), [0; 0]);
        turns[70].what = "color 4".to_owned();
        assert_eq!(line(&turns[70]), "actor 0  color 4  <- draw 2 is 3");
        turns[71].faults.push("a datagram of a is lost".to_owned());
        assert_eq!(choose(&turns, 3), [40, 70, 71]);
        assert!(line(&turns[71]).ends_with("  <- fault: a datagram of a is lost"));
        turns[71].calls = (1..=5).map(|call| format!("calls color {call}")).collect();
        let calls = ", calls color 1, calls color 2, calls color 3, 2 calls more";
        assert!(line(&turns[71]).contains(calls));
        turns[40].what = "color 5".to_owned();
        assert_eq!(line(&turns[40]), "actor 0  color 5  <- chosen");
    }
}
