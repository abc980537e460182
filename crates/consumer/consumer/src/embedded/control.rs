//! [`EmbeddedControl`]: what a member asks for beside its polls.

use super::engine::Shared;
use super::step;
use super::topics;
use crate::log::Partition;
use crate::source::{Commit, CommitError, Control, Error, Extent, Owned};
use std::sync::Arc;

/// Commits and releases for a [`Member`](super::Member).
#[derive(Clone, Debug)]
pub struct EmbeddedControl {
    pub(super) shared: Arc<Shared>,
    pub(super) group: String,
}

impl Control for EmbeddedControl {
    async fn commit(&self, commits: Vec<Commit>) -> Result<(), CommitError> {
        let control = self.clone();
        // A commit that has begun is written to its end, also if the caller is dropped.
        let committing = colored::spawn_unique(async move { control.commit_owned(commits).await });
        match committing.await {
            Ok(Ok(fenced)) if fenced.is_empty() => Ok(()),
            Ok(Ok(fenced)) => Err(CommitError::Fenced(fenced)),
            Ok(Err(text)) => Err(CommitError::Failed(Error::new(text))),
            Err(error) => Err(CommitError::Failed(Error::new(error.to_string()))),
        }
    }

    async fn release(&self, owned: Vec<Owned>) -> Result<(), Error> {
        let (group, now) = (self.group.clone(), self.shared.now());
        let released = self.shared.groups.call(move |groups| {
            let members = groups.get_mut(&group).expect("a group stays");
            for Owned { partition, generation } in &owned {
                members.group.release(partition, *generation, now);
            }
            members.wake();
        });
        released.await;
        Ok(())
    }

    async fn extents(&self, owned: Vec<Owned>) -> Result<Vec<Option<Extent>>, Error> {
        let mut extents = Vec::with_capacity(owned.len());
        for owned in owned {
            extents.push(match self.log_of(owned).await {
                Some(log) => Some(step::extent(&log).await),
                None => None,
            });
        }
        Ok(extents)
    }

    async fn find(&self, owned: Vec<Owned>, timestamp: i64) -> Result<Vec<Option<u64>>, Error> {
        let mut places = Vec::with_capacity(owned.len());
        for owned in owned {
            let of = owned.partition.clone();
            places.push(match self.log_of(owned).await {
                Some(log) => Some(step::find_time(&log, &of, timestamp).await?),
                None => None,
            });
        }
        Ok(places)
    }
}

impl EmbeddedControl {
    /// The log of a partition that the member owns.
    async fn log_of(&self, Owned { partition, generation }: Owned) -> Option<Arc<Partition>> {
        let (group, of) = (self.group.clone(), partition.clone());
        let is_owned = self.shared.groups.call(move |groups| {
            let members = groups.get(&group).expect("a group stays");
            members.group.is_owned(&partition, generation)
        });
        if !is_owned.await {
            return None;
        }
        self.shared.topics.call(move |topics| topics::find(topics, &of)).await
    }

    /// Returns what the committer no longer owns.
    async fn commit_owned(&self, commits: Vec<Commit>) -> Result<Vec<Owned>, String> {
        let group = self.group.clone();
        let split = self.shared.groups.call(move |groups| {
            let members = groups.get(&group).expect("a group stays");
            let is_owned = |commit: &Commit| {
                let Owned { partition, generation } = &commit.owned;
                members.group.is_owned(partition, *generation)
            };
            commits.into_iter().partition::<Vec<_>, _>(is_owned)
        });
        let (commits, gone) = split.await;
        // With the ends of their logs. The log of a partition that is gone is not needed.
        let with_ends = self.shared.topics.call(move |topics| {
            let end = |commit: &Commit| {
                topics::find(topics, &commit.owned.partition).map_or(0, |log| log.end())
            };
            let pairs = commits.into_iter().map(|commit| (end(&commit), commit));
            pairs.collect::<Vec<_>>()
        });
        let commits = with_ends.await;
        let mut fenced = self.shared.offsets.commit(&self.group, commits).await?;
        fenced.extend(gone.into_iter().map(|commit| commit.owned));
        Ok(fenced)
    }
}
