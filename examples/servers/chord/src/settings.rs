//! [`Settings`] of a process and of a client.

use colored::time::Duration;
use std::hash::{BuildHasher, RandomState};

/// How often nodes act, and how much they keep.
#[derive(Clone, Debug)]
pub struct Settings {
    /// A node talks to its neighbours, and looks up one finger, once in this time.
    pub round: Duration,
    /// A node compares its values with the other nodes that should have them, once in this time.
    pub repair: Duration,
    /// How many processes keep each value.
    pub replicas: usize,
    /// How many bytes of values a node keeps.
    pub capacity: usize,
    /// A process that does not answer a call for so long counts as dead: the ring goes on without it, until it calls again.
    /// Longer than a process of a busy machine gets no CPU. A look-up takes at most five times as long.
    pub deadline: Duration,
    /// How long an operation is tried that fails because nodes do not answer.
    pub patience: Duration,
    /// Chooses the number of the first call. It differs from start to start; simulations set it.
    pub seed: u64,
    /// What is wrong on purpose.
    pub mistake: Mistake,
}

impl Default for Settings {
    /// Rounds of 250 ms, repair each second, 3 replicas, 16 MiB a node, dead after 3 s, 30 s of patience, a random seed.
    fn default() -> Self {
        Self {
            round: Duration::from_millis(250),
            repair: Duration::from_secs(1),
            replicas: 3,
            capacity: 16 << 20,
            deadline: Duration::from_secs(3),
            patience: Duration::from_secs(30),
            seed: RandomState::new().hash_one(0),
            mistake: Mistake::None,
        }
    }
}

/// What is wrong with a process or a client on purpose: each test of a promise fails for one of these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mistake {
    /// Nothing.
    #[default]
    None,
    /// A node does not learn of nodes that have joined between it and its successor.
    IgnoresJoins,
    /// A value is stored at the next nodes, also if they are of one process.
    ReplicatesInOneProcess,
    /// Nodes do not replace lost copies.
    NeverRepairs,
    /// A reader does not check what it gets.
    TrustsReplies,
    /// A process answers with one bit flipped, and a client stores so. This is no mistake of ours: others must notice.
    AltersValues,
    /// A node does not check what it is to store.
    StoresUnchecked,
    /// A node replaces a record by an older one.
    ReplacesNewerRecords,
    /// A process keeps the first record of a key, and says that it has kept a newer one. This is no mistake of ours either.
    KeepsOldRecords,
    /// A reader takes the first record that it gets, and does not look for a newer one.
    ReadsAnyRecord,
    /// A reader of a tree takes names that lead out of it.
    TakesAnyName,
    /// A publisher of a tree follows symbolic links.
    FollowsLinks,
}
