//! A run: a task under the color of a key, which handles records of the key one after the other.

use super::contain::{Contained, contain, text_of};
use super::context::{Claim, Context};
use super::failure::Failure;
use super::options::{DeadLetter, DeadLetters, Settings};
use super::state::{Launch, State};
use super::work::Work;
use crate::source::Record;
use colored::time::{Duration, timeout};
use colored::{Color, ColorCell, JoinHandle};
use std::pin::pin;
use std::sync::Arc;

/// What a run is told.
#[derive(Debug)]
pub(crate) struct Run {
    /// The claim's number in the state.
    pub(crate) id: u64,
    pub(crate) lane: usize,
    pub(crate) claim: Arc<Claim>,
    pub(crate) color: Color,
    pub(crate) records: Vec<Record>,
    /// How often the first record was tried.
    pub(crate) attempts: u32,
    /// The first records are given up.
    pub(crate) dead: Option<Box<Dead>>,
}

/// Records that are given up, and are not with the dead letters yet.
#[derive(Clone, Debug)]
pub(crate) struct Dead {
    pub(crate) cause: String,
    pub(crate) count: usize,
    /// How often the dead letters have failed to take the first.
    pub(crate) failures: u32,
}

/// How a run ended.
#[derive(Debug)]
pub(crate) enum End {
    /// All records are done; or the partition is to go and the rest is for others, or it is paused by hand and the rest waits.
    Finished,
    /// The first record that is not done is to be tried again, after so many attempts of its handler, or of the dead letters, and
    /// after this time, if the handler has named one.
    Retry { attempts: u32, dead: Option<Box<Dead>>, after: Option<Duration> },
    /// The first record that is not done is to come again after this time.
    Later(Duration),
    /// The consumer is to stop.
    Fatal(String),
}

/// What a run has done. It is small: when many handlers end at once, each report waits for its turn.
#[derive(Debug)]
pub(crate) struct Report {
    /// The records that were not reported as done yet, of which the first `done` are.
    pub(crate) records: Vec<Record>,
    pub(crate) done: usize,
    pub(crate) end: End,
    pub(crate) dead_letters: u32,
}

/// What all runs of a consumer share.
pub(crate) struct Common<W> {
    pub(crate) work: W,
    pub(crate) dead_letters: Option<DeadLetters>,
    pub(crate) settings: Arc<Settings>,
}

impl<W: Work> Launch for Common<W> {
    fn launch(self: Arc<Self>, state: &ColorCell<State>, told: Run) -> JoinHandle<()> {
        colored::spawn_colored(told.color, run(self, state.clone(), told))
    }
}

/// Handles the records of a run, and reports to the state.
fn run<W: Work>(
    common: Arc<Common<W>>,
    state: ColorCell<State>,
    run: Run,
) -> impl Future<Output = ()> + Send {
    let mut runner = Runner { common, state, run, done: 0, dead_letters: 0 };
    // The future of an `async fn` would have room for its arguments twice.
    async move {
        let end = runner.handle_all().await;
        runner.report_end(end);
    }
}

struct Runner<W> {
    common: Arc<Common<W>>,
    state: ColorCell<State>,
    /// Without the records that the state knows to be done.
    run: Run,
    done: usize,
    dead_letters: u32,
}

impl<W: Work> Runner<W> {
    async fn handle_all(&mut self) -> End {
        loop {
            if let Some(dead) = self.run.dead.take()
                // In a box, or every run would have room for what few do.
                && let Err(end) = Box::pin(self.bury(dead)).await
            {
                return end;
            }
            if self.done == self.run.records.len() || self.run.claim.must_end() {
                return End::Finished;
            }
            colored::task::consume_budget().await;
            let count = if W::IS_BATCH { self.run.records.len() - self.done } else { 1 };
            match self.call(count).await {
                Ok(()) => {
                    self.done += count;
                    self.run.attempts = 0;
                }
                Err(failure) => match self.judge(failure, count) {
                    Ok(dead) => self.run.dead = Some(dead),
                    Err(end) => return end,
                },
            }
        }
    }

    /// Calls the handler. A panic and a deadline are failures that are to be tried again.
    async fn call(&mut self, count: usize) -> Result<(), Failure> {
        let Run { claim, color, records, attempts, .. } = &self.run;
        let (claim, attempt) = (Arc::clone(claim), attempts.saturating_add(1));
        let context = Context { claim, color: *color, attempt };
        let records = &records[self.done..self.done + count];
        let called = contain(|| self.common.work.call(records, context)).map_err(Failure::retry)?;
        let future = pin!(Some(called));
        let deadline = self.common.settings.deadline;
        let contained = Contained { future, on_wait: || self.report_done() };
        let returned = match deadline {
            None => contained.await,
            // In a box, or every run would have room for the timer.
            Some(deadline) => match Box::pin(timeout(deadline, contained)).await {
                Ok(returned) => returned,
                Err(_) => Err(format!("the handler took longer than {deadline:?}")),
            },
        };
        returned.unwrap_or_else(|text| Err(Failure::retry(text)))
    }

