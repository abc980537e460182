//! A log that is not what it was, crossed with what a consumer is told to do about it, running and started again. A broker
//! never loses the end of a log alone, and keeps what it has by checksums: those alterations are not Kafka's.

use crate::support::{Topic, kafka};
use colored_consumer::conformance::Fixture;
use colored_consumer::conformance::alter::{AlterLog, Alteration, Altered, Case, check_case};
use colored_consumer_kafka::{Engine, Member};
use colored_engines_proof::effects::millis;
use colored_engines_proof::kafka::Sender;
use colored_engines_proof::suite::TestTopic;
use std::sync::Mutex;

/// How many cases are checked at a time: most of each is waiting.
const AT_A_TIME: usize = 9;

struct Log {
    topic: Topic,
    sender: Sender,
    /// The values of partition 0.
    values: Mutex<Vec<String>>,
}

impl Fixture for Log {
    type Source = Member;

    async fn join(&self, group: &str) -> Member {
        let name = &*self.topic.name;
        // It hears of other partitions as late as any.
        let member =
            Engine::new(&self.topic.kafka.url()).member(&format!("{group}-{name}"), [name]);
        member.session(millis(30_000)).heartbeat(millis(150)).join().await.unwrap()
    }

    async fn send(&self, partition: u32, value: Option<&str>) {
        let place = (&*self.topic.name, partition as i32);
        colored::block_in_place(|| self.sender.send(place, value));
        if partition == 0 {
            self.values.lock().unwrap().push(value.unwrap_or_default().to_owned());
        }
    }
}

impl AlterLog for Log {
    async fn alter(&self, alteration: Alteration, _: bool) -> Altered {
        let (kafka, name) = (self.topic.kafka, &*self.topic.name);
        let mut values = self.values.lock().unwrap().clone();
        match alteration {
            Alteration::BeginLater(count) => {
                let count = values.len().min(count as usize);
                self.topic.delete_records(count as i64).await;
                values.drain(..count);
            }
            Alteration::MakeAgain => colored::block_in_place(|| {
                kafka.delete_topic(name);
                kafka.create_topic(name, 2);
                values.clear();
            }),
            // They are aborted, and their marker is behind them.
            Alteration::Mark => self.topic.abort(0..5).await,
            _ => return Altered::Unsupported,
        }
        Altered::Has(values)
    }
}

fn is_of_kafka(case: &Case) -> bool {
    let of = case.alteration;
    matches!(of, Alteration::BeginLater(_) | Alteration::MakeAgain | Alteration::Mark)
}

#[colored::test]
async fn a_log_that_is_not_what_it_was_loses_and_repeats_nothing() {
    let Some(kafka) = kafka() else { return };
    let cases: Vec<_> = Case::all(0).into_iter().filter(is_of_kafka).enumerate().collect();
    for some in cases.chunks(AT_A_TIME) {
        let checks = some.iter().copied().map(|(number, case)| {
            colored::spawn_unique(async move {
                let topic = Topic::create(&format!("altered-{number}"), 2).await.unwrap();
                let (sender, values) = (kafka.sender(), Mutex::default());
                assert!(check_case(&Log { topic, sender, values }, case).await, "{case:?}");
            })
        });
        for check in checks.collect::<Vec<_>>() {
            check.await.unwrap();
        }
    }
}
