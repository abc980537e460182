//! The driver: one task, which polls the source, tells it what to pause, commits, and carries out what a rebalance asks.
//!
//! It never waits for a handler, so that the source is polled all the time, also during a drain. One commit or release is
//! under way at a time, so that an older commit cannot come after a newer one.

use super::caught_up::ask;
use super::claimed::Claimed;
use super::clock::after;
use super::commits::take_commits;
use super::context::ask_all;
use super::failure::ConsumerError;
use super::line::say;
use super::place::Begin;
use super::rebalance::Ending;
use super::seek::{place, seek};
use super::shared::Shared;
use super::state::State;
use crate::source::{CommitError, Control, Error, Event, Owned, Source};
use colored::ColorCell;
use colored::task::CancellationToken;
use colored::time::{Duration, Instant, sleep, sleep_until};
use std::collections::BTreeSet;
use std::future::pending;
use std::pin::Pin;
use std::sync::Arc;

/// How long an engine is left alone after an error of the whole member.
pub(crate) const PAUSE: Duration = Duration::from_millis(100);

/// So many errors in a row end the consumer.
const MOST_ERRORS: u32 = 50;

/// How often slow handlers are looked for.
const LOOK: Duration = Duration::from_secs(1);

/// How often the last commit of a partition is tried, and its release.
const LAST_TRIES: u32 = 5;

type Operation = Pin<Box<dyn Future<Output = ()> + Send>>;

pub(crate) struct Driver<S: Source> {
    source: S,
    control: S::Control,
    cell: ColorCell<State>,
    shared: Arc<Shared>,
    stop: CancellationToken,
    /// A commit, or the end of some claims.
    operation: Option<Operation>,
    /// The question of those who wait until all is done.
    asking: Option<Operation>,
    /// A seek, or the search for the places of claims.
    seeking: Option<Operation>,
    next_commit: Instant,
    commit_every: Duration,
    next_look: Instant,
    /// Partitions that come again, and begin when their last time has ended.
    delayed: Vec<Begin>,
    errors: u32,
    /// The engine is not polled before.
    quiet_until: Option<Instant>,
    is_stopping: bool,
}

impl<S: Source> Driver<S> {
    pub(crate) fn new(source: S, cell: ColorCell<State>, stop: CancellationToken) -> Driver<S> {
        let (shared, commit_every) =
            cell.with(|state| (Arc::clone(&state.shared), state.settings.commit_every));
        let (control, now) = (source.control(), Instant::now());
        Driver {
            source,
            control,
            cell,
            shared,
            stop,
            operation: None,
            asking: None,
            seeking: None,
            next_commit: after(now, commit_every),
            commit_every,
            next_look: now + LOOK,
            delayed: Vec::new(),
            errors: 0,
            quiet_until: None,
            is_stopping: false,
        }
    }

    pub(crate) async fn run(mut self) -> Result<(), ConsumerError> {
        loop {
            self.begin_stop();
            self.cell.with(State::look_at_waits);
            self.begin_delayed();
            self.set_pauses();
            self.begin_operation();
            self.begin_asking();
            self.begin_seeking();
            if self.is_stopping && self.operation.is_none() && self.has_no_claims() {
                break;
            }
            let room = self.cell.with(|state| state.room());
            let (due, quiet) = (self.next_due(), self.quiet_until);
            let Driver { source, operation, asking, seeking, stop, is_stopping, shared, .. } =
                &mut self;
            let poll = async {
                if let Some(until) = quiet {
                    sleep_until(until).await;
                }
                source.poll(room).await
            };
            let event = colored::select! {
                biased;
                () = stop.cancelled(), if !*is_stopping => None,
                () = finish(operation) => None,
                () = finish(asking) => None,
                () = finish(seeking) => None,
                () = sleep_until(due) => None,
                () = shared.attention.notified() => None,
                event = poll => Some(event),
            };
            if let Some(event) = event {
                self.take(event);
            }
        }
        let closed = self.source.close().await;
        let failure = self.shared.sums().failure.take();
        failure.map_or_else(|| closed.map_err(ConsumerError::Source), Err)
    }

    fn has_no_claims(&self) -> bool {
        self.cell.with(|state| state.claims.is_empty())
    }

