//! Members come and go: nothing is lost, and nothing comes twice where a hand-over was planned.

use crate::frozen::{Frail, Trouble};
use crate::support::{Effects, Scratch, engine, millis, partition, send, until};
use colored::time::sleep;
use colored_consumer::embedded::Engine;
use colored_consumer::{Builder, Consumer, Source};
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

async fn start(engine: &Engine, effects: &Effects) -> Consumer {
    let member = engine.member("g", ["t"]).join().await.unwrap();
    run(Consumer::builder(member), effects)
}

fn run<S: Source>(builder: Builder<S>, effects: &Effects) -> Consumer {
    let seen = effects.clone();
    let consumer = builder.strict(true).start(move |record, context| {
        let seen = seen.clone();
        async move {
            sleep(millis(1)).await;
            seen.add(&record, context.generation());
            Ok(())
        }
    });
    consumer.unwrap()
}

pub(crate) async fn owned(consumer: &Consumer) -> BTreeSet<u32> {
    let partitions = consumer.metrics().await.partitions;
    partitions.iter().map(|of| of.partition.partition).collect()
}

/// Waits until the consumers own so many partitions each.
pub(crate) async fn settle(consumers: &[&Consumer], counts: &[usize]) {
    for _ in 0..5_000 {
        let mut owned_now = Vec::new();
        for consumer in consumers {
            owned_now.push(owned(consumer).await.len());
        }
        if owned_now == counts {
            return;
        }
        sleep(millis(2)).await;
    }
    panic!("the partitions were not shared as {counts:?}");
}

/// Members join and leave while records come: each record has one effect, in order, and every partition goes on.
#[colored::test]
async fn planned_hand_overs_repeat_nothing() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 6).await;
    let effects = Effects::default();
    let first = start(&engine, &effects).await;
    send(&engine, 30, 0, 10).await;
    settle(&[&first], &[6]).await;
    let second = start(&engine, &effects).await;
    send(&engine, 30, 10, 20).await;
    settle(&[&first, &second], &[3, 3]).await;
    effects.wait_for(1).await;
    send(&engine, 30, 20, 30).await;
    let third = start(&engine, &effects).await;
    settle(&[&first, &second, &third], &[2, 2, 2]).await;
    send(&engine, 30, 30, 40).await;
    second.stop().await.unwrap();
    settle(&[&first, &third], &[3, 3]).await;
    send(&engine, 30, 40, 50).await;
    first.stop().await.unwrap();
    settle(&[&third], &[6]).await;
    effects.wait_for(30 * 50).await;
    third.stop().await.unwrap();
    effects.assert_once_and_in_order(30, 50);
    for effect in effects.all().windows(2).filter(|pair| pair[0].partition == pair[1].partition) {
        assert!(effect[0].generation <= effect[1].generation, "{effect:?}");
    }
}

/// Others get a partition whose last commits were refused, or whose release has failed; and nothing comes twice.
#[colored::test]
async fn what_was_refused_once_is_handed_over() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 2).await;
    let (effects, trouble) = (Effects::default(), Trouble::default());
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let builder = Consumer::builder(Frail { member, trouble: trouble.clone() });
    let first = run(builder.commit_every(millis(10)), &effects);
    settle(&[&first], &[2]).await;
    // Ordering: counts of a test.
    trouble.refused_commits.store(2, Ordering::Relaxed);
    send(&engine, 10, 0, 10).await;
    effects.wait_for(100).await;
    while consumer_has_refused(&first).await < 2 {
        sleep(millis(2)).await;
    }
    trouble.refused_commits.store(2, Ordering::Relaxed);
    trouble.failing_releases.store(2, Ordering::Relaxed);
    let second = start(&engine, &effects).await;
    settle(&[&first, &second], &[1, 1]).await;
    send(&engine, 10, 10, 20).await;
    effects.wait_for(200).await;
    first.stop().await.unwrap();
    second.stop().await.unwrap();
    effects.assert_once_and_in_order(10, 20);
}

async fn consumer_has_refused(consumer: &Consumer) -> u64 {
    consumer.metrics().await.refused_commits
}

