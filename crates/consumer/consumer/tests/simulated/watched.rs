//! A member whose assignments and confirmed commits are noted outside of its host.

use crate::delegated::as_its_member;
use crate::outside::Outside;
use colored_consumer::embedded::{EmbeddedControl, Member};
use colored_consumer::{Commit, CommitError, Control, Error, Event, Extent, Owned, Room, Source};

pub(crate) struct Watched {
    pub(crate) member: Member,
    pub(crate) outside: Outside,
}

impl Source for Watched {
    type Control = WatchedControl;

    fn control(&self) -> WatchedControl {
        WatchedControl { control: self.member.control(), outside: self.outside.clone() }
    }

    async fn poll(&mut self, room: Room) -> Result<Event, Error> {
        let event = self.member.poll(room).await?;
        if let Event::Assigned(assignments) = &event {
            assignments.iter().for_each(|assignment| self.outside.note_owner(assignment));
        }
        Ok(event)
    }

    as_its_member!();
}

#[derive(Clone)]
pub(crate) struct WatchedControl {
    control: EmbeddedControl,
    outside: Outside,
}

impl Control for WatchedControl {
    async fn commit(&self, commits: Vec<Commit>) -> Result<(), CommitError> {
        let result = self.control.commit(commits.clone()).await;
        let fenced = match &result {
            Ok(()) => &[][..],
            Err(CommitError::Fenced(fenced)) => fenced,
            Err(CommitError::Failed(_)) => return result,
        };
        let confirmed = commits.iter().filter(|commit| !fenced.contains(&commit.owned));
        confirmed.for_each(|commit| self.outside.note_commit(commit));
        result
    }

    async fn release(&self, owned: Vec<Owned>) -> Result<(), Error> {
        self.control.release(owned).await
    }

    async fn extents(&self, owned: Vec<Owned>) -> Result<Vec<Option<Extent>>, Error> {
        self.control.extents(owned).await
    }
}
