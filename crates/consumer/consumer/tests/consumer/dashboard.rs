//! The dashboard names metrics that there are.

use crate::support::{Effects, Scratch, engine, send};
use colored_consumer::{Consumer, Metrics};
use serde_json::Value;
use std::collections::BTreeSet;

const DASHBOARD: &str = include_str!("../../dashboard.json");

/// The metrics of a consumer that has a partition.
async fn metrics() -> Metrics {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 1).await;
    send(&engine, 2, 0, 10).await;
    let (member, effects) = (engine.member("g", ["t"]).join().await.unwrap(), Effects::default());
    let seen = effects.clone();
    let consumer = Consumer::builder(member).start(move |record, context| {
        seen.add(&record, context.generation());
        std::future::ready(Ok(()))
    });
    let consumer = consumer.unwrap();
    assert!(consumer.caught_up().await);
    let metrics = consumer.metrics().await;
    consumer.stop().await.unwrap();
    metrics
}

/// All texts below fields of these names.
fn texts<'a>(value: &'a Value, names: &[&str], found: &mut Vec<&'a str>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value.as_str() {
                    Some(text) if names.contains(&name.as_str()) => found.push(text),
                    _ => texts(value, names, found),
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| texts(value, names, found)),
        _ => {}
    }
}

/// The names of metrics in a query.
fn named(query: &str) -> Vec<&str> {
    let words = query.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    words.filter(|word| word.starts_with("kafka_") || word.starts_with("colored_")).collect()
}

#[colored::test]
async fn each_metric_of_the_dashboard_exists() {
    let text = metrics().await.open_metrics("g");
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    let exposed: BTreeSet<_> = samples.map(|line| line.split('{').next().unwrap()).collect();
    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let mut queries = Vec::new();
    texts(&dashboard, &["expr", "query", "definition"], &mut queries);
    assert!(queries.len() > 20, "{queries:?}");
    for query in &queries {
        let names = named(query);
        assert!(!names.is_empty() || *query == "prometheus", "{query} names no metric");
        for name in names {
            assert!(exposed.contains(name), "{name} of {query}: there are {exposed:?}");
        }
    }
    // What dashboards of Kafka's users ask first is there, under their names.
    for known in [
        "kafka_consumergroup_lag",
        "kafka_consumergroup_current_offset",
        "kafka_topic_partition_current_offset",
        "kafka_consumer_fetch_manager_records_consumed_total",
        "kafka_consumer_coordinator_commit_total",
    ] {
        assert!(queries.iter().any(|query| named(query).contains(&known)), "{known}");
    }
}

#[test]
fn a_metric_that_is_not_there_would_be_found() {
    assert_eq!(
        named("sum(rate(kafka_a_total{x=~\"$y\"}[5m])) / colored_b"),
        ["kafka_a_total", "colored_b"]
    );
}
