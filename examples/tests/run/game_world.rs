//! The world does not depend on the number of workers, nor on the run.

use crate::support::{Running, error};

#[test]
fn any_number_of_workers_makes_the_same_world() {
    for workers in ["2", "5"] {
        let options = format!("--ticks 30 --side 4 --creatures 40 --workers {workers}");
        let lines = Running::start("game-world", &options).end();
        let [plan, one, all, ratio, end] = &lines[..] else { panic!("{lines:?}") };
        assert_eq!(plan, "16 regions of 40 creatures live for 30 ticks");
        for (line, workers) in [(one, "1"), (all, workers)] {
            assert!(line.starts_with(&format!("workers {workers:>3}: ")), "{line}");
            // Whole numbers in a fixed order: the same on every machine.
            assert!(line.ends_with(", checksum 1e5114e041ce4cbc"), "{line}");
        }
        assert!(ratio.starts_with(&format!("speed-up from 1 worker to {workers}: ")), "{ratio}");
        assert!(ratio.ends_with(", for the same world"), "{ratio}");
        assert_eq!(end, "640 creatures hold 95847 coins, after 612 walks over a border");
    }
}

#[test]
fn it_says_what_is_allowed() {
    let text = error("game-world", "--side 2");
    let expected = "Error: --side 2: expected a number from 3 to 64\nusage: game-world ";
    assert!(text.starts_with(expected), "{text}");
}
