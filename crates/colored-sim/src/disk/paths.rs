//! Operations on paths.

use super::names::Names;
use super::node::Content;
use super::walk::{Follow, Place, ends_with, has_zero_byte};
use super::{Disk, Error, Id, Kind, MASK, Stat};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Its name.
    pub name: OsString,
    /// What it is; of a symbolic link, the link itself.
    pub kind: Kind,
}

impl Disk {
    /// What is at a path.
    ///
    /// # Errors
    ///
    /// As of the system.
    pub fn stat(&self, path: &Path, follow: bool) -> io::Result<Stat> {
        let follow = if follow { Follow::Always } else { Follow::BeforeSlash };
        Ok(self.node(self.walk(path, follow)?.found(self)?).stat())
    }

    /// Makes a directory.
    ///
    /// # Errors
    ///
    /// As of the system.
    pub fn create_dir(&mut self, path: &Path, mode: u32) -> io::Result<()> {
        let place = self.walk(path, Follow::Never)?;
        let name = self.new_name(&place)?;
        let id = self.add_node(Content::Directory(Names::default()), mode & !MASK);
        self.change_names(vec![(place.directory, name, Some(id))]);
        Ok(())
    }

    /// Makes a symbolic link, `link`, to `original`.
    ///
    /// # Errors
    ///
    /// As of the system.
    pub fn symlink(&mut self, original: &Path, link: &Path) -> io::Result<()> {
        if has_zero_byte(original) {
            return Err(Error::ZeroByte.into());
        }
        let place = self.walk(link, Follow::Never)?;
        if original.as_os_str().is_empty() || place.is_of_directory && place.node.is_none() {
            return Err(Error::NotFound.into());
        }
        let name = self.new_name(&place)?;
        let id = self.add_node(Content::Link(original.to_owned()), 0o777);
        self.change_names(vec![(place.directory, name, Some(id))]);
        Ok(())
    }

    /// Makes the name of a Unix socket, and returns a number that no other socket has had.
    ///
    /// # Errors
    ///
    /// As of the system. Something is at the path: `AlreadyExists`.
    pub fn create_socket(&mut self, path: &Path) -> io::Result<u64> {
        let place = self.walk(path, Follow::Never)?;
        let name = self.new_name(&place)?;
        let id = self.add_node(Content::Socket, 0o777 & !MASK);
        self.change_names(vec![(place.directory, name, Some(id))]);
        Ok(id)
    }

    /// The number of the socket at a path; none if something else is there.
    ///
    /// # Errors
    ///
    /// As of the system.
    pub fn socket_at(&self, path: &Path) -> io::Result<Option<u64>> {
        let id = self.walk(path, Follow::Always)?.found(self)?;
        let node = self.node(id);
        node.allows(2)?;
        Ok((node.kind() == Kind::Socket).then_some(id))
    }

    /// Makes a second name, `link`, of a file. A symbolic link is not followed.
    ///
    /// # Errors
    ///
    /// As of the system.
    pub fn hard_link(&mut self, original: &Path, link: &Path) -> io::Result<()> {
        let id = self.walk(original, Follow::BeforeSlash)?.found(self)?;
        let place = self.walk(link, Follow::Never)?;
        if place.is_of_directory && place.node.is_none() {
            return Err(Error::NotFound.into());
        }
        let name = self.new_name(&place)?;
        if self.node(id).kind() == Kind::Directory {
            return Err(Error::NotPermitted.into());
        }
        self.change_names(vec![(place.directory, name, Some(id))]);
        Ok(())
    }

    /// Removes a file or a symbolic link.
    ///
    /// # Errors
    ///
    /// As of the system.
    pub fn remove_file(&mut self, path: &Path) -> io::Result<()> {
        let place = self.walk(path, Follow::Never)?;
        let id = place.found(self)?;
        if self.node(id).kind() == Kind::Directory {
            return Err(Error::IsDirectory.into());
        }
        self.remove(place)
    }

