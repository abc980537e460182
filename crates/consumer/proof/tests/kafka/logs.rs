//! Logs that are not what they were, and groups that begin anew.

use crate::support::Topic;
use colored::time::{Duration, sleep, timeout};
use colored_consumer::{
    Commit, CommitError, Committed, Consumer, Control, Event, Reset, Room, Source, TopicPartition,
};
use colored_consumer_kafka::{Engine, Member};
use colored_engines_proof::Directory;
use colored_engines_proof::effects::{Effects, millis, run};
use colored_engines_proof::suite::TestTopic;
use std::process::{Command, Stdio};

const ALL: Room = Room { records: 1_000, bytes: 1 << 20 };

/// A topic is deleted and made again, and the client does not notice: the old place is beyond the end of the new log, or in it.
#[colored::test]
async fn a_topic_that_is_made_again_is_read_from_its_begin() {
    let (Some(shorter), Some(longer)) =
        (Topic::create("shorter", 1).await, Topic::create("longer", 1).await)
    else {
        return;
    };
    shorter.plain(0..50).await;
    longer.plain(0..5).await;
    let (of_shorter, seen_shorter) = shorter.start_late(Reset::Earliest).await;
    let (of_longer, seen_longer) = longer.start_late(Reset::Latest).await;
    seen_shorter.wait_for(50).await;
    longer.wait_until_done(&of_longer, 5).await;
    colored::block_in_place(|| {
        for topic in ["shorter", "longer"] {
            shorter.kafka.delete_topic(topic);
            shorter.kafka.create_topic(topic, 1);
        }
    });
    shorter.plain(1_000..1_003).await;
    longer.plain(1_000..1_020).await;
    seen_shorter.wait_for(53).await;
    seen_longer.wait_for(20).await;
    shorter.plain(1_003..1_103).await;
    seen_shorter.wait_for(153).await;
    let metrics = of_shorter.metrics().await;
    assert_eq!((metrics.stale, metrics.violations), (0, 0));
    of_shorter.stop().await.unwrap();
    of_longer.stop().await.unwrap();
    assert_eq!(seen_shorter.sorted()[50..], (1_000..1_103).collect::<Vec<_>>());
    // What was read from the old place on before it was noticed comes twice.
    let mut seen = seen_longer.sorted();
    seen.dedup();
    assert_eq!(seen, (1_000..1_020).collect::<Vec<_>>());
    assert_eq!((shorter.committed().await, longer.committed().await), (vec![103], vec![20]));
}

/// The client alone would read on in the new topic: it has the old place, and the member learns of the topic from its id.
#[colored::test]
async fn another_topic_of_the_name_is_noticed() {
    let Some(topic) = Topic::create("other", 1).await else { return };
    topic.plain(0..10).await;
    let engine = Engine::new(&topic.kafka.url());
    let mut member = engine.member("g-other", ["other"]).join().await.unwrap();
    let Ok(Event::Assigned(assigned)) = member.poll(ALL).await else { panic!("no partition") };
    let (owned, before) = (assigned[0].owned.clone(), assigned[0].log.identity);
    member.begin(&owned, 0);
    let event = member.poll(Room { records: 5, bytes: 1 << 20 }).await;
    let Ok(Event::Records { next: 5, .. }) = event else { panic!("{event:?}") };
    // The consumer wants nothing, and so hears of nothing that the client has read on.
    member.pause(&owned.partition);
    assert!(timeout(millis(100), member.poll(ALL)).await.is_err());
    colored::block_in_place(|| {
        topic.kafka.delete_topic("other");
        topic.kafka.create_topic("other", 1);
    });
    topic.plain(0..20).await;
    let event = timeout(Duration::from_secs(30), member.poll(ALL)).await.expect("an event");
    let Ok(Event::OutOfRange { owned: of, log }) = event else { panic!("{event:?}") };
    assert_eq!((&of, log.start, log.end), (&owned, 0, 20));
    assert!(before.is_some() && log.identity.is_some() && log.identity != before);
    // A commit of the old log is refused, and one of the new log is not.
    let commit = |log| Commit {
        owned: owned.clone(),
        committed: Committed { offset: 7, log, ..Committed::default() },
    };
    let control = member.control();
    let late = control.commit(vec![commit(before)]).await;
    assert!(matches!(late, Err(CommitError::Fenced(_))), "{late:?}");
    assert_eq!(topic.committed().await, [0]);
    control.commit(vec![commit(log.identity)]).await.unwrap();
    assert_eq!(topic.committed().await, [7]);
    member.resume(&owned.partition);
    member.begin(&owned, 3);
    loop {
        let event = timeout(Duration::from_secs(30), member.poll(ALL)).await.expect("an event");
        match event {
            Ok(Event::Records { records, .. }) if records.is_empty() => {}
            Ok(Event::Records { records, .. }) => break assert_eq!(records[0].offset, 3),
            other => panic!("{other:?}"),
        }
    }
    member.close().await.unwrap();
}

