//! No coin is lost.

use crate::support::Running;

#[test]
fn it_keeps_every_coin() {
    let lines = Running::start("bank", "").end();
    let [before, transfers, after] = &lines[..] else { panic!("{lines:?}") };
    assert_eq!(before, "1000 accounts hold 100000 coins");
    assert_eq!(before, after);
    assert!(transfers.starts_with("100000 transfers in "), "{transfers}");
    // Some were refused, and by far not all: accounts start with as much as the largest transfer.
    let refused =
        transfers.split(' ').find_map(|word| word.parse::<u32>().ok().filter(|n| *n != 100_000));
    assert!(refused.is_some_and(|refused| (1..90_000).contains(&refused)), "{transfers}");
}
