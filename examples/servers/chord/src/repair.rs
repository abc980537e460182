//! Repair: each node sees to it that the processes that should have its values have them.

use crate::contact::Contact;
use crate::node::Node;
use crate::replicas::choose;
use crate::retry::retry;
use crate::settings::Mistake;
use crate::wire::{OFFERED, Offered, Stored};
use colored::time::sleep;

/// Values that a node compares in a round, at most.
const MAX_COMPARED: usize = 4096;

/// Each round: offers the values to the nodes that should have them, and stores them where they are missing.
///
/// Every holder does this, not the owner alone: a value is repaired for as long as one copy is left. A value that this
/// node has and should not have goes when room is needed.
pub(crate) async fn repair(node: Node) {
    if node.settings.mistake == Mistake::NeverRepairs {
        return;
    }
    let mut from = node.own.id();
    loop {
        sleep(node.settings.repair).await;
        let held = node.with(|member| member.store.keys_from(from, MAX_COMPARED));
        let held = held.unwrap_or_default();
        let is_whole = held.len() < MAX_COMPARED;
        from =
            held.last().filter(|_| !is_whole).map_or(node.own.id(), |last| last.key.plus_power(0));
        compare(&node, &held, false).await;
    }
}

/// Stores all values of a node that leaves at the nodes that should have them then.
pub(crate) async fn hand_over(node: &Node) {
    let held = node.with(|member| member.store.keys_from(node.own.id(), usize::MAX));
    compare(node, &held.unwrap_or_default(), true).await;
}

async fn compare(node: &Node, held: &[Offered], is_leaving: bool) {
    let mut rest = held;
    while let Some(first) = rest.first() {
        let found = match is_leaving {
            true => retry(node.settings.patience, || node.look_up(first.key)).await,
            false => node.look_up(first.key).await,
        };
        // The ring is in motion: the next round sees to the rest.
        let Ok(found) = found else { return };
        let (start, owner) = (found.predecessor, found.owner().id());
        let is_other = |offered: &Offered| !offered.key.is_within(start, owner);
        let end = rest.iter().position(is_other).unwrap_or(rest.len()).max(1);
        let (group, others) = rest.split_at(end);
        rest = others;
        let remaining = found.successors.iter().filter(|next| !is_leaving || **next != node.own);
        let remaining: Vec<_> = remaining.copied().collect();
        let replicas = choose(&remaining, &node.settings);
        let mut have_all = true;
        for replica in replicas.iter().filter(|replica| **replica != node.own) {
            for offered in group.chunks(OFFERED) {
                have_all &= supply(node, *replica, offered).await;
            }
        }
        let is_stray = have_all && !replicas.contains(&node.own);
        node.with(|member| {
            group.iter().for_each(|offered| member.store.set_stray(offered.key, is_stray));
        });
    }
}

/// Stores at the replica what it lacks of these values. Returns whether it has all of them then.
async fn supply(node: &Node, replica: Contact, offered: &[Offered]) -> bool {
    let Ok(lacking) = node.peers.offer(replica, offered).await else { return false };
    let mut has_all = true;
    for (index, offered) in offered.iter().enumerate() {
        if lacking & 1 << index == 0 {
            continue;
        }
        let value = node.with(|member| member.store.get(offered.key).cloned()).flatten();
        let Some(value) = value else { continue };
        let stored = node.peers.store(replica, &value).await;
        has_all &= matches!(stored, Ok(Stored::Kept | Stored::OutOfDate));
    }
    has_all
}