    /// Removes an empty directory.
    ///
    /// # Errors
    ///
    /// As of the system.
    pub fn remove_dir(&mut self, path: &Path) -> io::Result<()> {
        let place = self.walk(path, Follow::Never)?;
        let id = place.found(self)?;
        let is_empty = self.node(id).names()?.live.is_empty();
        match place.name {
            Some(_) if is_empty => self.remove(place),
            None if ends_with(path, b".") => Err(Error::Invalid.into()),
            None if !ends_with(path, b"..") => Err(Error::Busy.into()),
            _ => Err(Error::NotEmpty.into()),
        }
    }

    fn remove(&mut self, place: Place) -> io::Result<()> {
        let Some(name) = place.name else { return Err(Error::Busy.into()) };
        self.node(place.directory).allows(3)?;
        self.change_names(vec![(place.directory, name, None)]);
        Ok(())
    }

    /// Gives a file or directory another name, in one step, and replaces a file or an empty directory that has it.
    ///
    /// # Errors
    ///
    /// As of the system.
    pub fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let (from, to) = (self.walk(from, Follow::Never)?, self.walk(to, Follow::Never)?);
        let (Some(old), Some(new)) = (&from.name, &to.name) else { return Err(Error::Busy.into()) };
        let moved = from.node.ok_or(Error::NotFound)?;
        let is_directory = self.node(moved).kind() == Kind::Directory;
        if !is_directory && (from.is_of_directory || to.is_of_directory) {
            return Err(Error::NotDirectory.into());
        }
        if is_directory && self.is_inside(to.directory, moved) {
            return Err(Error::Invalid.into());
        }
        if to.node.is_some_and(|id| self.is_inside(from.directory, id)) {
            return Err(Error::NotEmpty.into());
        }
        if to.node == Some(moved) {
            return Ok(());
        }
        self.node(from.directory).allows(3)?;
        self.node(to.directory).allows(3)?;
        if let Some(replaced) = to.node {
            match (is_directory, self.node(replaced).names()) {
                (true, names) if !names?.live.is_empty() => return Err(Error::NotEmpty.into()),
                (false, Ok(_)) => return Err(Error::IsDirectory.into()),
                _ => {}
            }
        }
        let (old, new) = (old.clone(), new.clone());
        self.change_names(vec![(from.directory, old, None), (to.directory, new, Some(moved))]);
        Ok(())
    }

    /// Whether a directory is another one, or below it.
    fn is_inside(&self, directory: Id, outer: Id) -> bool {
        let is_in = |id: &Id| self.is_inside(directory, *id);
        let directories = |id: Id| self.node(id).names().ok().map(|names| names.live.values());
        directory == outer || directories(outer).is_some_and(|mut inner| inner.any(is_in))
    }

    /// The path that a symbolic link leads to.
    ///
    /// # Errors
    ///
    /// As of the system.
    pub fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        match &self.node(self.walk(path, Follow::BeforeSlash)?.found(self)?).content {
            Content::Link(target) => Ok(target.clone()),
            _ => Err(Error::Invalid.into()),
        }
    }

    /// The path from the root, without symbolic links.
    ///
    /// # Errors
    ///
    /// As of the system.
    pub fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        let place = self.walk(path, Follow::Always)?;
        place.found(self)?;
        Ok(place.path())
    }

    /// The entries of a directory, by their names.
    ///
    /// # Errors
    ///
    /// As of the system.
    pub fn read_dir(&self, path: &Path) -> io::Result<Vec<Entry>> {
        let node = self.node(self.walk(path, Follow::Always)?.found(self)?);
        let names = node.names()?;
        node.allows(4)?;
        let entry = |(name, id): (&OsString, &Id)| Entry {
            name: name.clone(),
            kind: self.node(*id).kind(),
        };
        Ok(names.live.iter().map(entry).collect())
    }

    /// Sets the permissions of what is at a path.
    ///
    /// # Errors
    ///
    /// As of the system.
    pub fn set_mode(&mut self, path: &Path, mode: u32) -> io::Result<()> {
        let id = self.walk(path, Follow::Always)?.found(self)?;
        self.node_mut(id).mode = mode & 0o7777;
        Ok(())
    }

    /// The name of something new, in a directory that takes one.
    pub(super) fn new_name(&self, place: &Place) -> Result<OsString, Error> {
        match (&place.name, place.node) {
            (Some(name), None) => {
                self.node(place.directory).allows(3)?;
                Ok(name.clone())
            }
            _ => Err(Error::Exists),
        }
    }
}
