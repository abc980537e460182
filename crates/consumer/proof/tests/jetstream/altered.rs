//! A stream that is not what it was: messages deleted, begun later, made again, brought back from an older copy. What exists
//! is handled, and what was committed is not repeated, unless the log is another one, or `Reset` says so.

use crate::support::{Topic, nats};
use colored::block_in_place;
use colored::time::sleep;
use colored_consumer::{
    Assignment, Commit, Committed, Consumer, ConsumerError, Control, Event, Reset, Room, Source,
};
use colored_engines_proof::Directory;
use colored_engines_proof::effects::{Effects, millis, run, settle};
use colored_engines_proof::nats::Nats;
use colored_engines_proof::suite::{TestTopic, until};

const ALL: [Reset; 3] = [Reset::Earliest, Reset::Latest, Reset::Fail];

/// A consumer of the topic's group.
async fn start(topic: &Topic, reset: Reset, effects: &Effects) -> Consumer {
    run(Consumer::builder(topic.member().join().await.unwrap()).reset(reset), effects, millis(0))
}

/// Handles so many records that the group has not handled, and stops.
async fn handle(topic: &Topic, reset: Reset, count: usize) -> Effects {
    let effects = Effects::default();
    let consumer = start(topic, reset, &effects).await;
    effects.wait_for(count).await;
    consumer.stop().await.unwrap();
    assert_eq!(effects.count(), count, "{reset:?}: {:?}", effects.all());
    effects
}

/// The numbers of a partition's records, in the order of their effects.
#[track_caller]
fn assert_numbers(effects: &Effects, partition: u32, numbers: impl Iterator<Item = u64>) {
    let all = effects.all().into_iter().filter(|effect| effect.partition == partition);
    assert_eq!(all.map(|effect| effect.number).collect::<Vec<_>>(), numbers.collect::<Vec<_>>());
}

/// The consumer ends, since nobody may decide where it goes on.
async fn assert_fails(consumer: Consumer) {
    match consumer.wait().await {
        Err(ConsumerError::OutOfRange(_)) => {}
        other => panic!("{other:?}"),
    }
}

fn name(of: &str, reset: Reset) -> String {
    format!("{of}-{reset:?}")
}

/// Commits a place of the first partition as another consumer of the group might, and leaves.
async fn commit(topic: &Topic, place: u64) {
    let mut member = topic.member().join().await.unwrap();
    let is_first = |of: &&Assignment| of.owned.partition.partition == 0;
    let event = member.poll(Room { records: 0, bytes: 0 }).await.unwrap();
    let Event::Assigned(assigned) = event else { panic!("{event:?}") };
    let of = assigned.iter().find(is_first).unwrap();
    let committed = Committed { offset: place, log: of.log.identity, ..Committed::default() };
    let commit = Commit { owned: of.owned.clone(), committed };
    member.control().commit(vec![commit]).await.unwrap();
    member.close().await.unwrap();
}

/// The last record, or all of a key, is deleted: nothing that is left is repeated, and no commit goes back.
#[colored::test]
async fn what_is_deleted_at_the_end_moves_no_place() {
    let Some(nats) = nats() else { return };
    for reset in ALL {
        let topic = Topic::create_at(nats, &name("ends", reset), 2).await;
        topic.send_to(0, 0..10).await;
        topic.send_to(1, 0..10).await;
        handle(&topic, Reset::Earliest, 20).await;
        let before = topic.committed().await;
        let last = topic.ends().await[0] - 1;
        block_in_place(|| nats.delete_message(&topic.name, last));
        block_in_place(|| nats.purge(&topic.name, &format!("{}.p.1.k1", topic.name)));
        let effects = Effects::default();
        let consumer = start(&topic, reset, &effects).await;
        topic.send_to(1, 10..11).await;
        effects.wait_for(1).await;
        // The same while it runs.
        block_in_place(|| nats.purge(&topic.name, &format!("{}.p.1.k1", topic.name)));
        topic.send_to(0, 10..12).await;
        topic.send_to(1, 11..13).await;
        effects.wait_for(5).await;
        // Handlers report after their effects.
        until("no lag", async || consumer.metrics().await.is_caught_up).await;
        consumer.stop().await.unwrap();
        assert_numbers(&effects, 0, 10..12);
        assert_numbers(&effects, 1, 10..13);
        let after = topic.committed().await;
        assert!(
            before.iter().zip(&after).all(|(before, after)| before < after),
            "{before:?} {after:?}"
        );
    }
}