/// A topic is deleted and made again before its member hears of that, so the client wants the partitions back and gives them
/// again at once. The member keeps the partitions of another topic meanwhile.
#[colored::test]
async fn a_topic_that_is_made_again_before_it_is_let_go_comes_back() {
    let (Some(topic), Some(kept)) =
        (Topic::create("again", 2).await, Topic::create("kept", 1).await)
    else {
        return;
    };
    topic.plain(0..5).await;
    kept.plain(0..5).await;
    let member = topic.engine().member("g-again", ["again", "kept"]).session(millis(30_000));
    let mut member = member.heartbeat(millis(150)).join().await.unwrap();
    read_until(&mut member, &["again 0 4", "kept 0 4"]).await;
    // Nobody polls, so the group's wishes pile up: the client looks every half second.
    colored::block_in_place(|| topic.kafka.delete_topic("again"));
    sleep(Duration::from_secs(2)).await;
    colored::block_in_place(|| topic.kafka.create_topic("again", 2));
    topic.plain(10..13).await;
    let record = (None, "20".to_owned(), Some(1));
    colored::block_in_place(|| topic.kafka.send("again", &[record]));
    kept.plain(5..6).await;
    sleep(Duration::from_secs(3)).await;
    read_until(&mut member, &["again 0 12", "again 1 20", "kept 0 5"]).await;
    member.close().await.unwrap();
}

/// Reads as a consumer does, from the first record on, until it has had these: topic, partition and value.
async fn read_until(member: &mut Member, wanted: &[&str]) {
    let mut left: Vec<_> = wanted.iter().map(|record| (*record).to_owned()).collect();
    while !left.is_empty() {
        let event = timeout(Duration::from_secs(60), member.poll(ALL)).await;
        match event.unwrap_or_else(|_| panic!("{left:?} do not come")).unwrap() {
            Event::Assigned(all) => all.iter().for_each(|of| member.begin(&of.owned, 0)),
            Event::OutOfRange { owned, log } => member.begin(&owned, log.start),
            Event::Failed { owned, .. } => member.begin(&owned, 0),
            Event::Revoked(owned) => member.control().release(owned).await.unwrap(),
            Event::Lost(_) => {}
            Event::Records { records, .. } => {
                for of in records {
                    let value = String::from_utf8(of.value.unwrap_or_default().to_vec()).unwrap();
                    let record = format!("{} {} {value}", of.topic, of.partition);
                    left.retain(|left| *left != record);
                }
            }
        }
    }
}

/// A partition that is added is read from its begin by a group that was in the topic, though its consumers begin elsewhere
/// behind the last record.
#[colored::test]
async fn an_added_partition_is_read_from_its_begin() {
    let Some(topic) = Topic::create("added", 1).await else { return };
    topic.plain(0..3).await;
    let (consumer, seen) = topic.start(Reset::Latest).await;
    topic.wait_until_done(&consumer, 3).await;
    colored::block_in_place(|| {
        topic.kafka.grow_topic("added", 2);
        let record = |number: u64| (Some("k".to_owned()), number.to_string(), Some(1));
        topic.kafka.send("added", &(10..15).map(record).collect::<Vec<_>>());
    });
    seen.wait_for(5).await;
    consumer.stop().await.unwrap();
    assert_eq!(seen.sorted(), (10..15).collect::<Vec<_>>());
}

/// The token rises also where Kafka's generation of the group begins near 1 again: at a change of the protocol while the group
/// has no members, and when the group is deleted.
#[colored::test]
async fn a_token_rises_when_the_generation_of_the_group_begins_anew() {
    let Some(topic) = Topic::create("tokens", 1).await else { return };
    let of = TopicPartition { topic: "tokens".into(), partition: 0 };
    let mut last = 0;
    let owners = [
        ("classic", false),
        ("classic", false),
        ("consumer", false),
        ("consumer", false),
        ("classic", false),
        ("consumer", true),
        ("classic", true),
    ];
    for (protocol, is_new) in owners {
        if is_new {
            topic.delete_group().await;
        }
        let engine = topic.engine().set("group.protocol", protocol);
        let member = engine.member("g-tokens", ["tokens"]).session(millis(30_000));
        let mut member = member.heartbeat(millis(150)).join().await.unwrap();
        let Ok(Event::Assigned(assigned)) = member.poll(Room { records: 1, bytes: 1 }).await else {
            panic!("no partition");
        };
        assert_eq!(assigned[0].owned.partition, of);
        let token = assigned[0].owned.generation;
        assert!(token > last, "{protocol}, {is_new}: {token} after {last}");
        last = token;
        member.close().await.unwrap();
    }
}

/// A static member of the newer protocol that was killed: its successor takes its place when its session has ended, though
/// every client that asks earlier is refused for good.
#[colored::test]
async fn a_killed_static_member_has_a_successor() {
    let Some(topic) = Topic::create("static", 1).await else { return };
    topic.send(1, 5).await;
    let (directory, url) = (Directory::new(), topic.kafka.url());
    let effects = directory.path().join("effects");
    let mut killed = Command::new(env!("CARGO_BIN_EXE_consumer-member"))
        .args(["--engine", "kip848", "--url", &url, "--topic", "static", "--group", "g-static"])
        .args(["--instance", "a", "--effects"])
        .arg(&effects)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let lines = || std::fs::read_to_string(&effects).unwrap_or_default().lines().count();
    let end = std::time::Instant::now() + Duration::from_secs(120);
    while lines() < 5 {
        assert!(std::time::Instant::now() < end, "{} of 5 effects", lines());
        sleep(millis(20)).await;
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    let engine = topic.engine().set("group.protocol", "consumer");
    let member = engine.member("g-static", ["static"]).instance("a").join().await.unwrap();
    let seen = Effects::default();
    let consumer = run(Consumer::builder(member), &seen, Duration::ZERO);
    topic.send(1, 5).await;
    let is_there = || seen.all().iter().any(|effect| effect.number == 9);
    while !is_there() {
        assert!(std::time::Instant::now() < end, "{:?}", seen.all());
        sleep(millis(20)).await;
    }
    consumer.stop().await.unwrap();
}
