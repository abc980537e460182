//! What a consumer commits, and when.
//!
//! Invariants:
//!
//! * The offset and the map of a commit come from the tracker in one turn.
//! * A commit counts only when the engine has confirmed it: until then the next one says the same again. That holds for one
//!   that the engine has refused, too. Only [`Event::Lost`](crate::Event::Lost) and a log that is another one end a claim: an
//!   engine that refuses a commit and tells neither, as a broker does that has forgotten a topic for a moment, takes the next.

use super::claimed::Claimed;
use super::options::Broken;
use super::state::State;
use crate::source::{Commit, Committed, Owned};
use colored::time::Instant;

/// A commit that is under way.
#[derive(Debug)]
pub(crate) struct UnderWay {
    id: u64,
    version: u64,
    offset: u64,
    /// What is done since then is not in it.
    taken: Instant,
}

impl State {
    /// Looks whether some claim has more to say than at its last commit.
    fn look_for_news(&mut self) {
        self.has_news = self.claims.values().any(Claimed::has_news);
    }

    /// The commits of these claims that have something to say.
    pub(crate) fn take_commits(
        &mut self,
        wanted: impl Fn(u64, &Claimed) -> bool,
    ) -> (Vec<Commit>, Vec<UnderWay>) {
        self.done_since = 0;
        self.look_for_news();
        let (mut commits, mut under_way) = (Vec::new(), Vec::new());
        let (broken, taken) = (self.settings.broken, Instant::now());
        for (id, claimed) in &self.claims {
            if !claimed.has_news() || !wanted(*id, claimed) {
                continue;
            }
            let (mut offset, mut metadata) = claimed.tracker.commit();
            let is_contiguous = claimed.lowest_in_lanes().is_none_or(|lowest| offset <= lowest);
            if !is_contiguous || offset < claimed.committed.1 {
                let text =
                    format!("a commit of {offset} passes an unfinished record, or goes back");
                self.figures.violate(&text, Some(&claimed.owned.partition));
            }
            if broken == Broken::CommitOnReceipt {
                (offset, metadata) = (claimed.tracker.end(), Vec::new());
            }
            let committed = Committed { offset, metadata, log: claimed.identity };
            commits.push(Commit { owned: claimed.owned.clone(), committed });
            under_way.push(UnderWay { id: *id, version: claimed.version, offset, taken });
        }
        (commits, under_way)
    }

    /// The engine has confirmed these commits, but for the partitions in `refused`. Returns whether nothing is left to be tried
    /// again.
    pub(crate) fn confirm(&mut self, under_way: Vec<UnderWay>, refused: &[Owned]) -> bool {
        let (mut is_whole, mut has_confirmed) = (true, false);
        for UnderWay { id, version, offset, taken } in under_way {
            let Some(claimed) = self.claims.get_mut(&id) else { continue };
            if !refused.contains(&claimed.owned) {
                claimed.committed = (version, offset);
                claimed.news_since = (claimed.version != version).then_some(taken);
                has_confirmed = true;
            } else if !claimed.is_lost {
                is_whole = false;
                self.figures.refused_commits += 1;
                let of = &claimed.owned.partition;
                let text = format!("{of}: the engine refuses its commit, which is tried again");
                self.figures.commit_lines.say(&text);
            }
        }
        self.figures.commits += u64::from(has_confirmed);
        self.look_for_news();
        is_whole
    }
}

impl Claimed {
    fn has_news(&self) -> bool {
        !self.is_lost && self.version != self.committed.0
    }
}