/// The last records are deleted before they were read: the lag does not stay, and the place follows the stream.
#[colored::test]
async fn a_partition_whose_rest_was_deleted_has_no_lag() {
    let Some(nats) = nats() else { return };
    let topic = Topic::create_at(nats, "rest", 2).await;
    topic.send_to(0, 0..10).await;
    topic.send_to(1, 0..10).await;
    commit(&topic, 5).await;
    (6..11).for_each(|sequence| block_in_place(|| nats.delete_message("rest", sequence)));
    let effects = Effects::default();
    let consumer = start(&topic, Reset::Earliest, &effects).await;
    effects.wait_for(11).await;
    while topic.committed().await[0] < 21 {
        sleep(millis(20)).await;
    }
    let metrics = consumer.metrics().await;
    assert!(metrics.partitions.iter().all(|of| of.lag == 0), "{metrics:?}");
    consumer.stop().await.unwrap();
    assert_numbers(&effects, 0, 4..5);
}

/// The limits of a stream delete what other partitions have, and the place of a quiet one is below the first message: it is
/// in the log.
#[colored::test]
async fn a_quiet_partition_stays_in_a_stream_with_limits() {
    let Some(mut nats) = block_in_place(Nats::start) else { return };
    let topic = Topic::create_at(&nats, "quiet", 2).await;
    topic.send_to(0, 0..5).await;
    handle(&topic, Reset::Earliest, 5).await;
    block_in_place(|| nats.limit_messages("quiet", 10));
    // The other partition overtakes, and is handled: in less time than a place needs to follow.
    let overtake = async |effects: &Effects| {
        for _ in 0..4 {
            let count = effects.count();
            topic.send_to(1, 0..5).await;
            effects.wait_for(count + 5).await;
        }
    };
    let effects = Effects::default();
    let consumer = start(&topic, Reset::Fail, &effects).await;
    overtake(&effects).await;
    block_in_place(|| nats.restart());
    topic.send_to(0, 5..10).await;
    effects.wait_for(25).await;
    overtake(&effects).await;
    consumer.stop().await.expect("nothing was missed");
    for (reset, first) in ALL.into_iter().zip([10, 15, 20]) {
        topic.send_to(0, first..first + 5).await;
        let effects = handle(&topic, reset, 5).await;
        assert_numbers(&effects, 0, first..first + 5);
        let consumer = start(&topic, reset, &effects).await;
        overtake(&effects).await;
        consumer.stop().await.expect("nothing was missed");
    }
}

/// Records that a group has not handled are deleted: `Reset` decides, and the metrics say so.
#[colored::test]
async fn unread_records_that_are_deleted_are_told() {
    let Some(nats) = nats() else { return };
    for reset in ALL {
        let topic = Topic::create_at(nats, &name("unread", reset), 2).await;
        topic.send_to(0, 0..10).await;
        topic.send_to(1, 0..10).await;
        commit(&topic, 4).await;
        topic.engine.delete_before(&topic.name, 8).await.unwrap();
        let effects = Effects::default();
        let consumer = start(&topic, reset, &effects).await;
        if reset == Reset::Fail {
            assert_fails(consumer).await;
            continue;
        }
        settle(&[&consumer], &[2]).await;
        topic.send_to(0, 10..12).await;
        // The other partition is new to the group, which is in the topic.
        effects.wait_for(10 + if reset == Reset::Latest { 2 } else { 5 }).await;
        assert_eq!(consumer.metrics().await.resets, 1);
        consumer.stop().await.unwrap();
        let first = if reset == Reset::Latest { 10 } else { 7 };
        assert_numbers(&effects, 0, first..12);
        assert_numbers(&effects, 1, 0..10);
    }
}

