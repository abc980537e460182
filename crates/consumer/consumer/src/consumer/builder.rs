//! [`Builder`] and [`Consumer`].

use super::claimed::Claimed;
use super::context::{Context, ask_all};
use super::diagnosed::register;
use super::driver::{Driver, PAUSE};
use super::failure::{Cause, ConsumerError, Failure};
use super::figures::Metrics;
use super::options::{Broken, DeadLetter, Order, Reset, Settings};
use super::rate::Rate;
use super::run::Common;
use super::seek::{Place, millis};
use super::shared::Shared;
use super::state::State;
use super::survey::{DryRun, Survey};
use super::work::{Batch, Each, Work};
use crate::source::{Error, Record, Source};
use bytes::Bytes;
use colored::task::CancellationToken;
use colored::time::{Duration, sleep};
use colored::{Color, ColorCell, JoinHandle};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::SystemTime;

/// A consumer that runs: a task that polls its source, and the tasks of its handlers.
///
/// A consumer that is dropped stops in the background, as by [`stop`](Consumer::stop). One that has ended, or whose runtime has,
/// keeps nothing of its source, its handler or its dead letters: they are dropped with the task.
#[must_use = "a consumer that is dropped stops"]
pub struct Consumer {
    state: ColorCell<State>,
    stop: CancellationToken,
    driver: Option<JoinHandle<Result<(), ConsumerError>>>,
}

impl fmt::Debug for Consumer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Consumer").field("state", &self.state).finish_non_exhaustive()
    }
}

impl Consumer {
    /// The settings of a consumer of this source.
    pub fn builder<S: Source>(source: S) -> Builder<S> {
        Builder { source, settings: Settings::default(), stop: CancellationToken::new() }
    }

    /// Stops: handles nothing more, waits up to [`drain`](Builder::drain) for the handlers that run, commits, and leaves
    /// the group. Not cancel safe: a dropped call goes on in the background.
    ///
    /// # Errors
    ///
    /// Why the consumer had ended before, or could not leave; or which partition could not be read at the last attempt.
    pub async fn stop(self) -> Result<(), ConsumerError> {
        self.stop.cancel();
        self.wait().await
    }

    /// Waits until the consumer ends: by [`stop_on`](Builder::stop_on), or by an error. Not cancel safe: a dropped call
    /// stops the consumer.
    ///
    /// # Errors
    ///
    /// Why it ended.
    ///
    /// # Panics
    ///
    /// As the source did. The futures of the handlers are dropped then, and nothing more is committed.
    pub async fn wait(mut self) -> Result<(), ConsumerError> {
        let driver = self.driver.take().expect("it is taken here only");
        match driver.await {
            Ok(result) => result,
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => Err(ConsumerError::Shutdown),
        }
    }

    /// Whether the consumer has ended.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.driver.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits until the consumer has caught up: until it has partitions, and every record is done that they had when the engine was
    /// asked. It is asked when the call begins and the consumer has a partition, and again for all when a partition has gone
    /// meanwhile. Returns `false` if the consumer ended before. Costs a request of the engine for each partition; callers that wait
    /// for the engine share the next one. Cancel safe.
    pub async fn caught_up(&self) -> bool {
        loop {
            match self.state.call(State::ask).await.await {
                Ok(true) => return true,
                // The engine is about to say what has become of a partition.
                Ok(false) => sleep(PAUSE / 10).await,
                Err(_) => return false,
            }
        }
    }

    /// Goes to another place of a topic, in all partitions of it that this consumer has; returns how many these are. The place is
    /// committed, and so holds for the group: it goes on there after a restart, too. Members of the group that have other
    /// partitions are not told. Nothing of the old place starts when this returns. Its handlers may finish, up to
    /// [`drain`](Builder::drain), and then the first record of the new place begins; what they do counts as not done. The map of
    /// what was done above the commit is forgotten, so a seek back repeats all records from there on. It returns before the place is
    /// committed: a consumer that ends without its next commit goes on at the old place. It may return 0, if the partitions went
    /// away meanwhile. Costs two requests of the engine. Cancel safe: a dropped call may still go there.
    ///
    /// # Errors
    ///
    /// If the consumer has no partition of the topic, or has ended; or the engine's, and nothing has changed then.
    pub async fn seek(&self, topic: &str, place: Place) -> Result<usize, Error> {
        let topic: Arc<str> = topic.into();
        let asked = self.state.call(move |state| state.ask_seek(topic, place)).await;
        asked.await.unwrap_or_else(|_| Err(Error::new("the consumer has ended")))
    }