/// Many joins and leaves in quick succession; partitions come back to members that have just given them up.
#[colored::test]
async fn a_storm_of_rebalances_stops_no_partition() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 8).await;
    let effects = Effects::default();
    let mut chance = fastrand::Rng::with_seed(5);
    let mut consumers = vec![start(&engine, &effects).await];
    for round in 0..30 {
        send(&engine, 40, round * 4, round * 4 + 4).await;
        if consumers.len() < 2 || (consumers.len() < 5 && chance.bool()) {
            consumers.push(start(&engine, &effects).await);
        } else {
            let gone = consumers.swap_remove(chance.usize(..consumers.len()));
            gone.stop().await.unwrap();
        }
        sleep(millis(chance.u64(..8))).await;
    }
    effects.wait_for(40 * 120).await;
    for consumer in consumers {
        assert_eq!(consumer.metrics().await.violations, 0);
        consumer.stop().await.unwrap();
    }
    effects.assert_once_and_in_order(40, 120);
}

/// A member that is not polled for its session loses its partitions; its handlers are dropped when it hears of it, its
/// commits change nothing, and it comes back.
#[colored::test]
async fn a_member_that_sleeps_loses_its_partitions_and_comes_back() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 4).await;
    let (effects, trouble) = (Effects::default(), Trouble::default());
    let member = engine.member("g", ["t"]).session(millis(200)).join().await.unwrap();
    let builder = Consumer::builder(Frail { member, trouble: trouble.clone() });
    let sleeper = run(builder.commit_every(millis(10)), &effects);
    settle(&[&sleeper], &[4]).await;
    send(&engine, 20, 0, 10).await;
    effects.wait_for(200).await;
    // Ordering: a switch of a test.
    trouble.is_frozen.store(true, Ordering::Relaxed);
    let member = engine.member("g", ["t"]).session(millis(200)).join().await.unwrap();
    let other = run(Consumer::builder(member), &effects);
    settle(&[&other], &[4]).await;
    send(&engine, 20, 10, 20).await;
    effects.wait_for(400).await;
    trouble.is_frozen.store(false, Ordering::Relaxed);
    settle(&[&sleeper, &other], &[2, 2]).await;
    send(&engine, 20, 20, 30).await;
    until("all", || effects.by_key().values().all(|numbers| numbers.contains(&29))).await;
    for consumer in [sleeper, other] {
        assert_eq!(consumer.metrics().await.violations, 0);
        consumer.stop().await.unwrap();
    }
    effects.assert_all_without_a_gap(20, 30);
    for n in 0..4 {
        let committed = engine.committed("g", &partition(n)).await.unwrap();
        assert_eq!(committed.offset, engine.range(&partition(n)).await.unwrap().1);
    }
}

/// A handler that does not end in time is dropped before the next owner begins.
#[colored::test]
async fn a_handler_that_outlasts_the_drain_is_dropped_before_the_hand_over() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 2).await;
    send(&engine, 2, 0, 1).await;
    let (begun, ended, done) = (Effects::default(), Effects::default(), Effects::default());
    struct End(Effects, colored_consumer::Record, u64);
    impl Drop for End {
        fn drop(&mut self) {
            self.0.add(&self.1, self.2);
        }
    }
    let (begins, ends) = (begun.clone(), ended.clone());
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let builder = Consumer::builder(member).strict(true).drain(millis(30));
    let first = builder.start(move |record, context| {
        let (begins, ends) = (begins.clone(), ends.clone());
        async move {
            begins.add(&record, context.generation());
            let _end = End(ends, record, context.generation());
            context.revoked().await;
            std::future::pending().await
        }
    });
    let first = first.unwrap();
    begun.wait_for(2).await;
    let (seen, gone) = (done.clone(), ended.clone());
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let second = Consumer::builder(member).strict(true).start(move |record, context| {
        assert!(gone.all().iter().any(|of| of.key == crate::support::key(&record)));
        seen.add(&record, context.generation());
        std::future::ready(Ok(()))
    });
    let second = second.unwrap();
    until("a hand-over", || done.count() == 1 || ended.count() >= 1).await;
    first.stop().await.unwrap();
    done.wait_for(2).await;
    second.stop().await.unwrap();
    done.assert_once_and_in_order(2, 1);
}

