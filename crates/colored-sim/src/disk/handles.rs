//! Open files.

use super::contents::Contents;
use super::node::Content;
use super::walk::{Follow, Place, is_of_directory};
use super::{Chance, Disk, Error, Id, Kind, MASK, Stat};
use std::io;
use std::path::Path;

/// The bytes of the longest file: it is in memory, with its holes.
const LONGEST: u64 = 1 << 31;

/// The number of an open file. Each opening has another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handle(pub(super) u64);

/// How to open a file, as `std::fs::OpenOptions`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// It can be read.
    pub read: bool,
    /// It can be written.
    pub write: bool,
    /// Each write goes to its end.
    pub append: bool,
    /// It is emptied.
    pub truncate: bool,
    /// It is made if it does not exist.
    pub create: bool,
    /// It must not exist, and is made.
    pub create_new: bool,
    /// Each write is synced.
    pub sync: bool,
    /// The permissions of a new file, before the mask of the process.
    pub mode: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            read: false,
            write: false,
            append: false,
            truncate: false,
            create: false,
            create_new: false,
            sync: false,
            mode: 0o666,
        }
    }
}

impl Options {
    /// To read a file.
    #[must_use]
    pub fn to_read() -> Self {
        Self { read: true, ..Self::default() }
    }

    /// To write a file from its start; it is made or emptied.
    #[must_use]
    pub fn to_write() -> Self {
        Self { write: true, create: true, truncate: true, ..Self::default() }
    }

    /// The rules of the standard library.
    fn check(&self) -> Result<(), Error> {
        let makes = self.create || self.create_new;
        let is_writer = self.write || self.append;
        let is_right = match (is_writer, self.append) {
            (false, _) => self.read && !makes && !self.truncate,
            (true, true) => !self.truncate || self.create_new,
            (true, false) => true,
        };
        if is_right { Ok(()) } else { Err(Error::Invalid) }
    }

    /// Whether opening what exists needs a file.
    fn changes(&self) -> bool {
        self.write || self.append || self.create || self.truncate
    }
}

#[derive(Debug)]
pub(super) struct Opened {
    node: Id,
    reads: bool,
    writes: bool,
    appends: bool,
    syncs: bool,
}

impl Disk {
    /// Opens a file, or a directory for reading, which can be synced and has metadata.
    ///
    /// # Errors
    ///
    /// As of the system.
    pub fn open(&mut self, path: &Path, options: &Options) -> io::Result<Handle> {
        options.check()?;
        let makes = options.create || options.create_new;
        // What ends with a slash is not looked up if a file is to be made.
        if makes && is_of_directory(path) && self.walk(path, Follow::Never)?.name.is_some() {
            return Err(Error::IsDirectory.into());
        }
        let follow = if options.create_new { Follow::BeforeSlash } else { Follow::Always };
        let place = self.walk(path, follow)?;
        let node = match place.node {
            Some(_) if options.create_new => return Err(Error::Exists.into()),
            Some(_) => self.open_old(&place, options)?,
            None => self.open_new(&place, options)?,
        };
        let handle = Handle(self.next_handle);
        self.next_handle += 1;
        self.node_mut(node).handles += 1;
        let opened = Opened {
            node,
            reads: options.read,
            writes: options.write || options.append,
            appends: options.append,
            syncs: options.sync,
        };
        self.handles.insert(handle, opened);
        Ok(handle)
    }

    fn open_old(&mut self, place: &Place, options: &Options) -> Result<Id, Error> {
        let id = place.found(self)?;
        let node = self.node(id);
        if node.kind() == Kind::Directory && options.changes() {
            return Err(Error::IsDirectory);
        }
        if node.kind() == Kind::Socket {
            return Err(Error::NoDevice);
        }
        if options.read {
            node.allows(4)?;
        }
        if options.write || options.append {
            node.allows(2)?;
        }
        if options.truncate {
            self.resize(id, 0)?;
        }
        Ok(id)
    }

    fn open_new(&mut self, place: &Place, options: &Options) -> Result<Id, Error> {
        if !options.create && !options.create_new {
            return Err(Error::NotFound);
        }
        let name = self.new_name(place)?;
        let id = self.add_node(Content::File(Contents::default()), options.mode & !MASK);
        self.change_names(vec![(place.directory, name, Some(id))]);
        Ok(id)
    }

    /// Closes a file. Does nothing for a handle that a power failure has closed.
    pub fn close(&mut self, handle: Handle) {
        if let Some(opened) = self.handles.remove(&handle) {
            self.node_mut(opened.node).handles -= 1;
            self.give_room_back(opened.node);
        }
    }

