//! Kafka keeps its promises over a log that is not what it was, as far as a broker alters one: it gives no offset twice, and deletes
//! from the begin on. Holes by compaction are in `offsets.rs`.

use crate::support::Topic;
use colored::sync::Semaphore;
use colored::{block_in_place, spawn_unique};
use colored_consumer::conformance::Fixture;
use colored_consumer::conformance::alter::{AlterLog, Alteration, Altered, Case, check_case};
use colored_consumer_kafka::Member;
use colored_engines_proof::effects::millis;
use colored_engines_proof::kafka::Sender;
use colored_engines_proof::suite::TestTopic;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// So many cases run at a time. A guess: most of the time of a case is that of rebalances.
const AT_A_TIME: usize = 15;

struct Log {
    topic: Topic,
    sender: Mutex<Arc<Sender>>,
    /// What partition 0 has had, by offset.
    sent: Mutex<Vec<String>>,
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Log {
    fn group(&self, group: &str) -> String {
        format!("{group}-{}", self.topic.name)
    }

    fn make_again(&self, is_running: bool) {
        let (kafka, name) = (self.topic.kafka, &self.topic.name);
        kafka.delete_topic(name);
        kafka.create_topic(name, 2);
        // The client of before may still know the topic of before.
        *lock(&self.sender) = Arc::new(kafka.sender());
        // The broker forgets the commits a little later.
        let groups = ["alter", "alter-behind"].map(|group| self.group(group));
        let has_commit = |group: &String| kafka.committed(group, name, 2) != [0, 0];
        while !is_running && groups.iter().any(has_commit) {
            std::thread::sleep(millis(20));
        }
    }
}

impl Fixture for Log {
    type Source = Member;

    async fn join(&self, group: &str) -> Member {
        let member = self.topic.engine().member(&self.group(group), [&*self.topic.name]);
        member.session(millis(30_000)).heartbeat(millis(150)).join().await.unwrap()
    }

    async fn send(&self, partition: u32, value: Option<&str>) {
        let sender = Arc::clone(&lock(&self.sender));
        block_in_place(|| sender.send((&*self.topic.name, partition as i32), value));
        if partition == 0 {
            lock(&self.sent).push(value.unwrap_or_default().to_owned());
        }
    }
}

impl AlterLog for Log {
    const NOTICES_LATE: bool = true;

    async fn alter(&self, alteration: Alteration, is_running: bool) -> Altered {
        let (kafka, name) = (self.topic.kafka, &self.topic.name);
        let mut left = lock(&self.sent).clone();
        match alteration {
            Alteration::BeginLater(most) => {
                let gone = left.drain(..left.len().min(most as usize)).count();
                block_in_place(|| kafka.delete_records(name, 0, gone as i64));
            }
            Alteration::MakeAgain => {
                left.clear();
                block_in_place(|| self.make_again(is_running));
            }
            Alteration::Mark => {
                let (of, place) = (format!("mark-{name}"), (&**name, 0));
                block_in_place(|| kafka.begin_transaction(&of, place, 0..3).abort());
            }
            _ => return Altered::Unsupported,
        }
        Altered::Has(left)
    }
}

#[colored::test]
async fn a_log_that_a_broker_alters_loses_nothing() {
    let is_there = |of| {
        use Alteration::{BeginLater, MakeAgain, Mark};
        matches!(of, BeginLater(_) | MakeAgain | Mark)
    };
    let turns = Arc::new(Semaphore::new(AT_A_TIME));
    let mut checks = Vec::new();
    let cases = Case::all(0).into_iter().filter(|case| is_there(case.alteration));
    for (number, case) in cases.enumerate() {
        let turn = Arc::clone(&turns).acquire_owned().await.unwrap();
        let Some(topic) = Topic::create(&format!("alter-{number}"), 2).await else { return };
        checks.push(spawn_unique(async move {
            let (sender, sent) = (Mutex::new(Arc::new(topic.kafka.sender())), Mutex::default());
            assert!(check_case(&Log { topic, sender, sent }, case).await, "{case:?}");
            drop(turn);
        }));
    }
    assert_eq!(checks.len(), 5 * 9);
    for check in checks {
        check.await.unwrap();
    }
}
