//! Crashes in simulations: of the server while clients store files, and of the holder of a lease. A simulated crash takes more than
//! kill -9 does: what was not synced is lost, and no peer hears of it.

use crate::history::History;
use crate::register::{PATH, Script};
use crate::simulated::{LEASE, SEEDS, assert_found, assert_right, script, serve};
use colored::sim::{self, Faults, Report};
use colored::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use colored::time::{Duration, Instant, sleep};
use nfs3_types::nfs3::stable_how;
use sfs::client::{self, Client, Error, Options};
use sfs::coloring::Coloring;
use sfs::settings::Mistake;
use std::io;
use std::sync::{Arc, Mutex};

const CLIENTS: u8 = 3;
/// How many files each client stores.
const FILES: u8 = 4;
const CRASHES: usize = 3;

const GOES_ON: &str = "a client goes on when the server is back";
const WAITS: &str = "the first change is one lease after the start";
const IS_THERE: &str = "what was acknowledged is there";
const ONE_LEASE: &str = "a writer waits for one lease at most";

/// What the clients were told is on the device, by path.
type Acknowledged = Arc<Mutex<Vec<(String, Vec<u8>)>>>;

/// A client that stores files, and extends each by a stable write.
#[derive(Clone)]
struct Storing {
    script: Script,
    /// Without faults no request may fail, and no change is early.
    is_sound: bool,
    acknowledged: Acknowledged,
    /// When the server has started the last time.
    started: Arc<Mutex<Instant>>,
    steps: UnboundedSender<()>,
}

impl Storing {
    async fn run(self, number: u8) {
        let options = Options { client: [number + 1; 16], ..self.script.options.clone() };
        let client = Client::new(&self.script.target, &self.script.identity, &options);
        for file in 0..FILES {
            let path = format!("/{number}-{file}");
            let mut bytes = vec![number + 1; 3000 * (usize::from(file) + 1)];
            let begin = Instant::now();
            let stored = client::copy(&client, &bytes, &path).await;
            if !self.note(&path, &bytes, begin, stored) {
                continue;
            }
            let Ok(handle) = client.resolve(&path).await else { continue };
            let (begin, offset) = (Instant::now(), bytes.len() as u64);
            let written = client.write(&handle, offset, b"more", stable_how::FILE_SYNC).await;
            let runs = self.started.lock().unwrap().elapsed();
            sim::always!(!self.is_sound || runs >= LEASE, WAITS);
            bytes.extend_from_slice(b"more");
            self.note(&path, &bytes, begin, written);
        }
    }

    /// Notes what was answered to a change. Returns whether it was made.
    fn note<T>(&self, path: &str, bytes: &[u8], begin: Instant, answer: Result<T, Error>) -> bool {
        if self.is_sound {
            let error = answer.as_ref().err();
            sim::always!(error.is_none(), GOES_ON);
        }
        sim::sometimes!(begin.elapsed() > LEASE, "a request waits for the next run of the server");
        if answer.is_ok() {
            self.acknowledged.lock().unwrap().push((path.to_owned(), bytes.to_vec()));
        }
        // Without a receiver, the crashes are over.
        let _ = self.steps.send(());
        answer.is_ok()
    }
}

/// Crashes the server soon after some steps of the clients, and starts it again.
async fn crash(mut steps: UnboundedReceiver<()>, started: Arc<Mutex<Instant>>) {
    let server = sim::host("server");
    for _ in 0..CRASHES {
        for _ in 0..1 + sim::random() % 8 {
            if steps.recv().await.is_none() {
                return;
            }
        }
        sleep(Duration::from_micros(sim::random() % 4000)).await;
        server.crash().await;
        // Longer than the answers of this run are under way.
        sleep(Duration::from_millis(100 + sim::random() % 1000)).await;
        *started.lock().unwrap() = Instant::now();
        server.restart();
    }
}

/// Reads all files by a new client, from a server that has lost all that was not synced.
async fn read_back(script: &Script, acknowledged: &Acknowledged) {
    let server = sim::host("server");
    server.crash().await;
    server.restart();
    let client = Client::new(&script.target, &script.identity, &script.options);
    let acknowledged = acknowledged.lock().unwrap().clone();
    for (path, bytes) in acknowledged {
        let mut read = Vec::new();
        let _missing = client::cat(&client, &path, &mut read).await;
        sim::always!(read.starts_with(&bytes), IS_THERE);
    }
}

