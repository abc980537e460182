//! What the brokers know of partitions: what was committed, and what the logs have.

use crate::calls::{ANSWER, Calls, failed};
use crate::context::{Change, Client, Context, list, lock};
use crate::sys::{self, Described, Ends};
use colored::time::{Duration, sleep};
use colored_consumer::{Assignment, Committed, Error, Extent, Owned, TopicPartition};
use rdkafka::Offset;
use rdkafka::consumer::Consumer;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How long after a failed look-up the next one begins.
const PAUSE: Duration = Duration::from_millis(200);

/// An answer for each partition, in their order.
pub(crate) type Answers<T> = Result<Vec<Result<T, Error>>, Error>;

/// Looks up what a member has to know of its new partitions.
pub(crate) async fn prepare(calls: Calls, owned: Vec<Owned>) {
    until_answered(calls, owned, assignments, Change::Prepared).await;
}

/// Looks up what the logs of these partitions have, whose next record is not there.
pub(crate) async fn look_up(calls: Calls, owned: Vec<Owned>) {
    until_answered(calls, owned, extents, Change::Extents).await;
}

/// Looks up which topics are there.
pub(crate) async fn look_at_topics(calls: Calls, topics: BTreeSet<Arc<str>>) {
    let topics: Vec<_> = topics.into_iter().collect();
    let found = calls.run(move |client| sys::describe_topics(client, &topics).ok()).await;
    calls.context.push(Change::Topics(found.flatten()));
}

/// Asks until each partition has its answer, or has gone. What is answered does not wait for the others.
async fn until_answered<T: Send + 'static>(
    calls: Calls,
    mut owned: Vec<Owned>,
    ask: fn(&Client, &Context, &[Owned]) -> Answers<T>,
    change: fn(Vec<(Owned, T)>) -> Change,
) {
    loop {
        owned.retain(|owned| lock(&calls.context.ownership).is_owned(owned));
        if owned.is_empty() {
            return;
        }
        let (context, asked) = (Arc::clone(&calls.context), owned.clone());
        let answers = calls.run(move |client| ask(client, &context, &asked)).await;
        // A member that has left has no partition.
        let Some(answers) = answers else { return };
        let (mut found, mut left, mut fault) = (Vec::new(), Vec::new(), None);
        match answers {
            Err(error) => (left, fault) = (owned, Some(error)),
            Ok(answers) => {
                for (owned, answer) in owned.into_iter().zip(answers) {
                    match answer {
                        Ok(answer) => found.push((owned, answer)),
                        Err(error) => {
                            left.push(owned);
                            fault = Some(error);
                        }
                    }
                }
            }
        }
        if !found.is_empty() {
            calls.context.push(change(found));
        }
        let Some(error) = fault else { return };
        eprintln!("colored-consumer-kafka: partitions wait, and are tried again: {error}");
        owned = left;
        sleep(PAUSE).await;
    }
}

fn assignments(client: &Client, context: &Context, all: &[Owned]) -> Answers<Assignment> {
    let topics = describe(client, all)?;
    let logs = logs(client, context, all, &topics)?;
    let names: Vec<_> = all.iter().map(|owned| owned.partition.clone()).collect();
    let committed = committed(client, &names)?;
    let mut known = BTreeSet::new();
    for (name, topic) in &topics {
        let is_its = |of: &TopicPartition| *of.topic == **name;
        let mut own = names.iter().zip(&committed).filter(|(of, _)| is_its(of));
        let is_missing = own.any(|(_, committed)| matches!(committed, Ok(None)));
        // A topic that is made again loses its commits, and the member was in it.
        let is_again = context.note_topic(name, topic.id);
        if is_missing && (is_again || has_commits(client, name, topic.partitions)?) {
            known.insert(name);
        }
    }
    let mut answers = Vec::new();
    for ((owned, log), committed) in all.iter().zip(logs).zip(committed) {
        answers.push(log.and_then(|log| {
            let (owned, committed) = (owned.clone(), committed?);
            // It matters where there is none.
            let is_known = known.iter().any(|name| **name == *owned.partition.topic);
            let has_other_commits = committed.is_none() && is_known;
            Ok(Assignment { owned, committed, log, has_other_commits })
        }));
    }
    Ok(answers)
}