    /// Pauses a topic: no handler of it starts, and nothing of it is read. Handlers that run go on, and one record of each key whose
    /// records are being handled may still begin; what was read waits, and stays in memory. Commits, the membership in the group, and all other topics go on. It holds also for partitions that come
    /// later, until [`resume`](Self::resume), and for this consumer only. A topic that the consumer does not read is not an error.
    /// [`caught_up`](Self::caught_up) waits for the end of the pause. Cancel safe: a dropped call may still pause.
    pub async fn pause(&self, topic: &str) {
        let topic: Arc<str> = topic.into();
        self.state.call(move |state| state.hold(topic)).await;
    }

    /// Ends the [`pause`](Self::pause) of a topic: it goes on where it stopped. Nothing happens if it is not paused. Cancel safe: a
    /// dropped call may still resume.
    pub async fn resume(&self, topic: &str) {
        let topic = topic.to_owned();
        self.state.call(move |state| state.let_go(&topic)).await;
    }

    /// What it has done, and what it does now. Each partition tells at a moment of its own. Costs a call of a cell for each partition,
    /// and time in proportion to the records in flight. Cancel safe.
    pub async fn metrics(&self) -> Metrics {
        let claims = self.state.call(|state| state.all()).await;
        let told = ask_all(claims, Claimed::tell).await;
        self.state.call(|state| state.metrics(told.into_iter().flatten())).await
    }
}

impl Drop for Consumer {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// The settings of a consumer, which [`start`](Builder::start) starts.
#[derive(Debug)]
#[must_use = "`start` starts the consumer"]
pub struct Builder<S> {
    source: S,
    settings: Settings,
    stop: CancellationToken,
}

impl<S: Source> Builder<S> {
    /// Sets which records are handled in their order. Default: [`Order::Key`].
    pub fn order(mut self, order: Order) -> Self {
        self.settings.order = order;
        self
    }

    /// The key of a record, for [`Order::Key`]. Default: the record's own. A record for which this panics is given up at once, as by
    /// [`Failure::DeadLetter`], before its handler is called. While it takes long, the records of other partitions are handled and
    /// committed, but none of its own is, and a hand-over waits.
    pub fn key(mut self, key: impl Fn(&Record) -> Option<Bytes> + Send + Sync + 'static) -> Self {
        self.settings.key_of = Some(Arc::new(key));
        self
    }

    /// How many handlers run or wait at a time, without those that wait for a retry. Default: 256.
    pub fn concurrency(mut self, handlers: usize) -> Self {
        self.settings.concurrency = handlers;
        self
    }

    /// How many records are read and not done, at most. Half of them are for all partitions, and of the other half each
    /// partition has an equal part, of one record at least: so what one holds delays no other. While the consumer holds
    /// much and is given more partitions, they may have their parts beyond the bound. Default: 20,000.
    pub fn records(mut self, records: usize) -> Self {
        self.settings.records = records;
        self
    }

    /// The bytes of the records that are read and not done, by [`Record::size`], shared as [`records`](Self::records); one
    /// record may exceed them. Default: 64 MiB.
    pub fn bytes(mut self, bytes: usize) -> Self {
        self.settings.bytes = bytes;
        self
    }

    /// How many records of a partition are read and not done, at most. Then the partition is paused. Default: 10,000.
    pub fn partition_records(mut self, records: usize) -> Self {
        self.settings.partition_records = records;
        self
    }

    /// How many records of a partition are read from its first unfinished one on, at most: those that are done count, and
    /// offsets that the partition does not have do not. So many records may come again if the map of a commit is lost, and
    /// each takes a bit or three; up to 32 bytes where the partition does not have the 63 offsets beside it. Default: 1,000,000.
    pub fn distance(mut self, records: usize) -> Self {
        self.settings.distance = records;
        self
    }