    /// Looks whether the consumer is to stop, and drains everything if it is.
    fn begin_stop(&mut self) {
        let mut sums = self.shared.sums();
        if sums.settings.strict
            && let Some(text) = sums.figures.first_violation().map(str::to_owned)
        {
            sums.failure.get_or_insert(ConsumerError::Violation(text));
        }
        let must_stop = sums.failure.is_some();
        drop(sums);
        let was_stopping = self.is_stopping;
        self.is_stopping |= must_stop || self.stop.is_cancelled();
        if self.is_stopping {
            if !was_stopping {
                self.cell.with(State::report_trouble);
            }
            self.cell.with(|state| {
                let has_active = state.claims.values().any(|entry| !entry.claim.is_revoked());
                if has_active {
                    state.revoke(|_| true, Instant::now());
                }
            });
        }
    }

    fn begin_delayed(&mut self) {
        let Driver { delayed, cell, source, .. } = self;
        delayed.extend(cell.with(|state| state.take_retried(Instant::now())));
        delayed.extend(cell.with(|state| std::mem::take(&mut state.begins)));
        // One that waits for its place may come again, after each error of the search.
        let mut ids = BTreeSet::new();
        delayed.retain(|begin| ids.insert(begin.id));
        delayed.retain(|begin| {
            let (is_active, waits) = cell.with(|state| {
                (state.active(&begin.owned) == Some(begin.id), state.must_wait(begin))
            });
            if is_active && !waits {
                let offset = cell.with(|state| state.note_begun(begin.id));
                source.begin(&begin.owned, offset);
            }
            is_active && waits
        });
    }

    /// Pauses the partitions that have reached a bound, and resumes those that no longer have.
    fn set_pauses(&mut self) {
        for (partition, is_paused) in self.cell.with(State::take_pauses) {
            if is_paused {
                self.source.pause(&partition);
            } else {
                self.source.resume(&partition);
            }
        }
    }

    /// Begins the end of drained claims, or a commit, unless one is under way.
    fn begin_operation(&mut self) {
        if self.operation.is_some() {
            return;
        }
        let now = Instant::now();
        let mut ending = self.cell.with(|state| state.take_ending(now));
        if self.is_stopping {
            // The member is about to leave, and what it releases before may be given to it again.
            ending.released.clear();
        }
        if !ending.ids.is_empty() {
            self.operation = Some(Box::pin(end(self.cell.clone(), self.control.clone(), ending)));
            return;
        }
        let sums = self.shared.sums();
        let is_many = sums.done_since >= sums.settings.commit_after;
        let is_due = (is_many || now >= self.next_commit) && sums.has_news;
        drop(sums);
        if is_due {
            self.next_commit = after(now, self.commit_every);
            let (cell, control) = (self.cell.clone(), self.control.clone());
            self.operation = Some(Box::pin(async move {
                if !commit(&cell, &control, |_| true, Some(PAUSE)).await {
                    sleep(PAUSE).await;
                }
            }));
        }
    }

    fn begin_asking(&mut self) {
        if self.asking.is_none()
            && let Some(question) = self.cell.with(State::take_question)
        {
            self.asking = Some(Box::pin(ask(self.cell.clone(), self.control.clone(), question)));
        }
    }

    fn begin_seeking(&mut self) {
        if self.seeking.is_some() {
            return;
        }
        let (cell, control) = (self.cell.clone(), self.control.clone());
        if let Some(wanted) = self.cell.with(State::take_seek) {
            self.seeking = Some(Box::pin(seek(cell, control, wanted)));
            return;
        }
        let (claims, times) =
            self.cell.with(|state| (state.unplaced(), state.settings.replay.clone()));
        if let Some(times) = times.filter(|_| !claims.is_empty()) {
            self.seeking = Some(Box::pin(place(cell, control, claims, times)));
        }
    }

    /// When there is something to do, if nothing happens.
    fn next_due(&mut self) -> Instant {
        let now = Instant::now();
        if now >= self.next_look {
            self.next_look = now + LOOK;
            for claim in self.cell.with(|state| state.busy()) {
                claim.post(move |claimed, _| claimed.report_slow(now));
            }
        }
        let (drain, retry) = self.cell.with(|state| (state.next_drain(), state.next_retry()));
        let sums = self.shared.sums();
        let (has_news, has_records) = (sums.has_news, sums.shares.in_flight().records > 0);
        drop(sums);
        let is_free = self.operation.is_none();
        let mut due = now + Duration::from_secs(3600);
        due = retry.map_or(due, |retry| due.min(retry));
        if has_records {
            due = due.min(self.next_look);
        }
        if has_news && is_free {
            due = due.min(self.next_commit);
        }
        drain.filter(|_| is_free).map_or(due, |drain| due.min(drain))
    }

