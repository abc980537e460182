//! [`Caller`]: who calls, and how to call back.

use crate::auth::Auth;
use crate::connection::Client;
use crate::udp::Udp;
use std::any::Any;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

/// What identifies the other side of a connection, in the words of the program.
pub(crate) type Identity = Arc<dyn Any + Send + Sync>;

/// Who makes a call. It keeps the connection or the endpoint open: a program that stores one calls back later.
#[derive(Clone)]
pub struct Caller {
    pub(crate) peer: Option<SocketAddr>,
    pub(crate) auth: Auth,
    pub(crate) identity: Option<Identity>,
    pub(crate) way: Way,
}

/// The way on which a call has come.
#[derive(Clone, Debug)]
pub(crate) enum Way {
    Stream(Client),
    Datagram(Udp),
}

impl Caller {
    /// The address from which the call has come, unless it came on a stream whose
    /// [`peer`](crate::Connection::peer) was not given.
    #[must_use]
    pub fn peer(&self) -> Option<SocketAddr> {
        self.peer
    }

    /// Who the caller says it is.
    #[must_use]
    pub fn auth(&self) -> &Auth {
        &self.auth
    }

    /// What the program gave to the [connection](crate::Connection::identity), if it is a `T`.
    #[must_use]
    pub fn identity<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.identity.as_ref()?.downcast_ref()
    }

    /// The connection on which the call has come, to call its client back.
    #[must_use]
    pub fn client(&self) -> Option<&Client> {
        match &self.way {
            Way::Stream(client) => Some(client),
            Way::Datagram(_) => None,
        }
    }

    /// The endpoint at which the call has come, to call its client or others.
    #[must_use]
    pub fn udp(&self) -> Option<&Udp> {
        match &self.way {
            Way::Stream(_) => None,
            Way::Datagram(udp) => Some(udp),
        }
    }
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller")
            .field("peer", &self.peer)
            .field("auth", &self.auth)
            .finish_non_exhaustive()
    }
}
