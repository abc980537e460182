//! [`Client`]: reads and writes values of a ring, and is no part of it.

use crate::contact::Contact;
use crate::error::Error;
use crate::id::Id;
use crate::lookup::{Found, look_up};
use crate::peers::Peers;
use crate::replicas::{self, Kind};
use crate::retry::retry;
use crate::settings::{Mistake, Settings};
use crate::value::Value;
use crate::wire::Offered;
use std::net::SocketAddrV4;
use std::sync::Arc;

/// Reads and writes values of a ring. Clones share the socket.
#[derive(Clone)]
pub struct Client {
    peers: Peers,
    settings: Arc<Settings>,
    seeds: Arc<[Contact]>,
}

impl Client {
    /// A client with a socket of its own, which enters the ring by these processes.
    ///
    /// # Errors
    ///
    /// As the binding of a UDP socket.
    pub async fn bind(
        address: SocketAddrV4,
        seeds: &[SocketAddrV4],
        settings: Settings,
    ) -> Result<Self, Error> {
        let peers = Peers::bind(address, &settings).await?;
        Ok(Self::new(peers, seeds, settings))
    }

    /// Sends what goes to a process to another address: that of a relay which loses packets.
    #[must_use]
    pub fn with_detour(
        self,
        detour: impl Fn(SocketAddrV4) -> SocketAddrV4 + Send + Sync + 'static,
    ) -> Self {
        Self { peers: self.peers.with_detour(Arc::new(detour)), ..self }
    }

    pub(crate) fn new(peers: Peers, seeds: &[SocketAddrV4], settings: Settings) -> Self {
        let seeds = seeds.iter().map(|seed| Contact::new(*seed, 0)).collect();
        Self { peers, settings: Arc::new(settings), seeds }
    }

    /// Looks up the owner of a key. Tries again for [`Settings::patience`]. Cancel safe.
    ///
    /// # Errors
    ///
    /// If no node that answers knows the owner.
    pub async fn look_up(&self, key: Id) -> Result<Found, Error> {
        retry(self.settings.patience, || self.find(key)).await
    }

    /// As [`look_up`](Self::look_up), by way of this node. Cancel safe.
    ///
    /// # Errors
    ///
    /// As [`look_up`](Self::look_up).
    pub async fn look_up_by(&self, first: Contact, key: Id) -> Result<Found, Error> {
        let known = [first];
        retry(self.settings.patience, || look_up(&self.peers, &known, key)).await
    }

    /// What the client does wrong.
    pub(crate) fn mistake(&self) -> Mistake {
        self.settings.mistake
    }

    async fn find(&self, key: Id) -> Result<Found, Error> {
        look_up(&self.peers, &self.seeds, key).await
    }

    /// The predecessor and the successors that a node names. None if it does not answer. Cancel safe.
    pub async fn neighbours(&self, node: Contact) -> Option<(Option<Contact>, Vec<Contact>)> {
        let neighbours = self.peers.neighbours(node, None).await.ok()?;
        Some((neighbours.predecessor.into_option(), neighbours.successors.0))
    }

    /// Stores a value at the next nodes of 3 processes. If all nodes answer, tries 6 times, for some seconds, because the ring
    /// may be in motion. Otherwise tries for [`Settings::patience`].
    ///
    /// Not cancel safe: some of the nodes may have the value, and then the others get it by repair.
    ///
    /// # Errors
    ///
    /// If fewer processes keep the value, or if there is a newer record.
    pub async fn put(&self, value: &Value) -> Result<(), Error> {
        retry(self.settings.patience, || self.try_put(value)).await
    }

    async fn try_put(&self, value: &Value) -> Result<(), Error> {
        let found = self.find(value.key()).await?;
        replicas::store(&self.peers, &self.settings, &found, value).await
    }

    /// The block of this key. Tries as often as [`put`](Self::put). Cancel safe.
    ///
    /// # Errors
    ///
    /// If no node has a block that belongs to the key.
    pub async fn block(&self, key: Id) -> Result<Value, Error> {
        self.get(key, Kind::Block).await
    }

    /// The newest record of this key that one of its nodes has. Tries as often as [`put`](Self::put). Cancel safe.
    ///
    /// If all nodes of the key lie, this may be an old one: compare [`Value::sequence`] with the last one that you saw.
    ///
    /// # Errors
    ///
    /// If no node has a record that belongs to the key.
    pub async fn record(&self, key: Id) -> Result<Value, Error> {
        self.get(key, Kind::Record).await
    }

    async fn get(&self, key: Id, kind: Kind) -> Result<Value, Error> {
        retry(self.settings.patience, || self.try_get(key, kind)).await
    }

    async fn try_get(&self, key: Id, kind: Kind) -> Result<Value, Error> {
        let found = self.find(key).await?;
        replicas::fetch(&self.peers, &self.settings, &found, key, kind).await
    }

    /// The sequence number of the next record of this key, which is 1 if no node has one. Tries for [`Settings::patience`] if
    /// nodes do not answer.
    pub(crate) async fn next_sequence(&self, key: Id) -> Result<u64, Error> {
        let find = || async {
            match self.try_get(key, Kind::Record).await {
                Ok(record) => Ok(record.sequence() + 1),
                Err(Error::NotFound(_)) => Ok(1),
                Err(error) => Err(error),
            }
        };
        retry(self.settings.patience, find).await
    }

    /// How many of the nodes that should have the value have it, or a newer one. Cancel safe.
    ///
    /// # Errors
    ///
    /// If the look-up fails.
    pub async fn count_copies(&self, value: (Id, u64)) -> Result<usize, Error> {
        let (key, sequence) = value;
        let found = self.look_up(key).await?;
        let offered = Offered { key, sequence };
        Ok(replicas::count_copies(&self.peers, &self.settings, &found, offered).await)
    }
}
