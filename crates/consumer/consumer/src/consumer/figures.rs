//! What a consumer counts, and the sentinels, whose counts stay 0.

use super::claimed::Claimed;
use super::context::Claim;
use super::lane::Phase;
use super::line::Line;
use super::shared::Shared;
use super::state::State;
use crate::source::{Owned, TopicPartition};
use colored::time::{Duration, Instant};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a turn of a claim counts, and all of them together.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) done: u64,
    pub(crate) skipped: u64,
    pub(crate) stale: u64,
    pub(crate) held: u64,
    pub(crate) retries: u64,
    pub(crate) postponed: u64,
    pub(crate) slowed: u64,
    pub(crate) dead_letters: u64,
    pub(crate) runs: u64,
    pub(crate) aborted: u64,
    pub(crate) waited: Duration,
    pub(crate) handled: Duration,
}

impl Counts {
    pub(crate) fn add(&mut self, of: Counts) {
        self.done += of.done;
        self.skipped += of.skipped;
        self.stale += of.stale;
        self.held += of.held;
        self.retries += of.retries;
        self.postponed += of.postponed;
        self.slowed += of.slowed;
        self.dead_letters += of.dead_letters;
        self.runs += of.runs;
        self.aborted += of.aborted;
        self.waited += of.waited;
        self.handled += of.handled;
    }
}

/// What a consumer has counted since its start.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    pub(crate) counts: Counts,
    pub(crate) polled: u64,
    pub(crate) commits: u64,
    pub(crate) failed_commits: u64,
    pub(crate) refused_commits: u64,
    pub(crate) foreign_metadata: u64,
    pub(crate) resets: u64,
    pub(crate) engine_errors: u64,
    failed_dead_letters: u64,
    pub(crate) reset_lines: Line,
    pub(crate) engine_lines: Line,
    pub(crate) commit_lines: Line,
    pub(crate) slow_lines: Line,
    letter_lines: Line,
    violation_lines: Line,
    violations: u64,
    /// The text of the first violation.
    first_violation: Option<String>,
}

impl Figures {
    /// A promise is broken: a count, and the line on the standard error, if it is to be said.
    #[must_use]
    pub(crate) fn violate(&mut self, what: &str, of: Option<&TopicPartition>) -> Option<String> {
        self.violations += 1;
        let place = of.map_or_else(|| "a partition".to_owned(), ToString::to_string);
        let text = format!("{place}: {what}");
        let line = self.violation_lines.next(&format!("a promise is broken: {text}"));
        self.first_violation.get_or_insert(text);
        line
    }

    /// What takes the dead letters has not taken one. As above.
    #[must_use]
    pub(crate) fn count_failed_letter(&mut self, text: &str) -> Option<String> {
        self.failed_dead_letters += 1;
        self.letter_lines.next(text)
    }

    pub(crate) fn first_violation(&self) -> Option<&str> {
        self.first_violation.as_deref()
    }
}

impl Shared {
    /// A sentinel: a record was handed to its handler in its turn, and is done once.
    #[inline]
    pub(crate) fn check_order(&self, holds: bool, owned: &Owned, offset: u64) {
        if !holds {
            self.note_disorder(owned, offset);
        }
    }

    #[cold]
    fn note_disorder(&self, owned: &Owned, offset: u64) {
        let text = format!("offset {offset} of generation {}", owned.generation);
        self.violate(&format!("out of order: {text}"), Some(&owned.partition));
    }
}

