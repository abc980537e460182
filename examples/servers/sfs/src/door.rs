//! How a connection becomes a stream of a known client: as it is, or by TLS.

use crate::keys::{Identity, KeyHash};
use crate::tls::{self, Clients};
use crate::users::UserMap;
use colored::io::{AsyncRead, AsyncWrite};
use colored::net::TcpStream;
use colored::time::{Duration, timeout};
use rpc::Connection;
use std::fmt;
use std::io;
use std::sync::Arc;
use tokio_rustls::rustls::crypto::CryptoProvider;
use tokio_rustls::{TlsAcceptor, client, server};

/// How long a handshake may take. A guess.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// A stream of bytes in both directions.
pub(crate) trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {
    /// The socket below.
    fn socket(&self) -> &TcpStream;
}

impl Duplex for TcpStream {
    fn socket(&self) -> &TcpStream {
        self
    }
}

impl Duplex for server::TlsStream<TcpStream> {
    fn socket(&self) -> &TcpStream {
        self.get_ref().0
    }
}

impl Duplex for client::TlsStream<TcpStream> {
    fn socket(&self) -> &TcpStream {
        self.get_ref().0
    }
}

/// RPC on a stream, which knows how far the bytes have come.
pub(crate) fn connection(stream: Box<dyn Duplex>) -> Connection<Box<dyn Duplex>> {
    Connection::over(stream).progress(|stream| stream.socket().progress().ok())
}

/// A connection that is open.
pub(crate) struct Visitor {
    pub(crate) stream: Box<dyn Duplex>,
    pub(crate) users: Arc<UserMap>,
    /// The key of the client; none without TLS.
    pub(crate) key: Option<KeyHash>,
}

/// Which clients come in, and how.
#[derive(Clone)]
pub struct Door(Kind);

#[derive(Clone)]
enum Kind {
    Plain(Arc<UserMap>),
    Tls(TlsAcceptor, Arc<Clients>),
}

impl Door {
    /// Everybody, without TLS: for a loopback address, behind a tunnel.
    pub fn plain(users: UserMap) -> Door {
        Door(Kind::Plain(Arc::new(users)))
    }

    /// These clients, by TLS 1.3: the server has this key.
    pub fn tls(identity: &Identity, clients: Clients) -> Door {
        Door::tls_by(tls::provider(), identity, clients)
    }

    /// As [`tls`](Self::tls), with this cryptography.
    ///
    /// # Panics
    ///
    /// If it has no cipher of TLS 1.3, or not the signatures of the key.
    pub fn tls_by(provider: Arc<CryptoProvider>, identity: &Identity, clients: Clients) -> Door {
        let clients = Arc::new(clients);
        Door(Kind::Tls(tls::acceptor(provider, identity, Arc::clone(&clients)), clients))
    }

    /// Takes a connection in, which may take ten seconds.
    pub(crate) async fn open(&self, stream: TcpStream) -> io::Result<Visitor> {
        stream.set_nodelay(true)?;
        match &self.0 {
            Kind::Plain(users) => {
                Ok(Visitor { stream: Box::new(stream), users: Arc::clone(users), key: None })
            }
            Kind::Tls(acceptor, clients) => {
                let stream = timeout(HANDSHAKE, acceptor.accept(stream)).await??;
                let refused = || io::Error::from(io::ErrorKind::PermissionDenied);
                let certificates = stream.get_ref().1.peer_certificates();
                let certificate = certificates.and_then(|all| all.first()).ok_or_else(refused)?;
                let key = KeyHash::of(certificate).map_err(io::Error::other)?;
                let users = clients.users(key).ok_or_else(refused)?;
                Ok(Visitor { stream: Box::new(stream), users, key: Some(key) })
            }
        }
    }
}

impl fmt::Debug for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Kind::Plain(_) => "plain",
            Kind::Tls(..) => "TLS",
        })
    }
}
