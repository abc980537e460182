//! [`Process`]: the nodes that share an address.

use crate::client::Client;
use crate::contact::Contact;
use crate::error::Error;
use crate::lookup::look_up;
use crate::node::{MemberCell, Node};
use crate::peers::Peers;
use crate::retry::retry;
use crate::service::Nodes;
use crate::settings::Settings;
use colored::{Color, ColorCell};
use std::net::SocketAddrV4;
use std::sync::Arc;

/// The nodes of one address, each under a color of its own. When it is dropped they are gone, as by a crash.
pub struct Process {
    peers: Peers,
    address: SocketAddrV4,
    nodes: Vec<Node>,
}

impl Process {
    /// Binds the address, for nodes of the numbers from 0 to `nodes`. They are no members yet. `seeds` are processes of
    /// the ring, by which nodes join, and by which they find a part of the ring that was cut off.
    ///
    /// # Errors
    ///
    /// As the binding of a UDP socket. The address is an IPv4 address at which others reach this process.
    pub async fn bind(
        address: SocketAddrV4,
        nodes: u16,
        seeds: &[SocketAddrV4],
        settings: Settings,
    ) -> Result<Self, Error> {
        let peers = Peers::bind(address, &settings).await?;
        let address = peers.address()?;
        let new_cell = |number| {
            let color = Color::of(("chord node", address, number));
            ColorCell::new(color, None)
        };
        let cells: Arc<[MemberCell]> = (0..nodes).map(new_cell).collect();
        let silence = Arc::clone(peers.silence());
        peers.serve(&Nodes { cells: Arc::clone(&cells), silence, mistake: settings.mistake });
        let (settings, seeds) = (Arc::new(settings), Arc::from(seeds));
        let node = |(number, cell): (u16, &MemberCell)| Node {
            own: Contact::new(address, number),
            peers: peers.clone(),
            settings: Arc::clone(&settings),
            seeds: Arc::clone(&seeds),
            member: cell.clone(),
        };
        let nodes = (0..nodes).zip(&*cells).map(node).collect();
        Ok(Self { peers, address, nodes })
    }

    /// The address, with the port that the system has chosen.
    #[must_use]
    pub fn address(&self) -> SocketAddrV4 {
        self.address
    }

    /// The node of this number.
    ///
    /// # Panics
    ///
    /// If there is none.
    #[must_use]
    pub fn contact(&self, number: u16) -> Contact {
        self.nodes[usize::from(number)].own
    }

    /// Makes the node a ring of its own. Not cancel safe: the node may be one.
    ///
    /// # Panics
    ///
    /// If there is no node of this number.
    pub async fn begin(&self, number: u16) {
        self.nodes[usize::from(number)].join(&[]).await;
    }

    /// Makes the node a member of the ring of the seeds, or of another node of this process. Others find it after one of
    /// their rounds. Tries again for [`Settings::patience`]. Not cancel safe: the node may be a member.
    ///
    /// # Errors
    ///
    /// If none of them leads to the node's neighbours in this time.
    ///
    /// # Panics
    ///
    /// If there is no node of this number.
    pub async fn join(&self, number: u16) -> Result<(), Error> {
        let node = &self.nodes[usize::from(number)];
        let seeds = node.seeds.iter().map(|seed| Contact::new(*seed, 0));
        let neighbours = self.nodes.iter().map(|neighbour| neighbour.own);
        let known: Vec<_> = seeds.chain(neighbours).collect();
        let find = || async {
            let found = look_up(&node.peers, &known, node.own.id()).await;
            found.map_err(|_| {
                Error::NoRing(node.seeds.iter().copied().chain([self.address]).collect())
            })
        };
        let found = retry(node.settings.patience, find).await?;
        node.join(&found.successors).await;
        Ok(())
    }

    /// Hands the values of the node over to those that should have them then, and removes it from the ring. Others notice
    /// that in one of their rounds. Not cancel safe: the node stays, and has handed over a part.
    ///
    /// # Panics
    ///
    /// If there is no node of this number.
    pub async fn leave(&self, number: u16) {
        self.nodes[usize::from(number)].leave().await;
    }

    /// Removes the node from the ring, with its values. Not cancel safe: the node may be gone.
    ///
    /// # Panics
    ///
    /// If there is no node of this number.
    pub async fn stop(&self, number: u16) {
        self.nodes[usize::from(number)].stop().await;
    }

    /// A client that shares the socket, and enters the ring by these processes.
    #[must_use]
    pub fn client(&self, seeds: &[SocketAddrV4], settings: Settings) -> Client {
        Client::new(self.peers.clone(), seeds, settings)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.peers.close();
        self.nodes.iter().for_each(Node::stop_soon);
    }
}
