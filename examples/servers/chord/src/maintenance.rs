//! What keeps the ring right: stabilization of successors and predecessors, fingers, and the way back to nodes that
//! were cut off.
//!
//! The steps are those of Chord, with Zave's correction (*Reasoning about identifier spaces: how to make Chord
//! correct*, 2017): a node takes a successor, and its list, only after the successor has answered.

use crate::contact::Contact;
use crate::lookup::look_up;
use crate::node::Node;
use crate::peers::CallFailed;
use crate::settings::Mistake;
use crate::wire::SUCCESSORS;
use colored::join;
use colored::time::{Duration, sleep};

/// A node looks for a closer successor by way of a seed once in so many rounds. A guess.
const SEED_ROUNDS: u32 = 8;

/// The first round comes after a part of a round, which differs from node to node.
fn first_delay(node: &Node) -> Duration {
    node.settings.round * u32::from(node.own.id().to_bytes()[31]) / 256
}

/// Each round: talks to the successor and the predecessor.
pub(crate) async fn stabilize(node: Node) {
    sleep(first_delay(&node)).await;
    loop {
        join!(check_predecessor(&node), check_successors(&node));
        sleep(node.settings.round).await;
    }
}

async fn check_predecessor(node: &Node) {
    let predecessor = node.with(|member| member.table.predecessor()).flatten();
    if let Some(predecessor) = predecessor {
        let answer = node.peers.neighbours(predecessor, None).await;
        forget_if_gone(node, predecessor, answer.err());
    }
}

/// Finds the nearest node that answers, and tells it that this node is in front of it.
async fn check_successors(node: &Node) {
    // Each turn removes a successor, or finds a closer one.
    for _ in 0..2 * SUCCESSORS {
        let Some((successor, is_candidate)) = next_to_ask(node) else { return };
        let neighbours = match node.peers.neighbours(successor, Some(node.own)).await {
            Ok(neighbours) => neighbours,
            Err(failed) => {
                forget_if_gone(node, successor, Some(failed));
                // The successor would name a candidate that is gone again, until it has noticed.
                match is_candidate {
                    true => return,
                    false => continue,
                }
            }
        };
        let between = neighbours.predecessor.into_option();
        let is_done = node.with(|member| {
            let list = [successor].into_iter().chain(neighbours.successors.0);
            member.table.set_successors(list);
            if node.settings.mistake != Mistake::IgnoresJoins {
                between.into_iter().for_each(|node| member.table.note_candidate(node));
            }
            !member.table.has_candidate()
        });
        if is_done.unwrap_or(true) {
            return;
        }
    }
}

/// The closest node that may be the successor, and whether it is a candidate. None if the node is alone.
fn next_to_ask(node: &Node) -> Option<(Contact, bool)> {
    let next = node.with(|member| {
        let table = &mut member.table;
        let known = Some(table.successor()).filter(|successor| *successor != node.own);
        let candidate = table.take_candidate().map(|candidate| (candidate, true));
        candidate.or(known.or(table.predecessor()).map(|known| (known, false)))
    });
    next.flatten()
}

fn forget_if_gone(node: &Node, contact: Contact, failed: Option<CallFailed>) {
    node.with(|member| match failed {
        Some(CallFailed::NotHere) => member.table.forget(contact),
        Some(CallFailed::NoAnswer) => member.table.forget_process(contact.process()),
        None => {}
    });
}

/// Each round: looks up one finger, and now and then the own successor, by way of a seed.
pub(crate) async fn improve(node: Node) {
    sleep(first_delay(&node)).await;
    for round in 0_u32.. {
        look_up_finger(&node).await;
        let is_alone = node.with(|member| member.table.successor() == node.own).unwrap_or(false);
        if is_alone || round % SEED_ROUNDS == SEED_ROUNDS - 1 {
            ask_seed(&node, round / SEED_ROUNDS).await;
        }
        sleep(node.settings.round).await;
    }
}

async fn look_up_finger(node: &Node) {
    let Some((index, key)) = node.with(|member| member.table.next_finger()) else { return };
    if let Ok(found) = node.look_up(key).await {
        node.with(|member| member.table.set_finger(index, found.owner()));
    }
}

/// A partition may leave two rings. A look-up by way of a seed in the other one finds nodes there.
async fn ask_seed(node: &Node, round: u32) {
    let seeds = node.seeds.iter().filter(|seed| **seed != node.own.process());
    let seeds: Vec<_> = seeds.map(|seed| Contact::new(*seed, 0)).collect();
    let Some(count) = u32::try_from(seeds.len()).ok().filter(|count| *count > 0) else { return };
    let seed = seeds[(round % count) as usize];
    let key = node.own.id().plus_power(0);
    if let Ok(found) = look_up(&node.peers, &[seed], key).await {
        let closest = found.successors.into_iter().find(|contact| *contact != node.own);
        node.with(|member| {
            closest.into_iter().for_each(|closest| member.table.note_candidate(closest))
        });
    }
}
