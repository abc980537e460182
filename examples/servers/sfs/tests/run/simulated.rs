//! Histories of four clients on hosts of a simulation, with late packets, broken connections, partitions, pauses and crashes.

use crate::history::History;
use crate::register::{PATH, Script};
use colored::net::TcpListener;
use colored::sim::{self, Fault, Faults, Report};
use colored::time::{Duration, sleep};
use sfs::client::Options;
use sfs::coloring::{Coloring, Server};
use sfs::door::Door;
use sfs::keys::Identity;
use sfs::root::Root;
use sfs::settings::{Mistake, Settings};
use sfs::users::UserMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

pub(crate) const LEASE: Duration = Duration::from_secs(2);
const CLIENTS: usize = 4;

/// The seeds of a test. `COLORED_SIM_SEEDS=1000` runs more: each takes a quarter of a second without optimization.
pub(crate) const SEEDS: u64 = 200;

/// The calls of all incarnations of a client together are at most so many.
const MOST_CALLS: usize = 110;

pub(crate) async fn serve(coloring: Coloring, mistake: Option<Mistake>) {
    let settings = Settings { lease: LEASE, mistake };
    let server = Server::new(Root::simulated("/served"), &settings, coloring).await.unwrap();
    let listener = TcpListener::bind("0.0.0.0:2050").await.unwrap();
    server.serve(listener, Door::plain(UserMap::same())).await;
}

/// How the clients behave.
pub(crate) fn script(mistake: Option<Mistake>, history: &History) -> Script {
    let patience = Duration::from_secs(20);
    let options = Options { patience, mistake, user: 0, client: [0; 16] };
    Script {
        target: "server:2050".parse().unwrap(),
        identity: Identity::generate(),
        options,
        history: history.clone(),
        steps: 8,
        pause: Duration::from_secs(1),
    }
}

fn simulate(coloring: Coloring, mistake: Option<Mistake>, faults: Faults, seeds: u64) -> Report {
    let (history, finished) = (History::default(), Arc::new(AtomicUsize::new(0)));
    let script = script(mistake, &history);
    let mut builder = sim::Builder::new().seeds(0..seeds).faults(faults).workers(1..=4);
    builder = builder.host("server", move || serve(coloring, mistake));
    for number in 0..CLIENTS {
        let (script, finished) = (script.clone(), Arc::clone(&finished));
        builder = builder.host(format!("client-{number}"), move || {
            let (mut script, finished) = (script.clone(), Arc::clone(&finished));
            async move {
                if script.history.len() > MOST_CALLS - CLIENTS * script.steps {
                    script.steps = 0;
                }
                // Another number for each incarnation.
                script.options.client = (script.history.now() as u128).to_be_bytes();
                script.run(sim::random).await;
                // Ordering: the main future reads it on this thread.
                finished.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    let is_crashing = faults.includes(Fault::Crash);
    builder.run(move || {
        history.clear();
        // Ordering: all of a run is on one thread.
        finished.store(0, Ordering::Relaxed);
        sim::fs::write("server", format!("/served{PATH}"), [0; 8]).unwrap();
        let (history, finished) = (history.clone(), Arc::clone(&finished));
        async move {
            sleep(Duration::from_secs(12)).await;
            sim::begin_quiet_phase();
            for _ in 0..200 {
                // Ordering: as above. A client that has crashed may have finished before.
                if finished.load(Ordering::Relaxed) >= CLIENTS {
                    break;
                }
                sleep(Duration::from_secs(1)).await;
            }
            let is_right = match is_crashing {
                true => history.is_linearizable_but_for_early_reads(),
                false => history.is_linearizable(),
            };
            sim::always!(is_right, OLDER);
            sim::sometimes!(history.len() > 10, "many calls succeed");
        }
    })
}

/// Faults that no server can mask are left out: what a failing device loses.
fn all_faults() -> Faults {
    Faults::swarm().without(Fault::Disk)
}

/// Without crashes, also a write that is not replied to yet is seen by all that come later.
fn without_crashes() -> Faults {
    all_faults().without(Fault::Crash)
}

pub(crate) fn assert_right(report: &Report) {
    println!("{report}");
    report.assert_passed();
    assert!(report.never_seen().is_empty(), "{report}");
}

/// A test of a test: a seed fails, and for this reason.
pub(crate) fn assert_found(report: &Report, why: &str) {
    println!("{report}");
    let failure = report.failure().expect("the mistake is found");
    assert!(failure.to_string().contains(why), "it is found for another reason: {failure}");
}

const OLDER: &str = "no read behind a write has older data";

#[test]
fn no_read_behind_a_write_has_older_data() {
    assert_right(&simulate(Coloring::Files, None, all_faults(), SEEDS));
}

#[test]
fn the_serial_server_is_as_right() {
    assert_right(&simulate(Coloring::Serial, None, without_crashes(), SEEDS));
}

#[test]
fn an_answer_before_the_call_backs_is_found() {
    let mistake = Some(Mistake::AnswersBeforeTheCallBacks);
    assert_found(&simulate(Coloring::Files, mistake, without_crashes(), 1000), OLDER);
}

#[test]
fn a_read_behind_the_lease_is_found() {
    let mistake = Some(Mistake::ReadsBehindTheLease);
    assert_found(&simulate(Coloring::Files, mistake, without_crashes(), 1000), OLDER);
}

#[test]
fn a_forgotten_grace_period_is_found() {
    let mistake = Some(Mistake::ForgetsTheGracePeriod);
    assert_found(&simulate(Coloring::Files, mistake, all_faults(), 1000), OLDER);
}
