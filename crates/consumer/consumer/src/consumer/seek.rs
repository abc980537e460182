//! Partitions that begin at a place which somebody has named: a seek of a consumer that runs, and the replay of a span of time.
//!
//! Invariants:
//!
//! * A seek ends the claim of a partition without a commit, and begins another one: nothing of the new claim starts before the
//!   handlers of the old one have ended, and nothing is taken for it that was read before its begin.
//! * A claim of a replay is not begun before its ends are known. It takes no record from its end on, and its commits do not pass
//!   that.

use super::claimed::Claimed;
use super::context::Claim;
use super::driver::PAUSE;
use super::place::Begin;
use super::state::{Entry, State};
use crate::progress::Tracker;
use crate::source::{Control, Error, Extent, Owned};
use colored::ColorCell;
use colored::sync::oneshot;
use colored::time::sleep;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A place in the partitions of a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The first record that the log has.
    Start,
    /// Behind the last record.
    End,
    /// The record with this offset; the nearest place that the log has, if it has no such offset.
    Offset(u64),
    /// The first record with this time or a later one, by [`Record::timestamp`](crate::Record::timestamp); behind the last record if
    /// there is none.
    Time(SystemTime),
}

/// How many partitions have gone to the place. Nothing comes from a consumer that has ended.
type Answer = oneshot::Sender<Result<usize, Error>>;

/// Somebody wants the partitions of a topic to go on elsewhere.
#[derive(Debug)]
pub(crate) struct Seek {
    topic: Arc<str>,
    place: Place,
    answer: Answer,
}

/// What of a claim has to be looked up before it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unplaced {
    /// Where it ends.
    End,
    /// Where it begins, too.
    Both,
}

/// The first millisecond that is not before a time, since 1970.
pub(crate) fn millis(time: SystemTime) -> i64 {
    let millis = |time: Duration| i64::try_from(time.as_nanos().div_ceil(1_000_000));
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => millis(since).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |of| -of),
    }
}

impl State {
    /// Asks for another place. None if the consumer has ended.
    pub(crate) fn ask_seek(
        &mut self,
        topic: Arc<str>,
        place: Place,
    ) -> oneshot::Receiver<Result<usize, Error>> {
        let (answer, answered) = oneshot::channel();
        // The driver takes no others, as with those who wait until the consumer has caught up.
        if self.waits.is_some() {
            self.seeks.push_back(Seek { topic, place, answer });
            self.shared.attention.notify_one();
        }
        answered
    }

    /// The next seek, with the claims that it concerns.
    pub(crate) fn take_seek(&mut self) -> Option<(Seek, Vec<(u64, Owned)>)> {
        let seek = self.seeks.pop_front()?;
        let active = self.claims.iter().filter(|(_, entry)| entry.is_active());
        let its = active.filter(|(_, entry)| entry.owned().partition.topic == seek.topic);
        let its = its.map(|(id, entry)| (*id, entry.owned().clone())).collect();
        Some((seek, its))
    }

    /// The partition of a claim goes on at this place of its log. Returns whether the claim is there still, with that log.
    fn move_to(&mut self, id: u64, log: &Extent, offset: u64) -> bool {
        let Some(entry) = self.claims.get(&id).filter(|entry| entry.is_active()) else {
            return false;
        };
        if log.is_other(entry.identity) {
            return false;
        }
        let (until, unplaced) = (entry.until, entry.unplaced);
        let most = until.unwrap_or(u64::MAX);
        let log = Extent { end: log.end.min(most), ..log.clone() };
        let begin = self.replace(id, &log, offset.min(most));
        let entry = self.claims.get_mut(&begin.id).expect("it has begun");
        entry.until = until;
        // A replay whose ends are not known yet needs its end only.
        entry.unplaced = unplaced.map(|_| Unplaced::End);
        entry.awaits_begin = true;
        if unplaced.is_none() {
            self.shared.note_placed(begin.id);
        }
        self.look_at(begin.id);
        self.begins.push(begin);
        self.shared.attention.notify_one();
        true
    }

    /// Claims of a replay whose ends are to be looked up now.
    pub(crate) fn unplaced(&self) -> Vec<(u64, Owned)> {
        if !self.has_unplaced {
            return Vec::new();
        }
        let is_asked = |(_, entry): &(&u64, &Entry)| {
            entry.is_active() && entry.unplaced.is_some() && !entry.trouble.is_pausing()
        };
        let found = self.claims.iter().filter(is_asked);
        found.map(|(id, entry)| (*id, entry.owned().clone())).collect()
    }

    /// Claims of a replay have these ends.
    fn place(&mut self, id: u64, ends: &Range<u64>) {
        let Some(entry) = self.claims.get_mut(&id) else { return };
        let Some(unplaced) = entry.unplaced.take() else { return };
        entry.until = Some(ends.end);
        let start = (unplaced == Unplaced::Both).then_some(ends.start.min(ends.end));
        entry.end = start.unwrap_or(entry.end);
        let end = ends.end;
        entry.claim.post(move |claimed, claim| claimed.place(claim, start, end));
        self.look_at(id);
        self.has_unplaced = self.claims.values().any(|entry| entry.unplaced.is_some());
        self.shared.attention.notify_one();
    }

    /// The source is about to read the partition of this claim. Returns where from.
    pub(crate) fn note_begun(&mut self, id: u64) -> u64 {
        let entry = self.claims.get_mut(&id).expect("it is active");
        let offset = entry.end;
        if std::mem::take(&mut entry.awaits_begin) {
            self.look_at(id);
        }
        offset
    }

