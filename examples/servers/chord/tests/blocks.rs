//! Blocks survive the death of two processes at once, and no altered block is delivered.

use super::sockets::{self, Housed, MOST, settings};
use super::world::{Ring, blocks};
use chord::{Contact, Mistake, Value};
use colored::time::Duration;
use std::collections::BTreeSet;
use std::net::SocketAddrV4;

const BLOCKS: usize = 100;

/// The processes behind the key of one block, in the order of the ring: the block whose next three nodes are of the fewest
/// processes. If these die, two at a time, it is the first one to be lost.
async fn worst_order(ring: &Ring, values: &[Value]) -> Vec<SocketAddrV4> {
    let mut worst = (usize::MAX, Vec::new());
    for value in values {
        let found = ring.client.look_up(value.key()).await.expect("the ring is settled");
        let next: Vec<_> = found.successors.iter().map(Contact::process).collect();
        let processes = next.iter().take(3).collect::<BTreeSet<_>>().len();
        if processes < worst.0 {
            worst = (processes, next);
        }
    }
    let mut seen = BTreeSet::new();
    worst.1.retain(|process| seen.insert(*process));
    worst.1
}

/// A settled ring that stores blocks, these, and its processes in the worst order to die.
async fn start(
    processes: u16,
    nodes: u16,
    mistake: Mistake,
) -> (Housed, Vec<Value>, Vec<SocketAddrV4>) {
    let ring = sockets::start(processes, nodes, |_| settings(mistake)).await;
    let values = blocks(BLOCKS);
    for value in &values {
        ring.client.put(value).await.expect("the ring is settled");
    }
    let order = worst_order(&ring, &values).await;
    (ring, values, order)
}

/// How many blocks can be read after two processes have died at once, and after the next two have.
async fn read_after_deaths(mistake: Mistake, repair: Duration) -> [usize; 2] {
    let (mut ring, values, order) = start(8, 3, mistake).await;
    order[..2].iter().for_each(|process| ring.kill(*process));
    let after_two = ring.count_readable(&values).await;
    ring.repair(&values, repair).await;
    order[2..4].iter().for_each(|process| ring.kill(*process));
    [after_two, ring.count_readable(&values).await]
}

#[colored::test]
async fn two_processes_die_at_once_and_two_more_after_repair() {
    let readable = read_after_deaths(Mistake::None, MOST).await;
    assert_eq!(readable, [BLOCKS, BLOCKS]);
}

/// The ports decide where the nodes are. Of three processes with nine each, some three in a row are of two, next to surely.
#[colored::test]
async fn blocks_are_lost_if_their_copies_are_in_one_process() {
    let (mut ring, values, order) = start(3, 9, Mistake::ReplicatesInOneProcess).await;
    order[..2].iter().for_each(|process| ring.kill(*process));
    let readable = ring.count_readable(&values).await;
    assert!(readable < BLOCKS, "{readable}");
}

#[colored::test]
async fn blocks_are_lost_if_nobody_repairs() {
    let readable = read_after_deaths(Mistake::NeverRepairs, Duration::from_secs(3)).await;
    assert!(readable[1] < BLOCKS, "{readable:?}");
}

/// How many blocks a reader gets, and how many of these are not what was stored, if two of four processes alter what they
/// send.
async fn read_from_liars(reader: Mistake) -> [usize; 2] {
    let mistake = |process| match process {
        0 | 1 => Mistake::AltersValues,
        4 => reader,
        _ => Mistake::None,
    };
    let ring = sockets::start(4, 3, |process| settings(mistake(process))).await;
    let mut counts = [0; 2];
    for value in blocks(BLOCKS) {
        ring.client.put(&value).await.expect("the ring is settled");
        let read = ring.client.block(value.key()).await.expect("one of three is honest");
        counts[usize::from(read.bytes() != value.bytes())] += 1;
    }
    counts
}

#[colored::test]
async fn an_altered_block_is_never_delivered() {
    assert_eq!(read_from_liars(Mistake::None).await, [BLOCKS, 0]);
}

#[colored::test]
async fn altered_blocks_are_delivered_if_the_reader_trusts() {
    let [_, altered] = read_from_liars(Mistake::TrustsReplies).await;
    assert!(altered > 0);
}
