//! A ring of processes in one runtime, a socket each: those of the system, or simulated ones.

use chord::{Census, Client, Contact, Error, Id, Process, Settings, Value, concurrently};
use colored::time::{Duration, Instant, sleep};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::Arc;

const ANY_PORT: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);

/// Operations at a time.
const AT_A_TIME: usize = 8;

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

    fn census(&self) -> Census {
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

    /// Eight nodes join, and eight leave, half of them without a word.
    pub(crate) async fn change(&mut self) {
        for (number, process) in self.processes.iter().enumerate().take(8) {
            process.join(10).await.expect("the ring is there");
            match number % 2 {
                0 => process.leave(3).await,
                _ => process.stop(3).await,
            }
            let (joined, left) = (process.contact(10), process.contact(3));
            self.members.retain(|member| *member != left);
            self.members.push(joined);
        }
    }
}

/// So many blocks, each another one.
pub(crate) fn blocks(count: usize) -> Vec<Value> {
    let bytes = |number: usize| number.to_be_bytes().repeat(128);
    (0..count).map(|number| Value::block(bytes(number)).expect("it has 1,024 bytes")).collect()
}
