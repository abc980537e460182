//! A ring on loopback: processes in one runtime, a socket each.

use chord::{Census, Client, Contact, Error, Id, Mistake, Process, Settings, Value, concurrently};
use colored::time::{Duration, Instant, sleep};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::Arc;

const ANY_PORT: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);

/// Operations at a time.
const AT_A_TIME: usize = 8;

/// Settings for a busy machine, on which a thread may get no CPU for seconds.
pub(crate) fn settings(mistake: Mistake) -> Settings {
    let (deadline, patience) = (Duration::from_secs(5), Duration::from_secs(60));
    Settings { deadline, patience, mistake, ..Settings::default() }
}

pub(crate) struct Ring {
    pub(crate) processes: Vec<Process>,
    pub(crate) client: Client,
    pub(crate) members: Vec<Contact>,
}

impl Ring {
    /// Processes with so many members each, and room for one more. `settings` makes those of a process.
    pub(crate) async fn start(
        processes: u16,
        nodes: u16,
        settings: impl Fn(u16) -> Settings,
    ) -> Result<Self, Error> {
        let mut seeds: Vec<SocketAddrV4> = Vec::new();
        let mut members = Vec::new();
        let mut running = Vec::new();
        for number in 0..processes {
            let process = Process::bind(ANY_PORT, nodes + 1, &seeds, settings(number)).await?;
            for node in 0..nodes {
                match (number, node) {
                    (0, 0) => process.begin(0).await,
                    _ => process.join(node).await?,
                }
                members.push(process.contact(node));
            }
            seeds.push(process.address());
            running.push(process);
        }
        let client = Client::bind(ANY_PORT, &seeds, settings(processes)).await?;
        Ok(Self { processes: running, client, members })
    }

    pub(crate) fn census(&self) -> Census {
        Census::new(self.members.iter().copied())
    }

    /// Waits until all nodes have the neighbours that they should have. Returns whether they do in time.
    pub(crate) async fn settle(&self, most: Duration) -> bool {
        let (begin, census) = (Instant::now(), self.census());
        while !census.unsettled(&self.client).await.is_empty() {
            if begin.elapsed() > most {
                return false;
            }
            sleep(Duration::from_millis(100)).await;
        }
        true
    }

    /// Of so many keys, how many a look-up finds at their true owner. Each begins at another node.
    pub(crate) async fn count_right(&self, keys: usize) -> usize {
        let (client, census) = (self.client.clone(), Arc::new(self.census()));
        let found = concurrently(0..keys, AT_A_TIME, move |number| {
            let (client, census) = (client.clone(), Arc::clone(&census));
            async move {
                let key = Id::hash(&[b"key", &number.to_be_bytes()]);
                let by = census.nodes()[number % census.nodes().len()];
                let found = client.look_up_by(by, key).await;
                found.is_ok_and(|found| found.owner() == census.owner(key))
            }
        });
        found.await.into_iter().filter(|is_right| *is_right).count()
    }

    /// Ends the process as a crash does.
    pub(crate) fn kill(&mut self, address: SocketAddrV4) {
        self.processes.retain(|process| process.address() != address);
        self.members.retain(|member| member.process() != address);
    }

    /// Waits until each of the values has as many copies as it should have. Returns whether it has in time.
    pub(crate) async fn repair(&self, values: &[Value], most: Duration) -> bool {
        let begin = Instant::now();
        for value in values {
            while self.client.count_copies((value.key(), value.sequence())).await.unwrap_or(0) < 3 {
                if begin.elapsed() > most {
                    return false;
                }
                sleep(Duration::from_millis(100)).await;
            }
        }
        true
    }

    /// How many of the values can be read, and are what was stored.
    pub(crate) async fn count_readable(&self, values: &[Value]) -> usize {
        let client = self.client.clone();
        let read = concurrently(values.to_vec(), 4 * AT_A_TIME, move |value| {
            let client = client.clone();
            async move {
                let read = match client.block(value.key()).await {
                    // On a busy machine, the nodes that have it may have been taken for dead.
                    Err(Error::NotFound(_)) => client.block(value.key()).await,
                    read => read,
                };
                read.is_ok_and(|read| read.bytes() == value.bytes())
            }
        });
        read.await.into_iter().filter(|is_right| *is_right).count()
    }
}

/// So many blocks, each another one.
pub(crate) fn blocks(count: usize) -> Vec<Value> {
    let bytes = |number: usize| number.to_be_bytes().repeat(128);
    (0..count).map(|number| Value::block(bytes(number)).expect("it has 1,024 bytes")).collect()
}
