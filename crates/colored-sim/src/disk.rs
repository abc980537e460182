//! [`Disk`]: a tree of files in memory, which knows what a power failure leaves of it.
//!
//! Each file and each directory has two states: the live one, which programs see, and the durable one, which the device
//! has. Reads see the live state. A sync of a file brings its bytes to the device, and a sync of a directory its entries.
//! [`Disk::fail_power`] goes back to the durable state; of the changes behind it, some are there after all, by chance.
//!
//! | change | is durable after |
//! |---|---|
//! | a write, another length | a sync of the file |
//! | other permissions | a sync of the file with its metadata |
//! | a new name, a removed one, a rename | a sync of the directory; of a rename between two directories, of either one |
//!
//! What a power failure leaves of changes without a sync:
//!
//! * each write and each change of a length is there whole, in part, or not at all. The parts end at multiples of 512
//!   bytes. Later changes may be there although earlier ones are not;
//! * each change of a directory is there or not; a rename is there as a whole.
//!
//! No write to the device happens without a sync, and an entry may be there although its file is empty. Systems differ in
//! what they keep, and some keep more; a program that survives this survives there.

mod contents;
mod crash;
mod error;
mod handles;
mod names;
mod node;
mod paths;
#[cfg(test)]
mod tests;
mod trees;
mod walk;

pub use self::error::Error;
pub use self::handles::{Handle, Options};
pub use self::node::{Kind, Stat};
pub use self::paths::Entry;

use self::handles::Opened;
use self::names::NameChange;
use self::node::{Content, Node};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::SystemTime;

/// Decides whether something happens that happens once in the given number of times. By default it does not.
pub type Chance<'a> = &'a mut dyn FnMut(u32) -> bool;

/// The number of a file or directory.
type Id = u64;

const ROOT: Id = 0;

/// The bits that the mask of the process takes from the permissions of what is new.
const MASK: u32 = 0o022;

/// The room of a disk unless it is set: 1 GiB.
const CAPACITY: u64 = 1 << 30;

/// A tree of files in memory. It belongs to one user, who is not the superuser, and has the directories `/` and `/tmp`.
/// Paths that do not begin with `/` begin there.
#[derive(Debug)]
pub struct Disk {
    nodes: BTreeMap<Id, Node>,
    next_node: Id,
    /// Changes of directories since their last syncs, in their order.
    unsynced: Vec<NameChange>,
    handles: BTreeMap<Handle, Opened>,
    next_handle: u64,
    /// The room, in bytes.
    capacity: u64,
    /// The bytes of all files.
    used: u64,
    now: SystemTime,
}

impl Default for Disk {
    fn default() -> Self {
        Self::new()
    }
}

impl Disk {
    /// A disk with `/` and `/tmp`. Its time is that of the epoch.
    ///
    /// # Panics
    ///
    /// Never.
    #[must_use]
    pub fn new() -> Self {
        let now = SystemTime::UNIX_EPOCH;
        let root = Node::new(Content::Directory(names::Names::default()), 0o755, now);
        let mut disk = Self {
            nodes: BTreeMap::from([(ROOT, root)]),
            next_node: ROOT + 1,
            unsynced: Vec::new(),
            handles: BTreeMap::new(),
            next_handle: 0,
            capacity: CAPACITY,
            used: 0,
            now,
        };
        disk.create_dir(Path::new("/tmp"), 0o777).expect("the root is empty");
        disk.sync_everything();
        disk
    }

    /// Sets the time of day, for what changes from now on.
    pub fn set_time(&mut self, now: SystemTime) {
        self.now = now;
    }

    /// Sets the room for the bytes of all files. What is there stays, also if it has more.
    pub fn set_capacity(&mut self, bytes: u64) {
        self.capacity = bytes;
    }

    /// The room that is left, in bytes.
    #[must_use]
    pub fn room(&self) -> u64 {
        self.capacity.saturating_sub(self.used)
    }

    fn node(&self, id: Id) -> &Node {
        &self.nodes[&id]
    }

    fn node_mut(&mut self, id: Id) -> &mut Node {
        self.nodes.get_mut(&id).expect("an entry or a handle keeps it")
    }

    fn add_node(&mut self, content: Content, mode: u32) -> Id {
        let id = self.next_node;
        self.next_node += 1;
        self.nodes.insert(id, Node::new(content, mode, self.now));
        id
    }
}