/// Whether the group has a commit in a topic.
fn has_commits(client: &Client, topic: &str, partitions: u32) -> Result<bool, Error> {
    let of = |partition| TopicPartition { topic: topic.into(), partition };
    let committed = committed(client, &(0..partitions).map(of).collect::<Vec<_>>())?;
    Ok(committed.iter().any(|of| matches!(of, Ok(Some(_)))))
}

/// What the group has committed.
fn committed(client: &Client, all: &[TopicPartition]) -> Answers<Option<Committed>> {
    let found = client.committed_offsets(list(all), ANSWER);
    let found = found.map_err(|error| failed("the committed offsets", error))?;
    let (elements, metadata) = (found.elements(), sys::metadata(&found));
    let answers = elements.iter().zip(metadata).map(|(element, metadata)| {
        element.error().map_err(|error| failed("a committed offset", error))?;
        Ok(match element.offset() {
            Offset::Offset(offset) => u64::try_from(offset).ok(),
            _ => None,
        }
        .map(|offset| Committed { offset, metadata, log: None }))
    });
    Ok(answers.collect())
}

fn describe(client: &Client, all: &[Owned]) -> Result<BTreeMap<String, Described>, Error> {
    let topics: BTreeSet<_> = all.iter().map(|owned| Arc::clone(&owned.partition.topic)).collect();
    let topics: Vec<_> = topics.into_iter().collect();
    sys::describe_topics(client, &topics).map_err(|error| failed("the topics", error))
}

/// What the logs of these partitions have.
pub(crate) fn extents(client: &Client, context: &Context, all: &[Owned]) -> Answers<Extent> {
    let topics = describe(client, all)?;
    logs(client, context, all, &topics)
}

/// The first records with this time or a later one.
pub(crate) fn find(
    client: &Client,
    context: &Context,
    all: &[Owned],
    timestamp: i64,
) -> Answers<u64> {
    let names: Vec<_> = all.iter().map(|owned| owned.partition.clone()).collect();
    // Before the records are searched: what is written meanwhile is behind these ends.
    let logs = extents(client, context, all)?;
    // Lower numbers mean ends.
    let which = Offset::Offset(timestamp.max(0));
    let found = sys::list_offsets(client, &names, which, !context.reads_uncommitted);
    let found = found.map_err(|error| failed("the records of a time", error))?;
    let place = |(of, log): (&TopicPartition, Result<Extent, Error>)| match found.get(of) {
        Some(Ok(Some(offset))) => Ok(*offset),
        Some(Ok(None)) => Ok(log?.end),
        Some(Err(error)) => Err(failed(&of.to_string(), error)),
        None => Err(failed(&of.to_string(), "no broker says where its records of a time are")),
    };
    Ok(names.iter().zip(logs).map(place).collect())
}

fn logs(
    client: &Client,
    context: &Context,
    all: &[Owned],
    topics: &BTreeMap<String, Described>,
) -> Answers<Extent> {
    let names: Vec<_> = all.iter().map(|owned| owned.partition.clone()).collect();
    let ask = |which, is_committed| {
        let ends = sys::list_offsets(client, &names, which, is_committed);
        ends.map_err(|error| failed("the ends of the logs", error))
    };
    let starts = ask(Offset::Beginning, false)?;
    // Behind the last record there is the end for a group: another client may have read what a transaction under way has
    // written. This member cannot, unless it is told to.
    let ends = ask(Offset::End, !context.reads_uncommitted)?;
    let limits = if context.reads_uncommitted { ends.clone() } else { ask(Offset::End, false)? };
    let extent = |of: &TopicPartition| {
        let at = |ends: &Ends| match ends.get(of) {
            Some(Ok(Some(end))) => Ok(*end),
            Some(Err(error)) => Err(failed(&of.to_string(), error)),
            _ => Err(failed(&of.to_string(), "no broker says where its log ends")),
        };
        let (start, end, limit) = (at(&starts)?, at(&ends)?, at(&limits)?);
        let identity = topics.get(&*of.topic).and_then(|topic| topic.id);
        // What was deleted may have been records: no broker says. But the one offset before the begin may have been the marker
        // behind a transaction, on which a client stands that commits by record.
        let doubt = start.saturating_sub(1);
        Ok(Extent { doubt, floor: start, start, end: end.min(limit), limit, identity })
    };
    Ok(names.iter().map(extent).collect())
}
