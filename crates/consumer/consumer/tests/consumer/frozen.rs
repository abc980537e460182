//! Sources that do what a bad day does: a member that is not polled, and commits that fail.

use crate::delegated::as_its_member;
use colored::time::{Duration, sleep};
use colored_consumer::embedded::{EmbeddedControl, Member};
use colored_consumer::{
    Commit, CommitError, Control, Error, Event, Extent, Owned, Record, Room, Source,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What is to go wrong.
#[derive(Clone, Default)]
pub(crate) struct Trouble {
    /// The member is no longer polled, as of a process that was stopped.
    pub(crate) is_frozen: Arc<AtomicBool>,
    /// So many commits fail.
    pub(crate) failing_commits: Arc<AtomicUsize>,
    /// So many commits are refused, though nothing is lost.
    pub(crate) refused_commits: Arc<AtomicUsize>,
    /// So many releases fail.
    pub(crate) failing_releases: Arc<AtomicUsize>,
    /// Commits that succeeded: the largest metadata.
    pub(crate) largest_metadata: Arc<AtomicUsize>,
    /// Records that were polled.
    pub(crate) polled: Arc<AtomicUsize>,
}

pub(crate) struct Frail {
    pub(crate) member: Member,
    pub(crate) trouble: Trouble,
}

impl Source for Frail {
    type Control = FrailControl;

    fn control(&self) -> FrailControl {
        FrailControl { control: self.member.control(), trouble: self.trouble.clone() }
    }

    async fn poll(&mut self, room: Room) -> Result<Event, Error> {
        // Ordering: a switch of a test.
        while self.trouble.is_frozen.load(Ordering::Relaxed) {
            sleep(Duration::from_millis(5)).await;
        }
        let event = self.member.poll(room).await?;
        if let Event::Records { records, .. } = &event {
            assert!(records.len() <= room.records);
            self.trouble.polled.fetch_add(records.len(), Ordering::Relaxed);
        }
        Ok(event)
    }

    as_its_member!();
}

#[derive(Clone)]
pub(crate) struct FrailControl {
    control: EmbeddedControl,
    trouble: Trouble,
}

impl Control for FrailControl {
    async fn commit(&self, commits: Vec<Commit>) -> Result<(), CommitError> {
        let trouble = &self.trouble;
        if take_one(&trouble.failing_commits) {
            return Err(CommitError::Failed(Error::new("a bad day")));
        }
        if take_one(&trouble.refused_commits) {
            let all = commits.into_iter().map(|commit| commit.owned);
            return Err(CommitError::Fenced(all.collect()));
        }
        let largest = commits.iter().map(|commit| commit.committed.metadata.len()).max();
        // Ordering: a figure of a test.
        trouble.largest_metadata.fetch_max(largest.unwrap_or(0), Ordering::Relaxed);
        self.control.commit(commits).await
    }

    async fn release(&self, owned: Vec<Owned>) -> Result<(), Error> {
        if take_one(&self.trouble.failing_releases) {
            return Err(Error::new("a bad day"));
        }
        self.control.release(owned).await
    }

    async fn extents(&self, owned: Vec<Owned>) -> Result<Vec<Option<Extent>>, Error> {
        self.control.extents(owned).await
    }

    async fn find(&self, owned: Vec<Owned>, timestamp: i64) -> Result<Vec<Option<u64>>, Error> {
        self.control.find(owned, timestamp).await
    }
}

/// Whether there was one left of what is to go wrong.
fn take_one(left: &AtomicUsize) -> bool {
    // Ordering: a count of a test.
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
}

/// Each record is changed on its way.
pub(crate) struct Changed {
    pub(crate) member: Member,
    pub(crate) change: fn(&mut Record),
}

impl Source for Changed {
    type Control = EmbeddedControl;

    fn control(&self) -> EmbeddedControl {
        self.member.control()
    }

    async fn poll(&mut self, room: Room) -> Result<Event, Error> {
        let mut event = self.member.poll(room).await?;
        if let Event::Records { records, .. } = &mut event {
            records.iter_mut().for_each(self.change);
        }
        Ok(event)
    }

    as_its_member!();
}
