//! Many clients of one file.

use crate::threads::{Folder, random, serve};
use ring::digest::{SHA256, digest};
use sfs::client::{self, Client, Options};
use sfs::coloring::Coloring;
use sfs::keys::Identity;
use sfs::settings::{Mistake, Settings};
use std::fs;

/// The whole size that is read: 8 clients of 25 MiB each.
const BYTES: usize = 25 << 20;

/// Has eight clients read a file. Returns its hash, and those of what they have read.
async fn read_by_eight(coloring: Coloring, mistake: Option<Mistake>) -> (String, Vec<String>) {
    let folder = Folder::new();
    let mut random = random(1);
    let bytes: Vec<u8> = (0..BYTES / 8).flat_map(|_| random().to_le_bytes()).collect();
    fs::write(folder.0.join("file"), &bytes).unwrap();
    let hash = digest(&SHA256, &bytes);
    let hash: String = hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    let settings = Settings { mistake, ..Settings::default() };
    let target = serve(&folder, coloring, settings).await;
    let clients = (0..8).map(|_| {
        let target = target.clone();
        colored::spawn_unique(async move {
            let client = Client::new(&target, &Identity::generate(), &Options::default());
            let hash = client::hash(&client, "/file").await.unwrap();
            client.close().await.unwrap();
            hash
        })
    });
    let mut read = Vec::new();
    for client in clients.collect::<Vec<_>>() {
        read.push(client.await.unwrap());
    }
    (hash, read)
}

async fn eight_clients_read_the_same(coloring: Coloring) {
    let (hash, read) = read_by_eight(coloring, None).await;
    assert_eq!(read, vec![hash; 8]);
}

#[colored::test(workers = 2)]
async fn eight_clients_read_the_same_from_the_serial_server() {
    eight_clients_read_the_same(Coloring::Serial).await;
}

#[colored::test(workers = 2)]
async fn eight_clients_read_the_same_from_the_server_with_colored_ciphers() {
    eight_clients_read_the_same(Coloring::Cipher).await;
}

#[colored::test(workers = 2)]
async fn eight_clients_read_the_same_from_the_server_with_colored_files() {
    eight_clients_read_the_same(Coloring::Files).await;
}

#[colored::test(workers = 2)]
async fn blocks_that_are_mixed_up_are_found() {
    let (hash, read) = read_by_eight(Coloring::Files, Some(Mistake::MixesUpBlocks)).await;
    assert!(!read.contains(&hash));
}
