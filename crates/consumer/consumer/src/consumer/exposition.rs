//! Metrics as a text that monitoring systems read.

use super::figures::{Metrics, PartitionMetrics};
use colored::time::Duration;
use std::fmt::{Display, Write};

/// A figure of the whole consumer: its name, what it is, and its number.
type Figure = (&'static str, &'static str, fn(&Metrics) -> f64);

/// A figure of each partition.
type PartitionFigure = (&'static str, &'static str, fn(&PartitionMetrics) -> f64);

impl Metrics {
    /// The content type of the [text](Self::open_metrics).
    pub const CONTENT_TYPE: &'static str =
        "application/openmetrics-text; version=1.0.0; charset=utf-8";

    /// The metrics in the text format OpenMetrics 1.0, which Prometheus and others read. The group is the label
    /// `consumergroup`. What dashboards of Kafka know has the names that they know; the rest begins with `colored_consumer_`. Rates,
    /// such as the records a second, are those of the counters, whose names end with `_total`. The file `dashboard.json` of this
    /// package is a dashboard for Grafana that uses them. Costs time in proportion to the partitions.
    #[must_use]
    pub fn open_metrics(&self, group: &str) -> String {
        let mut text = Text { text: String::new(), group: escape(group) };
        for (name, help, number) in COUNTERS {
            let unit = name.ends_with("_seconds").then_some("seconds");
            text.begin(name, "counter", unit, help);
            text.sample(&format!("{name}_total"), None, number(self));
        }
        for (name, help, number) in GAUGES {
            text.begin(name, "gauge", name.ends_with("_bytes").then_some("bytes"), help);
            text.sample(name, None, number(self));
        }
        for (name, help, number) in PARTITION_FIGURES {
            text.begin(name, "gauge", name.ends_with("_seconds").then_some("seconds"), help);
            for partition in &self.partitions {
                text.sample(name, Some(partition), number(partition));
            }
        }
        text.text.push_str("# EOF\n");
        text.text
    }
}

const COUNTERS: [Figure; 19] = [
    ("kafka_consumer_fetch_manager_records_consumed", "Records that the engine returned.", |of| {
        of.polled as f64
    }),
    ("kafka_consumer_coordinator_commit", "Commits that succeeded.", |of| of.commits as f64),
    ("colored_consumer_records_done", "Records that are done.", |of| of.done as f64),
    (
        "colored_consumer_records_skipped",
        "Records that were done before the partition came here.",
        |of| of.skipped as f64,
    ),
    (
        "colored_consumer_records_stale",
        "Records that were returned twice, or for a partition that had gone.",
        |of| of.stale as f64,
    ),
    (
        "colored_consumer_held",
        "How often a record waited because of the map of the commit.",
        |of| of.held as f64,
    ),
    ("colored_consumer_retries", "Calls of handlers that are to be repeated.", |of| {
        of.retries as f64
    }),
    ("colored_consumer_postponed", "Calls of handlers that named a time to come again.", |of| {
        of.postponed as f64
    }),
    ("colored_consumer_slowed", "How often a key waited because of its rate.", |of| {
        of.slowed as f64
    }),
    ("colored_consumer_dead_letters", "Records that were given up.", |of| of.dead_letters as f64),
    ("colored_consumer_failed_dead_letters", "Calls of the dead letters that failed.", |of| {
        of.failed_dead_letters as f64
    }),
    (
        "colored_consumer_handlers_aborted",
        "Handlers that were dropped because their partition had gone.",
        |of| of.aborted as f64,
    ),
    ("colored_consumer_waited_seconds", "The time in which runs waited for their turn.", |of| {
        of.waited.as_secs_f64()
    }),
    ("colored_consumer_handled_seconds", "The time in which runs were under way.", |of| {
        of.handled.as_secs_f64()
    }),
    ("colored_consumer_failed_commits", "Commits that failed.", |of| of.failed_commits as f64),
    ("colored_consumer_refused_commits", "Partitions whose commit the engine refused.", |of| {
        of.refused_commits as f64
    }),
    (
        "colored_consumer_resets",
        "How often a partition went on elsewhere, because its log had not the place of the group.",
        |of| of.resets as f64,
    ),
    ("colored_consumer_engine_errors", "Errors of the engine.", |of| of.engine_errors as f64),
    ("colored_consumer_violations", "Promises that the sentinels saw broken.", |of| {
        of.violations as f64
    }),
];

const GAUGES: [Figure; 4] = [
    ("kafka_consumer_coordinator_assigned_partitions", "The partitions of this consumer.", |of| {
        of.partitions.len() as f64
    }),
    ("colored_consumer_in_flight_records", "Records that were read and are not done.", |of| {
        of.in_flight as f64
    }),
    ("colored_consumer_in_flight_bytes", "Their bytes.", |of| of.in_flight_bytes as f64),
    ("colored_consumer_caught_up", "Whether the lag of each partition is 0.", |of| {
        f64::from(of.is_caught_up)
    }),
];

