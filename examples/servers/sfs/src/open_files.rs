//! Files that stay open between two requests.

use crate::nodes::Id;
use colored::fs::File;
use std::collections::HashMap;
use std::sync::Arc;

/// How many files a shard keeps open. A guess: with 16 shards, half of a process's usual limit of 1024 descriptors.
const KEPT: usize = 32;

/// The open files of a shard. The one that was used longest ago is closed first.
#[derive(Debug, Default)]
pub(crate) struct OpenFiles {
    files: HashMap<Id, (Arc<File>, u64)>,
    uses: u64,
}

impl OpenFiles {
    pub(crate) fn get(&mut self, id: Id) -> Option<Arc<File>> {
        self.uses += 1;
        let (file, used) = self.files.get_mut(&id)?;
        *used = self.uses;
        Some(Arc::clone(file))
    }

    pub(crate) fn keep(&mut self, id: Id, file: Arc<File>) {
        if self.files.len() >= KEPT
            && let Some(oldest) = self.files.iter().min_by_key(|(_, (_, used))| *used)
        {
            let oldest = *oldest.0;
            self.files.remove(&oldest);
        }
        self.uses += 1;
        self.files.insert(id, (file, self.uses));
    }

    pub(crate) fn close(&mut self, id: Id) {
        self.files.remove(&id);
    }
}
