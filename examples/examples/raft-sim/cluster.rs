//! A run: three hosts, and on the main host two clients.

use crate::Bug;
use crate::clients::Client;
use crate::disk::Disk;
use crate::history::History;
use crate::message::{Address, Command};
use crate::network::Socket;
use crate::node::{HOSTS, NAMES, Node};
use crate::observer::Observer;
use colored::sim::{self, Builder, Fault, Faults, Report};
use colored::time::{Duration, sleep};
use colored::{spawn, spawn_colored};
use std::sync::{Arc, Mutex};

/// The addresses of the clients, from here on.
const CLIENTS: Address = 10;

/// What is left of a run when all hosts are down, and what sees all of them.
#[derive(Clone, Default)]
struct World {
    disks: [Disk; HOSTS.len()],
    observer: Observer,
    history: History,
}

/// Runs the cluster for so many seeds.
pub(crate) fn simulate(bug: Bug, seeds: u64) -> Report {
    let faults = Faults::swarm().without(Fault::Clock);
    let mut builder = Builder::new().seeds(0..seeds).workers(1..=4).faults(faults);
    let world = Arc::new(Mutex::new(World::default()));
    for host in HOSTS {
        let world = Arc::clone(&world);
        let program = move || run_host(host, Arc::clone(&world), bug);
        builder = builder.host(NAMES[host as usize], program);
    }
    builder.run(move || {
        let new = World::default();
        *world.lock().unwrap() = new.clone();
        run_clients(new)
    })
}

/// A host that begins, maybe again.
async fn run_host(host: Address, world: Arc<Mutex<World>>, bug: Bug) {
    // The main future has made the world of this run by then.
    sleep(Duration::from_millis(1)).await;
    let World { disks, observer, .. } = world.lock().unwrap().clone();
    let socket = Socket::bind(host).await;
    Node::new(host, socket, disks[host as usize].clone(), observer, bug).run().await;
}

/// Cuts a host off from the others for a while, but not from the clients: the faults of the simulation do that seldom.
async fn isolate(hosts: Vec<Option<Address>>) {
    for host in hosts {
        if let Some(host) = host {
            for other in HOSTS.into_iter().filter(|other| *other != host) {
                sim::net::partition(NAMES[host as usize], NAMES[other as usize]);
            }
        }
        sleep(Duration::from_millis(500)).await;
        sim::net::heal_all();
        sleep(Duration::from_millis(100)).await;
    }
}

async fn run_clients(world: World) {
    // Choices, which the report keeps if the failure needs them. They are made first, so no other choice moves them.
    let isolated = (0..6).map(|_| (sim::random() % 3, sim::buggify!(2)));
    let isolated = isolated.map(|(host, is_cut)| is_cut.then_some(host)).collect();
    let isolating = spawn(isolate(isolated));
    let clients: Vec<_> = (0..2)
        .map(|number| {
            let history = world.history.clone();
            spawn_colored(CLIENTS + number, async move {
                let socket = Socket::bind(CLIENTS + number).await;
                let first = 1 + 10 * number;
                Client::new(socket, history).run(first..first + 6).await;
            })
        })
        .collect();
    for client in clients {
        client.await.unwrap();
    }
    isolating.await.unwrap();
    // All is healed: the hosts must agree on a leader and go on.
    sim::begin_quiet_phase();
    let mut last = Client::new(Socket::bind(CLIENTS + 2).await, world.history.clone());
    let mut has_written = false;
    for attempt in 0..20 {
        has_written = has_written || last.call(Command::Write(100 + attempt)).await;
    }
    sim::always!(has_written, "a write succeeds when all is healed");
    sim::always!(world.history.is_linearizable(), "the history is linearizable");
    sim::sometimes!(world.observer.count_terms() > 1, "the leader changes");
}
