//! The processes of the demonstration: children of it.

use crate::census::Census;
use crate::client::Client;
use crate::command::{ANY_PORT, Failure};
use crate::contact::Contact;
use crate::settings::Settings;
use colored::io::{AsyncBufReadExt, BufReader};
use colored::process::{Child, Command, Stdio};
use colored::time::{Duration, Instant, sleep, timeout};
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddrV4;

/// Until a child has joined with all of its nodes. A machine may be busy.
const MAX_START: Duration = Duration::from_secs(60);

/// The processes that run. They are killed when this is dropped, and leave by themselves if this process is killed.
pub(super) struct Fleet {
    pub(super) client: Client,
    /// By their numbers.
    running: BTreeMap<usize, (Child, SocketAddrV4)>,
    nodes: u16,
}

impl Fleet {
    pub(super) async fn start(processes: usize, nodes: u16) -> Result<Self, Failure> {
        let mut running = BTreeMap::new();
        let mut seeds = Vec::new();
        for number in 0..processes {
            let (child, address) = timeout(MAX_START, start_child(nodes, &seeds))
                .await
                .map_err(|_| Failure::Broken("a process joins within 60 s".to_owned()))??;
            running.insert(number, (child, address));
            seeds.push(address);
        }
        let client = Client::bind(ANY_PORT, &seeds, Settings::default()).await?;
        Ok(Self { client, running, nodes })
    }

    pub(super) fn addresses(&self) -> Vec<SocketAddrV4> {
        self.running.values().map(|(_, address)| *address).collect()
    }

    pub(super) fn census(&self) -> Census {
        let numbers = 0..self.nodes;
        let of = |process| numbers.clone().map(move |number| Contact::new(process, number));
        Census::new(self.addresses().into_iter().flat_map(of))
    }

    /// Waits until all nodes have the neighbours that they should have.
    pub(super) async fn settle(&self, most: Duration) -> Result<(), Failure> {
        let (begin, census) = (Instant::now(), self.census());
        loop {
            let unsettled = census.unsettled(&self.client).await;
            if unsettled.is_empty() {
                return Ok(());
            }
            if begin.elapsed() > most {
                let nodes = unsettled.len();
                let promise = format!("the ring settles: {nodes} nodes have other neighbours");
                return Err(Failure::Broken(promise));
            }
            sleep(Duration::from_millis(100)).await;
        }
    }

    /// Kills the processes of these numbers, all before it waits for the first one.
    pub(super) async fn kill(&mut self, numbers: &[usize]) -> Result<(), Failure> {
        let mut killed = Vec::new();
        for number in numbers {
            if let Some((mut child, _)) = self.running.remove(number) {
                child.start_kill()?;
                killed.push(child);
            }
        }
        for mut child in killed {
            child.wait().await?;
        }
        Ok(())
    }
}

async fn start_child(nodes: u16, seeds: &[SocketAddrV4]) -> Result<(Child, SocketAddrV4), Failure> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["node", "--nodes", &nodes.to_string()]);
    for seed in seeds {
        command.args(["--by", &seed.to_string()]);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn()?;
    let output = child.stdout.take().ok_or_else(|| io::Error::other("a child has no output"))?;
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line).await?;
    let address = line.trim().parse();
    let address =
        address.map_err(|_| Failure::Broken("a process prints its address".to_owned()))?;
    Ok((child, address))
}