/// What a consumer has done, and what it does now.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Metrics {
    /// Records that the engine returned.
    pub polled: u64,
    /// Records that are done, with the dead letters.
    pub done: u64,
    /// Records that were done before the partition came here: the map of the last commit said so.
    pub skipped: u64,
    /// Records that the engine returned twice, or for a partition that had gone, or was to begin elsewhere.
    pub stale: u64,
    /// How often a record waited because the map of the commit might have become too large.
    pub held: u64,
    /// Calls of handlers that are to be repeated.
    pub retries: u64,
    /// Calls of handlers that are to come again at a time that they have named: [`Failure::Later`](crate::Failure::Later).
    pub postponed: u64,
    /// How often a key waited because of its [`rate`](crate::Builder::rate).
    pub slowed: u64,
    /// Records that were given up, and that the dead letters have taken.
    pub dead_letters: u64,
    /// Calls of [`dead_letters`](crate::Builder::dead_letters) that failed, and are to be repeated.
    pub failed_dead_letters: u64,
    /// Handlers that were dropped because their partition had gone.
    pub aborted: u64,
    /// Runs: tasks that handled some records of a key each.
    pub runs: u64,
    /// The time in which runs waited for their turn, in all.
    pub waited: Duration,
    /// The time in which runs were under way, in all: from the start of each to the report of its end.
    pub handled: Duration,
    /// Commits that succeeded.
    pub commits: u64,
    /// Commits that failed, and were tried again.
    pub failed_commits: u64,
    /// Partitions whose commit the engine has refused, at each commit: they have another owner or another log, which the engine is
    /// about to tell. Alert if it rises for long: nothing is committed of such a partition.
    pub refused_commits: u64,
    /// Commits of others whose metadata was no map, and was ignored.
    pub foreign_metadata: u64,
    /// How often [`Reset`](crate::Reset) decided where a partition goes on, because its log no longer had the place of the group,
    /// or was another one. Alert if it rises: records were lost, or come again.
    pub resets: u64,
    /// Errors of the engine: of the whole member, and of its partitions.
    pub engine_errors: u64,
    /// Promises that the sentinels saw broken. Alert if it is not 0.
    pub violations: u64,
    /// Records that were accepted and are not done.
    pub in_flight: usize,
    /// Their bytes.
    pub in_flight_bytes: usize,
    /// Whether the consumer has partitions, and the lag of each is 0. [`Consumer::caught_up`](crate::Consumer::caught_up) waits for
    /// it, and asks the engine.
    pub is_caught_up: bool,
    /// The partitions of this consumer.
    pub partitions: Vec<PartitionMetrics>,
}

/// A partition of a consumer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PartitionMetrics {
    /// The partition.
    pub partition: TopicPartition,
    /// The generation in which it is owned.
    pub generation: u64,
    /// The records that have come and are not done, and the offsets from there to the end of what the consumer can read, as last
    /// heard. It is 0 exactly when all that can be read is done. Of what has not been read, offsets without a record (of a compacted
    /// topic, of markers of transactions, of other partitions of a stream) count too.
    pub lag: u64,
    /// The offset of the last commit.
    pub committed: u64,
    /// The end of the log, as last heard; of a replay, the end of its span.
    pub log_end: u64,
    /// For how long something is done that is not committed; zero if all is.
    pub commit_age: Duration,
    /// Records that were accepted and are not done.
    pub in_flight: usize,
    /// Records that are done above the first one that is not.
    pub done_above: usize,
    /// Calls of handlers that are to be repeated, since the partition came here.
    pub retries: u64,
    /// Records that were given up, since the partition came here.
    pub dead_letters: u64,
    /// Whether nothing is read of the partition: a bound is reached, or the partition is to begin elsewhere, or its topic is paused by
    /// hand. It does not say that none is read, while more than 2,048 reports of handlers are unheard.
    pub is_paused: bool,
    /// Whether its topic is paused by hand: [`Consumer::pause`](crate::Consumer::pause).
    pub is_held: bool,
    /// Why the partition cannot be read, if it could not at the last attempt, as far as that has shown. It is tried again after 100 ms, 200 ms, and so on up
    /// to 30 s; the others go on.
    pub error: Option<String>,
    /// How often it could not be read, in a row.
    pub errors: u32,
    /// What holds the commit back, if something does.
    pub first: Option<FirstUnfinished>,
}

/// The record that holds the commit of a partition back.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FirstUnfinished {
    /// The key, for people.
    pub key: String,
    /// The offset.
    pub offset: u64,
    /// What it waits for.
    pub waits_for: &'static str,
    /// For how long.
    pub time: Duration,
    /// How long the low-water mark has stood at this record, across attempts.
    pub stood: Duration,
    /// How often its handler was called, and has failed.
    pub attempts: u32,
}

impl State {
    /// All claims.
    pub(crate) fn all(&self) -> Vec<Arc<Claim>> {
        self.claims.values().map(|entry| Arc::clone(&entry.claim)).collect()
    }

    /// Those with records in flight.
    pub(crate) fn busy(&self) -> Vec<Arc<Claim>> {
        let sums = self.sums();
        let has_some = |id| sums.of.get(id).is_some_and(|of| of.in_flight.records > 0);
        let busy = self.claims.iter().filter(|(id, _)| has_some(*id));
        busy.map(|(_, entry)| Arc::clone(&entry.claim)).collect()
    }

