//! A log that is not what it was: the operations of the world on a log, crossed with [`Reset`], and with members that run
//! or start again.
//!
//! The test of an engine implements [`AlterLog`] for a topic with two partitions, and calls [`check_case`] with a new topic for
//! each of [`Case::all`].
//!
//! Each case has two groups: one that has handled and committed all that a running member can, and one that has stopped before,
//! so that records which it has not read may be gone. An oracle knows which records exist. Nothing that exists is skipped, and
//! nothing is repeated that was committed, unless this table says why. No consumer ends but one with [`Reset::Fail`], where the
//! table says so.
//!
//! | what has happened | why records may be skipped, or repeated, or the consumer ends |
//! |---|---|
//! | The log begins later, at or below the place of the group | nothing may |
//! | It begins later, above the place of the group | `Latest` skips what was there when it began, by its words; `Fail` ends, by its words, and must |
//! | It is shorter (or an older copy), and still has the place of the group | nothing may |
//! | It is shorter (or an older copy) than the place of the group | which of the records that are left the group has handled, nobody knows: `Earliest` repeats them; `Latest` repeats them if the engine says that it is another log, or skips what was there when it began; `Fail` ends. Nothing may where the engine gives no offset twice, so that the place of the group is still in the log |
//! | Records are gone that the second group had not read | `Fail` ends if the engine tells the gap; nothing that is left is skipped or repeated |
//! | It was made again | for an engine that forgets the commits, or cannot tell logs apart, the group is new in it: `Latest` skips what was there when it began; `Fail` ends. A member that runs may read the new log from the old place on before it notices ([`NOTICES_LATE`](AlterLog::NOTICES_LATE)): these records come twice |
//! | Records in its middle, or its last ones, were deleted, and their offsets are not given again | nothing may |
//! | There are offsets behind its last record that no record has | nothing may |
//! | One bit of what is stored is another one | the engine refuses to open, or the consumer says which partition it cannot read: then nothing of it is handled from there on |

mod check;

pub use self::check::check_case;

use super::Fixture;
use crate::consumer::Reset;

/// The records that are handled before the log is altered, and those that come behind them while no member runs.
const HANDLED: u32 = 10;
const UNREAD: u32 = 5;

/// The records that the second group has handled.
const HANDLED_BEHIND: u32 = 4;

/// What happens to the log of partition 0, while its group has handled and committed 10 records; 5 more are behind them if no
/// member runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alteration {
    /// Its first records, so many or some fewer, are deleted, as by retention.
    BeginLater(u32),
    /// Its last records, so many, are gone, and their offsets are given again: a power failure, without a wait for the device.
    Shorten(u32),
    /// It is replaced by a copy that was made when it had so many records.
    Restore(u32),
    /// The topic is deleted and made again, without records.
    MakeAgain,
    /// The second record and the last but one are deleted.
    Holes,
    /// Its last records, so many, are deleted, and their offsets are not given again.
    DeleteLast(u32),
    /// It gets offsets behind its last record that no record has, as markers of transactions are.
    Mark,
    /// A bit of what is stored flips. The number chooses the file and the place, from all that the engine has.
    FlipBit(u32),
}

/// What has become of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Altered {
    /// It has these values now.
    Has(Vec<String>),
    /// The engine refuses to open it, with an error: an answer to a bit that has flipped.
    Refused,
    /// The engine has no such state, or not while members run.
    Unsupported,
}

/// A new topic with two partitions and no groups, of which the log of partition 0 can be altered.
pub trait AlterLog: Fixture {
    /// Whether a member that runs may read a topic that was made again from the old place on, before it notices.
    const NOTICES_LATE: bool = false;

    /// Carries an alteration out. If no member runs, the engine may be closed, and opened again. Cancel safe: it is never dropped
    /// before its end.
    fn alter(
        &self,
        alteration: Alteration,
        is_running: bool,
    ) -> impl Future<Output = Altered> + Send;
}

/// An alteration, and when it happens to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// What happens.
    pub alteration: Alteration,
    /// What the consumer was told.
    pub reset: Reset,
    /// Whether a consumer runs meanwhile. Otherwise one starts afterwards.
    pub is_running: bool,
    /// Whether new records come before the consumer that starts, so that the log may be longer than it was.
    pub is_grown: bool,
}

impl Case {
    /// All cases; with bits that flip at so many places.
    #[must_use]
    pub fn all(bits: u32) -> Vec<Case> {
        use Alteration::{BeginLater, DeleteLast, Holes, MakeAgain, Mark, Restore, Shorten};
        let mut alterations = vec![BeginLater(5), BeginLater(10), BeginLater(12), Shorten(3)];
        alterations.extend([Shorten(8), Restore(12), Restore(7), MakeAgain, Holes]);
        alterations.extend([DeleteLast(2), DeleteLast(7), Mark]);
        alterations.extend((0..bits).map(Alteration::FlipBit));
        let mut cases = Vec::new();
        for alteration in alterations {
            for reset in [Reset::Earliest, Reset::Latest, Reset::Fail] {
                for (is_running, is_grown) in [(true, false), (false, false), (false, true)] {
                    cases.push(Case { alteration, reset, is_running, is_grown });
                }
            }
        }
        cases
    }

    /// How many records the log has when it is altered.
    fn count(self) -> u32 {
        HANDLED + if self.is_running { 0 } else { UNREAD }
    }

    /// What the table says of a log that has these values, for a group with this place: whether records may be skipped, whether
    /// they may be repeated, and whether the consumer may end.
    fn allows(self, left: &[String], place: u32) -> Allowed {
        let is_left = |number: u32| left.contains(&number.to_string());
        let has_missed = (place..self.count()).any(|number| !is_left(number));
        let begins_later = matches!(self.alteration, Alteration::BeginLater(_));
        let is_shorter = matches!(self.alteration, Alteration::Shorten(_) | Alteration::Restore(_));
        let is_replaced = match self.alteration {
            Alteration::MakeAgain => true,
            _ if begins_later => place < self.count() && !is_left(place),
            _ => is_shorter && left.len() < place as usize,
        };
        let is_told = place == HANDLED_BEHIND && has_missed;
        let fails = self.reset == Reset::Fail;
        Allowed {
            skip: is_replaced && self.reset == Reset::Latest,
            repeat: is_replaced && is_shorter && !fails,
            end: fails && (is_replaced || is_told),
            must_end: fails && is_replaced && begins_later,
        }
    }
}

struct Allowed {
    skip: bool,
    repeat: bool,
    end: bool,
    must_end: bool,
}
