//! A run: a task under the color of a key, which handles records of the key one after the other.

use super::calls::Calls;
use super::claimed::Claimed;
use super::contain::{Contained, contain, text_of};
use super::context::Hand;
use super::failure::Failure;
use super::kept::{Kept, Records};
use super::options::{DeadLetter, DeadLetters, Settings};
use super::shared::Shared;
use super::work::Work;
use colored::time::{Duration, timeout};
use colored::{Color, JoinHandle};
use std::collections::VecDeque;
use std::pin::{Pin, pin};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Starts runs.
pub(crate) trait Launch: Send + Sync {
    fn launch(self: Arc<Self>, hand: Arc<Hand>, run: Box<Run>) -> JoinHandle<()>;
}

/// What a run has. The claim gives it to the task, which gives it back: so it is in a box, which is used again.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) lane: u32,
    pub(crate) color: Color,
    /// Those that the claim does not know to be done.
    pub(crate) records: Records,
    /// How many of them are done, from the first on.
    pub(crate) done: u32,
    /// How often the next record was tried.
    pub(crate) attempts: u32,
    /// How many the dead letters have taken.
    pub(crate) dead_letters: u32,
    /// The next records are given up.
    pub(crate) dead: Option<Box<Dead>>,
}

impl Run {
    /// How many of the records are done.
    pub(crate) fn done(&self) -> usize {
        self.done as usize
    }
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
    /// The first record that is not done is to be tried again by its handler, or by the dead letters, after this time, if the
    /// handler has named one.
    Retry(Option<Duration>),
    /// The first record that is not done is to come again after this time.
    Later(Duration),
    /// The consumer is to stop.
    Fatal(String),
}

/// What a run tells its claim. It is small: when many handlers end at once, each letter waits for its turn.
#[derive(Debug)]
pub(crate) enum Told {
    /// These records are done, and it goes on with the record at this offset.
    Progress(Vec<Kept>, u64),
    /// It gives its next record to the dead letters.
    Burial,
    /// What takes the dead letters has not taken one.
    FailedLetter(String),
    End(Box<Run>, End),
}

/// What a run has told, with its lane.
pub(crate) type Letter = (u32, Told);

/// So many letters a claim hears in one turn. A guess: some 30 µs.
const AT_ONCE: usize = 128;

/// What runs have told and their claim has not heard, in this order. One turn of the claim hears a part of it.
///
/// Invariant: while there is something in it, a turn of the claim is posted that takes the first part out.
#[derive(Debug, Default)]
pub(crate) struct Inbox(Mutex<Letters>);

/// In parts: when all of many handlers end at once, one large queue would be moved again and again.
#[derive(Debug, Default)]
struct Letters {
    parts: VecDeque<Vec<Letter>>,
    /// An empty one.
    spare: Option<Vec<Letter>>,
}

impl Inbox {
    fn letters(&self) -> MutexGuard<'_, Letters> {
        // Each change is a single step.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether it was empty: then a turn is to be posted.
    fn put(&self, letter: Letter, shared: &Shared) -> bool {
        // Ordering: Relaxed, a count.
        shared.unheard.fetch_add(1, Ordering::Relaxed);
        let Letters { parts, spare } = &mut *self.letters();
        let was_empty = parts.is_empty();
        match parts.back_mut().filter(|last| last.len() < AT_ONCE) {
            Some(last) => last.push(letter),
            None => {
                let mut part = spare.take().unwrap_or_default();
                part.push(letter);
                parts.push_back(part);
            }
        }
        was_empty
    }

    /// How many parts there are.
    pub(crate) fn parts(&self) -> usize {
        self.letters().parts.len()
    }

    /// The first part. None if it is empty.
    pub(crate) fn take(&self, shared: &Shared) -> Option<Vec<Letter>> {
        let part = self.letters().parts.pop_front()?;
        // Ordering: Relaxed, a count.
        shared.unheard.fetch_sub(part.len(), Ordering::Relaxed);
        Some(part)
    }

