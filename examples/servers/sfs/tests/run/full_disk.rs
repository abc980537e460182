//! A disk that gets full: an error before an acknowledgement.

use crate::history::History;
use crate::simulated::{SEEDS, assert_found, assert_right, script, serve};
use colored::sim::{self, Faults, Report};
use colored::time::{Duration, sleep};
use nfs3_types::nfs3::nfsstat3;
use sfs::client::{self, Client, Error};
use sfs::coloring::Coloring;
use sfs::settings::Mistake;

/// The room on the disk, in bytes.
const ROOM: u64 = 100_000;
/// The bytes of a file: the disk has room for one.
const BYTES: usize = 60_000;

const NO_ROOM: &str = "the server acknowledges no more than what has room";

fn simulate(mistake: Option<Mistake>, faults: Faults, seeds: u64) -> Report {
    let mut script = script(mistake, &History::default());
    script.options.patience = Duration::from_secs(100);
    let builder = sim::Builder::new().seeds(0..seeds).faults(faults).workers(1..=4);
    let builder = builder.host("server", move || serve(Coloring::Files, mistake));
    builder.run(move || {
        sim::fs::write("server", "/served/empty", []).unwrap();
        sim::fs::set_capacity("server", ROOM);
        let script = script.clone();
        async move {
            let client = Client::new(&script.target, &script.identity, &script.options);
            let mut acknowledged = Vec::new();
            for name in ["a", "b", "c"] {
                let stored = client::copy(&client, name.repeat(BYTES).as_bytes(), name).await;
                sim::sometimes!(stored.is_ok(), "a file has room");
                sim::sometimes!(is_refused(&stored), "a file has no room");
                if stored.is_ok() {
                    acknowledged.push(name);
                }
                sleep(Duration::from_secs(1)).await;
            }
            sim::begin_quiet_phase();
            sim::always!(acknowledged.len() <= 1, NO_ROOM);
            sim::always!(
                faults != Faults::none() || acknowledged == ["a"],
                "the server refuses what has room"
            );
            sim::host("server").crash().await;
            for name in acknowledged {
                let bytes = sim::fs::read("server", format!("/served/{name}"));
                sim::always!(
                    bytes.is_ok_and(|bytes| bytes == name.repeat(BYTES).as_bytes()),
                    "what was acknowledged is on the device"
                );
            }
        }
    })
}

fn is_refused(stored: &Result<(), Error>) -> bool {
    matches!(stored, Err(Error::Refused(refused)) if refused.0 == nfsstat3::NFS3ERR_NOSPC)
}

#[test]
fn a_full_disk_is_an_error_before_an_acknowledgement() {
    assert_right(&simulate(None, Faults::none(), 50));
}

#[test]
fn so_it_is_with_faults() {
    assert_right(&simulate(None, Faults::swarm(), SEEDS));
}

#[test]
fn an_answer_without_room_is_found() {
    let mistake = Some(Mistake::AnswersWithoutRoom);
    assert_found(&simulate(mistake, Faults::none(), 1000), NO_ROOM);
    assert_found(&simulate(mistake, Faults::swarm(), 1000), NO_ROOM);
}
