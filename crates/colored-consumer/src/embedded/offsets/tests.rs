//! What is stored last is not always what counts.

use super::*;
use crate::scratch::Scratch;

/// Two members store the generations that they were given, in the wrong order: no later engine gives one again.
#[colored::test]
async fn the_generation_of_a_group_never_falls() {
    let scratch = Scratch::new();
    let offsets = Offsets::open(scratch.path(), false, None).await.expect("it is new");
    for number in [9, 10, 9] {
        offsets.store_generation("g", number).await.expect("the directory is writable");
    }
    assert_eq!(offsets.generation("g").await, 10);
    for _ in 0..2 {
        // The first time from all records, the second time from those that have replaced them.
        let again = Offsets::open(scratch.path(), false, None).await.expect("it is whole");
        assert_eq!(again.generation("g").await, 10);
    }
}

/// A member writes its generation for so long that it is taken for dead, and its successor begins first.
#[colored::test]
async fn an_owner_that_begins_late_takes_nothing_from_its_successor() {
    let scratch = Scratch::new();
    let offsets = Offsets::open(scratch.path(), false, None).await.expect("it is new");
    let of = TopicPartition { topic: "t".into(), partition: 0 };
    let commit = |generation, offset| {
        let owned = Owned { partition: of.clone(), generation };
        vec![Commit { owned, committed: Committed { offset, ..Committed::default() } }]
    };
    assert_eq!(offsets.begin("g", &of, 4).await, Begun::At(None));
    assert_eq!(offsets.begin("g", &of, 3).await, Begun::TooLate);
    let fenced = offsets.commit("g", commit(3, 9)).await.expect("the directory is writable");
    assert_eq!(fenced.len(), 1);
    let fenced = offsets.commit("g", commit(4, 7)).await.expect("the directory is writable");
    assert_eq!(fenced, []);
    assert_eq!(offsets.committed("g", &of).await.expect("it is committed").offset, 7);
    offsets.forget("t").await.expect("the directory is writable");
    assert_eq!(offsets.begin("g", &of, 5).await, Begun::At(None), "the topic has come again");
}
