//! Members come and go.

use super::{ALL, SESSION, TestTopic, WAIT, assigned, until};
use crate::effects::{Effects, millis, owned, run, settle};
use colored::time::{Duration, Instant, sleep, timeout};
use colored_consumer::{Commit, Committed, Consumer, Control, Source};
use std::collections::BTreeMap;

/// A consumer whose handlers take a millisecond, and which commits all the time.
async fn start<T: TestTopic>(topic: &T, instance: Option<&str>, effects: &Effects) -> Consumer {
    let member = topic.join(SESSION, instance).await;
    run(Consumer::builder(member).commit_every(millis(10)), effects, millis(1))
}

/// Members join and leave while records come: each record has one effect, in order, and what stays goes on in its
/// generation. Not cancel safe.
///
/// # Panics
///
/// If not.
pub async fn planned_hand_overs_repeat_nothing<T: TestTopic>(topic: &T) {
    let effects = Effects::default();
    let first = start(topic, None, &effects).await;
    topic.send(30, 10).await;
    settle(&[&first], &[6]).await;
    let before = owned(&first).await;
    let second = start(topic, None, &effects).await;
    topic.send(30, 10).await;
    settle(&[&first, &second], &[3, 3]).await;
    let stayed = owned(&first).await;
    assert!(stayed.iter().all(|(of, generation)| before[of] == *generation), "{stayed:?}");
    let third = start(topic, None, &effects).await;
    topic.send(30, 10).await;
    settle(&[&first, &second, &third], &[2, 2, 2]).await;
    second.stop().await.expect("the engine works");
    topic.send(30, 10).await;
    settle(&[&first, &third], &[3, 3]).await;
    first.stop().await.expect("the engine works");
    settle(&[&third], &[6]).await;
    topic.send(30, 10).await;
    effects.wait_for(30 * 50).await;
    third.stop().await.expect("the engine works");
    effects.assert_once_and_in_order(30, 50);
    let (committed, ends) = (topic.committed().await, topic.ends().await);
    // A place may be behind the numbers that other partitions have.
    assert!(
        committed.iter().zip(&ends).all(|(committed, end)| committed >= end),
        "{committed:?} {ends:?}"
    );
    let mut last: BTreeMap<u32, u64> = BTreeMap::new();
    for effect in effects.all() {
        let last = last.entry(effect.partition).or_default();
        assert!(*last <= effect.generation, "{effect:?}");
        *last = effect.generation;
    }
}

/// Many joins and leaves in quick succession; partitions come back to members that have just given them up, and go on. Not
/// cancel safe.
///
/// # Panics
///
/// If not.
pub async fn a_storm_of_rebalances_stops_no_partition<T: TestTopic>(topic: &T) {
    const ROUNDS: u64 = 6;
    let effects = Effects::default();
    let stays = start(topic, None, &effects).await;
    for round in 0..ROUNDS {
        topic.send(30, 5).await;
        let guest = start(topic, None, &effects).await;
        // Sometimes in the middle of a rebalance, and sometimes behind it.
        sleep(millis(150 * (round % 3))).await;
        guest.stop().await.expect("the engine works");
    }
    settle(&[&stays], &[6]).await;
    topic.send(30, 5).await;
    effects.wait_for(30 * 5 * (ROUNDS as usize + 1)).await;
    stays.stop().await.expect("the engine works");
    effects.assert_once_and_in_order(30, 5 * (ROUNDS + 1));
}

