//! Offsets without a record, and two ends of one log: what transactions leave, and what they have under way.

use crate::support::Topic;
use colored::time::{Duration, Instant, sleep, timeout};
use colored_consumer::{Event, Reset, Room, Source};
use colored_engines_proof::effects::millis;
use colored_engines_proof::suite::TestTopic;

/// The place of a group passes the marker behind a transaction, so retention over it takes nothing from the group, whatever
/// the consumer does about a loss.
#[colored::test]
async fn the_place_of_a_group_passes_the_markers_of_transactions() {
    let Some(topic) = Topic::create("markers", 1).await else { return };
    topic.transaction(0..10).await;
    let (consumer, seen) = topic.start(Reset::Earliest).await;
    seen.wait_for(10).await;
    topic.wait_until_done(&consumer, 11).await;
    consumer.stop().await.unwrap();
    topic.delete_records(11).await;
    topic.transaction(10..15).await;
    let (consumer, seen) = topic.start(Reset::Latest).await;
    seen.wait_for(5).await;
    topic.wait_until_done(&consumer, 17).await;
    consumer.stop().await.unwrap();
    // Ten that are never read, and their marker, beside a consumer that ends if it has missed something.
    let (consumer, seen) = topic.start(Reset::Fail).await;
    topic.abort(15..25).await;
    topic.wait_until_done(&consumer, 28).await;
    topic.delete_records(28).await;
    topic.transaction(25..30).await;
    seen.wait_for(5).await;
    topic.wait_until_done(&consumer, 34).await;
    topic.delete_records(34).await;
    consumer.stop().await.unwrap();
    let (consumer, again) = topic.start(Reset::Fail).await;
    topic.plain(30..31).await;
    again.wait_for(1).await;
    consumer.stop().await.unwrap();
    let all = [seen.sorted(), again.all()].concat();
    assert_eq!(all, (25..31).collect::<Vec<_>>());
}

/// A client that commits by record leaves its group on the marker. What retention took from there may have been a record: a
/// consumer that begins behind the last record after a loss goes on, and skips nothing.
#[colored::test]
async fn a_place_on_a_marker_skips_nothing() {
    let Some(topic) = Topic::create("on-marker", 1).await else { return };
    topic.transaction(0..10).await;
    colored::block_in_place(|| topic.kafka.set_committed("g-on-marker", "on-marker", 0, (10, "")));
    topic.delete_records(11).await;
    topic.transaction(10..15).await;
    let (consumer, seen) = topic.start(Reset::Latest).await;
    seen.wait_for(5).await;
    consumer.stop().await.unwrap();
    assert_eq!(seen.sorted(), (10..15).collect::<Vec<_>>());
}

/// Holes in the middle: what is aborted. The place passes them, too, when nothing is in flight.
#[colored::test]
async fn the_lag_is_0_when_all_that_can_be_read_is_done() {
    let Some(topic) = Topic::create("holes", 1).await else { return };
    topic.plain(0..1).await;
    topic.abort(1..1_001).await;
    topic.plain(1_001..1_002).await;
    topic.abort(1_002..2_002).await;
    // Under way: nobody can read it, nor what is behind it.
    let open = topic.begin("holes-open", 2_002..2_012).await;
    topic.plain(2_012..2_022).await;
    let (consumer, seen) = topic.start(Reset::Earliest).await;
    seen.wait_for(2).await;
    topic.wait_until_done(&consumer, 2_004).await;
    colored::block_in_place(|| open.commit());
    seen.wait_for(22).await;
    topic.wait_until_done(&consumer, 2_025).await;
    consumer.stop().await.unwrap();
    let expected: Vec<_> = [0, 1_001].into_iter().chain(2_002..2_022).collect();
    assert_eq!(seen.sorted(), expected);
}

