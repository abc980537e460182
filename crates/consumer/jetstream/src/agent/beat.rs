//! The entry of a member, which a task writes again and again while the member lives, whatever the agent waits for.
//!
//! Invariants:
//!
//! * A session begins when a write of the entry begins, or the earliest of several of which one was found, and only if the
//!   answer comes before the end of the session before.
//! * The entry is written only in a session.
//! * A member that joins again does not write over the entry that another one has written since.

use super::Settings;
use crate::lease::{Beat, member_key};
use async_nats::jetstream::kv::{Entry, Operation, Store, UpdateErrorKind};
use std::future::{pending, poll_fn};
use std::task::Poll;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout, timeout_at};

/// The last entry that was written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written {
    pub(super) revision: u64,
    /// The revision of the one before.
    pub(super) before: u64,
    at: Instant,
    /// Another member has the name.
    pub(super) is_replaced: bool,
}

/// From the first entry of a member until it is lost.
pub(super) struct Membership {
    /// The revision of the first entry.
    pub(super) since: u64,
    session: Duration,
    /// Its sender is gone when the entry is.
    written: watch::Receiver<Written>,
}

/// Why an entry was not written.
enum Fault {
    /// The server has not answered, or has refused.
    Failed,
    Lost,
    Replaced,
}

struct Writer {
    store: Store,
    key: String,
    beat: Beat,
    session: Duration,
}

/// Whether another member has written this entry over the one of the revision `last`. A lower one is of an older copy of the
/// bucket.
fn is_anothers(entry: &Entry, token: &str, last: u64) -> bool {
    entry.operation == Operation::Put
        && entry.revision >= last
        && Beat::decode(&entry.value).is_none_or(|beat| beat.token != token)
}

impl Membership {
    /// Writes the first entry of a member that has written one of the revision `last` before; `None` if another one has its name
    /// since.
    pub(super) async fn begin(
        store: &Store,
        settings: &Settings,
        token: &str,
        last: u64,
    ) -> Result<Option<Membership>, String> {
        let (key, session) = (member_key(&settings.name), settings.session);
        let topics = settings.topics.keys().map(ToString::to_string).collect();
        let mut beat = Beat { since: 0, token: token.to_owned(), topics };
        let (revision, at) = loop {
            let before = store.entry(&key).await.map_err(|error| error.to_string())?;
            if before.as_ref().is_some_and(|entry| is_anothers(entry, token, last)) {
                return Ok(None);
            }
            let put = before.as_ref().filter(|entry| entry.operation == Operation::Put);
            let known = put.and_then(|entry| Some((Beat::decode(&entry.value)?, entry.revision)));
            beat.since = known.map_or(0, |(beat, revision)| match beat.since {
                0 => revision,
                since => since,
            });
            let (revision, start) = (before.map_or(0, |entry| entry.revision), Instant::now());
            match store.update(&key, beat.encode(), revision).await {
                Ok(revision) => break (revision, start),
                // A write of the membership before came late.
                Err(error) if matches!(error.kind(), UpdateErrorKind::WrongLastRevision) => {}
                Err(error) => return Err(error.to_string()),
            }
        };
        if beat.since == 0 {
            beat.since = revision;
        }
        let since = beat.since;
        let (sender, written) =
            watch::channel(Written { revision, before: revision, at, is_replaced: false });
        let writer = Writer { store: store.clone(), key, beat, session };
        tokio::spawn(writer.run(sender));
        Ok(Some(Membership { since, session, written }))
    }

    pub(super) fn written(&self) -> Written {
        *self.written.borrow()
    }

    pub(super) fn is_over(&self) -> bool {
        self.written().is_over(self.session)
    }

    /// Ends with the membership: when the session is over, or the entry is lost.
    pub(super) fn ended(of: Option<&Membership>) -> impl Future<Output = ()> + use<> {
        let of = of.map(|of| (of.written.clone(), of.session));
        async move {
            let Some((mut written, session)) = of else { return pending().await };
            loop {
                let last = *written.borrow_and_update();
                // When a stopped process goes on, the runtime may poll this before it looks at its timers.
                let is_over = poll_fn(|_| match last.is_over(session) {
                    true => Poll::Ready(()),
                    false => Poll::Pending,
                });
                tokio::select! {
                    biased;
                    () = is_over => return,
                    changed = timeout_at(last.at + session, written.changed()) => {
                        let Ok(Ok(())) = changed else { return };
                    }
                }
            }
        }
    }
}

impl Written {
    fn is_over(&self, session: Duration) -> bool {
        self.at.elapsed() >= session
    }
}

impl Writer {
    /// Writes the entry until the membership has ended.
    async fn run(self, sender: watch::Sender<Written>) {
        let mut ticks = interval(self.session / 6);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut unanswered = None;
        loop {
            ticks.tick().await;
            let last = *sender.borrow();
            if sender.is_closed() || last.is_over(self.session) {
                return;
            }
            match self.write(last, &mut unanswered).await {
                Ok(_) if last.is_over(self.session) => return,
                Ok(written) => {
                    sender.send_replace(written);
                }
                Err(Fault::Failed) => {}
                Err(Fault::Lost) => return,
                Err(Fault::Replaced) => {
                    sender.send_replace(Written { is_replaced: true, ..last });
                    return;
                }
            }
        }
    }

    /// Writes the entry over the last one that is confirmed, or finds that an earlier write has come late: `unanswered` is when
    /// the earliest began of those that were not confirmed since.
    async fn write(
        &self,
        last: Written,
        unanswered: &mut Option<Instant>,
    ) -> Result<Written, Fault> {
        if let Some(at) = *unanswered {
            // It is there, somebody has removed the entry, or another member has the name.
            let entry = self.ask(self.store.entry(&self.key)).await?.ok_or(Fault::Lost)?;
            if is_anothers(&entry, &self.beat.token, last.revision) {
                return Err(Fault::Replaced);
            }
            // An older copy of the bucket was brought back.
            if entry.operation != Operation::Put || entry.revision < last.revision {
                return Err(Fault::Lost);
            }
            if entry.revision > last.revision {
                *unanswered = None;
                let (revision, before) = (entry.revision, last.revision);
                return Ok(Written { revision, before, at, ..last });
            }
        }
        let at = Instant::now();
        unanswered.get_or_insert(at);
        let update = self.store.update(&self.key, self.beat.encode(), last.revision);
        let revision = self.ask(update).await?;
        *unanswered = None;
        Ok(Written { revision, before: last.revision, at, ..last })
    }

    async fn ask<T, E>(&self, of: impl Future<Output = Result<T, E>>) -> Result<T, Fault> {
        // The answer may be lost.
        let answer = timeout(self.session / 3, of).await;
        answer.ok().and_then(Result::ok).ok_or(Fault::Failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    const SESSION: Duration = Duration::from_millis(100);

    /// As when the process was stopped: nobody has turned the timer since.
    #[test]
    fn the_clock_ends_a_session() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let written =
                Written { revision: 1, before: 1, at: Instant::now(), is_replaced: false };
            let (_sender, written) = watch::channel(written);
            let membership = Membership { since: 1, session: SESSION, written };
            std::thread::sleep(SESSION);
            assert!(Membership::ended(Some(&membership)).now_or_never().is_some());
        });
    }
}
