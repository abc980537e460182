//! The embedded engine keeps what every source promises.

use crate::support::{Scratch, engine};
use colored_consumer::conformance::{Fixture, check_all};
use colored_consumer::embedded::{Engine, Member, NewRecord};

struct Embedded(Engine);

impl Fixture for Embedded {
    type Source = Member;

    async fn join(&self, group: &str) -> Member {
        self.0.member(group, ["t"]).join().await.unwrap()
    }

    async fn send(&self, partition: u32, value: Option<&str>) {
        let value = value.map(|value| value.to_owned().into());
        let record = NewRecord { value, ..NewRecord::default() };
        self.0.send_to("t", partition, record).await.unwrap();
    }
}

#[colored::test]
async fn the_embedded_engine_keeps_the_promises_of_a_source() {
    let scratch = Scratch::new();
    check_all(&Embedded(engine(&scratch, 2).await)).await;
}