/// Compaction leaves three records of three keys, at the end of what it has looked at, and one behind that.
#[colored::test]
async fn a_compacted_log_is_read_over_its_holes() {
    let Some(topic) = Topic::create_compacted("compacted").await else { return };
    topic.plain(0..3_000).await;
    sleep(millis(200)).await;
    topic.plain(3_000..3_001).await;
    let end = Instant::now() + Duration::from_secs(120);
    let left = loop {
        let (consumer, seen) = topic.start(Reset::Earliest).await;
        topic.wait_until_done(&consumer, 3_001).await;
        consumer.stop().await.unwrap();
        // The broker compacts when it likes, and maybe a part of it first.
        if seen.all().len() <= 4 {
            break seen.sorted();
        }
        assert!(Instant::now() < end, "not all was compacted");
        topic.delete_group().await;
        sleep(millis(200)).await;
    };
    assert_eq!(left, [2_997, 2_998, 2_999, 3_000]);
}

/// Another client, which reads uncommitted records as Java's does by default, has handled all.
#[colored::test]
async fn a_group_above_an_open_transaction_repeats_nothing() {
    let Some(topic) = Topic::create("open", 1).await else { return };
    topic.plain(0..100).await;
    let open = topic.begin("open", 100..110).await;
    topic.plain(110..120).await;
    colored::block_in_place(|| topic.kafka.set_committed("g-open", "open", 0, (120, "")));
    let (consumer, seen) = topic.start(Reset::Earliest).await;
    topic.wait_until_done(&consumer, 120).await;
    colored::block_in_place(|| open.commit());
    topic.plain(120..121).await;
    seen.wait_for(1).await;
    topic.wait_until_done(&consumer, 122).await;
    consumer.stop().await.unwrap();
    assert_eq!(seen.all(), [120]);
}

/// The end for a consumer that is told to begin behind the last record is that of what can be read: what a transaction under way
/// has written comes when it is committed.
#[colored::test]
async fn the_latest_place_is_before_an_open_transaction() {
    let Some(topic) = Topic::create("latest-open", 1).await else { return };
    topic.plain(0..10).await;
    let open = topic.begin("latest-open", 10..15).await;
    let (consumer, seen) = topic.start(Reset::Latest).await;
    topic.wait_until_done(&consumer, 10).await;
    colored::block_in_place(|| open.commit());
    seen.wait_for(5).await;
    consumer.stop().await.unwrap();
    assert_eq!(seen.sorted(), (10..15).collect::<Vec<_>>());
}

/// The client stops for good at an offset that is not there, and refuses a seek: also if the log has grown to it before the
/// member looks.
#[colored::test]
async fn a_log_that_grows_to_the_wanted_offset_is_read() {
    let Some(topic) = Topic::create("grows-to", 1).await else { return };
    topic.plain(0..20).await;
    let mut member = topic.member().join().await.unwrap();
    let room = Room { records: 100, bytes: 1 << 20 };
    let Ok(Event::Assigned(assigned)) = member.poll(room).await else { panic!("no partition") };
    let owned = assigned[0].owned.clone();
    member.begin(&owned, 25);
    {
        // The client is told. Its answer is looked at when the log has grown.
        let mut poll = std::pin::pin!(member.poll(room));
        let once = |context: &mut std::task::Context<'_>| {
            std::task::Poll::Ready(poll.as_mut().poll(context).is_ready())
        };
        assert!(!std::future::poll_fn(once).await);
    }
    sleep(millis(1_500)).await;
    topic.plain(20..30).await;
    let mut has_begun_again = false;
    let first = loop {
        let event = timeout(Duration::from_secs(30), member.poll(room)).await.expect("an event");
        match event.unwrap() {
            Event::OutOfRange { owned: of, log } => {
                assert_eq!((of, log.start, log.end), (owned.clone(), 0, 30));
                member.begin(&owned, 25);
                has_begun_again = true;
            }
            Event::Records { records, .. } if !records.is_empty() => break records[0].offset,
            Event::Records { .. } => {}
            other => panic!("{other:?}"),
        }
    };
    assert!(has_begun_again && first == 25, "{first}");
    member.close().await.unwrap();
}
