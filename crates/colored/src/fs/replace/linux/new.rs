//! [`New`]: the new file, and its name until it replaces the old one.
//!
//! The name is one of a few of its target, and its file is locked (`flock`) for as long as a process works on it. A
//! lock ends with its process: so a file that has such a name and no lock was left by a process that was killed, and
//! the next one that replaces the same file removes it.

use super::super::{Refusal, temporary_name};
use super::Outcome;
use super::target::{Target, is_same};
use rustix::fs::{
    AtFlags, CWD, FileType, FlockOperation, Mode, OFlags, Stat, flock, fstat, linkat, openat,
    renameat, statat, unlinkat,
};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::geteuid;
use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};

/// The most names that are tried, and the most meetings with others at one of them. A guess: one more than there are writers of one
/// file at a time is enough.
const TRIES: u32 = 200;

/// A file that is to replace the one at a target.
pub(super) struct New<'a> {
    target: &'a Target,
    /// Before the file, whose lock must outlast the name.
    name: Option<Name<'a>>,
    pub(super) file: File,
}

/// A name that is removed unless it is renamed. This process has a lock of its file.
struct Name<'a> {
    target: &'a Target,
    name: String,
    number: u32,
    is_renamed: bool,
}

impl New<'_> {
    /// One that ends with this process; `None` if the file system has no such files.
    pub(super) fn without_name(target: &Target) -> Result<Option<New<'_>>, Refusal> {
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        match retry_on_intr(|| openat(&target.directory, c".", flags, mode(target))) {
            Ok(file) => Ok(Some(New { target, name: None, file: File::from(file) })),
            Err(error) => match Refusal::from(error) {
                Refusal::InPlace => Ok(None),
                failed @ Refusal::Failed(_) => Err(failed),
            },
        }
    }

    /// One with a name.
    pub(super) fn with_name(target: &Target) -> Result<New<'_>, Refusal> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let directory = &target.directory;
        let (name, file) = Name::make(target, |name| {
            let file = retry_on_intr(|| openat(directory, name, flags, mode(target)))?;
            match lock(&file) {
                // Another process takes it for one that was left, and removes it.
                Err(Errno::WOULDBLOCK) => return Err(Errno::EXIST),
                Err(error) => {
                    unlinkat(directory, name, AtFlags::empty())?;
                    return Err(error);
                }
                Ok(()) => {}
            }
            if is_at(&fstat(&file)?, directory, name)? { Ok(file) } else { Err(Errno::EXIST) }
        })?;
        Ok(New { target, name: Some(name), file: File::from(file) })
    }

    /// Gives the file the name of the target.
    pub(super) fn publish(mut self) -> Result<Outcome, Refusal> {
        let target = self.target;
        let name = match (self.name.take(), &target.old) {
            (Some(name), _) => name,
            (None, Some(_)) => match self.name_it() {
                Ok(name) => name,
                Err(error) => return unnameable(error),
            },
            (None, None) => {
                return match link(&self.file, &target.directory, &target.name) {
                    Ok(()) => Ok(Outcome::Replaced),
                    Err(Errno::EXIST) => Ok(Outcome::Changed),
                    Err(error) => unnameable(error),
                };
            }
        };
        name.rename()?;
        Ok(Outcome::Replaced)
    }
}

impl<'a> New<'a> {
    /// A name for the file, which has none.
    fn name_it(&self) -> Result<Name<'a>, Errno> {
        lock(&self.file)?;
        let directory = &self.target.directory;
        Ok(Name::make(self.target, |name| link(&self.file, directory, name))?.0)
    }
}

fn unnameable(error: Errno) -> Result<Outcome, Refusal> {
    match Refusal::from(error) {
        Refusal::InPlace => Ok(Outcome::Unnameable),
        failed @ Refusal::Failed(_) => Err(failed),
    }
}

