//! A planted bug is found, shrunk and printed, and the right program passes.

use crate::support::{Running, error};

#[test]
fn a_planted_bug_is_found() {
    let lines = Running::start("raft-sim", "--bug votes-blindly --seeds 200").end();
    let [first, place, ..] = &lines[..] else { panic!("{lines:?}") };
    assert!(first.starts_with("bug votes-blindly: after "), "{first}");
    assert!(first.ends_with("two hosts apply different entries"), "{first}");
    let expected = "at examples/examples/raft-sim/observer.rs:";
    assert!(place.trim_start().starts_with(expected), "{place}");
    let again = "  again: COLORED_SIM_REPLAY=";
    assert!(lines.iter().any(|line| line.starts_with(again)), "{lines:?}");
}

#[test]
fn the_right_program_passes() {
    let lines = Running::start("raft-sim", "--bug none --seeds 20").end();
    assert!(
        lines[0]
            .starts_with("bug none: 20 seeds, 20 different schedules in 20 classes: none fails"),
        "{lines:?}"
    );
}

#[test]
fn it_says_what_is_allowed() {
    let text = error("raft-sim", "--bug all");
    let expected = "Error: --bug all: expected none or forgets-log or votes-blindly or reads-locally\nusage: raft-sim ";
    assert!(text.starts_with(expected), "{text}");
}
