//! Random joins, deaths, leaves and releases: the invariants hold after each step.

use super::*;

const SESSION: Duration = Duration::from_secs(10);

fn joining(instance: Option<&str>) -> Joining {
    let topics = BTreeSet::from([Arc::from("t")]);
    Joining { topics, instance: instance.map(str::to_owned), session: SESSION }
}

fn group(partitions: u32) -> Group {
    let mut group = Group::new(7);
    group.set_topics(&BTreeMap::from([(Arc::from("t"), partitions)]), Duration::ZERO);
    group
}

fn partition(partition: u32) -> TopicPartition {
    TopicPartition { topic: "t".into(), partition }
}

fn assigned(changes: &[Change]) -> Vec<u32> {
    let of = |change: &Change| match change {
        Change::Assigned(of, _) => Some(of.partition),
        _ => None,
    };
    changes.iter().filter_map(of).collect()
}

#[test]
fn a_newcomer_gets_half_and_only_after_the_release() {
    let mut group = group(4);
    let first = group.join(joining(None), Duration::ZERO);
    assert_eq!(assigned(&group.poll(first, Duration::ZERO).unwrap()), [0, 1, 2, 3]);
    let second = group.join(joining(None), Duration::ZERO);
    assert_eq!(group.poll(second, Duration::ZERO).unwrap(), []);
    let revoked = group.poll(first, Duration::ZERO).unwrap();
    assert_eq!(revoked, [2, 3].map(|n| Change::Revoked(partition(n), 8)));
    assert!(group.is_owned(&partition(2), 8), "it may commit until it releases");
    group.release(&partition(2), 8, Duration::ZERO);
    let changes = group.poll(second, Duration::ZERO).unwrap();
    assert_eq!(changes, [Change::Assigned(partition(2), 9)]);
    assert!(!group.is_owned(&partition(2), 8));
    assert_eq!(group.poll(first, Duration::ZERO).unwrap(), [], "the others go on");
}

#[test]
fn a_silent_member_loses_everything() {
    let mut group = group(2);
    let first = group.join(joining(None), Duration::ZERO);
    let second = group.join(joining(None), Duration::ZERO);
    group.poll(first, Duration::ZERO);
    let later = SESSION - Duration::from_secs(1);
    assert!(group.poll(second, later).is_some());
    let changes = group.poll(second, SESSION).unwrap();
    assert_eq!(assigned(&changes).len(), 2, "{changes:?}");
    assert_eq!(group.poll(first, SESSION), None);
}

#[test]
fn a_member_that_wakes_up_late_is_not_heard() {
    let mut group = group(2);
    let only = group.join(joining(None), Duration::ZERO);
    assert_eq!(group.poll(only, SESSION), None, "its session is over, though nobody noticed");
}

#[test]
fn a_static_member_comes_back_to_its_partitions() {
    let mut group = group(4);
    let first = group.join(joining(Some("a")), Duration::ZERO);
    let second = group.join(joining(Some("b")), Duration::ZERO);
    group.poll(first, Duration::ZERO);
    for n in [2, 3] {
        group.release(&partition(n), 8, Duration::ZERO);
    }
    let before = assigned(&group.poll(second, Duration::ZERO).unwrap());
    group.leave(second, Duration::ZERO);
    assert!(!group.has_changes(first), "nothing moves");
    let again = group.join(joining(Some("b")), Duration::ZERO);
    assert_eq!(group.poll(second, Duration::ZERO), None, "the one before is fenced");
    assert_eq!(assigned(&group.poll(again, Duration::ZERO).unwrap()), before);
    assert!(!group.has_changes(first));
}

#[test]
fn a_topic_that_goes_is_lost_and_one_that_grows_is_shared() {
    let mut group = group(2);
    let first = group.join(joining(None), Duration::ZERO);
    group.poll(first, Duration::ZERO);
    group.set_topics(&BTreeMap::from([(Arc::from("t"), 3)]), Duration::ZERO);
    assert_eq!(assigned(&group.poll(first, Duration::ZERO).unwrap()), [2]);
    group.set_topics(&BTreeMap::new(), Duration::ZERO);
    let lost = group.poll(first, Duration::ZERO).unwrap();
    assert_eq!(lost.len(), 3);
    assert!(lost.iter().all(|change| matches!(change, Change::Lost(..))));
}

/// What each member believes to own is never owned twice, and generations rise.
#[test]
fn no_partition_has_two_owners_in_any_order_of_events() {
    for seed in 0..300 {
        let mut chance = fastrand::Rng::with_seed(seed);
        let (mut group, mut now) = (group(7), Duration::ZERO);
        let mut believes: BTreeMap<MemberId, BTreeMap<TopicPartition, u64>> = BTreeMap::new();
        let mut newest: BTreeMap<TopicPartition, u64> = BTreeMap::new();
        for _ in 0..200 {
            now += Duration::from_millis(chance.u64(..3_000));
            let id = chance.choice(believes.keys().copied());
            match (chance.u8(..10), id) {
                (0..2, _) if believes.len() < 5 => {
                    believes.insert(group.join(joining(None), now), BTreeMap::new());
                }
                (2, Some(id)) => {
                    group.leave(id, now);
                    believes.remove(&id);
                }
                (3..6, Some(id)) => {
                    let owned = chance.choice(believes[&id].clone());
                    if let Some((of, generation)) = owned {
                        group.release(&of, generation, now);
                        believes.get_mut(&id).unwrap().remove(&of);
                    }
                }
                (_, Some(id)) => match group.poll(id, now) {
                    None => drop(believes.remove(&id)),
                    Some(changes) => {
                        for change in changes {
                            let Change::Assigned(of, generation) = change else { continue };
                            let before = newest.insert(of.clone(), generation);
                            assert!(before.is_none_or(|before| before < generation), "{seed}");
                            believes.get_mut(&id).unwrap().insert(of, generation);
                        }
                    }
                },
                _ => {}
            }
            // Those that the group knows agree with it; those that it has forgotten cannot commit.
            let mut owners = BTreeSet::new();
            for owned in believes.values() {
                for (of, generation) in owned {
                    if group.is_owned(of, *generation) {
                        assert!(owners.insert(of), "seed {seed}: {of} has two owners");
                    }
                }
            }
        }
        settle(&mut group, now, seed);
    }
}

/// When all members poll and release what they are told to, all partitions have owners, and the shares differ by one.
fn settle(group: &mut Group, now: Duration, seed: u64) {
    for _ in 0..10 {
        for id in group.members.keys().copied().collect::<Vec<_>>() {
            for change in group.poll(id, now).unwrap_or_default() {
                if let Change::Revoked(of, generation) = change {
                    group.release(&of, generation, now);
                }
            }
        }
        // A release that was not asked for leaves nothing to be told.
        let revoked = group.partitions.iter().filter_map(|(of, owner)| {
            let owner = owner.as_ref().filter(|owner| owner.is_revoked)?;
            Some((of.clone(), owner.generation))
        });
        for (of, generation) in revoked.collect::<Vec<_>>() {
            group.release(&of, generation, now);
        }
    }
    let mut counts: BTreeMap<MemberId, usize> = group.members.keys().map(|id| (*id, 0)).collect();
    for owner in group.partitions.values().flatten() {
        *counts.get_mut(&owner.member).expect("a member") += 1;
    }
    let (least, most) = (counts.values().min(), counts.values().max());
    if let (Some(least), Some(most)) = (least, most) {
        assert!(most - least <= 1, "seed {seed}: {counts:?}");
        assert_eq!(counts.values().sum::<usize>(), 7, "seed {seed}");
    }
}
