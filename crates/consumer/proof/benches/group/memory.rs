//! A process of its own is measured, which has never held more.

use crate::hold::{KEYS, hold_and_pass};
use crate::side::Side;
use colored::Runtime;
use std::process::Command;

/// The name of the child's task.
pub(crate) const CHILD: &str = "hold-and-pass";

pub(crate) async fn memory<S: Side>(side: &S) {
    let value = "v".repeat(100);
    for part in 0..KEYS / 10_000 {
        let keys = part * 10_000..(part + 1) * 10_000;
        side.send(keys.map(|key| (format!("k{key}"), value.clone()))).await;
    }
    let program = std::env::current_exe().expect("the program has a file");
    for handlers in ["256", "100000"] {
        let mut child = Command::new(&program);
        child.args([CHILD, S::NAME, &side.url(), side.topic(), handlers]);
        println!("on {}:", S::NAME);
        let status = colored::block_in_place(|| child.status());
        assert!(status.expect("it starts").success());
    }
}

/// What the child does.
pub(crate) fn measure(words: &[String]) {
    let [engine, url, topic, handlers] = words else { panic!("four words, and not {words:?}") };
    let (engine, url, topic) = (engine.clone(), url.clone(), topic.clone());
    let group = format!("g{handlers}");
    let handlers = handlers.parse().expect("the parent gives a number");
    let runtime = Runtime::builder().workers(2).build().expect("a runtime");
    runtime.run(async move {
        if engine == "kafka" {
            let member = colored_consumer_kafka::Engine::new(&url).member(&group, [topic]);
            hold_and_pass(member.join().await.expect("a member"), handlers).await;
        } else {
            let engine = colored_consumer_jetstream::Engine::connect(&url).await;
            let member = engine.expect("the server runs").member(&group, [topic]);
            hold_and_pass(member.join().await.expect("a member"), handlers).await;
        }
    });
}