    /// The time between two commits, while there is something to commit. Default: 500 ms.
    pub fn commit_every(mut self, time: Duration) -> Self {
        self.settings.commit_every = time;
        self
    }

    /// A commit begins earlier when so many records are done. Default: 10,000.
    pub fn commit_after(mut self, records: usize) -> Self {
        self.settings.commit_after = records;
        self
    }

    /// How long the handlers of a partition that is revoked, or of a consumer that stops, may go on. Then their futures
    /// are dropped, and their records come again. It must be shorter than the session of the group's member. Default: 5 s.
    pub fn drain(mut self, time: Duration) -> Self {
        self.settings.drain = time;
        self
    }

    /// How long a call of the handler may take. Then its future is dropped, and the call is tried again. Default: no limit.
    pub fn deadline(mut self, time: Duration) -> Self {
        self.settings.deadline = Some(time);
        self
    }

    /// A handler that has not returned for so long is named on the standard error, with its key and offset. Default: 30 s.
    pub fn slow(mut self, time: Duration) -> Self {
        self.settings.slow = time;
        self
    }

    /// The delay before the second attempt, which doubles up to the longest. Default: 100 ms and 30 s.
    pub fn retry(mut self, first: Duration, longest: Duration) -> Self {
        (self.settings.first_delay, self.settings.longest_delay) = (first, longest);
        self
    }

    /// How many records of a key may begin in this time: so many at once, and then one each time that a part of it is over. Over a
    /// span of time a key begins at most `records`, and what that span brings. Each call of the handler counts, with the calls that
    /// are repeated, and each record of a batch; so a batch may have fewer records than it could. The key is what
    /// [`order`](Self::order) says, so with [`Order::Partition`] it is the partition; records without an order have no limit. A key
    /// that waits holds no place among the running handlers. The consumer counts by itself: an owner after it begins anew,
    /// and so does a [`seek`](Consumer::seek): the keys of its partitions begin as many records at once as they ever may. Costs a
    /// task for each record, a timer for a key that waits, and for each key for up to `time` after its last record, in which it stays in memory. Default: no
    /// limit.
    pub fn rate(mut self, records: u32, time: Duration) -> Self {
        self.settings.rate = Some(Rate::new(records, time));
        self
    }

    /// A record whose handler has failed so often goes to the dead letters, or stops the consumer if there are none.
    /// Default: it is tried for ever.
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.settings.attempts = Some(attempts);
        self
    }

