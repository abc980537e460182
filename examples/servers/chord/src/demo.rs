//! The demonstration: 10 processes with 10 nodes each, and what is left after kill -9 of three of them.

mod files;
mod fleet;
mod lookups;

use self::files::Directory;
use self::fleet::Fleet;
use crate::client::Client;
use crate::command::{AHEAD, Failure};
use crate::concurrently::concurrently;
use crate::id::Id;
use crate::tree::{Published, Tree, publish};
use crate::value::Signer;
use colored::select;
use colored::signal::ctrl_c;
use colored::time::{Duration, Instant, sleep};
use std::collections::BTreeSet;

const PROCESSES: usize = 10;
const NODES: u16 = 10;

/// Until the ring is right, and until all values have three copies.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs the demonstration, and prints what it sees. Ctrl-C ends it, and removes its files.
pub(crate) async fn run() -> Result<(), Failure> {
    select! {
        done = show() => done,
        pressed = ctrl_c() => Ok(pressed?),
    }
}

async fn show() -> Result<(), Failure> {
    println!(
        "{PROCESSES} processes with {NODES} nodes each, on loopback. Ctrl-C stops all of them."
    );
    let begin = Instant::now();
    let mut fleet = Fleet::start(PROCESSES, NODES).await?;
    fleet.settle(PATIENCE).await?;
    println!("each node has its true neighbours after {}\n", seconds(begin));
    lookups::run(&fleet).await?;

    let source = Directory::with_files()?;
    let published = publish_files(&fleet, &source).await?;
    fleet.kill(&[2, 5]).await?;
    println!("kill -9 of 2 processes at once");
    wait_for_copies(&fleet, &published).await?;
    fleet.kill(&[0]).await?;
    println!("kill -9 of a third one: the ring began there");
    wait_for_copies(&fleet, &published).await?;
    for ahead in [1, AHEAD] {
        get_files(&fleet.client, &published, &source, ahead).await?;
    }
    println!("all processes end");
    Ok(())
}

async fn publish_files(fleet: &Fleet, source: &Directory) -> Result<Published, Failure> {
    let begin = Instant::now();
    let signer = Signer::from_secret(&Signer::new_secret());
    let published = publish(&fleet.client, &signer, source.path()).await?;
    let (bytes, blocks) = (published.bytes, published.blocks.len());
    println!(
        "published {bytes} bytes in {blocks} blocks, at 3 processes each, in {}",
        seconds(begin)
    );
    println!("  the key is {}", published.key);
    Ok(published)
}

async fn wait_for_copies(fleet: &Fleet, published: &Published) -> Result<(), Failure> {
    let begin = Instant::now();
    let blocks: BTreeSet<Id> = published.blocks.iter().copied().collect();
    let blocks = blocks.into_iter().map(|key| (key, 0));
    let values: Vec<_> = blocks.chain([(published.key, published.sequence)]).collect();
    let client = fleet.client.clone();
    let results = concurrently(values, 8, move |value| {
        let client = client.clone();
        async move {
            while client.count_copies(value).await.unwrap_or(0) < 3 {
                if begin.elapsed() > PATIENCE {
                    return false;
                }
                sleep(Duration::from_millis(100)).await;
            }
            true
        }
    });
    if results.await.contains(&false) {
        return Err(Failure::Broken("a value has not three copies again".to_owned()));
    }
    println!("  each value has three copies again after {}", seconds(begin));
    Ok(())
}

async fn get_files(
    client: &Client,
    published: &Published,
    source: &Directory,
    ahead: usize,
) -> Result<(), Failure> {
    let (begin, target) = (Instant::now(), Directory::new(&format!("ahead-{ahead}"))?);
    let copy = target.path().join("copy");
    let tree = Tree::open(client, published.key, ahead).await?;
    tree.save("", &copy).await?;
    let time = seconds(begin);
    if files::digest(&copy)? != files::digest(source.path())? {
        return Err(Failure::Broken("what is read is what was published".to_owned()));
    }
    println!("get, {ahead} blocks at a time: {time}, and the hashes of all files are equal");
    Ok(())
}

fn seconds(begin: Instant) -> String {
    format!("{:.2} s", begin.elapsed().as_secs_f64())
}