fn simulate_crashes(mistake: Option<Mistake>, faults: Faults, seeds: u64) -> Report {
    let mut script = script(mistake, &History::default());
    // A client hears nothing of a crash, so it waits half a minute before it connects again.
    script.options.patience = Duration::from_secs(200);
    let builder = sim::Builder::new().seeds(0..seeds).faults(faults).workers(1..=4);
    let builder = builder.host("server", move || serve(Coloring::Files, mistake));
    builder.run(move || {
        sim::fs::write("server", format!("/served{PATH}"), [0; 8]).unwrap();
        let script = script.clone();
        async move {
            let (steps, seen) = unbounded_channel();
            let started = Arc::new(Mutex::new(Instant::now()));
            let acknowledged = Acknowledged::default();
            let storing = Storing {
                script: script.clone(),
                is_sound: faults == Faults::none(),
                acknowledged: Arc::clone(&acknowledged),
                started: Arc::clone(&started),
                steps,
            };
            let clients: Vec<_> = (0..CLIENTS)
                .map(|number| colored::spawn_unique(storing.clone().run(number)))
                .collect();
            drop(storing);
            let crashes = colored::spawn_unique(crash(seen, started));
            sleep(Duration::from_secs(60)).await;
            sim::begin_quiet_phase();
            for client in clients {
                client.await.unwrap();
            }
            crashes.await.unwrap();
            read_back(&script, &acknowledged).await;
        }
    })
}

#[test]
fn clients_of_a_crashed_server_go_on_with_synced_data() {
    assert_right(&simulate_crashes(None, Faults::none(), SEEDS));
}

#[test]
fn synced_data_is_there_also_with_faults() {
    assert_right(&simulate_crashes(None, Faults::swarm(), SEEDS));
}

#[test]
fn an_answer_before_the_sync_is_found() {
    let mistake = Some(Mistake::AnswersBeforeTheSync);
    assert_found(&simulate_crashes(mistake, Faults::none(), 1000), IS_THERE);
    assert_found(&simulate_crashes(mistake, Faults::swarm(), 1000), IS_THERE);
}

#[test]
fn a_client_that_gives_up_is_found() {
    let mistake = Some(Mistake::GivesUpWithTheConnection);
    assert_found(&simulate_crashes(mistake, Faults::none(), 1000), GOES_ON);
}

#[test]
fn a_client_that_ignores_the_verifier_is_found() {
    let mistake = Some(Mistake::IgnoresTheVerifier);
    assert_found(&simulate_crashes(mistake, Faults::none(), 1000), IS_THERE);
}

#[test]
fn a_change_within_a_lease_of_the_start_is_found() {
    let mistake = Some(Mistake::ForgetsTheGracePeriod);
    assert_found(&simulate_crashes(mistake, Faults::none(), 1000), WAITS);
}

/// A host has a lease of a file when it crashes, and another client writes the file.
fn simulate_killed_holder(mistake: Option<Mistake>, seeds: u64) -> Report {
    let script = script(mistake, &History::default());
    let holder = script.clone();
    let mut builder = sim::Builder::new().seeds(0..seeds).workers(1..=4);
    builder = builder.host("server", move || serve(Coloring::Files, mistake));
    builder = builder.host("holder", move || {
        let Script { target, identity, options, .. } = holder.clone();
        async move {
            let client = Client::new(&target, &identity, &options);
            client::watch(&client, PATH, &mut io::sink()).await.unwrap();
        }
    });
    builder.run(move || {
        sim::fs::write("server", format!("/served{PATH}"), [0; 8]).unwrap();
        let script = script.clone();
        async move {
            let options = Options { client: [1; 16], ..script.options };
            let writer = Client::new(&script.target, &script.identity, &options);
            let file = writer.resolve(PATH).await.unwrap();
            sleep(LEASE * 2 + LEASE.mul_f64((sim::random() % 1000) as f64 / 1000.0)).await;
            sim::host("holder").crash().await;
            let begin = Instant::now();
            writer.write(&file, 0, b"new data", stable_how::FILE_SYNC).await.unwrap();
            let waited = begin.elapsed();
            sim::always!(waited < LEASE + LEASE / 10, ONE_LEASE);
            sim::sometimes!(waited > LEASE / 2, "the lease is long valid");
        }
    })
}

#[test]
fn a_crashed_holder_delays_a_writer_by_one_lease_at_most() {
    assert_right(&simulate_killed_holder(None, SEEDS));
}

#[test]
fn a_change_that_waits_longer_than_the_lease_is_found() {
    let mistake = Some(Mistake::WaitsForTwoLeases);
    assert_found(&simulate_killed_holder(mistake, 1000), ONE_LEASE);
}