    /// A record that waits must not hide that those before it are done.
    fn report_done(&mut self) {
        if self.done > 0 {
            let done: Vec<_> = self.run.records.drain(..self.done).collect();
            self.done = 0;
            let (cell, of) = (self.state.clone(), (self.run.id, self.run.lane));
            let next = self.run.records[0].offset;
            self.state.post(move |state| state.progress(&cell, of, done, next));
        }
    }

    fn report_end(self, end: End) {
        let Runner { state, run: Run { id, lane, records, .. }, done, dead_letters, .. } = self;
        let report = Report { records, done, end, dead_letters };
        let cell = state.clone();
        state.post(move |state| state.end_run(&cell, id, lane, report));
    }

    /// Decides what becomes of the next records; `Ok` if they are given up.
    fn judge(&mut self, failure: Failure, count: usize) -> Result<Box<Dead>, End> {
        let attempts = self.run.attempts.saturating_add(1);
        let is_last = self.common.settings.attempts.is_some_and(|most| attempts >= most);
        let (cause, is_last, after) = match failure {
            Failure::Fatal(cause) => return Err(End::Fatal(self.name(&text_of(cause)))),
            Failure::Later(time) => return Err(End::Later(time)),
            Failure::DeadLetter(cause) => (cause, true, None),
            Failure::Retry(cause) => (cause, is_last, None),
            Failure::RetryAfter(time, cause) => (cause, is_last, Some(time)),
        };
        self.run.attempts = attempts;
        let cause = text_of(cause);
        if !is_last {
            return Err(End::Retry { attempts, dead: None, after });
        }
        Ok(Box::new(Dead { cause, count, failures: 0 }))
    }

    /// Gives the next records to the dead letters. A panic of these is a failure of theirs, and they are called again.
    async fn bury(&mut self, mut dead: Box<Dead>) -> Result<(), End> {
        let Some(hook) = self.common.dead_letters.clone() else {
            let text = format!("{}, and there are no dead letters", self.name(&dead.cause));
            return Err(End::Fatal(text));
        };
        self.report_burial();
        let attempts = self.run.attempts;
        // The state may have given fewer records than are given up.
        while dead.count > 0 && self.done < self.run.records.len() {
            let record = self.run.records[self.done].clone();
            let letter = DeadLetter { record, cause: dead.cause.clone(), attempts };
            if let Err(text) = self.send_letter(&hook, letter).await {
                self.report_failed_letter(&text);
                // It stays given up, however often the hook fails.
                dead.failures = dead.failures.saturating_add(1);
                return Err(End::Retry { attempts, dead: Some(dead), after: None });
            }
            dead.failures = 0;
            self.done += 1;
            self.dead_letters += 1;
            dead.count -= 1;
        }
        if dead.count > 0 {
            let after = Some(Duration::ZERO);
            return Err(End::Retry { attempts, dead: Some(dead), after });
        }
        self.run.attempts = 0;
        Ok(())
    }

    async fn send_letter(&self, hook: &DeadLetters, letter: DeadLetter) -> Result<(), String> {
        let future = pin!(Some(contain(|| hook(letter))?));
        Contained { future, on_wait: || () }.await?.map_err(text_of)
    }

    /// The metrics are to say that the record waits for the dead letters, and not for its handler.
    fn report_burial(&self) {
        let (id, at) = (self.run.id, self.run.lane);
        self.state.post(move |state| state.begin_burial(id, at));
    }

    fn report_failed_letter(&self, text: &str) {
        let text = self.name(&format!("the dead letters do not take it: {text}"));
        self.state.post(move |state| state.figures.count_failed_letter(&text));
    }

    /// Names the next record, with what was said of it.
    fn name(&self, cause: &str) -> String {
        name(&self.run.records[self.done], cause)
    }
}

/// Names a record with a text.
pub(crate) fn name(record: &Record, text: &str) -> String {
    let key = record.key.as_ref().map_or_else(
        || "without a key".to_owned(),
        |key| format!("of key {:?}", String::from_utf8_lossy(key)),
    );
    format!("record {} of {}/{} {key}: {text}", record.offset, record.topic, record.partition)
}
