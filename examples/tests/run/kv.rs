//! Reads of several keys see whole writes only.

use crate::support::{Running, error};

/// The numbers in a line.
fn numbers(line: &str) -> Vec<u64> {
    line.split(' ').filter_map(|word| word.parse().ok()).collect()
}

#[test]
fn no_read_sees_half_of_a_write() {
    for percent in [5, 50] {
        let lines = Running::start("kv", &format!("--writes {percent}")).end();
        let [operations, torn, written] = &lines[..] else { panic!("{lines:?}") };
        let operations = numbers(operations);
        let (reads, writes) = (operations[0], operations[2]);
        assert_eq!(reads + writes, 64_000, "{lines:?}");
        let expected = 640 * percent;
        assert!(writes.abs_diff(expected) < expected / 4, "{lines:?}");
        assert_eq!(torn, "0 reads saw half of a write");
        assert_eq!(numbers(written), [2 * writes]);
    }
}

#[test]
fn it_says_what_is_allowed() {
    let text = error("kv", "--writes 101");
    let expected =
        "Error: --writes 101: expected a number from 0 to 100\nusage: kv [--writes PERCENT]\n";
    assert_eq!(text, expected);
}