/// A static member that comes back in time gets what it had, and nobody else is disturbed.
#[colored::test]
async fn a_static_member_comes_back_to_its_partitions() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 4).await;
    let effects = Effects::default();
    let join = async |name: &str| {
        let member = engine.member("g", ["t"]).instance(name).join().await.unwrap();
        run(Consumer::builder(member), &effects)
    };
    let (a, b) = (join("a").await, join("b").await);
    settle(&[&a, &b], &[2, 2]).await;
    send(&engine, 20, 0, 10).await;
    effects.wait_for(200).await;
    let before = owned(&b).await;
    let generations = a.metrics().await.partitions;
    b.stop().await.unwrap();
    send(&engine, 20, 10, 20).await;
    let b = join("b").await;
    settle(&[&a, &b], &[2, 2]).await;
    effects.wait_for(400).await;
    assert_eq!(owned(&b).await, before);
    for (old, new) in generations.iter().zip(a.metrics().await.partitions) {
        assert_eq!((&old.partition, old.generation), (&new.partition, new.generation));
    }
    a.stop().await.unwrap();
    b.stop().await.unwrap();
    effects.assert_once_and_in_order(20, 20);
}

#[colored::test]
async fn topics_grow_and_go() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 2).await;
    engine.create_topic("u", 2).await.unwrap();
    let effects = Effects::default();
    let member = engine.member("g", ["t", "u"]).join().await.unwrap();
    let consumer = run(Consumer::builder(member), &effects);
    settle(&[&consumer], &[2]).await;
    send(&engine, 10, 0, 10).await;
    effects.wait_for(100).await;
    engine.create_topic("t", 5).await.unwrap();
    send(&engine, 10, 10, 20).await;
    effects.wait_for(200).await;
    assert_eq!(owned(&consumer).await.len(), 5);
    engine.delete_topic("u").await.unwrap();
    until("the loss", || true).await;
    for _ in 0..5_000 {
        if consumer.metrics().await.partitions.len() == 5 {
            break;
        }
        sleep(millis(2)).await;
    }
    let metrics = consumer.metrics().await;
    assert!(metrics.partitions.iter().all(|of| &*of.partition.topic == "t"), "{metrics:?}");
    send(&engine, 10, 20, 30).await;
    effects.wait_for(300).await;
    consumer.stop().await.unwrap();
}

/// A topic of the same name is another topic: what was committed of the old one does not count.
#[colored::test]
async fn a_topic_that_is_made_again_is_read_from_its_begin() {
    let scratch = Scratch::new();
    for is_opened_again in [false, true] {
        let (first, effects) = (engine(&scratch, 2).await, Effects::default());
        send(&first, 5, 0, 10).await;
        let consumer = start(&first, &effects).await;
        effects.wait_for(50).await;
        consumer.stop().await.unwrap();
        first.delete_topic("t").await.unwrap();
        assert_eq!(first.committed("g", &partition(0)).await, None);
        let engine = if is_opened_again {
            drop(first);
            engine(&scratch, 2).await
        } else {
            first.create_topic("t", 2).await.unwrap();
            first
        };
        send(&engine, 5, 0, 30).await;
        let again = Effects::default();
        let consumer = start(&engine, &again).await;
        again.wait_for(150).await;
        consumer.stop().await.unwrap();
        again.assert_once_and_in_order(5, 30);
        engine.delete_topic("t").await.unwrap();
    }
}

/// Otherwise a consumer that has nothing to do in its first partition has caught up before it knows of the others.
#[colored::test]
async fn a_member_is_told_at_once_of_all_that_it_gets() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 8).await;
    send(&engine, 1, 0, 20).await;
    for group in ["a", "b", "c"] {
        let effects = Effects::default();
        let (member, seen) = (engine.member(group, ["t"]).join().await.unwrap(), effects.clone());
        let consumer = Consumer::builder(member).start(move |record, context| {
            seen.add(&record, context.generation());
            std::future::ready(Ok(()))
        });
        let consumer = consumer.unwrap();
        assert!(consumer.caught_up().await);
        assert_eq!(effects.count(), 20);
        consumer.stop().await.unwrap();
    }
}
