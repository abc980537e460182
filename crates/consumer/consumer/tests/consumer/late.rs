//! News of a partition that come late: of a place from which the consumer has gone meanwhile.

use crate::delegated::as_its_member;
use crate::failures::Bomb;
use crate::support::{
    Effects, Scratch, engine, metrics_when, millis, number, send, start_gated, until,
};
use bytes::Bytes;
use colored::sync::Semaphore;
use colored::time::{sleep, timeout};
use colored_consumer::embedded::{EmbeddedControl, Member};
use colored_consumer::{Consumer, Error, Event, Extent, Owned, Place, Record, Room, Source};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

/// A member that also says what the test says.
struct Late {
    member: Member,
    event: Arc<Mutex<Option<Event>>>,
}

impl Source for Late {
    type Control = EmbeddedControl;

    fn control(&self) -> EmbeddedControl {
        self.member.control()
    }

    async fn poll(&mut self, room: Room) -> Result<Event, Error> {
        loop {
            if let Some(event) = self.event.lock().unwrap().take() {
                return Ok(event);
            }
            if let Ok(event) = timeout(millis(2), self.member.poll(room)).await {
                return event;
            }
        }
    }

    as_its_member!();
}

/// The records before 8 of 10 are gone.
async fn lost_before_8(consumer: &Consumer) -> Event {
    let of = consumer.metrics().await.partitions.remove(0);
    let owned = Owned { partition: of.partition, generation: of.generation };
    let log = Extent { doubt: 8, floor: 8, start: 8, end: 10, limit: 10, ..Extent::default() };
    Event::OutOfRange { owned, log }
}

/// The old place is out of range; the sought one, which has not begun, is not.
#[colored::test]
async fn a_place_that_was_left_does_not_move_the_sought_one() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 1).await;
    send(&engine, 1, 0, 10).await;
    let (begun, effects, event) = (Effects::default(), Effects::default(), Arc::default());
    let gate = Arc::new(Semaphore::new(3));
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let source = Late { member, event: Arc::clone(&event) };
    let consumer = start_gated(Consumer::builder(source), &begun, &gate, &effects);
    // Three are done, and a handler of the old place runs still.
    begun.wait_for(4).await;
    assert_eq!(consumer.seek("t", Place::Start).await.unwrap(), 1);
    let late = lost_before_8(&consumer).await;
    *event.lock().unwrap() = Some(late);
    until("the event", || event.lock().unwrap().is_none()).await;
    sleep(millis(5)).await;
    gate.add_permits(100);
    assert!(consumer.caught_up().await);
    consumer.stop().await.unwrap();
    let numbers: Vec<_> = (0..4).chain(0..10).collect();
    assert_eq!(effects.by_key()["k0"], numbers);
}

/// A replay ends at its end, also if records behind it are gone.
#[colored::test]
async fn a_replay_does_not_pass_its_end() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 1).await;
    let start = SystemTime::now();
    sleep(millis(5)).await;
    send(&engine, 1, 0, 5).await;
    sleep(millis(5)).await;
    let end = SystemTime::now();
    sleep(millis(5)).await;
    send(&engine, 1, 5, 10).await;
    let (effects, event) = (Effects::default(), Arc::default());
    let seen = effects.clone();
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let source = Late { member, event: Arc::clone(&event) };
    let builder = Consumer::builder(source).strict(true).replay(start..end);
    let consumer = builder.start(move |record, context| {
        assert!(number(&record) < 5);
        seen.add(&record, context.generation());
        std::future::ready(Ok(()))
    });
    let consumer = consumer.unwrap();
    assert!(consumer.caught_up().await);
    let late = lost_before_8(&consumer).await;
    *event.lock().unwrap() = Some(late);
    until("the event", || event.lock().unwrap().is_none()).await;
    sleep(millis(20)).await;
    let of = consumer.metrics().await.partitions.remove(0);
    assert_eq!((of.lag, of.log_end), (0, 5));
    assert_eq!(consumer.seek("t", Place::End).await.unwrap(), 1);
    assert!(timeout(millis(5_000), consumer.caught_up()).await.unwrap());
    let of = consumer.metrics().await.partitions.remove(0);
    assert_eq!((of.lag, of.log_end), (0, 5));
    consumer.stop().await.unwrap();
    assert_eq!(engine.committed("g", &crate::support::partition(0)).await.unwrap().offset, 5);
    assert_eq!(effects.count(), 5);
}

/// The engine returns records again whose destructors panic: they are counted, and nothing else is lost.
#[colored::test]
async fn a_destructor_of_a_record_that_comes_again_loses_nothing() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 1).await;
    send(&engine, 1, 0, 10).await;
    let (effects, event) = (Effects::default(), Arc::default());
    let seen = effects.clone();
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let source = Late { member, event: Arc::clone(&event) };
    let consumer = Consumer::builder(source).strict(true).start(move |record, context| {
        seen.add(&record, context.generation());
        std::future::ready(Ok(()))
    });
    let consumer = consumer.unwrap();
    assert!(consumer.caught_up().await);
    let of = consumer.metrics().await.partitions.remove(0);
    // Of the partition, behind records that have come; and of one that has gone.
    for (generation, stale) in [(of.generation, 2), (of.generation + 1, 5)] {
        let owned = Owned { partition: of.partition.clone(), generation };
        let bytes = |offset| if offset < 2 { Bytes::from_owner(Bomb) } else { "10".into() };
        let records = [0, 1, 10].map(|offset| Record {
            topic: "t".into(),
            partition: 0,
            offset,
            timestamp: 0,
            key: Some("k0".into()),
            value: Some(bytes(offset)),
            headers: Vec::new(),
        });
        let records = records.into();
        *event.lock().unwrap() = Some(Event::Records { owned, records, next: 11, end: 11 });
        until("the event", || event.lock().unwrap().is_none()).await;
        metrics_when(&consumer, |metrics| metrics.stale >= stale).await;
    }
    effects.wait_for(11).await;
    let metrics = consumer.metrics().await;
    assert_eq!((metrics.done, metrics.violations, metrics.in_flight), (11, 0, 0));
    consumer.stop().await.unwrap();
    effects.assert_once_and_in_order(1, 11);
}
