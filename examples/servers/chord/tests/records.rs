//! Records: the newest one is read, an older one replaces none, and a forged one is refused.

use super::sockets::{self, Housed, MOST, settings};
use super::world::Ring;
use chord::{Error, Mistake, Signer, Value};

/// Keys of one test.
const KEYS: u8 = 20;

/// A ring of so many processes, with the mistakes of each, and of the client behind them.
async fn start(processes: u16, mistake: impl Fn(u16) -> Mistake) -> Housed {
    sockets::start(processes, 3, |number| settings(mistake(number))).await
}

fn signer(secret: u8) -> Signer {
    Signer::from_secret(&[secret; 32])
}

fn record(secret: u8, sequence: u64) -> Value {
    let record = Value::record(&signer(secret), sequence, &sequence.to_be_bytes());
    record.expect("it is short")
}

/// Whether an older record is refused, and the newer one read.
async fn is_newest_kept(ring: &Ring) -> bool {
    for number in [1, 2, 5] {
        ring.client.put(&record(7, number)).await.expect("the ring is settled");
    }
    let older = ring.client.put(&record(7, 4)).await;
    let read = ring.client.record(signer(7).key()).await.expect("it is there");
    matches!(older, Err(Error::OutOfDate)) && read == record(7, 5)
}

#[colored::test]
async fn an_older_record_replaces_no_newer_one_also_after_a_death() {
    let mut ring = start(5, |_| Mistake::None).await;
    assert!(is_newest_kept(&ring).await);
    let key = signer(7).key();
    let owner = ring.client.look_up(key).await.expect("the ring is settled").owner();
    ring.kill(owner.process());
    assert!(ring.repair(&[record(7, 5)], MOST).await, "the record has three copies again");
    assert_eq!(ring.client.record(key).await.expect("it is there"), record(7, 5));
}

#[colored::test]
async fn an_older_record_is_read_if_nodes_replace_newer_ones() {
    let ring = start(4, |_| Mistake::ReplacesNewerRecords).await;
    assert!(!is_newest_kept(&ring).await);
}

/// Of some records, of which two of four processes keep an old one, how many are read in their newest form.
async fn count_newest(reader: Mistake) -> usize {
    let mistake = |process| match process {
        0 | 1 => Mistake::KeepsOldRecords,
        4 => reader,
        _ => Mistake::None,
    };
    let ring = start(4, mistake).await;
    let mut newest = 0;
    for secret in 0..KEYS {
        for sequence in [1, 2] {
            ring.client.put(&record(secret, sequence)).await.expect("the ring is settled");
        }
        let read = ring.client.record(signer(secret).key()).await.expect("it is there");
        newest += usize::from(read == record(secret, 2));
    }
    newest
}

#[colored::test]
async fn the_newest_of_different_copies_is_read() {
    assert_eq!(count_newest(Mistake::None).await, usize::from(KEYS));
}

#[colored::test]
async fn an_old_copy_is_read_if_the_reader_takes_the_first_one() {
    assert!(count_newest(Mistake::ReadsAnyRecord).await < usize::from(KEYS));
}

/// How many forged records a ring of such nodes stores.
async fn count_forged(nodes: Mistake) -> usize {
    let mistake = |process| if process == 3 { Mistake::AltersValues } else { nodes };
    let ring = start(3, mistake).await;
    let mut stored = 0;
    for secret in 0..3 {
        match ring.client.put(&record(secret, 1)).await {
            Ok(()) => stored += 1,
            Err(Error::TooFewCopies { copies: 0, .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
    stored
}

#[colored::test]
async fn a_forged_record_is_refused() {
    assert_eq!(count_forged(Mistake::None).await, 0);
}

#[colored::test]
async fn forged_records_are_stored_if_nodes_do_not_check() {
    assert_eq!(count_forged(Mistake::StoresUnchecked).await, 3);
}
