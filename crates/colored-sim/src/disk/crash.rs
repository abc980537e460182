//! A power failure.

use super::node::Content;
use super::{Chance, Disk, Id, ROOT};
use std::mem;

impl Disk {
    /// Goes back to what is on the device; of the changes that are not, some are there after all, by chance. Each handle is
    /// closed.
    pub fn fail_power(&mut self, happens: Chance<'_>) {
        for change in mem::take(&mut self.unsynced) {
            if happens(2) {
                self.make_durable(change);
            }
        }
        self.handles.clear();
        for node in self.nodes.values_mut() {
            (node.mode, node.links, node.handles) = (node.durable_mode, 0, 0);
            match &mut node.content {
                Content::File(contents) => contents.crash(happens),
                Content::Directory(names) => names.live.clone_from(&names.durable),
                Content::Link(_) | Content::Socket => {}
            }
        }
        self.keep_below_root();
    }

    /// Brings everything to the device.
    pub fn sync_everything(&mut self) {
        for change in mem::take(&mut self.unsynced) {
            self.make_durable(change);
        }
        for node in self.nodes.values_mut() {
            node.durable_mode = node.mode;
            if let Content::File(contents) = &mut node.content {
                contents.sync();
            }
        }
        self.drop_unreachable();
    }

    /// Drops what no path leads to, and counts names and bytes again.
    fn keep_below_root(&mut self) {
        let mut left = vec![ROOT];
        let mut kept: Vec<Id> = vec![ROOT];
        while let Some(directory) = left.pop() {
            let names: Vec<Id> = match &self.node(directory).content {
                Content::Directory(names) => names.live.values().copied().collect(),
                _ => Vec::new(),
            };
            for id in names {
                let node = self.node_mut(id);
                node.links += 1;
                if node.links == 1 {
                    kept.push(id);
                    left.push(id);
                }
            }
        }
        kept.sort_unstable();
        self.nodes.retain(|id, _| kept.binary_search(id).is_ok());
        let is_file = |node: &&super::Node| matches!(node.content, Content::File(_));
        self.used = self.nodes.values().filter(is_file).map(super::Node::len).sum();
    }
}
