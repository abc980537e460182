//! A wire that flips one bit.

use crate::threads::{Folder, serve};
use colored::io::{AsyncReadExt, AsyncWriteExt};
use colored::net::{TcpListener, TcpStream};
use colored::time::Duration;
use sfs::client::{self, Client, Options, Target};
use sfs::coloring::{Coloring, Server};
use sfs::door::Door;
use sfs::keys::Identity;
use sfs::root::Root;
use sfs::settings::Settings;
use sfs::users::UserMap;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Relays connections, and flips a bit of the answers behind so many bytes, in the first connection only. Returns its
/// address, and counts the connections.
async fn relay(to: String, flipped: usize) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    colored::spawn(async move {
        loop {
            let (client, _) = listener.accept().await.unwrap();
            let server = TcpStream::connect(&to).await.unwrap();
            // Ordering: a count.
            let is_first = counted.fetch_add(1, Ordering::Relaxed) == 0;
            let (mut from_client, mut to_client) = client.into_split();
            let (mut from_server, mut to_server) = server.into_split();
            colored::spawn(async move {
                let _ = colored::io::copy(&mut from_client, &mut to_server).await;
            });
            colored::spawn(async move {
                let (mut buffer, mut passed) = (vec![0; 4096], 0);
                loop {
                    let Ok(read @ 1..) = from_server.read(&mut buffer).await else { return };
                    if is_first && (passed..passed + read).contains(&flipped) {
                        buffer[flipped - passed] ^= 1;
                    }
                    passed += read;
                    if to_client.write_all(&buffer[..read]).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    (address, connections)
}

/// Behind the handshake, in the bytes of the file.
const FLIPPED: usize = 100_000;

fn folder() -> Folder {
    let folder = Folder::new();
    fs::write(folder.0.join("file"), vec![7; 300_000]).unwrap();
    folder
}

async fn read(target: &Target) -> Vec<u8> {
    let options = Options { patience: Duration::from_secs(20), ..Options::default() };
    let client = Client::new(target, &Identity::generate(), &options);
    let mut bytes = Vec::new();
    client::cat(&client, "/file", &mut bytes).await.unwrap();
    bytes
}

#[colored::test]
async fn a_flipped_bit_ends_the_connection() {
    let folder = folder();
    let mut target = serve(&folder, Coloring::Files, Settings::default()).await;
    let (address, connections) = relay(target.address, FLIPPED).await;
    target.address = address;
    assert!(read(&target).await == [7; 300_000], "the client reads on another connection");
    // Ordering: a count.
    assert_eq!(connections.load(Ordering::Relaxed), 2);
}

#[colored::test]
async fn without_tls_the_bit_would_pass() {
    let folder = folder();
    let root = Root::open(&folder.0).unwrap();
    let server = Server::new(root, &Settings::default(), Coloring::Files).await.unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, connections) = relay(listener.local_addr().unwrap().to_string(), FLIPPED).await;
    colored::spawn(async move { server.serve(listener, Door::plain(UserMap::same())).await });
    let target = Target { address, key: None, path: String::from("/") };
    assert!(read(&target).await != [7; 300_000], "the relay flips a bit of the file");
    // Ordering: a count.
    assert_eq!(connections.load(Ordering::Relaxed), 1);
}

#[colored::test]
async fn another_key_is_not_the_server() {
    let folder = folder();
    let mut target = serve(&folder, Coloring::Files, Settings::default()).await;
    target.key = Some(Identity::generate().hash());
    let options = Options { patience: Duration::from_secs(1), ..Options::default() };
    let client = Client::new(&target, &Identity::generate(), &options);
    assert!(client.root().await.is_err());
}
