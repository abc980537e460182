//! Look-ups by a client whose packets get lost: how many nodes they ask, and how long they take.

use super::fleet::Fleet;
use crate::census::Census;
use crate::client::Client;
use crate::command::{ANY_PORT, Failure};
use crate::concurrently::concurrently;
use crate::id::Id;
use crate::settings::Settings;
use colored::time::{Duration, Instant};
use rpc::relay::{Loss, Relay};
use std::collections::BTreeMap;
use std::net::{SocketAddr, SocketAddrV4};
use std::sync::Arc;

const LOOK_UPS: usize = 2000;

/// How many percent of the packets get lost, each way.
const LOSSES: [u8; 3] = [0, 5, 10];

/// Look-ups at a time.
const AT_A_TIME: usize = 8;

/// Prints a row for each loss. Each look-up must find the true owner.
pub(super) async fn run(fleet: &Fleet) -> Result<(), Failure> {
    let census = Arc::new(fleet.census());
    let nodes = census.nodes().len();
    let theory = (nodes as f64).log2() / 2.0;
    println!(
        "{LOOK_UPS} look-ups in {nodes} nodes, each by way of another node; packets get lost each way"
    );
    println!("loss   right          asked nodes (theory {theory:.1})     p50       p99");
    for percent in LOSSES {
        let (client, _relays) = lossy_client(fleet, percent).await?;
        let seen = look_up_all(client, Arc::clone(&census)).await;
        let right = seen.len();
        let asked =
            seen.iter().map(|(hops, _)| f64::from(*hops)).sum::<f64>() / right.max(1) as f64;
        let mut times: Vec<_> = seen.into_iter().map(|(_, time)| time).collect();
        times.sort();
        let at = |percent: usize| {
            let time = times.get(right * percent / 100).copied().unwrap_or_default();
            time.as_secs_f64() * 1000.0
        };
        let (p50, p99) = (at(50), at(99));
        println!("{percent:3} %  {right} of {LOOK_UPS}   {asked:.2}   {p50:22.2} ms {p99:6.1} ms");
        if right < LOOK_UPS {
            return Err(Failure::Broken("each key resolves to its true owner".to_owned()));
        }
    }
    println!();
    Ok(())
}

/// A client that talks to each process by way of a relay.
async fn lossy_client(fleet: &Fleet, percent: u8) -> Result<(Client, Vec<Relay>), Failure> {
    let drops = f64::from(percent) / 100.0;
    let loss = Loss { drops, duplicates: 0.0, reorders: 0.0, ..Loss::default() };
    let (mut detours, mut relays) = (BTreeMap::new(), Vec::new());
    for (seed, address) in (0..).zip(fleet.addresses()) {
        let relay = Relay::start("127.0.0.1:0", address.into(), loss.clone(), seed).await?;
        if let SocketAddr::V4(front) = relay.addr() {
            detours.insert(address, front);
        }
        relays.push(relay);
    }
    let client = Client::bind(ANY_PORT, &fleet.addresses(), Settings::default()).await?;
    let detour = move |address: SocketAddrV4| detours.get(&address).copied().unwrap_or(address);
    Ok((client.with_detour(detour), relays))
}

/// For each look-up that finds the true owner, how many nodes it asked, and how long it took.
async fn look_up_all(client: Client, census: Arc<Census>) -> Vec<(u32, Duration)> {
    let seen = concurrently(0..LOOK_UPS, AT_A_TIME, move |number| {
        let (client, census) = (client.clone(), Arc::clone(&census));
        async move {
            let key = Id::hash(&[b"look-up", &number.to_be_bytes()]);
            let by = census.nodes()[number % census.nodes().len()];
            let begin = Instant::now();
            let found = client.look_up_by(by, key).await.ok()?;
            let is_right = found.owner() == census.owner(key);
            is_right.then(|| (found.hops, begin.elapsed()))
        }
    });
    seen.await.into_iter().flatten().collect()
}
