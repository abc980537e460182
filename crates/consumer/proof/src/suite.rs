//! What a consumer keeps on every engine with a server: group changes, and the known defects of other consumers.
//!
//! The tests of an engine implement [`TestTopic`], and [`suite!`](crate::suite!) makes a test of each check.

pub mod faults;
pub mod group;

use crate::effects::millis;
use colored::time::{Instant, sleep};
use colored_consumer::{Assignment, Commit, Committed, Control, Event, Room, Source};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A topic with a group of its own. All topics of a test program share a server.
pub trait TestTopic: Sized + Send + Sync {
    /// A member of the group.
    type Source: Source;

    /// A new topic; `None` if there is no server, and may be none. Not cancel safe: the topic stays.
    fn create(name: &str, partitions: u32) -> impl Future<Output = Option<Self>> + Send;

    /// A new member with this session, static if it has a name. Without a server's help it must be polled as often. Not
    /// cancel safe: the member stays.
    fn join(
        &self,
        session: Duration,
        instance: Option<&str>,
    ) -> impl Future<Output = Self::Source> + Send;

    /// Appends so many records of each key, numbered on: `k0`, `k1` and so on, and each again. Not cancel safe.
    fn send(&self, keys: usize, count: u64) -> impl Future<Output = ()> + Send;

    /// What the group has committed in each partition, 0 if nothing. Cancel safe.
    fn committed(&self) -> impl Future<Output = Vec<u64>> + Send;

    /// The offset after the last record of each partition. Cancel safe.
    fn ends(&self) -> impl Future<Output = Vec<u64>> + Send;
}

/// Makes a test of each check of the suite, for a type that implements [`TestTopic`](crate::suite::TestTopic).
#[macro_export]
macro_rules! suite {
    ($topic:ty) => {
        $crate::suite! { $topic:
            group::planned_hand_overs_repeat_nothing(6);
            group::a_storm_of_rebalances_stops_no_partition(6);
            group::a_drain_may_last_longer_than_the_session(2);
            group::a_static_member_comes_back_to_its_partitions(4);
            group::a_member_may_be_dropped_at_any_time(4);
            faults::a_failure_is_tried_again_in_its_order(1);
            faults::a_handler_that_never_returns_is_named_and_dropped_at_the_end(1);
            faults::a_partition_goes_on_when_its_stuck_key_recovers(1);
            faults::a_full_member_hears_of_a_rebalance(2);
            faults::a_stuck_record_keeps_its_map_within_the_limit(1);
            faults::foreign_and_forged_metadata_lose_nothing(3);
            faults::a_group_ahead_of_the_log_begins_where_it_was_told(1);
        }
    };
    ($topic:ty: $($module:ident::$check:ident($partitions:expr);)*) => {$(
        #[colored::test]
        async fn $check() {
            use $crate::suite::TestTopic;
            let topic = <$topic>::create(stringify!($check), $partitions).await;
            if let Some(topic) = topic {
                $crate::suite::$module::$check(&topic).await;
            }
        }
    )*};
}

/// The session of members that nobody is to take for dead, however busy the machine is.
const SESSION: Duration = Duration::from_secs(30);

/// How long anything may take.
pub(crate) const WAIT: Duration = Duration::from_secs(120);

/// Room for whatever there is.
const ALL: Room = Room { records: 1_000, bytes: 1 << 20 };

/// The next number of each key of a topic.
#[derive(Debug, Default)]
pub struct Numbers(Mutex<BTreeMap<usize, u64>>);

impl Numbers {
    /// The keys and values of so many records of each key, numbered on.
    pub fn next(&self, keys: usize, count: u64) -> Vec<(String, String)> {
        let mut next = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut records = Vec::new();
        for _ in 0..count {
            for key in 0..keys {
                let number = next.entry(key).or_default();
                records.push((format!("k{key}"), number.to_string()));
                *number += 1;
            }
        }
        records
    }
}

/// Waits until something holds. Cancel safe if `holds` is.
///
/// # Panics
///
/// If that takes long.
pub async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let end = Instant::now() + WAIT;
    while !holds().await {
        assert!(Instant::now() < end, "{what} did not come");
        sleep(millis(5)).await;
    }
}

/// A member that owns so many partitions, which is all of the topic.
async fn assigned<T: TestTopic>(topic: &T, partitions: usize) -> (T::Source, Vec<Assignment>) {
    let mut member = topic.join(SESSION, None).await;
    let mut all = Vec::new();
    while all.len() < partitions {
        if let Event::Assigned(more) = member.poll(ALL).await.expect("the engine works") {
            all.extend(more);
        }
    }
    (member, all)
}

/// Commits as another consumer of the group might, which then leaves.
async fn commit_as_another<T: TestTopic>(
    topic: &T,
    partitions: usize,
    place: impl Fn(&Assignment) -> Committed,
) {
    let (member, all) = assigned(topic, partitions).await;
    let commit = |of: &Assignment| Commit { owned: of.owned.clone(), committed: place(of) };
    let committed = member.control().commit(all.iter().map(commit).collect()).await;
    committed.expect("the member owns all partitions");
    member.close().await.expect("the engine works");
}