impl<'a> Name<'a> {
    /// Makes a file with one of the names for a target; `make` makes and locks it, or says `EXIST`.
    fn make<T>(
        target: &'a Target,
        make: impl Fn(&str) -> Result<T, Errno>,
    ) -> Result<(Name<'a>, T), Errno> {
        let mut number = 0;
        for _ in 0..TRIES {
            let name = temporary_name(target.name.as_bytes(), number);
            match make(&name) {
                Ok(made) => return Ok((Name { target, name, number, is_renamed: false }, made)),
                Err(Errno::EXIST) if remove_left(target, &name) != Left::Stays => {}
                Err(Errno::EXIST) => number += 1,
                Err(error) => return Err(error),
            }
        }
        Err(Errno::EXIST)
    }

    /// Makes it the name of the target.
    fn rename(mut self) -> Result<(), Errno> {
        let Target { directory, name, .. } = self.target;
        renameat(directory, &self.name, directory, name)?;
        self.is_renamed = true;
        // Several processes may have been killed at a time.
        let mut others = self.number + 1..;
        let next = |number| remove_left(self.target, &temporary_name(name.as_bytes(), number));
        while others.next().map(next) == Some(Left::Removed) {}
        Ok(())
    }
}

impl Drop for Name<'_> {
    fn drop(&mut self) {
        if !self.is_renamed {
            // Nothing more can be done about it.
            let _ = unlinkat(&self.target.directory, &self.name, AtFlags::empty());
        }
    }
}

/// The permissions of a new file until it has those of the old one.
fn mode(target: &Target) -> Mode {
    Mode::from_raw_mode(if target.old.is_some() { 0o600 } else { 0o666 })
}

fn lock(file: impl std::os::fd::AsFd) -> Result<(), Errno> {
    flock(file, FlockOperation::NonBlockingLockExclusive)
}

/// Gives a file without a name this one.
fn link(
    file: &File,
    directory: &OwnedFd,
    name: impl rustix::path::Arg + Copy,
) -> Result<(), Errno> {
    match linkat(file, c"", directory, name, AtFlags::EMPTY_PATH) {
        // That call needs a privilege, or Linux 6.10.
        Err(Errno::NOENT | Errno::PERM | Errno::INVAL) => {
            let this = format!("/proc/self/fd/{}", file.as_raw_fd());
            linkat(CWD, this, directory, name, AtFlags::SYMLINK_FOLLOW)
        }
        result => result,
    }
}

/// Whether a file has this name.
fn is_at(file: &Stat, directory: &OwnedFd, name: &str) -> Result<bool, Errno> {
    match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) => Ok(is_same(&found, file)),
        Err(Errno::NOENT) => Ok(false),
        Err(error) => Err(error),
    }
}

/// What is at a name.
#[derive(PartialEq, Eq)]
enum Left {
    Nothing,
    /// A killed process had left a file, which is gone now.
    Removed,
    /// Something else.
    Stays,
}

/// Removes what a killed process left at a name of this target.
fn remove_left(target: &Target, name: &str) -> Left {
    // For writing, since each new file has the permissions of its target, or those before. `NONBLOCK`:
    // a pipe of this name must not keep us.
    let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match openat(&target.directory, name, flags, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT) => return Left::Nothing,
        Err(_) => return Left::Stays,
    };
    let Ok(found) = fstat(&file) else { return Left::Stays };
    let is_regular = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
    let is_ours = found.st_uid == geteuid().as_raw()
        || target.old.as_ref().is_some_and(|old| old.st_uid == found.st_uid);
    if !is_regular || !is_ours || found.st_nlink > 1 || lock(&file).is_err() {
        return Left::Stays;
    }
    match is_at(&found, &target.directory, name) {
        Ok(true) => match unlinkat(&target.directory, name, AtFlags::empty()) {
            Ok(()) => Left::Removed,
            Err(_) => Left::Stays,
        },
        // It was renamed before it was locked here.
        Ok(false) => Left::Nothing,
        Err(_) => Left::Stays,
    }
}