    /// Takes the records that are given up. It is called under the color of the record's key; the record is done when it
    /// returns `Ok`. If it fails or panics, it is called again after the delay of a retry, until it takes the record.
    pub fn dead_letters<F, Fut>(mut self, take: F) -> Self
    where
        F: Fn(DeadLetter) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), Cause>> + Send + 'static,
    {
        self.settings.dead_letters = Some(Arc::new(move |letter| Box::pin(take(letter))));
        self
    }

    /// Where a partition begins if the group has no place that the log still has. Default: at the first record.
    pub fn reset(mut self, reset: Reset) -> Self {
        self.settings.reset = reset;
        self
    }

    /// Handles only the records with a time in this span, by [`Record::timestamp`]: a replay for one group, which no other group
    /// notices. In each partition it begins at the first record with the time `start` or a later one, unless the group has a
    /// commit there: then it goes on at that. It ends before the first record with the time `end` or a later one, and does not
    /// commit beyond that. Where the times of records do not rise with their offsets, records in between have other times. When all is
    /// done, [`caught_up`](Consumer::caught_up) returns; the consumer goes on until it is stopped. The engine must find records by
    /// their time ([`Control::find`](crate::Control::find)). Default: all records.
    pub fn replay(mut self, times: Range<SystemTime>) -> Self {
        self.settings.replay = Some(millis(times.start)..millis(times.end));
        self
    }

    /// Whether a promise that a sentinel sees broken ends the consumer, which then returns
    /// [`ConsumerError::Violation`]. For tests. Default: no, it is counted and reported.
    pub fn strict(mut self, strict: bool) -> Self {
        self.settings.strict = strict;
        self
    }

    /// Stops the consumer when the token is cancelled.
    pub fn stop_on(mut self, token: CancellationToken) -> Self {
        self.stop = token;
        self
    }

    #[doc(hidden)]
    pub fn broken(mut self, broken: Broken) -> Self {
        self.settings.broken = broken;
        self
    }

    /// Starts the consumer, whose handler is called for each record. Records of a key are handled one after the other,
    /// under the color of the key; records of different keys are handled in parallel. The future of a handler is dropped, under its
    /// color, where its partition has gone and the drain is over. A panic of the handler, of its future, or of a destructor of
    /// either is a failure that is tried again.
    ///
    /// # Errors
    ///
    /// [`ConsumerError::Setting`], if the settings cannot be.
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    pub fn start<F, Fut>(self, handler: F) -> Result<Consumer, ConsumerError>
    where
        F: Fn(Record, Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), Failure>> + Send + 'static,
    {
        self.start_work(Each(handler))
    }

    /// Starts the consumer, whose handler is called for up to `most` records of a key at once, in their order: when there are so
    /// many, or `time` after the first. With [`Order::Partition`] they are those of a partition. A record without an order, which no
    /// other one follows, is a batch of its own at once. What the handler returns counts for all records of the call.
    ///
    /// # Errors
    ///
    /// [`ConsumerError::Setting`], if the settings cannot be.
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    pub fn start_batches<F, Fut>(
        mut self,
        most: usize,
        time: Duration,
        handler: F,
    ) -> Result<Consumer, ConsumerError>
    where
        F: Fn(Vec<Record>, Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), Failure>> + Send + 'static,
    {
        self.settings.batch = (most, time);
        self.start_work(Batch(handler))
    }

    /// Reads the topics of the member and says what order and skew their keys have, by the settings [`order`](Self::order),
    /// [`key`](Self::key) and [`replay`](Self::replay): which keys are hot, and how much faster handlers in parallel can be. Nothing is
    /// handled or committed. It reads each partition from its first record, whatever the group has committed, up to the end that it had
    /// when the member got it, and then leaves the group. Give it a group of its own: another member of the group would get a part of
    /// the partitions. Counts a million keys, and takes some 100 bytes for each. Waits until the member has partitions. Not cancel
    /// safe: the member of a dropped call leaves as a dropped [`Source`] does.
    ///
    /// # Errors
    ///
    /// [`ConsumerError::Setting`], if the settings cannot be; [`ConsumerError::Source`], if the engine fails, a partition cannot be read
    /// five times, or a partition goes to another member.
    pub async fn dry_run(self) -> Result<Survey, ConsumerError> {
        self.settings.check()?;
        DryRun::new(self.source, self.settings).run().await
    }

    fn start_work<W: Work>(self, work: W) -> Result<Consumer, ConsumerError> {
        let Builder { source, mut settings, stop } = self;
        settings.check()?;
        let dead_letters = settings.dead_letters.take();
        let settings = Arc::new(settings);
        let shared = Arc::new(Shared::new(Arc::clone(&settings)));
        let (own, of_all) = (Arc::clone(&settings), Arc::clone(&shared));
        let launcher = Arc::new(Common { work, dead_letters, settings, shared });
        let weak = Arc::downgrade(&launcher);
        let color = Color::unique();
        let state = ColorCell::new(color, State::new(own, weak, of_all));
        let (cell, token) = (state.clone(), stop.clone());
        let registered = register(&state);
        let orphans = DropOrphans(state.clone());
        let driver = colored::spawn_colored(color, async move {
            let _guards = (registered, orphans, launcher);
            Driver::new(source, cell, token).run().await
        });
        Ok(Consumer { state, stop, driver: Some(driver) })
    }
}

/// Drops the handlers of a driver that ended by a panic or an abort: nobody would tell them that their partition has gone.
struct DropOrphans(ColorCell<State>);

impl Drop for DropOrphans {
    fn drop(&mut self) {
        self.0.post(State::abandon);
    }
}
