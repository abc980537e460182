//! What is stored last is not always what counts.

use super::*;
use crate::scratch::Scratch;

/// Two members store the generations that they were given, in the wrong order: no later engine gives one again.
#[colored::test]
async fn the_generation_of_a_group_never_falls() {
    let scratch = Scratch::new();
    let offsets = Offsets::open(scratch.path(), false).await.expect("it is new");
    for number in [9, 10, 9] {
        offsets.store_generation("g", number).await.expect("the directory is writable");
    }
    assert_eq!(offsets.generation("g").await, 10);
    for _ in 0..2 {
        // The first time from all records, the second time from those that have replaced them.
        let again = Offsets::open(scratch.path(), false).await.expect("it is whole");
        assert_eq!(again.generation("g").await, 10);
    }
}
