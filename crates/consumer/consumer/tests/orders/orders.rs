//! The orders of a share come in order, none is lost, and the crash repeats only what was not committed.

use crate::support::{Running, error};

/// The numbers in a line.
fn numbers(line: &str) -> Vec<usize> {
    line.split([' ', ';', ':', ',']).filter_map(|word| word.parse().ok()).collect()
}

#[test]
fn shares_are_in_order_and_none_is_lost() {
    let lines = Running::start("orders", "--orders 300 --shares 20 --in-flight 16").end();
    let [plan, one, parallel, ratio, crash] = &lines[..] else { panic!("{lines:?}") };
    assert_eq!(plan, "300 orders for 20 shares, at most 16 at a time");
    for (line, name, at_a_time) in
        [(one, "one at a time: ", 1..=1), (parallel, "in parallel by share: ", 2..=16)]
    {
        assert!(line.starts_with(name), "{line}");
        // At a time, out of order, twice; the rate is in `orders/s`.
        let [_, most, 0, 0] = numbers(line)[..] else { panic!("{line}") };
        assert!(at_a_time.contains(&most), "{line}");
    }
    assert!(ratio.ends_with(" times as fast as one at a time"), "{ratio}");
    let [crashed, again, 0, stored, all] = numbers(crash)[..] else { panic!("{crash}") };
    assert!((150..300).contains(&crashed) && again <= crashed, "{crash}");
    assert_eq!((stored, all), (300, 300), "{crash}");
}

#[test]
fn it_says_what_is_allowed() {
    let text = error("orders", "--shares 0");
    let expected = "Error: --shares 0: expected a number from 1 to 1000000\nusage: orders ";
    assert!(text.starts_with(expected), "{text}");
}
