//! Many clients of one file.

use crate::threads::{Folder, random, serve};
use ring::digest::{SHA256, digest};
use sfs::client::{self, Client, Options};
use sfs::coloring::Coloring;
use sfs::keys::Identity;
use sfs::settings::Settings;
use std::fs;

/// The whole size that is read: 8 clients of 25 MiB each.
const BYTES: usize = 25 << 20;

async fn eight_clients_read_the_same(coloring: Coloring) {
    let folder = Folder::new();
    let mut random = random(1);
    let bytes: Vec<u8> = (0..BYTES / 8).flat_map(|_| random().to_le_bytes()).collect();
    fs::write(folder.0.join("file"), &bytes).unwrap();
    let hash = digest(&SHA256, &bytes);
    let hash: String = hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    let target = serve(&folder, coloring, Settings::default()).await;
    let clients = (0..8).map(|_| {
        let target = target.clone();
        colored::spawn_unique(async move {
            let client = Client::new(&target, &Identity::generate(), &Options::default());
            let hash = client::hash(&client, "/file").await.unwrap();
            client.close().await.unwrap();
            hash
        })
    });
    for client in clients.collect::<Vec<_>>() {
        assert_eq!(client.await.unwrap(), hash);
    }
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
