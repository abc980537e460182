//! Our client: two caches, and a change that calls one of them back.

use super::{LEASE, Outcome, Stage, hash};
use crate::client::{self, Client, Options, Target};
use crate::keys::Identity;
use colored::time::Instant;

pub(super) async fn run(stage: &Stage) -> Outcome {
    println!("two clients with caches, by TLS 1.3, with a key each:");
    let target = Target {
        address: stage.tls.to_string(),
        key: Some(stage.server.hash()),
        path: String::from("/"),
    };
    let [reader, writer] =
        [0, 1].map(|_| Client::new(&target, &Identity::generate(), &Options::default()));
    client::copy(&writer, &stage.bytes, "/pub/by-sfs").await?;
    let mut bytes = Vec::new();
    client::cat(&reader, "/pub/by-sfs", &mut bytes).await?;
    stage.compare("sfs cat", &bytes)?;
    let first = reader.counts().await;
    let begin = Instant::now();
    client::hash(&reader, "/pub/by-sfs").await?;
    let took = begin.elapsed();
    let second = reader.counts().await;
    println!("  sfs hash again: {} answers of the cache, {:?}", second.hits - first.hits, took);
    let begin = Instant::now();
    client::copy(&writer, b"changed", "/pub/by-sfs").await?;
    println!(
        "  a change by the other client: {:?} with the call back; a lease is {LEASE:?}",
        begin.elapsed()
    );
    let mut bytes = Vec::new();
    client::cat(&reader, "/pub/by-sfs", &mut bytes).await?;
    let recalls = reader.counts().await.recalls;
    println!(
        "  the first client was called back {recalls} times, and reads {:?}",
        String::from_utf8_lossy(&bytes)
    );
    if hash(&bytes) != hash(b"changed") {
        return Err("the first client reads old data".into());
    }
    for entry in client::list(&reader, "/pub").await?.iter() {
        println!("  sfs ls: {}", String::from_utf8_lossy(&entry.name));
    }
    reader.close().await?;
    writer.close().await?;
    Ok(())
}