    fn take(&mut self, event: Result<Event, Error>) {
        let event = match event {
            Ok(event) => event,
            Err(error) => return self.take_error(error),
        };
        (self.errors, self.quiet_until) = (0, None);
        match event {
            Event::Assigned(assignments) => {
                for assignment in assignments {
                    let placed = self.cell.with(|state| state.assign(assignment));
                    self.delayed.extend(placed);
                }
                for claim in self.cell.with(|state| state.all()) {
                    // There are more of them, and so each has a smaller part of what all may keep.
                    claim.post(|claimed, _| claimed.shrink());
                }
                if self.is_stopping {
                    self.cell.with(|state| state.revoke(|_| true, Instant::now()));
                }
            }
            Event::Records { owned, records, next, end } => {
                self.cell.with(|state| state.accept(&owned, records, (next, end)));
                let used = self.shared.sums().spare.pop();
                used.into_iter().for_each(|used| self.source.take_back(used));
            }
            Event::Revoked(revoked) => self.revoke(&revoked),
            Event::Lost(lost) => {
                self.cell.with(|state| state.lose(|owned| lost.contains(owned)));
            }
            Event::OutOfRange { owned, log } => {
                self.delayed.extend(self.cell.with(|state| state.go_on(&owned, &log)));
            }
            Event::Failed { owned, error } => {
                self.cell.with(|state| state.note_trouble(&owned, &error));
            }
        }
    }

    fn revoke(&mut self, revoked: &[Owned]) {
        self.cell.with(|state| state.revoke(|owned| revoked.contains(owned), Instant::now()));
    }

    fn take_error(&mut self, error: Error) {
        self.errors += 1;
        self.quiet_until = Some(Instant::now() + PAUSE);
        let mut sums = self.shared.sums();
        sums.figures.engine_errors += 1;
        if self.errors >= MOST_ERRORS {
            sums.failure.get_or_insert(ConsumerError::Source(error));
        } else {
            let text = format!("the engine fails, and is tried again: {error}");
            let line = sums.figures.engine_lines.next(&text);
            drop(sums);
            say(line);
        }
    }
}

/// Waits for the end of the operation, if there is one.
async fn finish(operation: &mut Option<Operation>) {
    match operation {
        Some(under_way) => under_way.await,
        None => pending().await,
    }
    *operation = None;
}

/// Ends claims: waits until their handlers are gone, commits, releases.
async fn end(cell: ColorCell<State>, control: impl Control, ending: Ending) {
    let Ending { ids, released, aborted } = ending;
    let handlers = ask_all(aborted.clone(), |claimed, _| claimed.abort_runs()).await;
    for handler in handlers.into_iter().flatten().flatten() {
        // It was dropped, or has finished.
        let _ = handler.await;
    }
    // Those that have finished may have told so.
    ask_all(aborted, Claimed::hear_all).await;
    for _ in 0..LAST_TRIES {
        let ids = ids.clone();
        if commit(&cell, &control, move |id| ids.contains(&id), None).await {
            break;
        }
        sleep(PAUSE).await;
    }
    for _ in 0..LAST_TRIES {
        if released.is_empty() {
            break;
        }
        // Others wait for it.
        let Err(error) = control.release(released.clone()).await else { break };
        say(format!("a release failed: {error}"));
        sleep(PAUSE).await;
    }
    cell.call(move |state| ids.into_iter().for_each(|id| state.remove(id))).await;
}

/// Commits what claims have to say, with a time: what they say in it; returns whether nothing is left to be tried again.
async fn commit(
    cell: &ColorCell<State>,
    control: &impl Control,
    wanted: impl Fn(u64) -> bool,
    time: Option<Duration>,
) -> bool {
    let (commits, under_way) = take_commits(cell, wanted, time).await;
    if commits.is_empty() {
        return true;
    }
    let refused = match control.commit(commits).await {
        Ok(()) => Vec::new(),
        Err(CommitError::Fenced(refused)) => refused,
        Err(CommitError::Failed(error)) => {
            let count = move |state: &mut State| {
                let text = format!("a commit failed, and is tried again: {error}");
                let mut sums = state.sums();
                sums.figures.failed_commits += 1;
                let line = sums.figures.commit_lines.next(&text);
                drop(sums);
                say(line);
            };
            cell.call(count).await;
            return false;
        }
    };
    cell.call(move |state| state.confirm(under_way, &refused)).await
}
