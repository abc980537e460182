//! The messages of a key come in order, none is lost, and the limit holds.

use crate::support::{Running, error};

/// The numbers in a line.
fn numbers(line: &str) -> Vec<usize> {
    line.split([' ', ';']).filter_map(|word| word.parse().ok()).collect()
}

#[test]
fn keys_are_in_order_and_none_is_lost() {
    let options = "--messages 300 --keys 20 --in-flight 16";
    let lines = Running::start("keyed-consumer", options).end();
    let [plan, one, mutex, color, ratio, stopped] = &lines[..] else { panic!("{lines:?}") };
    assert_eq!(plan, "300 messages with 20 keys, at most 16 in flight");
    // The rate, in flight, at a time, out of order.
    for (line, name, at_a_time) in [
        (one, "one at a time: ", 1..=1),
        (mutex, "mutex per key: ", 2..=16),
        (color, "color per key: ", 2..=16),
    ] {
        assert!(line.starts_with(name), "{line}");
        let [_, in_flight, most, disorder] = numbers(line)[..] else { panic!("{line}") };
        assert!((2..=16).contains(&in_flight), "{line}");
        assert!(at_a_time.contains(&most), "{line}");
        // A mutex does not order.
        assert!(disorder == 0 || line == mutex, "{line}");
    }
    assert!(ratio.starts_with("color per key: "), "{ratio}");
    assert!(ratio.ends_with(" times as fast as mutex per key"), "{ratio}");
    let [messages, committed, again, stored, all] = numbers(stopped)[..] else {
        panic!("{stopped}")
    };
    assert_eq!((messages, stored, all), (150, 300, 300), "{stopped}");
    // What was handled and not committed.
    assert!(committed + again <= 150, "{stopped}");
}

#[test]
fn it_says_what_is_allowed() {
    let text = error("keyed-consumer", "--keys 0");
    let expected = "Error: --keys 0: expected a number from 1 to 1000000\nusage: keyed-consumer ";
    assert!(text.starts_with(expected), "{text}");
}