/// A member that drains for longer than its session is polled meanwhile, so nobody throws it out; its commit during the
/// rebalance counts. Not cancel safe.
///
/// # Panics
///
/// If not.
pub async fn a_drain_may_last_longer_than_the_session<T: TestTopic>(topic: &T) {
    // A busy machine may stop a thread for a while.
    let (session, work) = (millis(10_000), millis(13_000));
    let effects = Effects::default();
    topic.send(4, 1).await;
    let member = topic.join(session, None).await;
    let first = run(Consumer::builder(member), &effects, work);
    settle(&[&first], &[2]).await;
    until("the handlers", async || first.metrics().await.in_flight == 4).await;
    let second = run(Consumer::builder(topic.join(session, None).await), &effects, Duration::ZERO);
    settle(&[&first, &second], &[1, 1]).await;
    effects.wait_for(4).await;
    let metrics = first.metrics().await;
    assert_eq!((metrics.aborted, metrics.violations), (0, 0));
    first.stop().await.expect("the engine works");
    second.stop().await.expect("the engine works");
    effects.assert_once_and_in_order(4, 1);
}

/// A static member that comes back in time gets what it had, in a higher generation, and nobody else is disturbed. Not
/// cancel safe.
///
/// # Panics
///
/// If not.
pub async fn a_static_member_comes_back_to_its_partitions<T: TestTopic>(topic: &T) {
    let effects = Effects::default();
    let (a, b) = (start(topic, Some("a"), &effects).await, start(topic, Some("b"), &effects).await);
    settle(&[&a, &b], &[2, 2]).await;
    topic.send(20, 10).await;
    effects.wait_for(200).await;
    let (of_a, of_b) = (owned(&a).await, owned(&b).await);
    b.stop().await.expect("the engine works");
    topic.send(20, 10).await;
    let b = start(topic, Some("b"), &effects).await;
    settle(&[&a, &b], &[2, 2]).await;
    effects.wait_for(400).await;
    assert_eq!(owned(&a).await, of_a);
    let again = owned(&b).await;
    assert!(again.iter().all(|(of, generation)| of_b[of] < *generation), "{of_b:?}, {again:?}");
    a.stop().await.expect("the engine works");
    b.stop().await.expect("the engine works");
    effects.assert_once_and_in_order(20, 20);
}

/// A member that is dropped in the middle of whatever, also of a commit or its close, leaves its partitions to others at once. Clients
/// of Kafka hang then, because they wait for their lists. Not cancel safe.
///
/// # Panics
///
/// If not.
pub async fn a_member_may_be_dropped_at_any_time<T: TestTopic>(topic: &T) {
    topic.send(10, 10).await;
    let (before, long) = (Instant::now(), Duration::from_secs(300));
    for polls in [0, 1, 2, 4] {
        let mut member = topic.join(long, None).await;
        for _ in 0..polls {
            // In time or not, the member is dropped.
            let _ = timeout(millis(300), member.poll(ALL)).await;
        }
        drop(member);
    }
    // In the middle of the join, whenever that is.
    for delay in 0..20 {
        let member = topic.join(long, None).await;
        sleep(millis(delay)).await;
        drop(member);
    }
    let mut commits = Vec::new();
    for close_after in [None, Some(1), Some(4)] {
        let (mut member, all) = assigned(topic, 4).await;
        let control = member.control();
        // It has records of each partition that nobody takes.
        all.iter().for_each(|of| member.begin(&of.owned, of.log.start));
        for _ in 0..4 {
            timeout(WAIT, member.poll(ALL)).await.expect("in time").expect("the engine works");
        }
        for _ in 0..10 {
            let commit = all.iter().map(|of| Commit {
                owned: of.owned.clone(),
                committed: Committed { offset: of.log.start, ..Committed::default() },
            });
            let (control, commit) = (control.clone(), commit.collect());
            commits.push(colored::spawn_unique(async move { control.commit(commit).await }));
        }
        if let Some(delay) = close_after {
            sleep(millis(delay)).await;
            // The close waits for the commits, and is dropped.
            let _ = timeout(Duration::ZERO, member.close()).await;
        }
    }
    let effects = Effects::default();
    let consumer = run(Consumer::builder(topic.join(long, None).await), &effects, Duration::ZERO);
    effects.wait_for(100).await;
    assert!(before.elapsed() < long, "the dropped members have left");
    for commit in commits {
        // Sent in time or not, it ends.
        let _ = commit.await;
    }
    consumer.stop().await.expect("the engine works");
}
