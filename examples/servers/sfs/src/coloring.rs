//! The server, in one of three colorings.

use crate::door::Door;
use crate::nfs::Nfs;
use crate::recall::Recall;
use crate::replies::Replies;
use crate::root::Root;
use crate::services;
use crate::settings::Settings;
use crate::tree::Tree;
use crate::{cipher, files, serial};
use colored::ColorCell;
use colored::net::TcpListener;
use rpc::Services;
use std::io;
use std::str::FromStr;
use std::sync::Arc;
use std::time::SystemTime;

/// What may overlap in a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coloring {
    /// Nothing: the server is as one without colors.
    Serial,
    /// The ciphers of different connections.
    Cipher,
    /// Those, and the work on different files.
    #[default]
    Files,
}

impl FromStr for Coloring {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "serial" => Ok(Coloring::Serial),
            "cipher" => Ok(Coloring::Cipher),
            "files" => Ok(Coloring::Files),
            _ => Err(format!("the coloring is serial, cipher or files, and not {text:?}")),
        }
    }
}

/// A server of a directory.
#[derive(Debug)]
pub struct Server {
    nfs: Arc<Nfs>,
    services: Services,
    coloring: Coloring,
}

impl Server {
    /// A server of the files beneath a root.
    ///
    /// # Errors
    ///
    /// The system's, if the root cannot be looked at.
    pub async fn new(root: Root, settings: &Settings, coloring: Coloring) -> io::Result<Server> {
        let (palette, color_of): (_, services::ColorOf) = match coloring {
            Coloring::Serial => (serial::palette(), serial::color_of),
            Coloring::Cipher => (cipher::palette(), cipher::color_of),
            Coloring::Files => (files::palette(), files::color_of),
        };
        let recall = Recall::new(&palette, settings);
        let gives_files = root.has_inodes() && rustix::process::geteuid().is_root();
        let tree = Tree::new(root, &palette, verifier(), settings.mistake).await?;
        let replies = ColorCell::new(palette.names, Replies::default());
        let nfs = Arc::new(Nfs { tree, recall, replies, gives_files });
        let services = services::of(&nfs, color_of);
        Ok(Server { nfs, services, coloring })
    }

    /// Serves the clients that come to a listener. Does not return.
    pub async fn serve(&self, listener: TcpListener, door: Door) {
        let services = self.services.clone();
        match self.coloring {
            Coloring::Serial => serial::run(listener, door, services).await,
            Coloring::Cipher => cipher::run(listener, door, services).await,
            Coloring::Files => files::run(listener, door, services).await,
        }
    }

    /// How many leases are out, with some that have expired.
    pub async fn leases(&self) -> usize {
        self.nfs.recall.len().await
    }
}

/// Another number for each run: what was not synced in the run before may be lost.
fn verifier() -> [u8; 8] {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    (since.as_nanos() as u64).to_be_bytes()
}
