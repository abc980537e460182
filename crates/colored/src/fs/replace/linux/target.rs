//! [`Target`]: the directory and the name that a path leads to.

use super::super::Refusal;
use rustix::fs::{
    AtFlags, CWD, FileType, IFlags, Mode, OFlags, PROC_SUPER_MAGIC, Stat, StatxAttributes,
    StatxFlags, fstat, fstatfs, ioctl_getflags, openat, readlinkat, statat, statx,
};
use rustix::io::{Errno, retry_on_intr};
use std::ffi::CString;
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The kernel follows so many links in one path.
const LINKS: u32 = 40;

/// Where a file can be replaced, or made.
pub(super) struct Target {
    pub(super) directory: OwnedFd,
    pub(super) name: CString,
    /// The file that is there.
    pub(super) old: Option<Stat>,
    is_sticky: bool,
}

impl Target {
    /// Follows a path over all links. `None` if what is there has just been replaced or removed.
    pub(super) fn find(path: &Path) -> Result<Option<Target>, Refusal> {
        let mut target = Target::of(CWD, path.as_os_str().as_bytes())?;
        for _ in 0..=LINKS {
            let Some(stat) = &target.old else { return target.checked() };
            if FileType::from_raw_mode(stat.st_mode) != FileType::Symlink {
                return target.checked();
            }
            // Its text is only what a link of `/proc` is called; it stands for an open file.
            if fstatfs(&target.directory)?.f_type == PROC_SUPER_MAGIC {
                return Err(Refusal::InPlace);
            }
            let text = readlinkat(&target.directory, &target.name, Vec::new())?;
            target = Target::of(&target.directory, text.as_bytes())?;
        }
        Err(Refusal::InPlace)
    }

    /// What a path names, a link included. The kernel follows the links before its last part.
    fn of(from: impl AsFd, path: &[u8]) -> Result<Target, Refusal> {
        let at = path.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
        let (above, name) = path.split_at(at);
        if matches!(name, b"" | b"." | b"..") {
            return Err(Refusal::InPlace);
        }
        let name = CString::new(name).map_err(|_| Refusal::InPlace)?;
        let above = if above.is_empty() { b"." } else { above };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = retry_on_intr(|| openat(&from, above, flags, Mode::empty()))?;
        let old = match statat(&directory, &name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Some(stat),
            Err(Errno::NOENT) => None,
            Err(error) => return Err(error.into()),
        };
        Ok(Target { directory, name, old, is_sticky: false })
    }

    /// This, if what is there can be replaced. `None` if it has lost its name meanwhile.
    fn checked(mut self) -> Result<Option<Target>, Refusal> {
        if let Some(stat) = &self.old {
            // The kernel looks the file up and then reads its attributes; in between another one took its name.
            if stat.st_nlink == 0 {
                return Ok(None);
            }
            let is_regular = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
            // A write takes these bits away.
            let is_privileged =
                Mode::from_raw_mode(stat.st_mode).intersects(Mode::SUID | Mode::SGID);
            if !is_regular || is_privileged || stat.st_nlink != 1 {
                return Err(Refusal::InPlace);
            }
            let found = statx(&self.directory, c"", AtFlags::EMPTY_PATH, StatxFlags::MODE);
            // Without an answer the careful way is taken.
            self.is_sticky = found.as_ref().map_or(true, |found| {
                Mode::from_raw_mode(found.stx_mode.into()).contains(Mode::SVTX)
            });
            let grows_only = match found {
                Ok(found) => found.stx_attributes.contains(StatxAttributes::APPEND),
                Err(_) => has_append_flag(&self.directory),
            };
            // No new file could be removed from it.
            if grows_only {
                return Err(Refusal::InPlace);
            }
        }
        Ok(Some(self))
    }

    /// The file that is there, opened for writing as the standard library opens it: what that refuses is not
    /// replaced. `None` if it is another one than was found.
    pub(super) fn open(&self, path: &Path) -> Result<Option<Option<(File, &Stat)>>, Refusal> {
        // In a sticky directory the system refuses some files only to who would make them. Elsewhere the flag
        // would make an empty file of one that is just removed.
        let create = if self.is_sticky { OFlags::CREATE } else { OFlags::empty() };
        let flags = OFlags::WRONLY | OFlags::CLOEXEC | create;
        let opened = retry_on_intr(|| openat(CWD, path, flags, Mode::from_raw_mode(0o666)));
        match (opened, &self.old) {
            (Err(Errno::NOENT), None) => Ok(Some(None)),
            (Err(Errno::NOENT), Some(_)) | (Ok(_), None) => Ok(None),
            (Ok(file), Some(old)) if is_same(&fstat(&file)?, old) => {
                Ok(Some(Some((File::from(file), old))))
            }
            (Ok(_), Some(_)) => Ok(None),
            (Err(error), _) => Err(error.into()),
        }
    }
}

/// Whether entries of a directory can only be made, where the system has no `statx`.
fn has_append_flag(directory: &OwnedFd) -> bool {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = openat(directory, c".", flags, Mode::empty());
    opened.and_then(ioctl_getflags).is_ok_and(|flags| flags.contains(IFlags::APPEND))
}

/// Whether two files are one.
pub(super) fn is_same(one: &Stat, other: &Stat) -> bool {
    (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
}
