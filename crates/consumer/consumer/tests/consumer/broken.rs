//! Two builds that break a promise on purpose: the checks find it.

use crate::support::{Effects, Scratch, engine, millis, number, send, until};
use colored::time::sleep;
use colored_consumer::{Broken, Consumer};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A consumer that commits what it has received loses records when it stops before they are done.
#[colored::test]
async fn a_commit_on_receipt_is_found() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 1).await;
    send(&engine, 10, 0, 20).await;
    let effects = Effects::default();
    for broken in [Broken::CommitOnReceipt, Broken::Nothing] {
        let seen = effects.clone();
        let member = engine.member("g", ["t"]).join().await.unwrap();
        let builder =
            Consumer::builder(member).broken(broken).drain(millis(1)).commit_every(millis(1));
        let consumer = builder.concurrency(2).start(move |record, context| {
            let seen = seen.clone();
            async move {
                sleep(millis(5)).await;
                seen.add(&record, context.generation());
                Ok(())
            }
        });
        let consumer = consumer.unwrap();
        if broken == Broken::CommitOnReceipt {
            effects.wait_for(10).await;
        } else {
            sleep(millis(300)).await;
        }
        consumer.stop().await.unwrap();
    }
    assert!(effects.count() < 200, "records were lost");
    let checked = std::panic::catch_unwind(|| effects.assert_all_without_a_gap(10, 20));
    assert!(checked.is_err(), "the check finds the loss");
}

/// A consumer that releases without a drain has effects after the partition has gone, which the sentinel counts, and
/// which come twice.
#[colored::test]
async fn a_hand_over_without_a_drain_is_found() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 2).await;
    send(&engine, 10, 0, 20).await;
    let effects = Effects::default();
    let is_handed_over = Arc::new(AtomicBool::new(false));
    let start = async |is_first: bool| {
        let (seen, is_handed_over) = (effects.clone(), Arc::clone(&is_handed_over));
        let member = engine.member("g", ["t"]).join().await.unwrap();
        let builder = Consumer::builder(member).broken(Broken::NoDrain);
        let consumer = builder.start(move |record, context| {
            let (seen, is_handed_over) = (seen.clone(), Arc::clone(&is_handed_over));
            async move {
                // The first one is in the middle of a record of each key until the second one has one. Ordering: nothing is
                // read behind the flag.
                while is_first && number(&record) > 0 && !is_handed_over.load(Ordering::Relaxed) {
                    sleep(millis(2)).await;
                }
                is_handed_over.fetch_or(!is_first, Ordering::Relaxed);
                sleep(millis(20)).await;
                seen.add(&record, context.generation());
                Ok(())
            }
        });
        consumer.unwrap()
    };
    let first = start(true).await;
    effects.wait_for(10).await;
    let second = start(false).await;
    let metrics = async || first.metrics().await.violations;
    let mut violations = 0;
    for _ in 0..2_000 {
        violations = metrics().await;
        if violations > 0 {
            break;
        }
        sleep(millis(2)).await;
    }
    assert!(violations > 0, "an effect after the partition had gone");
    until("repeats", || effects.by_key().values().all(|of| of.contains(&19))).await;
    let checked = std::panic::catch_unwind(|| effects.assert_once_and_in_order(10, 20));
    assert!(checked.is_err(), "effects come twice");
    first.stop().await.unwrap();
    second.stop().await.unwrap();
}