    /// Takes an empty part back, to keep it if it has room for so many letters at most. Returns how many others there are to be heard.
    pub(crate) fn give_back(&self, part: Vec<Letter>, most: usize) -> usize {
        let mut letters = self.letters();
        letters.spare = Some(part).filter(|part| part.capacity() <= most);
        letters.parts.len()
    }
}

/// What all runs of a consumer share.
pub(crate) struct Common<W> {
    pub(crate) work: W,
    pub(crate) dead_letters: Option<DeadLetters>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) shared: Arc<Shared>,
}

impl<W> Common<W> {
    /// Puts the letter behind all others of the claim. The run that finds no letter there posts the turn in which the claim hears
    /// them all.
    fn tell(&self, Hand { claim, .. }: &Hand, letter: Letter) {
        if claim.inbox.put(letter, &self.shared) {
            claim.post(Claimed::hear);
        }
    }
}

impl<W: Work> Launch for Common<W> {
    fn launch(self: Arc<Self>, hand: Arc<Hand>, run: Box<Run>) -> JoinHandle<()> {
        let color = run.color;
        let mut runner = Runner { common: self, hand, run };
        // One block, and no `async fn`: the futures of these would have room for their arguments twice. What few do is in boxes, or
        // every run would have room for it.
        colored::spawn_colored(color, async move {
            let mut future = pin!(None);
            let end = loop {
                if let Some(dead) = runner.run.dead.take()
                    && let Err(end) = Box::pin(runner.bury(dead)).await
                {
                    break end;
                }
                let called = match runner.common.settings.deadline {
                    None => Calls::new(&mut runner, future.as_mut()).await,
                    Some(deadline) => {
                        Box::pin(runner.call_in_time(deadline, future.as_mut())).await
                    }
                };
                let Err(failure) = called else { break End::Finished };
                match runner.judge(failure, runner.next_count()) {
                    Ok(dead) => runner.run.dead = Some(dead),
                    Err(end) => break end,
                }
            };
            runner.report_end(end);
        })
    }
}

pub(super) struct Runner<W> {
    pub(super) common: Arc<Common<W>>,
    pub(super) hand: Arc<Hand>,
    pub(super) run: Box<Run>,
}

impl<W: Work> Runner<W> {
    /// Calls the handler for one record after the other. A deadline is a failure that is to be tried again.
    async fn call_in_time(
        &mut self,
        deadline: Duration,
        mut future: Pin<&mut Option<W::Future>>,
    ) -> Result<(), Failure> {
        while !self.must_end() {
            colored::task::consume_budget().await;
            match timeout(deadline, Calls::new(self, future.as_mut())).await {
                Ok(called) => called?,
                Err(_) => {
                    let text = format!("the handler took longer than {deadline:?}");
                    return Err(Failure::retry(text));
                }
            }
        }
        Ok(())
    }

    /// The records that are not done.
    pub(super) fn rest(&self) -> &[Kept] {
        &self.run.records.as_slice()[self.run.done()..]
    }

    /// Whether all is done, or no other record is to begin.
    pub(super) fn must_end(&self) -> bool {
        self.rest().is_empty() || self.hand.must_end()
    }

    /// How many records the next call gets.
    pub(super) fn next_count(&self) -> usize {
        if W::IS_BATCH { self.rest().len() } else { 1 }
    }

    /// A record that waits must not hide that those before it are done.
    pub(super) fn report_done(&mut self) {
        let count = self.run.done();
        if count > 0
            && let Records::Many(records) = &mut self.run.records
        {
            let done: Vec<_> = records.drain(..count).collect();
            self.run.done = 0;
            let next = self.rest()[0].offset;
            self.tell(Told::Progress(done, next));
        }
    }

