//! The entry of a member, which a task writes again and again while the member lives, whatever the agent waits for.
//!
//! Invariants:
//!
//! * A session begins when a write of the entry begins, and only if the answer comes before the end of the session before.
//! * The entry is written only in a session.

use super::Settings;
use crate::lease::{Beat, member_key};
use async_nats::jetstream::kv::{Operation, Store, UpdateErrorKind};
use std::future::pending;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout, timeout_at};

/// The last entry that was written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written {
    revision: u64,
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

impl Membership {
    /// Writes the entry of a member for the first time.
    pub(super) async fn begin(
        store: &Store,
        settings: &Settings,
        token: String,
    ) -> Result<Membership, String> {
        let (key, session) = (member_key(&settings.name), settings.session);
        let topics = settings.topics.keys().map(ToString::to_string).collect();
        let mut beat = Beat { since: 0, token, topics };
        let (revision, at) = loop {
            let before = store.entry(&key).await.map_err(|error| error.to_string())?;
            let (revision, known) = match &before {
                Some(entry) if entry.operation == Operation::Put => (
                    entry.revision,
                    Beat::decode(&entry.value).map_or(0, |beat| match beat.since {
                        0 => entry.revision,
                        since => since,
                    }),
                ),
                Some(entry) => (entry.revision, 0),
                None => (0, 0),
            };
            beat.since = known;
            let start = Instant::now();
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
        Ok(Membership { since, session, written })
    }

    pub(super) fn written(&self) -> Written {
        *self.written.borrow()
    }

    /// Ends with the membership: when the session is over, or the entry is lost.
    pub(super) fn ended(of: Option<&Membership>) -> impl Future<Output = ()> + use<> {
        let of = of.map(|of| (of.written.clone(), of.session));
        async move {
            let Some((mut written, session)) = of else { return pending().await };
            loop {
                let end = written.borrow_and_update().at + session;
                let Ok(Ok(())) = timeout_at(end, written.changed()).await else { return };
            }
        }
    }
}

impl Writer {
    /// Writes the entry until the membership has ended.
    async fn run(self, sender: watch::Sender<Written>) {
        let mut ticks = interval(self.session / 6);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let (last, at) = (*sender.borrow(), Instant::now());
            let is_over = || last.at.elapsed() >= self.session;
            if sender.is_closed() || is_over() {
                return;
            }
            // The answer may be lost.
            let written = timeout(self.session / 3, self.write(last.revision)).await;
            if is_over() {
                return;
            }
            match written.unwrap_or(Err(Fault::Failed)) {
                Ok(revision) => {
                    let written = Written { revision, before: last.revision, at, ..last };
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

    /// Writes the entry over the one of this revision, or over a later one that this member has written.
    async fn write(&self, last: u64) -> Result<u64, Fault> {
        let mut revision = last;
        loop {
            match self.store.update(&self.key, self.beat.encode(), revision).await {
                Ok(revision) => return Ok(revision),
                Err(error) if matches!(error.kind(), UpdateErrorKind::WrongLastRevision) => {}
                Err(_) => return Err(Fault::Failed),
            }
            // An earlier write came late, somebody has removed the entry, or another member has the name.
            let entry = self.store.entry(&self.key).await.map_err(|_| Fault::Failed)?;
            let put = entry.filter(|entry| entry.operation == Operation::Put);
            let entry = put.ok_or(Fault::Lost)?;
            match Beat::decode(&entry.value) {
                // An older copy of the bucket was brought back.
                Some(_) if entry.revision < last => return Err(Fault::Lost),
                // When that one was written nobody knows, so it does not count.
                Some(beat) if beat.token == self.beat.token => revision = entry.revision,
                _ => return Err(Fault::Replaced),
            }
        }
    }
}
