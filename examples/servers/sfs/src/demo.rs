//! The demonstration: the server under clients that others have written, and under our own.

mod caches;
mod foreign;
mod tunnel;

use crate::coloring::{Coloring, Server};
use crate::door::Door;
use crate::keys::Identity;
use crate::root::Root;
use crate::settings::Settings;
use crate::tls::Clients;
use crate::users::UserMap;
use colored::net::TcpListener;
use colored::time::Duration;
use ring::digest::{SHA256, digest};
use std::error::Error;
use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// The bytes of the file that is copied. Enough for many requests.
const BYTES: usize = 8 << 20;

/// The leases of the demonstration.
const LEASE: Duration = Duration::from_secs(2);

/// What the parts of the demonstration share.
struct Stage {
    folder: Folder,
    plain: SocketAddr,
    tls: SocketAddr,
    server: Identity,
    /// A file of `BYTES` bytes outside of the served directory.
    file: PathBuf,
    bytes: Vec<u8>,
}

/// A directory that is removed at the end.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Serves a directory, copies and reads files by libnfs plain and through stunnel where Debian's packages are installed, and by the
/// client with a cache, and compares hashes. Takes some 10 seconds, and prints what it does.
///
/// # Errors
///
/// If two hashes differ, and the system's.
pub async fn run() -> Outcome {
    println!(
        "sfs: an encrypting file server with leases. The demonstration ends by itself in some 10 s; Ctrl-C stops it."
    );
    let stage = Stage::set().await?;
    println!("serves {}:", stage.folder.0.join("served").display());
    println!("  {}/ without TLS, {}:{}/ by TLS 1.3", stage.plain, stage.tls, stage.server.hash());
    println!("  a new server waits one lease, {LEASE:?}, before the first change\n");
    foreign::run(&stage).await?;
    tunnel::run(&stage).await?;
    caches::run(&stage).await?;
    println!("\nall hashes are equal");
    Ok(())
}

impl Stage {
    async fn set() -> Outcome<Stage> {
        let path = std::env::temp_dir().join(format!("sfs-demo-{}", std::process::id()));
        let folder = Folder(path);
        let served = folder.0.join("served");
        // libnfs 4 mounts the directory of a file, and fails if that is the root.
        fs::create_dir_all(served.join("pub"))?;
        let bytes: Vec<u8> = (0..BYTES as u64 / 8)
            .flat_map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes())
            .collect();
        let file = folder.0.join("file");
        fs::write(&file, &bytes)?;
        let identity = Identity::generate();
        let settings = Settings { lease: LEASE, ..Settings::default() };
        let server = Server::new(Root::open(&served)?, &settings, Coloring::Files).await?;
        let server = Arc::new(server);
        let everybody = Clients::default().and_others(UserMap::same());
        let plain = listen(&server, Door::plain(UserMap::same())).await?;
        let tls = listen(&server, Door::tls(&identity, everybody)).await?;
        Ok(Stage { folder, plain, tls, server: identity, file, bytes })
    }

    /// Compares bytes that came back with those that were sent.
    fn compare(&self, what: &str, bytes: &[u8]) -> Outcome {
        let (sent, came) = (hash(&self.bytes), hash(bytes));
        println!("  sha256 {}.. of {} bytes by {what}", &came[..16], bytes.len());
        match sent == came {
            true => Ok(()),
            false => {
                Err(format!("{what}: the hash of what was sent is {sent}, and not {came}").into())
            }
        }
    }
}

async fn listen(server: &Arc<Server>, door: Door) -> Outcome<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let server = Arc::clone(server);
    colored::spawn(async move { server.serve(listener, door).await });
    Ok(address)
}

fn hash(bytes: &[u8]) -> String {
    digest(&SHA256, bytes).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}