    fn report_end(self, end: End) {
        let Runner { common, hand, run } = self;
        common.tell(&hand, (run.lane, Told::End(run, end)));
    }

    fn tell(&self, told: Told) {
        self.common.tell(&self.hand, (self.run.lane, told));
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
            return Err(End::Retry(after));
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
        // The claim may have given fewer records than are given up.
        while dead.count > 0
            && !self.hand.must_end()
            && let Some(record) = self.rest().first()
        {
            let record = self.hand.record(record);
            let letter = DeadLetter { record, cause: dead.cause.clone(), attempts };
            if let Err(text) = self.send_letter(&hook, letter).await {
                self.report_failed_letter(&text);
                // It stays given up, however often the hook fails.
                dead.failures = dead.failures.saturating_add(1);
                self.run.dead = Some(dead);
                return Err(End::Retry(None));
            }
            dead.failures = 0;
            self.run.done += 1;
            self.run.dead_letters += 1;
            dead.count -= 1;
        }
        if dead.count > 0 {
            self.run.dead = Some(dead);
            return Err(End::Retry(Some(Duration::ZERO)));
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
        self.tell(Told::Burial);
    }

    fn report_failed_letter(&self, text: &str) {
        self.tell(Told::FailedLetter(
            self.name(&format!("the dead letters do not take it: {text}")),
        ));
    }

    /// Names the next record, with what was said of it.
    fn name(&self, cause: &str) -> String {
        let Kept { offset, key, .. } = &self.rest()[0];
        let key = key.as_ref().map_or_else(
            || "without a key".to_owned(),
            |key| format!("of key {:?}", String::from_utf8_lossy(key)),
        );
        format!("record {offset} of {} {key}: {cause}", self.hand.owned.partition)
    }
}

#[cfg(test)]
mod tests {
    use super::super::context::{Claim, ask_all};
    use super::super::pauses::BEHIND;
    use super::super::state::tests::one_claim;
    use super::*;

    #[colored::test]
    async fn nothing_is_read_while_much_is_unheard() {
        let (state, _, claim) = one_claim(0, None);
        let shared = Arc::clone(&state.shared);
        let told = || claim.inbox.put((0, Told::Burial), &shared);
        (0..BEHIND).for_each(|_| _ = told());
        assert!(state.room().records > 0);
        told();
        assert_eq!(state.room().records, 0);
        let hear = |claimed: &mut Claimed, claim: &Arc<Claim>| {
            for left in (0..=BEHIND / AT_ONCE).rev() {
                claimed.hear(claim);
                assert_eq!(claim.inbox.parts(), left);
                let unheard = claimed.shared.unheard.load(Ordering::Relaxed);
                assert_eq!(unheard, left.saturating_sub(1) * AT_ONCE + usize::from(left > 0));
                assert_eq!(claimed.shared.sums().is_behind, unheard > BEHIND / 2);
            }
        };
        let heard = ask_all([Arc::clone(&claim)], hear).await;
        assert_eq!(heard, [Some(())], "{:?}", shared.sums().figures);
        let told = timeout(Duration::from_secs(60), shared.attention.notified()).await;
        told.expect("the driver is to read again");
        assert!(state.room().records > 0);
    }

    /// What was told is heard, and its memory is kept as long as it is not too much.
    #[test]
    fn a_part_that_is_too_large_is_not_kept() {
        let (inbox, shared) = (Inbox::default(), Shared::new(Arc::default()));
        for (count, most, is_kept) in [(1, 4, true), (AT_ONCE, AT_ONCE, true), (1, 4, false)] {
            (0..count).for_each(|_| _ = inbox.put((0, Told::Burial), &shared));
            let mut part = inbox.take(&shared).unwrap();
            assert_eq!((part.len(), part.capacity() <= most), (count, is_kept));
            part.clear();
            assert_eq!(inbox.give_back(part, most), 0);
            assert_eq!(inbox.letters().spare.is_some(), is_kept);
        }
    }
}