const PARTITION_FIGURES: [PartitionFigure; 10] = [
    ("kafka_consumergroup_lag", "The records that are not done, up to the end of the log.", |of| {
        of.lag as f64
    }),
    ("kafka_consumergroup_current_offset", "The offset of the last commit.", |of| {
        of.committed as f64
    }),
    ("kafka_topic_partition_current_offset", "The end of the log, as last heard.", |of| {
        of.log_end as f64
    }),
    (
        "colored_consumer_commit_age_seconds",
        "For how long something is done and not committed.",
        |of| of.commit_age.as_secs_f64(),
    ),
    (
        "colored_consumer_first_unfinished_seconds",
        "For how long the commit has stood at the first record that is not done.",
        |of| of.first.as_ref().map_or(Duration::ZERO, |first| first.stood).as_secs_f64(),
    ),
    (
        "colored_consumer_partition_in_flight_records",
        "Records of the partition that were read and are not done.",
        |of| of.in_flight as f64,
    ),
    (
        "colored_consumer_done_above_records",
        "Records that are done above the first one that is not.",
        |of| of.done_above as f64,
    ),
    ("colored_consumer_paused", "Whether nothing is read of the partition.", |of| {
        f64::from(of.is_paused)
    }),
    ("colored_consumer_paused_by_hand", "Whether its topic is paused by hand.", |of| {
        f64::from(of.is_held)
    }),
    (
        "colored_consumer_read_errors",
        "How often the partition could not be read, in a row.",
        |of| f64::from(of.errors),
    ),
];

struct Text {
    text: String,
    /// As the value of a label.
    group: String,
}

impl Text {
    /// What follows are samples of this family.
    fn begin(&mut self, name: &str, kind: &str, unit: Option<&str>, help: &str) {
        self.line(format_args!("# TYPE {name} {kind}"));
        if let Some(unit) = unit {
            self.line(format_args!("# UNIT {name} {unit}"));
        }
        self.line(format_args!("# HELP {name} {help}"));
    }

    fn sample(&mut self, name: &str, of: Option<&PartitionMetrics>, number: f64) {
        let group = std::mem::take(&mut self.group);
        match of.map(|of| &of.partition) {
            None => self.line(format_args!("{name}{{consumergroup=\"{group}\"}} {number}")),
            Some(of) => self.line(format_args!(
                "{name}{{consumergroup=\"{group}\",topic=\"{}\",partition=\"{}\"}} {number}",
                escape(&of.topic),
                of.partition
            )),
        }
        self.group = group;
    }

    fn line(&mut self, line: impl Display) {
        // A text takes all that is written.
        let _ = writeln!(self.text, "{line}");
    }
}

/// The value of a label.
fn escape(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::TopicPartition;
    use std::collections::BTreeSet;

    /// By the grammar of OpenMetrics: each family begins with its kind, its samples follow it, and the end is marked.
    #[test]
    fn the_text_is_open_metrics() {
        let partition = PartitionMetrics {
            partition: TopicPartition { topic: "t\"\\\n".into(), partition: 7 },
            generation: 1,
            lag: 12,
            committed: 30,
            log_end: 42,
            commit_age: Duration::from_millis(1_500),
            in_flight: 5,
            done_above: 2,
            retries: 0,
            dead_letters: 0,
            is_paused: true,
            is_held: false,
            error: None,
            errors: 0,
            first: None,
        };
        let metrics = Metrics { polled: 42, partitions: vec![partition], ..Metrics::default() };
        let text = metrics.open_metrics("a \"group\"");
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.last(), Some(&"# EOF"));
        let (mut family, mut kind, mut named) = ("", "", BTreeSet::new());
        for line in &lines[..lines.len() - 1] {
            let words: Vec<_> = line.split(' ').collect();
            match words[..] {
                ["#", "TYPE", name, of] => (family, kind) = (name, of),
                ["#", "UNIT", name, unit] => assert!(name == family && name.ends_with(unit)),
                ["#", "HELP", name, ..] => assert_eq!(name, family),
                _ => {
                    let (name, rest) = line.split_once('{').unwrap();
                    let suffix = if kind == "counter" { "_total" } else { "" };
                    assert_eq!(name, format!("{family}{suffix}"));
                    assert!(rest.starts_with("consumergroup=\"a \\\"group\\\"\""), "{line}");
                    let (labels, number) = rest.rsplit_once("} ").unwrap();
                    number.parse::<f64>().unwrap();
                    assert!(named.insert((name, labels)), "{line} is there again");
                }
            }
        }
        let labels = r#"{consumergroup="a \"group\"",topic="t\"\\\n",partition="7"}"#;
        for sample in [
            r#"kafka_consumer_fetch_manager_records_consumed_total{consumergroup="a \"group\""} 42"#,
            &format!("kafka_consumergroup_lag{labels} 12"),
            &format!("colored_consumer_commit_age_seconds{labels} 1.5"),
            &format!("colored_consumer_paused{labels} 1"),
        ] {
            assert!(lines.contains(&sample), "{sample} in {text}");
        }
    }
}
