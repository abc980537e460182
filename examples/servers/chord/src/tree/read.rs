//! [`Tree`] and [`Reader`]: the files of a signed tree.

use super::format::{self, Entry, EntryKind, Link, MAX_DIRECTORY};
use crate::client::Client;
use crate::error::Error;
use crate::id::Id;
use crate::value::Value;
use crate::wire::MAX_VALUE;
use colored::fs::{self, OpenOptions};
use colored::io::AsyncWriteExt;
use colored::spawn_unique;
use colored::task::JoinHandle;
use std::collections::VecDeque;
use std::future::Future;
use std::path::Path;
use std::pin::Pin;

/// The signed tree of a public key, as it was when it was opened.
pub struct Tree {
    client: Client,
    root: Link,
    sequence: u64,
    ahead: usize,
}

impl Tree {
    /// Opens the tree of this key. Its files are read `ahead` blocks ahead, 1 or more: that many are asked for at a time.
    /// Cancel safe.
    ///
    /// # Errors
    ///
    /// If there is no such record, or it holds no link.
    pub async fn open(client: &Client, key: Id, ahead: usize) -> Result<Self, Error> {
        let record = client.record(key).await?;
        let (root, sequence) = (Link::from_bytes(record.content())?, record.sequence());
        Ok(Self { client: client.clone(), root, sequence, ahead: ahead.max(1) })
    }

    /// The sequence number of the record: a lower one than last time is an old tree.
    #[must_use]
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// What is at this path, whose names are separated by `/`. An empty path is the root. Cancel safe.
    ///
    /// # Errors
    ///
    /// If there is nothing.
    pub async fn find(&self, path: &str) -> Result<(EntryKind, Link), Error> {
        let mut found = (EntryKind::Directory, self.root);
        for name in path.split('/').filter(|name| !name.is_empty()) {
            let missing = || Error::NoSuchPath(path.to_owned());
            if found.0 != EntryKind::Directory {
                return Err(missing());
            }
            let entries = self.list(found.1).await?;
            let entry = entries.into_iter().find(|entry| entry.name == name).ok_or_else(missing)?;
            found = (entry.kind, entry.link);
        }
        Ok(found)
    }

    /// The entries of a directory, by name. Takes memory for all of them, 30 MB at most. Cancel safe.
    ///
    /// # Errors
    ///
    /// If a block is missing, or the file is no directory.
    pub async fn list(&self, directory: Link) -> Result<Vec<Entry>, Error> {
        if directory.length > MAX_DIRECTORY {
            return Err(Error::Malformed("a directory is too long"));
        }
        let mut bytes = Vec::new();
        let mut reader = self.read(directory);
        while let Some(block) = reader.next().await? {
            bytes.extend(block);
        }
        format::decode(&bytes, self.client.mistake())
    }

    /// Reads a file.
    #[must_use]
    pub fn read(&self, file: Link) -> Reader {
        let top = Pending::Waiting { key: file.key, levels: file.levels };
        let (client, pending) = (self.client.clone(), VecDeque::from([top]));
        Reader { client, pending, left: file.length, ahead: self.ahead, is_begun: false }
    }

    /// Writes what is at the path to `target`, which must not exist: a file, or a directory with all that is in it. Returns
    /// the bytes of all files.
    ///
    /// Not cancel safe: a part is written.
    ///
    /// # Errors
    ///
    /// If a block is missing, or if a file cannot be written.
    pub async fn save(&self, path: &str, target: &Path) -> Result<u64, Error> {
        let (kind, link) = self.find(path).await?;
        self.save_entry(kind, link, target).await
    }

    fn save_entry<'a>(&'a self, kind: EntryKind, link: Link, target: &'a Path) -> Saved<'a> {
        Box::pin(async move {
            if kind == EntryKind::File {
                self.save_file(link, target).await?;
                return Ok(link.length);
            }
            fs::create_dir(target).await?;
            let mut bytes = 0;
            for entry in self.list(link).await? {
                bytes += self.save_entry(entry.kind, entry.link, &target.join(entry.name)).await?;
            }
            Ok(bytes)
        })
    }

    async fn save_file(&self, link: Link, target: &Path) -> Result<(), Error> {
        let mut file = OpenOptions::new().write(true).create_new(true).open(target).await?;
        let mut reader = self.read(link);
        while let Some(block) = reader.next().await? {
            file.write_all(&block).await?;
        }
        Ok(file.flush().await?)
    }
}

type Saved<'a> = Pin<Box<dyn Future<Output = Result<u64, Error>> + Send + 'a>>;

/// The bytes of a file, a block at a time, in order. Some blocks are asked for ahead.
pub struct Reader {
    client: Client,
    /// What is still to be read, in the order of the file: at most the keys of one block a level, and those ahead.
    pending: VecDeque<Pending>,
    left: u64,
    ahead: usize,
    is_begun: bool,
}

enum Pending {
    Waiting { key: Id, levels: u8 },
    Running { task: JoinHandle<Result<Value, Error>>, levels: u8 },
}

impl Reader {
    /// The next bytes. None at the end of the file. Not cancel safe: a block may be lost.
    ///
    /// # Errors
    ///
    /// If a block is missing, or is not what the file should have here.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, Error> {
        loop {
            self.ask_ahead();
            let Some(Pending::Running { task, levels }) = self.pending.pop_front() else {
                return self.end();
            };
            let value = task.await.map_err(std::io::Error::from)??;
            match levels {
                0 => return self.leaf(value).map(Some),
                _ => self.expand(value.bytes(), levels - 1)?,
            }
        }
    }

    /// Asks for the blocks at the front of what is to be read.
    fn ask_ahead(&mut self) {
        for pending in self.pending.iter_mut().take(self.ahead) {
            if let Pending::Waiting { key, levels } = *pending {
                let client = self.client.clone();
                let task = spawn_unique(async move { client.block(key).await });
                *pending = Pending::Running { task, levels };
            }
        }
    }

    fn leaf(&mut self, block: Value) -> Result<Vec<u8>, Error> {
        let length = block.bytes().len() as u64;
        // An empty file has one block, which is empty.
        let is_more = self.left > 0 || !self.is_begun;
        if !is_more || length != self.left.min(MAX_VALUE as u64) {
            return Err(Error::Malformed("a file has another length than its link says"));
        }
        self.left -= length;
        self.is_begun = true;
        Ok(block.bytes().to_vec())
    }

    fn expand(&mut self, keys: &[u8], levels: u8) -> Result<(), Error> {
        let (keys, rest) = keys.as_chunks::<32>();
        if keys.is_empty() || !rest.is_empty() {
            return Err(Error::Malformed("a block of keys has another length"));
        }
        for key in keys.iter().rev() {
            self.pending.push_front(Pending::Waiting { key: Id::from_bytes(*key), levels });
        }
        Ok(())
    }

    fn end(&self) -> Result<Option<Vec<u8>>, Error> {
        match self.left {
            0 => Ok(None),
            _ => Err(Error::Malformed("a file ends too early")),
        }
    }
}
