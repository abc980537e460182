//! JetStream keeps what every source promises, also over a stream that is not what it was.

use crate::support::{Topic, nats};
use colored::block_in_place;
use colored_consumer::conformance::alter::{AlterLog, Alteration, Altered, Case, check_case};
use colored_consumer::conformance::{Fixture, check_all};
use colored_consumer_jetstream::{Engine, Member};
use colored_engines_proof::Directory;
use colored_engines_proof::effects::millis;
use colored_engines_proof::nats::Nats;
use colored_engines_proof::suite::TestTopic;
use futures_util::future::join_all;
use std::sync::{Mutex, MutexGuard, PoisonError};

impl Fixture for Topic {
    type Source = Member;

    async fn join(&self, group: &str) -> Member {
        let member = self.engine.member(group, [&*self.name]);
        member.session(millis(30_000)).join().await.unwrap()
    }

    async fn send(&self, partition: u32, value: Option<&str>) {
        let Some(value) = value else {
            let subject = format!("{}.p.{partition}.%-tombstone", self.name);
            return block_in_place(|| nats().expect("it runs").publish_marker(&subject));
        };
        self.engine.send_to(&self.partition(partition), None, value.to_owned()).await.unwrap();
    }
}

#[colored::test]
async fn jetstream_keeps_the_promises_of_a_source() {
    let Some(topic) = Topic::create("conformance", 2).await else { return };
    check_all(&topic).await;
}

/// A topic whose stream is altered in its place.
struct InPlace {
    topic: Topic,
    /// Of partition 0: offsets and values.
    sent: Mutex<Vec<(u64, String)>>,
}

impl Fixture for InPlace {
    type Source = Member;

    async fn join(&self, group: &str) -> Member {
        Fixture::join(&self.topic, &format!("{group}-{}", self.topic.name)).await
    }

    async fn send(&self, partition: u32, value: Option<&str>) {
        let (of, value) = (self.topic.partition(partition), value.unwrap_or_default().to_owned());
        let offset = self.topic.engine.send_to(&of, None, value.clone()).await.unwrap();
        if partition == 0 {
            lock(&self.sent).push((offset, value));
        }
    }
}

impl InPlace {
    /// Deletes these records, by their numbers.
    fn delete(&self, numbers: impl IntoIterator<Item = usize>) -> Altered {
        let mut sent = lock(&self.sent);
        let nats = nats().expect("it runs");
        let gone: Vec<_> = numbers.into_iter().map(|number| sent[number].0).collect();
        gone.iter().for_each(|offset| nats.delete_message(&self.topic.name, *offset));
        sent.retain(|(offset, _)| !gone.contains(offset));
        Altered::Has(sent.iter().map(|(_, value)| value.clone()).collect())
    }
}

impl AlterLog for InPlace {
    async fn alter(&self, alteration: Alteration, _: bool) -> Altered {
        let (engine, name) = (&self.topic.engine, &self.topic.name);
        let count = lock(&self.sent).len();
        match alteration {
            Alteration::BeginLater(most) => {
                let (gone, left) = {
                    let mut sent = lock(&self.sent);
                    let gone: Vec<_> = sent.drain(..count.min(most as usize)).collect();
                    (gone, sent.iter().map(|(_, value)| value.clone()).collect())
                };
                engine.delete_before(name, gone.last().map_or(0, |of| of.0 + 1)).await.unwrap();
                Altered::Has(left)
            }
            Alteration::MakeAgain => {
                engine.delete_topic(name).await.unwrap();
                engine.create_topic(name, 2).await.unwrap();
                Altered::Has(Vec::new())
            }
            Alteration::Holes => block_in_place(|| self.delete([1, count - 2])),
            Alteration::DeleteLast(most) => {
                block_in_place(|| self.delete(count - most as usize..count))
            }
            Alteration::Mark => {
                // No member reads it.
                engine.send_to(&self.topic.partition(7), None, "").await.unwrap();
                block_in_place(|| self.delete([]))
            }
            _ => Altered::Unsupported,
        }
    }
}