/// A group that has handled 40 records, and whose consumer runs, or does not.
struct Case {
    topic: Topic,
    reset: Reset,
    running: Option<(Consumer, Effects)>,
}

/// All cases, and a copy of their streams when they had 20 records.
async fn cases(nats: &mut Nats, of: &str) -> (Vec<Case>, Directory) {
    let mut all = Vec::new();
    for (reset, is_running) in ALL.into_iter().flat_map(|reset| [(reset, true), (reset, false)]) {
        let topic = Topic::create_at(nats, &format!("{of}-{reset:?}-{is_running}"), 2).await;
        topic.send_to(0, 0..20).await;
        all.push((topic, reset, is_running));
    }
    let names: Vec<_> = all.iter().map(|(topic, ..)| &*topic.name).collect();
    let copy = block_in_place(|| nats.copy(&names));
    let mut cases = Vec::new();
    for (topic, reset, is_running) in all {
        topic.send_to(0, 20..40).await;
        handle(&topic, Reset::Earliest, 40).await;
        let effects = Effects::default();
        let running = match is_running {
            true => Some((start(&topic, reset, &effects).await, effects)),
            false => None,
        };
        if let Some((consumer, _)) = &running {
            settle(&[consumer], &[2]).await;
        }
        cases.push(Case { topic, reset, running });
    }
    (cases, copy)
}

impl Case {
    /// The log is another one now: all that it has is handled, or the consumer ends.
    async fn assert_handles(self, numbers: impl Iterator<Item = u64> + Clone) {
        let Case { topic, reset, running } = self;
        let (consumer, effects) = match running {
            Some(running) => running,
            None => {
                let effects = Effects::default();
                (start(&topic, reset, &effects).await, effects)
            }
        };
        if reset == Reset::Fail {
            return assert_fails(consumer).await;
        }
        effects.wait_for(numbers.clone().count()).await;
        assert!(consumer.metrics().await.resets > 0);
        consumer.stop().await.unwrap();
        assert_numbers(&effects, 0, numbers);
        assert_eq!(topic.committed().await[0], topic.ends().await[0]);
    }
}

/// A topic that is deleted and made again has its offsets again, and none is taken for one of before.
#[colored::test]
async fn a_stream_that_is_made_again_is_another_log() {
    let Some(mut nats) = block_in_place(Nats::start) else { return };
    let (cases, _) = cases(&mut nats, "again").await;
    for Case { topic, .. } in &cases {
        topic.engine.delete_topic(&topic.name).await.unwrap();
        topic.engine.create_topic(&topic.name, 2).await.unwrap();
        topic.send_to(0, 100..150).await;
    }
    for case in cases {
        case.assert_handles(100..150).await;
    }
}

/// An older copy of a stream has its time of creation, and gives the offsets of what it has lost again.
#[colored::test]
async fn a_stream_that_is_brought_back_is_another_log() {
    let Some(mut nats) = block_in_place(Nats::start) else { return };
    let (cases, copy) = cases(&mut nats, "back").await;
    block_in_place(|| nats.bring_back(&copy));
    for Case { topic, reset, running } in &cases {
        topic.send_to(0, 100..140).await;
        if *reset == Reset::Latest && running.is_none() {
            // The number by which a log is known. A consumer that runs may have read it before.
            block_in_place(|| nats.delete_message(&topic.name, 40));
        }
    }
    for case in cases {
        let is_there = case.reset != Reset::Latest || case.running.is_some();
        let new = (100..140).filter(move |number| is_there || *number != 119);
        case.assert_handles((0..20).chain(new)).await;
    }
}

