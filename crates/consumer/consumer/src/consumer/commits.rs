//! What a consumer commits, and when.
//!
//! Invariants:
//!
//! * The offset and the map of a commit come from the tracker in one turn of the claim.
//! * No commit begins of a claim that was lost, or whose partition goes on elsewhere.
//! * A commit counts only when the engine has confirmed it: until then the next one says the same again. That holds for one
//!   that the engine has refused, too. Only [`Event::Lost`](crate::Event::Lost) and a log that is another one end a claim: an
//!   engine that refuses a commit and tells neither, as a broker does that has forgotten a topic for a moment, takes the next.

use super::claimed::Claimed;
use super::context::{Claim, ask_all, ask_in_time};
use super::line::say;
use super::options::Broken;
use super::state::State;
use crate::source::{Commit, Committed, Owned};
use colored::ColorCell;
use colored::time::{Duration, Instant};
use std::sync::Arc;

/// A commit that is under way.
#[derive(Debug)]
pub(crate) struct UnderWay {
    id: u64,
    version: u64,
    offset: u64,
    /// What is done since then is not in it.
    taken: Instant,
}

/// A claim that has something to commit, and the log that it reads.
type Asked = (Arc<Claim>, Option<u128>);

/// The commits of these claims that have something to say; with a time, of those whose turn comes in it: the others say it at the next
/// commit. The caller, under the color of the consumer, gives them to the engine in
/// the same turn.
pub(crate) async fn take_commits(
    cell: &ColorCell<State>,
    wanted: impl Fn(u64) -> bool,
    time: Option<Duration>,
) -> (Vec<Commit>, Vec<UnderWay>) {
    let asked = cell.with(|state| state.ask_for_commits(wanted));
    let (claims, logs): (Vec<_>, Vec<_>) = asked.into_iter().unzip();
    let take = |claimed: &mut Claimed, _: &Arc<Claim>| claimed.take_commit();
    let taken = match time {
        Some(time) => ask_in_time(time, claims, take).await,
        None => ask_all(claims, take).await,
    };
    let taken = taken.into_iter().zip(logs).filter_map(|(taken, log)| {
        let (mut commit, under_way) = taken?;
        commit.committed.log = log;
        Some((commit, under_way))
    });
    // One may have been lost meanwhile, or have gone elsewhere.
    cell.with(|state| {
        let sums = state.sums();
        let may_commit = |id| sums.of.get(&id).is_some_and(|of| !of.is_lost);
        taken.filter(|(_, UnderWay { id, .. })| may_commit(*id)).unzip()
    })
}

impl State {
    fn ask_for_commits(&mut self, wanted: impl Fn(u64) -> bool) -> Vec<Asked> {
        let mut sums = self.shared.sums();
        sums.done_since = 0;
        sums.look_for_news();
        let has_news = |id: u64| sums.of.get(&id).is_some_and(|of| of.has_news());
        let asked = self.claims.iter().filter(|(id, _)| has_news(**id) && wanted(**id));
        asked.map(|(_, entry)| (Arc::clone(&entry.claim), entry.identity)).collect()
    }

    /// The engine has confirmed these commits, but for the partitions in `refused`. Returns whether nothing is left to be tried
    /// again.
    pub(crate) fn confirm(&mut self, under_way: Vec<UnderWay>, refused: &[Owned]) -> bool {
        let (mut is_whole, mut confirmed, mut lines) = (true, Vec::new(), Vec::new());
        let mut guard = self.sums();
        let sums = &mut *guard;
        for UnderWay { id, version, offset, taken } in under_way {
            let entry = self.claims.get(&id);
            let Some((entry, sum)) = entry.zip(sums.of.get_mut(&id)) else { continue };
            if !refused.contains(entry.owned()) {
                sum.committed = version;
                confirmed.push((Arc::clone(&entry.claim), version, offset, taken));
            } else if !sum.is_lost {
                is_whole = false;
                sums.figures.refused_commits += 1;
                let of = &entry.owned().partition;
                let text = format!("{of}: the engine refuses its commit, which is tried again");
                lines.extend(sums.figures.commit_lines.next(&text));
            }
        }
        sums.figures.commits += u64::from(!confirmed.is_empty());
        sums.look_for_news();
        drop(guard);
        lines.into_iter().for_each(say);
        for (claim, version, offset, taken) in confirmed {
            claim.post(move |claimed, _| claimed.confirm(version, offset, taken));
        }
        is_whole
    }
}

impl Claimed {
    /// What a commit says now, without the log.
    fn take_commit(&self) -> (Commit, UnderWay) {
        let (mut offset, mut metadata) = self.tracker.commit();
        let is_contiguous = self.lowest_in_lanes().is_none_or(|lowest| offset <= lowest);
        if !is_contiguous || offset < self.committed {
            let text = format!("a commit of {offset} passes an unfinished record, or goes back");
            self.shared.violate(&text, Some(&self.owned.partition));
        }
        if self.settings.broken == Broken::CommitOnReceipt {
            (offset, metadata) = (self.tracker.end(), Vec::new());
        }
        let committed = Committed { offset, metadata, log: None };
        let commit = Commit { owned: self.owned.clone(), committed };
        let (id, version, taken) = (self.id, self.version, Instant::now());
        (commit, UnderWay { id, version, offset, taken })
    }

    fn confirm(&mut self, version: u64, offset: u64, taken: Instant) {
        self.committed = offset;
        self.news_since = (self.version != version).then_some(taken);
    }
}