/// The numbers of the cases, with the cases.
fn cases(of: impl Fn(Alteration) -> bool) -> Vec<(usize, Case)> {
    Case::all(0).into_iter().enumerate().filter(|(_, case)| of(case.alteration)).collect()
}

fn is_copy(alteration: Alteration) -> bool {
    matches!(alteration, Alteration::Shorten(_) | Alteration::Restore(_))
}

#[colored::test]
async fn a_stream_that_is_altered_loses_nothing() {
    let Some(nats) = nats() else { return };
    for cases in cases(|of| !is_copy(of)).chunks(12) {
        let check = async |(number, case): (usize, Case)| {
            let topic = Topic::create_at(nats, &format!("alter-{number}"), 2).await;
            let sent = Mutex::default();
            assert!(check_case(&InPlace { topic, sent }, case).await, "{case:?}");
        };
        join_all(cases.iter().copied().map(check)).await;
    }
}

/// A topic whose stream is replaced by a copy of earlier: the server, which has no other topic, is killed and started again
/// for both.
struct Replaced {
    nats: Mutex<Nats>,
    topic: Topic,
    /// The copy is made when the partition has so many records.
    at: Option<usize>,
    /// Of partition 0.
    sent: Mutex<Vec<String>>,
    copy: Mutex<Option<Directory>>,
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Fixture for Replaced {
    type Source = Member;

    async fn join(&self, group: &str) -> Member {
        // What is asked of a server that is killed is lost, and the member of a short session waits for less.
        let url = lock(&self.nats).url();
        let engine = Engine::connect(&url).await.unwrap();
        let member = engine.member(group, [&*self.topic.name]);
        member.session(millis(12_000)).join().await.unwrap()
    }

    async fn send(&self, partition: u32, value: Option<&str>) {
        let value = value.unwrap_or_default();
        let subject = format!("{}.p.{partition}.%-", self.topic.name);
        block_in_place(|| lock(&self.nats).publish(&subject, value));
        if partition == 0 {
            lock(&self.sent).push(value.to_owned());
            if self.at == Some(lock(&self.sent).len()) {
                let copied = block_in_place(|| lock(&self.nats).copy(&[&*self.topic.name]));
                *lock(&self.copy) = Some(copied);
            }
        }
    }
}

impl AlterLog for Replaced {
    async fn alter(&self, _: Alteration, _: bool) -> Altered {
        let Some(copy) = lock(&self.copy).take() else { return Altered::Unsupported };
        block_in_place(|| lock(&self.nats).bring_back(&copy));
        Altered::Has(lock(&self.sent)[..self.at.unwrap_or(0)].to_vec())
    }
}

async fn check_copy(case: Case) {
    let Some(nats) = block_in_place(Nats::start) else { return };
    let count: usize = if case.is_running { 10 } else { 15 };
    let at = match case.alteration {
        Alteration::Shorten(gone) => count.checked_sub(gone as usize),
        Alteration::Restore(left) => Some(left as usize),
        _ => None,
    };
    let topic = Topic::create_at(&nats, "alter", 2).await;
    let (nats, sent, copy) = (Mutex::new(nats), Mutex::default(), Mutex::default());
    let is_there = check_case(&Replaced { nats, topic, at, sent, copy }, case).await;
    assert_eq!(is_there, at.is_some_and(|at| at <= count), "{case:?}");
}

async fn check_copies(of: Alteration) {
    let cases = cases(|alteration| alteration == of).into_iter();
    let checks: Vec<_> = cases.map(|(_, case)| colored::spawn_unique(check_copy(case))).collect();
    for check in checks {
        check.await.unwrap();
    }
}

#[colored::test]
async fn a_stream_that_lost_its_last_records_is_another_log() {
    check_copies(Alteration::Shorten(3)).await;
}

#[colored::test]
async fn a_stream_that_lost_most_of_its_records_is_another_log() {
    check_copies(Alteration::Shorten(8)).await;
}

#[colored::test]
async fn a_copy_that_has_the_place_of_the_group_is_the_same_log() {
    check_copies(Alteration::Restore(12)).await;
}

#[colored::test]
async fn a_copy_that_has_not_the_place_of_the_group_is_another_log() {
    check_copies(Alteration::Restore(7)).await;
}
