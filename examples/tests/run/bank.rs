//! No coin is lost.

use crate::support::{Running, error};

#[test]
fn it_keeps_every_coin() {
    let lines = Running::start("bank", "").end();
    let [before, by_hop, by_when, audits, after] = &lines[..] else { panic!("{lines:?}") };
    assert_eq!(before, "1000 accounts hold 100000 coins");
    assert_eq!(before, after);
    assert_eq!(audits, "100 audits meanwhile, 100 of them exact");
    for (transfers, how) in [(by_hop, "Hop"), (by_when, "When")] {
        assert!(transfers.starts_with(&format!("100000 transfers by {how} in ")), "{transfers}");
        // Some were refused, and by far not all: accounts start with as much as the largest transfer.
        let refused = transfers.rsplit(' ').find_map(|word| word.parse::<u32>().ok());
        assert!(refused.is_some_and(|refused| (1..90_000).contains(&refused)), "{transfers}");
    }
}

/// As `pipeline` does, which has no options either.
#[test]
fn an_unknown_option_is_an_error() {
    for name in ["bank", "pipeline"] {
        let text = error(name, "--accounts 5");
        assert_eq!(
            text,
            format!("Error: --accounts is not known here, or given twice\nusage: {name}\n")
        );
    }
}
