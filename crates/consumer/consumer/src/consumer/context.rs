//! [`Context`]: what a handler knows beside its record.

use super::claimed::Claimed;
use super::kept::Kept;
use super::run::Inbox;
use crate::source::{Owned, Record};
use bytes::Bytes;
use colored::sync::oneshot;
use colored::task::CancellationToken;
use colored::time::{Duration, Instant, timeout_at};
use colored::{Color, ColorCell};
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A partition in the hands of this consumer, as its handlers see it, and the driver.
#[derive(Debug)]
pub(crate) struct Claim {
    pub(crate) owned: Owned,
    /// What belongs to the color of the claim.
    pub(crate) cell: ColorCell<Claimed>,
    /// What its runs have told.
    pub(crate) inbox: Inbox,
    /// Cancelled when others are to have the partition, or have it.
    revoked: CancellationToken,
    /// The same: a token locks a mutex.
    is_revoked: AtomicBool,
    /// Whether no record of it is to begin: its topic is paused by hand.
    is_held: AtomicBool,
}

impl Claim {
    /// A claim with a color of its own.
    pub(crate) fn new(owned: Owned, claimed: Claimed) -> Claim {
        let (is_revoked, is_held) = (AtomicBool::new(false), AtomicBool::new(false));
        let cell = ColorCell::new(Color::unique(), claimed);
        let (inbox, revoked) = (Inbox::default(), CancellationToken::new());
        Claim { owned, cell, inbox, revoked, is_revoked, is_held }
    }

    /// Runs `turn` under the claim's color, behind all that was posted there.
    pub(crate) fn post(
        self: &Arc<Claim>,
        turn: impl FnOnce(&mut Claimed, &Arc<Claim>) + Send + 'static,
    ) {
        let own = Arc::clone(self);
        self.cell.post(move |claimed| claimed.contain_turn(|claimed| turn(claimed, &own)));
    }

    /// Others are to have the partition, or have it.
    pub(crate) fn revoke(&self) {
        // Ordering: Relaxed, a hint: who misses it hears of it by the token, or at the next look.
        self.is_revoked.store(true, Ordering::Relaxed);
        self.revoked.cancel();
    }

    /// No record begins until this is taken back.
    pub(crate) fn hold(&self, holds: bool) {
        // Ordering: Relaxed, a hint: a run that misses it begins one record more.
        self.is_held.store(holds, Ordering::Relaxed);
    }

    /// Whether a run is to begin no other record.
    #[inline]
    pub(crate) fn must_end(&self) -> bool {
        self.is_revoked() || self.is_held()
    }

    #[inline]
    pub(crate) fn is_held(&self) -> bool {
        // Ordering: Relaxed, as above.
        self.is_held.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn is_revoked(&self) -> bool {
        // Ordering: Relaxed, a hint: what is dropped in a hand-over is dropped by its task.
        self.is_revoked.load(Ordering::Relaxed)
    }
}

/// How many workers count the handlers of a partition at a time without slowing each other down, about. A guess.
pub(crate) const HANDS: usize = 8;

/// A handle of a claim, which some of its lanes share: each handler counts a reference to the handle. If all handlers counted
/// references to the claim itself, the workers would wait for each other.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Hand {
    pub(crate) claim: Arc<Claim>,
    /// Each record counts a reference to it.
    topic: Arc<str>,
}

impl Hand {
    pub(crate) fn all(claim: &Arc<Claim>) -> [Arc<Hand>; HANDS] {
        std::array::from_fn(|_| {
            let (claim, topic) = (Arc::clone(claim), (*claim.owned.partition.topic).into());
            Arc::new(Hand { claim, topic })
        })
    }

    /// A copy of a record of the claim, for what the user wrote.
    #[inline]
    pub(crate) fn record(&self, record: &Kept) -> Record {
        record.record(&self.topic, self.claim.owned.partition.partition)
    }
}

impl Deref for Hand {
    type Target = Claim;

    fn deref(&self) -> &Claim {
        &self.claim
    }
}

/// What a handler knows beside its record.
#[derive(Clone, Debug)]
pub struct Context {
    pub(crate) claim: Arc<Hand>,
    pub(crate) color: Color,
    pub(crate) attempt: u32,
}

impl Context {
    /// The fencing token of the partition: later owners have higher numbers. A store that refuses effects with a lower
    /// number than it has seen for the partition refuses the effects of a consumer that has lost it.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.claim.owned.generation
    }

    /// 1 for the first attempt of this owner.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The color under which the handler runs: [`color_of`] the key, unless records have no order.
    #[must_use]
    pub fn color(&self) -> Color {
        self.color
    }

    /// Whether the partition is to go to others, or has gone. The handler may finish until the drain ends; then it is
    /// dropped.
    #[must_use]
    pub fn is_revoked(&self) -> bool {
        self.claim.is_revoked()
    }

    /// Waits until the partition is to go to others. Cancel safe.
    pub async fn revoked(&self) {
        self.claim.revoked.cancelled().await;
    }
}

/// The color of a key of a partition: for a [`ColorCell`] with the state of the key.
#[must_use]
pub fn color_of(topic: &str, partition: u32, key: &Bytes) -> Color {
    color_of_key(topic, partition, key)
}

pub(crate) fn color_of_key(topic: &str, partition: u32, key: &[u8]) -> Color {
    Color::of((topic, partition, key))
}

/// Asks claims under their colors, all at once. None of a claim whose turn does not come: the runtime shuts down.
pub(crate) async fn ask_all<T: Send + 'static>(
    claims: impl IntoIterator<Item = Arc<Claim>>,
    question: impl Fn(&mut Claimed, &Arc<Claim>) -> T + Clone + Send + 'static,
) -> Vec<Option<T>> {
    let mut answers = Vec::new();
    for answered in put_question(claims, question) {
        answers.push(answered.await.ok());
    }
    answers
}

/// As [`ask_all`], but none of a claim whose turn does not come in this time either.
pub(crate) async fn ask_in_time<T: Send + 'static>(
    time: Duration,
    claims: impl IntoIterator<Item = Arc<Claim>>,
    question: impl Fn(&mut Claimed, &Arc<Claim>) -> T + Clone + Send + 'static,
) -> Vec<Option<T>> {
    let (until, mut answers) = (Instant::now() + time, Vec::new());
    for answered in put_question(claims, question) {
        answers.push(timeout_at(until, answered).await.ok().and_then(Result::ok));
    }
    answers
}

fn put_question<T: Send + 'static>(
    claims: impl IntoIterator<Item = Arc<Claim>>,
    question: impl Fn(&mut Claimed, &Arc<Claim>) -> T + Clone + Send + 'static,
) -> Vec<oneshot::Receiver<T>> {
    let put = |claim: Arc<Claim>| {
        let ((answer, answered), question) = (oneshot::channel(), question.clone());
        claim.post(move |claimed, claim| {
            // Nobody may wait any more.
            let _ = answer.send(question(claimed, claim));
        });
        answered
    };
    claims.into_iter().map(put).collect()
}
