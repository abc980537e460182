//! [`UnixPeer`]: who is at the other end of a Unix socket.

use super::Listener;
use colored::net::unix::UCred;
use colored::net::{UnixListener, UnixStream};
use std::fmt;
use std::future::{Ready, ready};
use std::io;
use std::ops::Deref;
use std::os::unix::net::SocketAddr;
use std::task::{Context, Poll};

/// The peer of a connection over a Unix socket: its address, which is mostly unnamed, and its credentials, which tell the
/// user, the group and the process.
///
/// Handlers of axum take it as they take the address of a TCP client:
///
/// ```no_run
/// use axum::Router;
/// use axum::extract::ConnectInfo;
/// use axum::routing::get;
/// use colored::Color;
/// use colored_hyper::{Coloring, UnixPeer, serve_with, tower, with_extension};
///
/// # async fn example() -> std::io::Result<()> {
/// let listener = colored::net::UnixListener::bind("/run/app.sock")?;
/// let router: Router = Router::new()
///     .route("/", get(async |ConnectInfo(peer): ConnectInfo<UnixPeer>| match peer.cred() {
///         Some(cred) => format!("you are user {}", cred.uid()),
///         None => String::from("the system does not say who you are"),
///     }));
/// serve_with(listener, move |peer| with_extension(tower(router.clone()), ConnectInfo(peer)))
///     // The connections of a user never overlap.
///     .coloring(Coloring::Peer(|peer| Color::of(peer.cred().map(|cred| cred.uid()))))
///     .await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct UnixPeer {
    addr: SocketAddr,
    cred: Option<UCred>,
}

impl UnixPeer {
    /// The address, which is unnamed unless the client has bound its socket.
    #[must_use]
    pub fn addr(&self) -> &SocketAddr {
        &self.addr
    }

    /// The credentials of the client, for which the system vouches, as they were when it connected. `None` if the system
    /// does not tell them, and in the address of a listener.
    #[must_use]
    pub fn cred(&self) -> Option<UCred> {
        self.cred
    }
}

/// The methods of the address.
impl Deref for UnixPeer {
    type Target = SocketAddr;

    fn deref(&self) -> &SocketAddr {
        &self.addr
    }
}

/// The address, and the user and the process if they are known.
impl fmt::Debug for UnixPeer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.addr, f)?;
        match self.cred {
            Some(cred) => match cred.pid() {
                Some(pid) => write!(f, " of user {}, process {pid}", cred.uid()),
                None => write!(f, " of user {}", cred.uid()),
            },
            None => Ok(()),
        }
    }
}

/// The server asks for the credentials of each peer when it accepts: one system call.
impl Listener for UnixListener {
    type Io = UnixStream;
    type Peer = UnixPeer;
    type Handshake = Ready<io::Result<Self::Io>>;

    fn poll_accept(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<(Self::Handshake, UnixPeer)>> {
        UnixListener::poll_accept(self, cx).map_ok(|(stream, addr)| {
            let cred = stream.peer_cred().ok();
            (ready(Ok(stream)), UnixPeer { addr, cred })
        })
    }

    fn local_addr(&self) -> io::Result<UnixPeer> {
        UnixListener::local_addr(self).map(|addr| UnixPeer { addr, cred: None })
    }
}