    /// With what the claims have told under their colors.
    pub(crate) fn metrics(&self, told: impl IntoIterator<Item = Told>) -> Metrics {
        let (mut caught_up, mut partitions) = (0, BTreeMap::new());
        let sums = self.sums();
        for Told { id, is_placed, mut metrics } in told {
            let Some(entry) = self.claims.get(&id) else { continue };
            // Some may have come since it has told.
            let has_none = sums.of.get(&id).is_some_and(|of| of.in_flight.records == 0);
            let has_all = is_placed && metrics.lag == 0 && has_none;
            caught_up += usize::from(entry.is_active() && has_all);
            let trouble = entry.trouble.current();
            metrics.error = trouble.map(|(error, _)| error.to_owned());
            metrics.errors = trouble.map_or(0, |(_, errors)| errors);
            // The last claim of each: after a seek, earlier ones may not have ended.
            partitions.insert(metrics.partition.clone(), (id, metrics));
        }
        let mut partitions: Vec<_> = partitions.into_values().collect();
        partitions.sort_by_key(|(id, _)| *id);
        let (of, counts) = (&sums.figures, &sums.figures.counts);
        Metrics {
            polled: of.polled,
            done: counts.done,
            skipped: counts.skipped,
            stale: counts.stale,
            held: counts.held,
            retries: counts.retries,
            postponed: counts.postponed,
            slowed: counts.slowed,
            dead_letters: counts.dead_letters,
            failed_dead_letters: of.failed_dead_letters,
            aborted: counts.aborted,
            runs: counts.runs,
            waited: counts.waited,
            handled: counts.handled,
            commits: of.commits,
            failed_commits: of.failed_commits,
            refused_commits: of.refused_commits,
            foreign_metadata: of.foreign_metadata,
            resets: of.resets,
            engine_errors: of.engine_errors,
            violations: of.violations,
            in_flight: sums.shares.in_flight().records,
            in_flight_bytes: sums.shares.in_flight().bytes,
            is_caught_up: caught_up > 0 && caught_up == self.claims.len(),
            partitions: partitions.into_iter().map(|(_, metrics)| metrics).collect(),
        }
    }
}

/// What a claim tells of itself.
pub(crate) struct Told {
    pub(crate) id: u64,
    /// Whether it knows its place.
    is_placed: bool,
    pub(crate) metrics: PartitionMetrics,
}

impl Claimed {
    /// What it tells under its color. The driver knows the rest.
    pub(crate) fn tell(&mut self, claim: &Arc<Claim>) -> Told {
        // What it has counted is to be in the sums.
        self.end_turn(claim, Instant::now());
        let (in_flight, is_paused, is_placed) = self
            .shared
            .sums()
            .of
            .get(&self.id)
            .map_or((0, false, false), |of| (of.in_flight.records, of.is_paused, of.is_placed));
        let metrics = PartitionMetrics {
            partition: self.owned.partition.clone(),
            generation: self.owned.generation,
            lag: self.tracker.unfinished() as u64 + self.log_end.saturating_sub(self.tracker.end()),
            committed: self.committed,
            log_end: self.log_end,
            commit_age: self.news_since.map_or(Duration::ZERO, |since| since.elapsed()),
            in_flight,
            done_above: self.tracker.done_above(),
            retries: self.retries,
            dead_letters: self.dead_letters,
            is_paused,
            is_held: claim.is_held(),
            error: None,
            errors: 0,
            first: self.first_unfinished(claim),
        };
        Told { id: self.id, is_placed, metrics }
    }

    fn first_unfinished(&self, claim: &Claim) -> Option<FirstUnfinished> {
        let lane = self.first_lane()?;
        let waits_for = match lane.phase {
            Phase::New | Phase::Ready if claim.is_held() => "the end of its topic's pause",
            Phase::New | Phase::Ready => "a turn",
            Phase::Filling => "a full batch",
            Phase::Held => "room in the map",
            Phase::Running if lane.is_burying => "the dead letters",
            Phase::Running => "its handler",
            Phase::BackingOff if lane.dead.is_some() => "the next attempt of the dead letters",
            Phase::BackingOff => "its next attempt",
            Phase::Postponed => "the time that its handler has named",
            Phase::Slowed => "the rate of its key",
            Phase::Idle => "nothing",
        };
        let now = Instant::now();
        Some(FirstUnfinished {
            key: lane.name(),
            offset: lane.first()?,
            waits_for,
            time: now.saturating_duration_since(lane.since),
            stood: now.saturating_duration_since(self.low_since),
            attempts: lane.attempts,
        })
    }
}
