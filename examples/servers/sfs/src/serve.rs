//! A server on its addresses, from its options on.

use crate::coloring::{Coloring, Server};
use crate::door::Door;
use crate::keys::{Identity, KeyHash};
use crate::root::Root;
use crate::settings::Settings;
use crate::tls::{self, Clients};
use crate::users::UserMap;
use colored::net::TcpListener;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_rustls::rustls::crypto::CryptoProvider;

/// Where a server listens.
#[derive(Clone, Debug)]
pub enum Address {
    /// By TLS, for known clients.
    Tls(String),
    /// Without TLS, for everybody.
    Plain(String),
}

/// Options of a server.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Where it listens.
    pub addresses: Vec<Address>,
    /// The file with its key; a new key for this run if there is none.
    pub key: Option<PathBuf>,
    /// The file with the keys and users of the clients; all clients if there is none.
    pub clients: Option<PathBuf>,
    /// Leases, and mistakes.
    pub settings: Settings,
    /// What may overlap.
    pub coloring: Coloring,
    /// The cryptography of TLS; that of `ring` if there is none.
    pub provider: Option<Arc<CryptoProvider>>,
}

/// Serves a directory until the process ends. Prints each address.
///
/// # Errors
///
/// The system's, and `InvalidData` of the files of keys.
pub async fn run(directory: impl AsRef<Path>, options: &Options) -> io::Result<()> {
    let identity = match &options.key {
        Some(path) => Identity::load_or_make(path)?,
        None => Identity::generate(),
    };
    let clients = match &options.clients {
        Some(path) => read_clients(&std::fs::read_to_string(path)?)?,
        None => Clients::default().and_others(UserMap::same()),
    };
    let root = Root::open(directory.as_ref())?;
    let settings = &options.settings;
    let server = Arc::new(Server::new(root, settings, options.coloring).await?);
    let mut listeners = Vec::new();
    for address in &options.addresses {
        let (listener, door) = match address {
            Address::Tls(address) => {
                let provider = options.provider.clone().unwrap_or_else(tls::provider);
                let door = Door::tls_by(provider, &identity, clients.clone());
                (TcpListener::bind(address).await?, door)
            }
            Address::Plain(address) => {
                (TcpListener::bind(address).await?, Door::plain(UserMap::same()))
            }
        };
        let at = listener.local_addr()?;
        match address {
            Address::Tls(_) => say(&format!("serves {at}:{}/ by TLS", identity.hash())),
            Address::Plain(_) => say(&format!("serves {at}/ without TLS")),
        }
        listeners.push((listener, door));
    }
    say(&format!("first change in {:?}; Ctrl-C stops it", settings.lease));
    let serving = listeners.into_iter().map(|(listener, door)| {
        let server = Arc::clone(&server);
        colored::spawn(async move { server.serve(listener, door).await })
    });
    for listener in serving.collect::<Vec<_>>() {
        listener.await.map_err(io::Error::other)?;
    }
    Ok(())
}

/// Prints a line. The server goes on if nobody reads it.
fn say(line: &str) {
    let _ = writeln!(io::stdout(), "{line}");
}

/// The clients in the lines of a file: the hash of a key, and users.
fn read_clients(text: &str) -> io::Result<Clients> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    let lines = lines.filter(|line| !line.trim().is_empty());
    let clients: Result<Vec<_>, String> = lines.map(client).collect();
    let invalid = |text| io::Error::new(io::ErrorKind::InvalidData, text);
    Ok(Clients::known(clients.map_err(invalid)?))
}

fn client(line: &str) -> Result<(KeyHash, UserMap), String> {
    let mut words = line.split_whitespace();
    let key = words.next().unwrap_or_default().parse()?;
    let users: Option<Vec<(u32, u32)>> = words
        .map(|pair| {
            let (theirs, ours) = pair.split_once('=')?;
            Some((theirs.parse().ok()?, ours.parse().ok()?))
        })
        .collect();
    let users = users.ok_or_else(|| format!("{line:?} is not HASH USER=USER .."))?;
    Ok((key, UserMap::of(users)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_a_client_and_its_users() {
        let hash = "ab".repeat(32);
        let clients = read_clients(&format!("# all\n\n{hash} 0=1000 5=5 # me\n")).unwrap();
        let users = clients.users(hash.parse().unwrap()).unwrap();
        assert_eq!((users.inward(0), users.inward(5), users.inward(1)), (1000, 5, 65534));
        assert!(clients.users("cd".repeat(32).parse().unwrap()).is_none());
        for bad in ["xyz 0=0", &format!("{hash} 0"), &format!("{hash} a=b")] {
            assert!(read_clients(bad).is_err(), "{bad}");
        }
    }
}