    /// A second handle of an open file.
    ///
    /// # Errors
    ///
    /// If the first one is closed.
    pub fn duplicate(&mut self, handle: Handle) -> io::Result<Handle> {
        let Opened { node, reads, writes, appends, syncs } = *self.opened(handle)?;
        let handle = Handle(self.next_handle);
        self.next_handle += 1;
        self.node_mut(node).handles += 1;
        self.handles.insert(handle, Opened { node, reads, writes, appends, syncs });
        Ok(handle)
    }

    fn opened(&self, handle: Handle) -> Result<&Opened, Error> {
        self.handles.get(&handle).ok_or(Error::BadHandle)
    }

    /// Reads what is at an offset, as far as it fits.
    ///
    /// # Errors
    ///
    /// As of the system.
    pub fn read_at(&mut self, handle: Handle, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let Opened { node, reads, .. } = *self.opened(handle)?;
        if !reads {
            return Err(Error::BadHandle.into());
        }
        Ok(self.contents_mut(node)?.read(buf, offset))
    }

    /// Writes at an offset, or, in append mode, at the end; less than all bytes if the disk is full then.
    ///
    /// # Errors
    ///
    /// As of the system.
    pub fn write_at(&mut self, handle: Handle, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let Opened { node, writes, appends, syncs, .. } = *self.opened(handle)?;
        if !writes {
            return Err(Error::BadHandle.into());
        }
        if bytes.is_empty() {
            return Ok(0);
        }
        let (now, room) = (self.now, self.room());
        let contents = self.contents_mut(node)?;
        let len = contents.len();
        let offset = if appends { len } else { offset };
        // An end that there is already, or for which there is room.
        let allowed = len.saturating_add(room).saturating_sub(offset);
        let n = bytes.len().min(usize::try_from(allowed).unwrap_or(usize::MAX));
        if offset.saturating_add(n as u64) > LONGEST {
            return Err(Error::TooLarge.into());
        }
        if n == 0 {
            return Err(Error::Full.into());
        }
        contents.write(&bytes[..n], offset as usize);
        if syncs {
            contents.sync();
        }
        self.used += self.node(node).len() - len;
        self.node_mut(node).modified = now;
        Ok(n)
    }

    /// Cuts the end of a file off, or adds zeros.
    ///
    /// # Errors
    ///
    /// As of the system.
    pub fn set_len(&mut self, handle: Handle, len: u64) -> io::Result<()> {
        // That is refused before the system is asked.
        i64::try_from(len).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let Opened { node, writes, .. } = *self.opened(handle)?;
        if !writes {
            return Err(Error::Invalid.into());
        }
        Ok(self.resize(node, len)?)
    }

    fn resize(&mut self, node: Id, len: u64) -> Result<(), Error> {
        let (now, room) = (self.now, self.room());
        let contents = self.contents_mut(node)?;
        let before = contents.len();
        if len > before.saturating_add(room) {
            return Err(Error::Full);
        }
        if len > LONGEST {
            return Err(Error::TooLarge);
        }
        contents.resize(len as usize);
        self.used = self.used + len - before;
        self.node_mut(node).modified = now;
        Ok(())
    }

    /// What is known of an open file.
    ///
    /// # Errors
    ///
    /// If it is closed.
    pub fn stat_of(&self, handle: Handle) -> io::Result<Stat> {
        Ok(self.node(self.opened(handle)?.node).stat())
    }

    /// Sets the permissions of an open file.
    ///
    /// # Errors
    ///
    /// If it is closed.
    pub fn set_mode_of(&mut self, handle: Handle, mode: u32) -> io::Result<()> {
        let node = self.opened(handle)?.node;
        self.node_mut(node).mode = mode & 0o7777;
        Ok(())
    }

    /// Brings the bytes of a file, or the entries of a directory, to the device; and the permissions if `all` says so.
    ///
    /// # Errors
    ///
    /// If it is closed.
    pub fn sync(&mut self, handle: Handle, all: bool) -> io::Result<()> {
        let id = self.opened(handle)?.node;
        let node = self.node_mut(id);
        if all {
            node.durable_mode = node.mode;
        }
        match &mut node.content {
            Content::File(contents) => contents.sync(),
            Content::Directory(_) => self.sync_names(id),
            Content::Link(_) | Content::Socket => {}
        }
        Ok(())
    }

    /// A sync that fails. Of a file, some changes get to the device by chance, and the next sync brings none of the others
    /// there, as on Linux: programs see them until a power failure. Of a directory, all entries wait for the next sync.
    ///
    /// # Errors
    ///
    /// Always.
    pub fn fail_sync(&mut self, handle: Handle, happens: Chance<'_>) -> io::Error {
        let node = match self.opened(handle) {
            Ok(opened) => opened.node,
            Err(error) => return error.into(),
        };
        if let Content::File(contents) = &mut self.node_mut(node).content {
            contents.fail_sync(happens);
        }
        Error::Io.into()
    }
}
