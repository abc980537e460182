//! [`Census`]: the ring as it should be, by the list of all of its nodes. For tests and demonstrations.

use crate::client::Client;
use crate::contact::Contact;
use crate::id::Id;
use crate::wire::SUCCESSORS;

/// The list of all nodes of a ring.
#[derive(Clone, Debug)]
pub struct Census {
    /// In the order of the ring.
    nodes: Vec<Contact>,
}

impl Census {
    /// The census of these nodes.
    #[must_use]
    pub fn new(nodes: impl IntoIterator<Item = Contact>) -> Self {
        let mut nodes: Vec<_> = nodes.into_iter().collect();
        nodes.sort_by_key(Contact::id);
        Self { nodes }
    }

    /// All nodes, in the order of the ring.
    #[must_use]
    pub fn nodes(&self) -> &[Contact] {
        &self.nodes
    }

    /// The true owner of the key: the first node at its place or behind it.
    ///
    /// # Panics
    ///
    /// If there are no nodes.
    #[must_use]
    pub fn owner(&self, key: Id) -> Contact {
        self.nodes[self.index_of(key)]
    }

    fn index_of(&self, key: Id) -> usize {
        self.nodes.partition_point(|node| node.id() < key) % self.nodes.len()
    }

    /// The nodes whose neighbours are not yet as they should be: the predecessor, and all successors that a node knows.
    pub async fn unsettled(&self, client: &Client) -> Vec<Contact> {
        let mut unsettled = Vec::new();
        for (index, node) in self.nodes.iter().enumerate() {
            let others = self.nodes[index + 1..].iter().chain(&self.nodes[..index]);
            let predecessor = others.clone().next_back().copied();
            let successors: Vec<_> = others.take(SUCCESSORS).copied().collect();
            let seen = client.neighbours(*node).await;
            if seen.is_none_or(|seen| seen != (predecessor, successors)) {
                unsettled.push(*node);
            }
        }
        unsettled
    }
}
