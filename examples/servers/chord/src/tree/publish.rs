//! [`publish`]: a directory of this machine becomes a signed tree.

use super::format::{self, Entry, EntryKind, FANOUT, Link, MAX_LEVELS};
use crate::client::Client;
use crate::error::Error;
use crate::id::Id;
use crate::settings::Mistake;
use crate::value::{Signer, Value};
use crate::wire::MAX_VALUE;
use colored::fs::{self, File};
use colored::io::{AsyncRead, AsyncReadExt};
use colored::spawn_unique;
use colored::task::JoinHandle;
use std::collections::VecDeque;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;

/// Blocks that are stored at a time.
const AT_A_TIME: usize = 16;

/// Directories inside one another, at most.
const MAX_DEPTH: usize = 64;

/// What was published.
#[derive(Debug)]
pub struct Published {
    /// The key of the record: readers need this.
    pub key: Id,
    /// The sequence number of the record.
    pub sequence: u64,
    /// The keys of all blocks, in the order in which they were made, equal ones more than once.
    pub blocks: Vec<Id>,
    /// The bytes of all files.
    pub bytes: u64,
}

/// Stores the files of a directory, and then signs the link to the root.
///
/// Readers see the tree that was there before until the new one is stored as a whole. The old blocks stay. The sequence
/// number is one more than that of the record that is there.
///
/// Not cancel safe: blocks without a record stay behind.
///
/// # Errors
///
/// If a file cannot be read, is neither a regular file nor a directory, or if fewer than 3 processes keep a block.
pub async fn publish(
    client: &Client,
    signer: &Signer,
    directory: &Path,
) -> Result<Published, Error> {
    let key = signer.key();
    let sequence = client.next_sequence(key).await?;
    let mut publisher = Publisher::new(client.clone());
    let link = publisher.directory(directory, 0).await?;
    publisher.finish(0).await?;
    let record = Value::record(signer, sequence, &link.to_bytes());
    client.put(&record.expect("a link is shorter")).await?;
    let Publisher { blocks, bytes, .. } = publisher;
    Ok(Published { key, sequence, blocks, bytes })
}

/// Stores blocks, some at a time.
struct Publisher {
    client: Client,
    running: VecDeque<JoinHandle<Result<(), Error>>>,
    blocks: Vec<Id>,
    bytes: u64,
}

type Linked<'a> = Pin<Box<dyn Future<Output = Result<Link, Error>> + Send + 'a>>;

impl Publisher {
    fn new(client: Client) -> Self {
        Self { client, running: VecDeque::new(), blocks: Vec::new(), bytes: 0 }
    }

    fn directory<'a>(&'a mut self, path: &'a Path, depth: usize) -> Linked<'a> {
        Box::pin(async move {
            if depth > MAX_DEPTH {
                return Err(Error::TooLarge("more than 64 directories inside one another"));
            }
            let mut entries = Vec::new();
            for path in children(path).await? {
                entries.push(self.entry(path, depth).await?);
            }
            self.file(&format::encode(&entries)?[..]).await
        })
    }

    async fn entry(&mut self, path: PathBuf, depth: usize) -> Result<Entry, Error> {
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| Error::NoFile(path.clone()))?.to_owned();
        let metadata = match self.client.mistake() {
            Mistake::FollowsLinks => fs::metadata(&path).await?,
            _ => fs::symlink_metadata(&path).await?,
        };
        if metadata.is_dir() {
            let link = self.directory(&path, depth + 1).await?;
            return Ok(Entry { name, kind: EntryKind::Directory, link });
        }
        if !metadata.is_file() {
            return Err(Error::NoFile(path));
        }
        let link = self.file(File::open(&path).await?).await?;
        self.bytes += link.length;
        Ok(Entry { name, kind: EntryKind::File, link })
    }

    /// Stores a file: its blocks, then the keys of these, and so on.
    async fn file(&mut self, mut file: impl AsyncRead + Unpin) -> Result<Link, Error> {
        let mut length = 0;
        // At each level, the keys that no block has yet.
        let mut levels: Vec<Vec<Id>> = vec![Vec::new()];
        loop {
            let block = read_block(&mut file).await?;
            length += block.len() as u64;
            let is_last = block.len() < MAX_VALUE;
            if !block.is_empty() || length == 0 {
                self.add(&mut levels, 0, block).await?;
            }
            if is_last {
                break;
            }
        }
        let mut level = 0;
        while level + 1 < levels.len() || levels[level].len() > 1 {
            self.close(&mut levels, level).await?;
            level += 1;
        }
        let topmost = u8::try_from(level).ok().filter(|level| *level <= MAX_LEVELS);
        let topmost = topmost.ok_or(Error::TooLarge("a file has more than 1 TiB"))?;
        Ok(Link { length, levels: topmost, key: levels[level][0] })
    }

    /// Stores a block, and notes its key at this level.
    async fn add(
        &mut self,
        levels: &mut Vec<Vec<Id>>,
        level: usize,
        block: Vec<u8>,
    ) -> Result<(), Error> {
        let (mut level, mut block) = (level, block);
        loop {
            let key = self.store(block).await?;
            if levels.len() == level {
                levels.push(Vec::new());
            }
            levels[level].push(key);
            if levels[level].len() <= FANOUT {
                return Ok(());
            }
            // The level is full: its keys become a block. The new one begins the next block.
            let keys: Vec<Id> = levels[level].drain(..FANOUT).collect();
            block = keys_block(&keys);
            level += 1;
        }
    }

    /// The remaining keys of a level become a block of the level above.
    async fn close(&mut self, levels: &mut Vec<Vec<Id>>, level: usize) -> Result<(), Error> {
        let keys = std::mem::take(&mut levels[level]);
        self.add(levels, level + 1, keys_block(&keys)).await
    }

    async fn store(&mut self, bytes: Vec<u8>) -> Result<Id, Error> {
        let block = Value::block(bytes).expect("it was cut to the size of a block");
        let key = block.key();
        self.blocks.push(key);
        let client = self.client.clone();
        self.running.push_back(spawn_unique(async move { client.put(&block).await }));
        self.finish(AT_A_TIME - 1).await?;
        Ok(key)
    }

    /// Waits until no more than so many blocks are being stored.
    async fn finish(&mut self, remaining: usize) -> Result<(), Error> {
        while self.running.len() > remaining {
            let Some(oldest) = self.running.pop_front() else { break };
            oldest.await.map_err(std::io::Error::from)??;
        }
        Ok(())
    }
}

fn keys_block(keys: &[Id]) -> Vec<u8> {
    keys.iter().flat_map(|key| key.to_bytes()).collect()
}

/// The paths of the entries, in order.
async fn children(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut children = Vec::new();
    let mut entries = fs::read_dir(directory).await?;
    while let Some(entry) = entries.next_entry().await? {
        children.push(entry.path());
        if children.len() > format::MAX_ENTRIES {
            return Err(Error::TooLarge("a directory has more than 100,000 entries"));
        }
    }
    children.sort();
    Ok(children)
}

/// The next bytes of a file: fewer than a block only at its end.
async fn read_block(file: &mut (impl AsyncRead + Unpin)) -> Result<Vec<u8>, Error> {
    let mut block = Vec::with_capacity(MAX_VALUE);
    file.take(MAX_VALUE as u64).read_to_end(&mut block).await?;
    Ok(block)
}