/// A partition that the topic did not have when the group was in it is new as a whole, also for `Latest`.
#[colored::test]
async fn an_added_partition_is_read_from_its_first_record() {
    let Some(nats) = nats() else { return };
    let topic = Topic::create_at(nats, "added", 1).await;
    topic.send_to(0, 0..5).await;
    handle(&topic, Reset::Earliest, 5).await;
    topic.engine.delete_topic("added").await.unwrap();
    topic.engine.create_topic("added", 2).await.unwrap();
    topic.send_to(0, 5..10).await;
    topic.send_to(1, 0..5).await;
    let effects = handle(&topic, Reset::Latest, 10).await;
    assert_numbers(&effects, 0, 5..10);
    assert_numbers(&effects, 1, 0..5);
}

/// While a member runs, too: it notices.
#[colored::test]
async fn a_member_notices_that_a_topic_has_more_partitions() {
    let Some(nats) = nats() else { return };
    let topic = Topic::create_at(nats, "grown", 1).await;
    topic.send_to(0, 0..5).await;
    let effects = Effects::default();
    let member = topic.member().session(millis(12_000)).join().await.unwrap();
    let consumer = run(Consumer::builder(member).reset(Reset::Latest), &effects, millis(0));
    settle(&[&consumer], &[1]).await;
    topic.send_to(0, 5..10).await;
    effects.wait_for(5).await;
    while topic.committed().await[0] == 0 {
        sleep(millis(10)).await;
    }
    topic.engine.delete_topic("grown").await.unwrap();
    topic.engine.create_topic("grown", 3).await.unwrap();
    topic.send_to(0, 10..15).await;
    topic.send_to(2, 0..5).await;
    effects.wait_for(15).await;
    settle(&[&consumer], &[3]).await;
    consumer.stop().await.unwrap();
    assert_numbers(&effects, 0, 5..15);
    assert_numbers(&effects, 2, 0..5);
}

/// The member has noticed that its topic is gone before another one of the name is made.
#[colored::test]
async fn a_member_notices_that_a_deleted_topic_is_there_again() {
    let Some(nats) = nats() else { return };
    let topic = Topic::create_at(nats, "again", 1).await;
    topic.send_to(0, 0..5).await;
    let effects = Effects::default();
    let member = topic.member().session(millis(3_000)).join().await.unwrap();
    let consumer = run(Consumer::builder(member), &effects, millis(0));
    effects.wait_for(5).await;
    topic.engine.delete_topic("again").await.unwrap();
    settle(&[&consumer], &[0]).await;
    topic.engine.create_topic("again", 2).await.unwrap();
    topic.send_to(0, 5..10).await;
    topic.send_to(1, 0..5).await;
    effects.wait_for(15).await;
    settle(&[&consumer], &[2]).await;
    consumer.stop().await.unwrap();
    assert_numbers(&effects, 0, 0..10);
    assert_numbers(&effects, 1, 0..5);
}

/// The server removes the last message of a subject, and leaves a marker: the key has no value any more.
#[colored::test]
async fn a_marker_of_deletion_is_a_tombstone() {
    let Some(nats) = nats() else { return };
    let topic = Topic::create_at(nats, "markers", 1).await;
    topic.engine.send("markers", Some(b"k"), "").await.unwrap();
    block_in_place(|| nats.publish_marker("markers.in.k"));
    let mut member = topic.member().join().await.unwrap();
    let room = Room { records: 10, bytes: 1 << 20 };
    let mut values = Vec::new();
    while values.len() < 2 {
        match member.poll(room).await.unwrap() {
            Event::Assigned(all) => member.begin(&all[0].owned, 1),
            Event::Records { records, .. } => {
                values.extend(records.into_iter().map(|record| (record.key, record.value)));
            }
            other => panic!("{other:?}"),
        }
    }
    let key = || Some("k".into());
    assert_eq!(values, [(key(), Some("".into())), (key(), None)]);
}
