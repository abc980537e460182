//! [`Node`]: a file, a directory, a symbolic link or a socket.

use super::contents::Contents;
use super::names::Names;
use super::{Disk, Error, Id};
use std::path::PathBuf;
use std::time::SystemTime;

/// What something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// The name of a Unix socket.
    Socket,
}

/// What is known of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// What it is.
    pub kind: Kind,
    /// The bytes of a file or of the path that a link leads to; 0 for a directory.
    pub len: u64,
    /// The permissions, as `0o644`.
    pub mode: u32,
    /// When its bytes or its entries changed last.
    pub modified: SystemTime,
    /// How many names it has.
    pub links: u32,
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) content: Content,
    pub(super) mode: u32,
    pub(super) durable_mode: u32,
    pub(super) modified: SystemTime,
    /// How many names it has, and how many handles.
    pub(super) links: u32,
    pub(super) handles: u32,
}

#[derive(Debug)]
pub(super) enum Content {
    File(Contents),
    Directory(Names),
    Link(PathBuf),
    Socket,
}

impl Node {
    pub(super) fn new(content: Content, mode: u32, now: SystemTime) -> Self {
        Self { content, mode, durable_mode: mode, modified: now, links: 0, handles: 0 }
    }

    pub(super) fn kind(&self) -> Kind {
        match self.content {
            Content::File(_) => Kind::File,
            Content::Directory(_) => Kind::Directory,
            Content::Link(_) => Kind::Link,
            Content::Socket => Kind::Socket,
        }
    }

    pub(super) fn len(&self) -> u64 {
        match &self.content {
            Content::File(contents) => contents.len(),
            Content::Directory(_) | Content::Socket => 0,
            Content::Link(target) => target.as_os_str().len() as u64,
        }
    }

    pub(super) fn stat(&self) -> Stat {
        Stat {
            kind: self.kind(),
            len: self.len(),
            mode: self.mode,
            modified: self.modified,
            links: self.links,
        }
    }

    /// Whether the owner has all of these rights: 4 to read, 2 to write, 1 to search.
    pub(super) fn allows(&self, rights: u32) -> Result<(), Error> {
        match self.mode >> 6 & rights == rights {
            true => Ok(()),
            false => Err(Error::Denied),
        }
    }

    pub(super) fn names(&self) -> Result<&Names, Error> {
        match &self.content {
            Content::Directory(names) => Ok(names),
            _ => Err(Error::NotDirectory),
        }
    }
}

impl Disk {
    pub(super) fn names_mut(&mut self, directory: Id) -> &mut Names {
        match &mut self.node_mut(directory).content {
            Content::Directory(names) => names,
            _ => unreachable!("the path was looked up"),
        }
    }

    pub(super) fn contents_mut(&mut self, file: Id) -> Result<&mut Contents, Error> {
        match &mut self.node_mut(file).content {
            Content::File(contents) => Ok(contents),
            Content::Directory(_) => Err(Error::IsDirectory),
            Content::Link(_) => Err(Error::Loop),
            Content::Socket => Err(Error::NoDevice),
        }
    }
}
