//! Nothing is lost on the way through the stages.

use crate::support::Running;

#[test]
fn every_number_comes_out() {
    let lines = Running::start("pipeline", "").end();
    let [count, factor, kinds @ .., end] = &lines[..] else { panic!("{lines:?}") };
    assert!(count.starts_with("count: 100000 events in "), "{count}");
    assert!(factor.starts_with("factor: 100000 events in "), "{factor}");
    let expected = [(50_000, 2), (16_667, 3), (6_667, 5), (3_809, 7)]
        .map(|(numbers, factor)| format!("{numbers} numbers have the smallest factor {factor}"));
    assert_eq!(kinds, expected);
    // 2 to 100001 have as many smallest factors as there are primes among them.
    assert!(end.starts_with("9592 kinds in "), "{end}");
}
