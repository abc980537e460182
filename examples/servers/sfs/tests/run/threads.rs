//! Histories of four clients on real threads and sockets.

use crate::history::History;
use crate::register::{PATH, Script};
use colored::net::TcpListener;
use colored::time::Duration;
use sfs::client::{Options, Target};
use sfs::coloring::{Coloring, Server};
use sfs::door::Door;
use sfs::keys::Identity;
use sfs::root::Root;
use sfs::settings::{Mistake, Settings};
use sfs::tls::Clients;
use sfs::users::UserMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A directory for a test, removed at its end.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Folder {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        // Ordering: the numbers are different, whatever their order.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("sfs-run-{}-{number}", std::process::id()));
        // An earlier process of this number may have been killed, and have left it behind.
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Serves a folder by TLS, in this process. Returns the name of its root.
pub(crate) async fn serve(folder: &Folder, coloring: Coloring, settings: Settings) -> Target {
    let identity = Identity::generate();
    let root = Root::open(&folder.0).unwrap();
    let server = Arc::new(Server::new(root, &settings, coloring).await.unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let door = Door::tls(&identity, Clients::default().and_others(UserMap::same()));
    colored::spawn(async move { server.serve(listener, door).await });
    Target { address, key: Some(identity.hash()), path: String::from("/") }
}

/// A random number generator (xorshift).
pub(crate) fn random(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state >> 8
    }
}

async fn history(seed: u64, mistake: Option<Mistake>) -> History {
    let folder = Folder::new();
    fs::write(folder.0.join(&PATH[1..]), [0; 8]).unwrap();
    let settings = Settings { lease: Duration::from_millis(200), mistake };
    let target = serve(&folder, Coloring::Files, settings).await;
    let history = History::default();
    let clients = (0..4).map(|number| {
        let script = Script {
            target: target.clone(),
            identity: Identity::generate(),
            options: Options { mistake, ..Options::default() },
            history: history.clone(),
            steps: 25,
            pause: Duration::from_millis(10),
        };
        colored::spawn_unique(script.run(random(seed * 4 + number)))
    });
    for client in clients.collect::<Vec<_>>() {
        client.await.unwrap();
    }
    history
}

#[colored::test(workers = 4)]
async fn no_read_behind_a_write_has_older_data() {
    for seed in 0..10 {
        let history = history(seed, None).await;
        assert_eq!(history.len(), 100, "all calls succeed");
        assert!(history.is_linearizable(), "seed {seed}: {history:?}");
    }
}

#[colored::test(workers = 4)]
async fn forgotten_call_backs_are_found() {
    for seed in 0..10 {
        if !history(seed, Some(Mistake::ForgetsTheCallBacks)).await.is_linearizable() {
            return;
        }
    }
    panic!("ten histories show nothing");
}
