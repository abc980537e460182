//! Operations that are made of several.

use super::{Disk, Error, Handle, Kind, Options};
use std::io::{self, ErrorKind};
use std::path::Path;

impl Disk {
    /// Makes a directory, and those above it that do not exist.
    ///
    /// # Errors
    ///
    /// As of the system.
    pub fn create_dir_all(&mut self, path: &Path, mode: u32) -> io::Result<()> {
        if path.as_os_str().is_empty() {
            return Ok(());
        }
        match self.create_dir(path, mode) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(_) if self.is_dir(path) => return Ok(()),
            Err(error) => return Err(error),
        }
        let above = path.parent().ok_or(Error::NotFound)?;
        self.create_dir_all(above, mode)?;
        match self.create_dir(path, mode) {
            Err(_) if self.is_dir(path) => Ok(()),
            made => made,
        }
    }

    fn is_dir(&self, path: &Path) -> bool {
        self.stat(path, true).is_ok_and(|stat| stat.kind == Kind::Directory)
    }

    /// Removes a directory with all that is in it. Of a symbolic link, removes the link.
    ///
    /// # Errors
    ///
    /// As of the system.
    pub fn remove_dir_all(&mut self, path: &Path) -> io::Result<()> {
        if self.stat(path, false)?.kind == Kind::Link {
            return self.remove_file(path);
        }
        for entry in self.read_dir(path)? {
            let inner = path.join(entry.name);
            match entry.kind {
                Kind::Directory => self.remove_dir_all(&inner)?,
                Kind::File | Kind::Link | Kind::Socket => self.remove_file(&inner)?,
            }
        }
        self.remove_dir(path)
    }

    /// The bytes of a file.
    ///
    /// # Errors
    ///
    /// As of the system.
    pub fn read(&mut self, path: &Path) -> io::Result<Vec<u8>> {
        let handle = self.open(path, &Options::to_read())?;
        let bytes = self.read_all(handle);
        self.close(handle);
        bytes
    }

    fn read_all(&mut self, handle: Handle) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; self.stat_of(handle)?.len as usize];
        self.read_at(handle, &mut bytes, 0)?;
        Ok(bytes)
    }

    /// Makes these the bytes of a file, in place, and makes the file if it does not exist.
    ///
    /// # Errors
    ///
    /// As of the system.
    pub fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.write_by(path, &Options::to_write(), bytes)
    }

    fn write_by(&mut self, path: &Path, options: &Options, bytes: &[u8]) -> io::Result<()> {
        let handle = self.open(path, options)?;
        let written = self.write_all(handle, bytes);
        self.close(handle);
        written
    }

    fn write_all(&mut self, handle: Handle, bytes: &[u8]) -> io::Result<()> {
        let mut done = 0;
        while done < bytes.len() {
            done += self.write_at(handle, &bytes[done..], done as u64)?;
        }
        Ok(())
    }

    /// Copies the bytes and the permissions of a file, and returns the number of bytes.
    ///
    /// # Errors
    ///
    /// As of the system.
    pub fn copy(&mut self, from: &Path, to: &Path) -> io::Result<u64> {
        let reader = self.open(from, &Options::to_read())?;
        let copied = self.copy_from(reader, to);
        self.close(reader);
        copied
    }

    fn copy_from(&mut self, reader: Handle, to: &Path) -> io::Result<u64> {
        let stat = self.stat_of(reader)?;
        if stat.kind != Kind::File {
            return Err(ErrorKind::InvalidInput.into());
        }
        let writer = self.open(to, &Options { mode: stat.mode, ..Options::to_write() })?;
        // Of a file that is copied to itself nothing is left by now.
        let bytes = self.read_all(reader);
        let copied = bytes.and_then(|bytes| {
            self.write_all(writer, &bytes)?;
            self.set_mode_of(writer, stat.mode)?;
            Ok(bytes.len() as u64)
        });
        self.close(writer);
        copied
    }
}
