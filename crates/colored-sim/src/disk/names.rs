//! [`Names`]: the entries of a directory, those on the device, and the changes that are not there yet.

use super::node::Content;
use super::{Disk, Error, Id};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::mem;

/// The entries of a directory.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// What programs see.
    pub(super) live: BTreeMap<OsString, Id>,
    /// What the device has.
    pub(super) durable: BTreeMap<OsString, Id>,
}

/// One operation's changes of entries: directory, name, and what the name leads to afterwards.
#[derive(Debug)]
pub(super) struct NameChange(pub(super) Vec<(Id, OsString, Option<Id>)>);

fn set(names: &mut BTreeMap<OsString, Id>, name: OsString, to: Option<Id>) {
    match to {
        Some(id) => drop(names.insert(name, id)),
        None => drop(names.remove(&name)),
    }
}

impl Disk {
    /// Changes entries in one step.
    pub(super) fn change_names(&mut self, changes: Vec<(Id, OsString, Option<Id>)>) {
        let now = self.now;
        let mut replaced = Vec::new();
        for (directory, name, to) in &changes {
            self.node_mut(*directory).modified = now;
            let live = &mut self.names_mut(*directory).live;
            replaced.extend(live.get(name).copied());
            set(live, name.clone(), *to);
            if let Some(id) = to {
                self.node_mut(*id).links += 1;
            }
        }
        for id in replaced {
            self.node_mut(id).links -= 1;
            self.give_room_back(id);
        }
        self.unsynced.push(NameChange(changes));
    }

    /// Counts the bytes of a file no more that has neither a name nor a handle. It stays until no power failure can bring
    /// it back.
    pub(super) fn give_room_back(&mut self, id: Id) {
        let node = self.node(id);
        if let (Content::File(contents), 0, 0) = (&node.content, node.links, node.handles) {
            self.used -= contents.len();
        }
    }

    /// Brings the entries of a directory to the device; and with them, what was changed before in the same entries of other
    /// directories.
    pub(super) fn sync_names(&mut self, directory: Id) {
        let mut entries = BTreeSet::new();
        let mut left = Vec::new();
        let mut synced = Vec::new();
        for change in mem::take(&mut self.unsynced).into_iter().rev() {
            let is_part = |(of, name, _): &(Id, OsString, _)| {
                *of == directory || entries.contains(&(*of, name.clone()))
            };
            if change.0.iter().any(is_part) {
                entries.extend(change.0.iter().map(|(of, name, _)| (*of, name.clone())));
                synced.push(change);
            } else {
                left.push(change);
            }
        }
        left.reverse();
        self.unsynced = left;
        synced.into_iter().rev().for_each(|change| self.make_durable(change));
        self.drop_unreachable();
    }

    pub(super) fn make_durable(&mut self, change: NameChange) {
        for (directory, name, to) in change.0 {
            set(&mut self.names_mut(directory).durable, name, to);
        }
    }

    /// Drops what no name leads to, neither now nor after a power failure, and no handle.
    pub(super) fn drop_unreachable(&mut self) {
        let mut named = BTreeSet::from([super::ROOT]);
        for node in self.nodes.values() {
            if let Content::Directory(names) = &node.content {
                named.extend(names.live.values().chain(names.durable.values()));
            }
        }
        for change in &self.unsynced {
            named.extend(
                change.0.iter().flat_map(|(directory, _, to)| [Some(*directory), *to]).flatten(),
            );
        }
        self.nodes.retain(|id, node| node.handles > 0 || named.contains(id));
    }

    /// The entry of a directory that may be searched.
    pub(super) fn look_up(&self, directory: Id, name: &OsStr) -> Result<Option<Id>, Error> {
        /// As of most systems.
        const LONGEST: usize = 255;
        let node = self.node(directory);
        let names = node.names()?;
        node.allows(1)?;
        if name.len() > LONGEST {
            return Err(Error::NameTooLong);
        }
        Ok(names.live.get(name).copied())
    }
}
