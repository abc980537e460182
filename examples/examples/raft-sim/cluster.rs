//! A run: three hosts, two clients, and what goes wrong.

use crate::Bug;
use crate::clients::Client;
use crate::disk::Disk;
use crate::history::History;
use crate::message::{Address, Command};
use crate::network::{Endpoint, Network};
use crate::node::{HOSTS, Node};
use crate::observer::Observer;
use colored::time::{Duration, sleep};
use colored::{AbortHandle, sim, spawn_colored};
use fastrand::Rng;

/// The addresses of the clients, from here on.
const CLIENTS: Address = 10;

/// So often may something go wrong, once in a tenth of a second.
const TROUBLES: u32 = 20;

struct Cluster {
    network: Network,
    disks: Vec<Disk>,
    hosts: Vec<AbortHandle>,
    observer: Observer,
    bug: Bug,
}

impl Cluster {
    fn start(bug: Bug) -> Self {
        let disks = HOSTS.map(|_| Disk::default()).to_vec();
        let (network, observer) = (Network::new(), Observer::default());
        let mut cluster = Self { network, disks, hosts: Vec::new(), observer, bug };
        cluster.hosts = HOSTS.map(|host| cluster.start_host(host)).into();
        cluster
    }

    /// Starts a host, with what its disk has. Nobody waits for its end, so the run fails at once if it panics.
    fn start_host(&self, host: Address) -> AbortHandle {
        let (transport, disk) = (self.network.endpoint(host), self.disks[host as usize].clone());
        let node = Node::new(host, transport, disk, self.observer.clone(), self.bug);
        spawn_colored(host, node.run()).abort_handle()
    }

    /// A host loses all but its disk, and begins again.
    fn crash(&mut self, host: Address) {
        self.hosts[host as usize].abort();
        self.hosts[host as usize] = self.start_host(host);
    }

    /// For some time, hosts crash and are cut off.
    async fn make_trouble(&mut self, troubles: Vec<Trouble>) {
        for trouble in troubles {
            sleep(Duration::from_millis(100)).await;
            if trouble.crashes {
                self.crash(trouble.host);
            }
            if let Some((is_silent, is_deaf)) = trouble.cut {
                self.network.cut(trouble.host, is_silent, is_deaf);
            }
            if trouble.heals {
                self.network.heal();
            }
        }
        self.network.heal();
    }
}

/// What goes wrong at one time.
struct Trouble {
    host: Address,
    crashes: bool,
    /// Whether the host is not heard, and whether it does not hear.
    cut: Option<(bool, bool)>,
    heals: bool,
}

impl Trouble {
    /// Draws all troubles of a run. Each is a choice, of which the report keeps those that the failure needs. They are made
    /// before anything else, so no other choice moves them.
    fn draw() -> Vec<Self> {
        let mut random = Rng::with_seed(sim::random());
        let draw = |_| Self {
            host: random.u64(..HOSTS.len() as u64),
            crashes: sim::buggify!(6),
            cut: [(true, true), (true, false), (false, true)]
                .get(random.usize(..3))
                .copied()
                .filter(|_| sim::buggify!(3)),
            heals: sim::buggify!(4),
        };
        (0..TROUBLES).map(draw).collect()
    }
}

pub(crate) async fn run(bug: Bug) {
    let troubles = Trouble::draw();
    let mut cluster = Cluster::start(bug);
    let history = History::default();
    let client = |number: u64| {
        let endpoint: Endpoint = cluster.network.endpoint(CLIENTS + number);
        Client::new(endpoint, history.clone())
    };
    let clients: Vec<_> = (0..2)
        .map(|number| {
            let values = 1 + 10 * number..7 + 10 * number;
            spawn_colored(CLIENTS + number, client(number).run(values))
        })
        .collect();
    let mut last = client(2);
    cluster.make_trouble(troubles).await;
    for client in clients {
        client.await.unwrap();
    }
    // All is healed: the hosts must agree on a leader and go on.
    let mut has_written = false;
    for attempt in 0..20 {
        has_written = has_written || last.call(Command::Write(100 + attempt)).await;
    }
    sim::always!(has_written, "a write succeeds when all is healed");
    sim::always!(history.is_linearizable(), "the history is linearizable");
    sim::sometimes!(cluster.observer.count_terms() > 1, "the leader changes");
}
