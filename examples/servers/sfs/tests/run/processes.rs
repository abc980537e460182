//! Clients and servers that are killed.

use crate::threads::Folder;
use colored::io::{AsyncBufReadExt, BufReader};
use colored::process::{Child, Command, Stdio};
use colored::time::{Duration, Instant, sleep};
use nfs3_types::nfs3::stable_how;
use sfs::client::{self, Client, Options, Target};
use sfs::keys::Identity;
use std::fs;

const LEASE: Duration = Duration::from_secs(2);

const ATTEMPTS: usize = 3;

/// Starts a server of a folder at an address, with the key in `key`. Returns its name.
async fn start(folder: &Folder, address: &str) -> (Child, Target) {
    let served = folder.0.join("served");
    fs::create_dir_all(&served).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_sfs"));
    command.arg("serve").arg(&served).args(["--tls", address, "--lease", "2", "--key"]);
    command.arg(folder.0.join("key.pem")).stdout(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let line = lines.next_line().await.unwrap().expect("the server prints its name");
    let name = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    (child, name)
}

fn client(target: &Target) -> Client {
    Client::new(target, &Identity::generate(), &Options::default())
}

/// Has a process hold a lease, kills it, and returns how long a writer then waits.
async fn wait_for_killed_holder() -> Duration {
    let folder = Folder::new();
    let (_server, target) = start(&folder, "127.0.0.1:0").await;
    let writer = client(&target);
    client::copy(&writer, b"old", "/file").await.unwrap();
    // A process that reads the file again and again, and so has a lease of it when it is killed.
    let mut command = Command::new(env!("CARGO_BIN_EXE_sfs"));
    let path = format!("{target}file");
    command.args(["watch", &path]).stdout(Stdio::piped()).kill_on_drop(true);
    let mut holder = command.spawn().unwrap();
    let mut lines = BufReader::new(holder.stdout.take().unwrap()).lines();
    assert_eq!(lines.next_line().await.unwrap().as_deref(), Some("3 bytes"));
    holder.kill().await.unwrap();
    let file = writer.resolve("/file").await.unwrap();
    let begin = Instant::now();
    writer.write(&file, 0, b"new", stable_how::FILE_SYNC).await.unwrap();
    begin.elapsed()
}

#[colored::test]
async fn a_killed_holder_delays_a_writer_by_one_lease_at_most() {
    // On a machine that is busy otherwise, the write itself may take long, or the lease may be over before it begins.
    let mut seen = Vec::new();
    for _ in 0..ATTEMPTS {
        let waited = wait_for_killed_holder().await;
        if waited > LEASE / 4 && waited < LEASE + Duration::from_secs(1) {
            return;
        }
        seen.push(waited);
    }
    panic!("a lease is {LEASE:?}, and the writer waits {seen:?}");
}

#[colored::test]
async fn clients_of_a_killed_server_go_on_with_synced_data() {
    let folder = Folder::new();
    let (mut server, target) = start(&folder, "127.0.0.1:0").await;
    let client = client(&target);
    client::copy(&client, b"synced", "/file").await.unwrap();
    let file = client.resolve("/file").await.unwrap();
    server.kill().await.unwrap();
    // A request that begins while there is no server, with a handle of the run before.
    let writing = {
        let (folder, address) = (&folder, &target.address);
        async move {
            sleep(Duration::from_millis(300)).await;
            start(folder, address).await
        }
    };
    let begin = Instant::now();
    let write = client.write(&file, 6, b", more", stable_how::FILE_SYNC);
    let (written, (_server, same)) = colored::join!(write, writing);
    written.unwrap();
    assert_eq!(same, target, "the key is the same");
    assert!(begin.elapsed() > LEASE, "the server waits one lease before the first change");
    assert_eq!(client.read(&file, 0, 100).await.unwrap(), b"synced, more");
    client.close().await.unwrap();
}