    /// Whether a claim waits for its place, or for the end of an earlier claim of its partition.
    pub(crate) fn must_wait(&self, begin: &Begin) -> bool {
        let is_unplaced = self.claims.get(&begin.id).is_some_and(|of| of.unplaced.is_some());
        is_unplaced || self.has_earlier(begin)
    }
}

impl Claimed {
    /// A claim of a replay, which has not begun, ends here, and begins there if it was to be looked up.
    fn place(&mut self, claim: &Arc<Claim>, start: Option<u64>, end: u64) {
        self.log_end = self.log_end.min(end);
        if let Some(start) = start {
            self.tracker = Tracker::new(start, Vec::new());
            self.committed = start;
        }
        self.note_news(claim, true);
        // Behind that: the low-water mark is that of the place.
        self.shared.note_placed(self.id);
    }
}

/// Looks up a place, and goes there.
pub(crate) async fn seek(
    cell: ColorCell<State>,
    control: impl Control,
    (seek, claims): (Seek, Vec<(u64, Owned)>),
) {
    let Seek { topic, place, answer } = seek;
    let (ids, owned): (Vec<_>, Vec<_>) = claims.into_iter().unzip();
    let result = match owned.is_empty() {
        true => Err(Error::new(format!("the consumer has no partition of the topic {topic:?}"))),
        false => find(&control, owned, place).await,
    };
    let moved = match result {
        Err(error) => Err(error),
        Ok(found) => {
            let found: Vec<_> = ids.into_iter().zip(found).collect();
            let moved = cell.call(move |state| {
                let places = found.iter().filter_map(|(id, found)| Some((*id, found.as_ref()?)));
                places.filter(|(id, (log, offset))| state.move_to(*id, log, *offset)).count()
            });
            Ok(moved.await)
        }
    };
    // Nobody may wait any more.
    let _ = answer.send(moved);
}

/// The place in each of the logs. None for a partition that the member no longer owns.
async fn find(
    control: &impl Control,
    owned: Vec<Owned>,
    place: Place,
) -> Result<Vec<Option<(Extent, u64)>>, Error> {
    let offsets = match place {
        Place::Time(time) => control.find(owned.clone(), millis(time)).await?,
        _ => vec![None; owned.len()],
    };
    let logs = control.extents(owned).await?;
    let places = logs.into_iter().zip(offsets).map(|(log, offset)| {
        let log = log?;
        let offset = match place {
            Place::Start => log.start,
            Place::End => log.end,
            Place::Offset(offset) => offset.clamp(log.start, log.end.max(log.start)),
            Place::Time(_) => offset?.max(log.start),
        };
        Some((log, offset))
    });
    Ok(places.collect())
}

/// Looks up the ends of a replay in these partitions.
pub(crate) async fn place(
    cell: ColorCell<State>,
    control: impl Control,
    claims: Vec<(u64, Owned)>,
    times: Range<i64>,
) {
    let (ids, owned): (Vec<_>, Vec<_>) = claims.into_iter().unzip();
    let starts = control.find(owned.clone(), times.start).await;
    let ends = match starts {
        Ok(starts) => {
            let ends = control.find(owned.clone(), times.end).await;
            ends.map(|ends| starts.into_iter().zip(ends).collect::<Vec<_>>())
        }
        Err(error) => Err(error),
    };
    let has_failed = ends.is_err();
    let placed = cell.call(move |state| match ends {
        Ok(ends) => {
            for ((id, owned), ends) in ids.into_iter().zip(owned).zip(ends) {
                match ends {
                    (Some(start), Some(end)) => state.place(id, &(start..end)),
                    // The engine is about to say what has become of it.
                    _ => state.note_trouble(&owned, &Error::new("it has no owner")),
                }
            }
        }
        Err(error) => owned.iter().for_each(|owned| state.note_trouble(owned, &error)),
    });
    placed.await;
    if has_failed {
        sleep(PAUSE).await;
    }
}

#[cfg(test)]
mod tests {
    use super::super::context::ask_all;
    use super::super::state::tests::one_claim;
    use super::*;

    #[test]
    fn a_time_is_the_first_millisecond_that_is_not_before_it() {
        let after = |time: Duration| millis(UNIX_EPOCH + time);
        assert_eq!(after(Duration::ZERO), 0);
        assert_eq!(after(Duration::from_millis(7)), 7);
        assert_eq!(after(Duration::from_nanos(7_000_001)), 8);
        assert_eq!(millis(UNIX_EPOCH - Duration::from_millis(7)), -7);
        assert_eq!(millis(UNIX_EPOCH - Duration::from_nanos(7_999_999)), -7);
    }

    /// Its low-water mark is that of another place until then: nobody takes it for how far the claim is.
    #[colored::test]
    async fn a_claim_commits_nothing_before_it_knows_its_place() {
        let (mut state, id, claim) = one_claim(9, Some(Unplaced::Both));
        let shared = Arc::clone(&state.shared);
        let told = || {
            let sums = shared.sums();
            let of = &sums.of[&id];
            (of.is_placed, of.low, of.has_news(), sums.has_news)
        };
        let turn = async || _ = ask_all([Arc::clone(&claim)], |_, _| ()).await;
        turn().await;
        assert_eq!(told(), (false, 9, false, false));
        state.place(id, &(3..7));
        turn().await;
        assert_eq!(told(), (true, 3, true, true));
    }
}
