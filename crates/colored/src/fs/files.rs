//! [`Files`]: where the paths of a runtime lead: to the files of the system, or to those of a simulated host.

use super::opening::may_wait;
use crate::driver::simulated::Machine;
use crate::services::Services;
use colored_machine as machine;
use std::fs::{self, Metadata, Permissions};
use std::io;
use std::path::{Path, PathBuf};

/// Where the paths of a runtime lead.
#[derive(Clone, Debug)]
pub(super) struct Files(Option<Machine>);

impl Files {
    pub(super) fn of(services: &Services) -> Files {
        Files(services.machine.clone())
    }

    pub(super) fn machine(&self) -> Option<&Machine> {
        self.0.as_ref()
    }

    pub(super) fn simulated(&self) -> Option<&dyn machine::Files> {
        self.0.as_ref().map(|machine| machine.files())
    }

    /// The metadata of what is at a path, or of a symbolic link itself.
    pub(super) fn look_at(&self, path: &Path, follow: bool) -> io::Result<Metadata> {
        match self.simulated() {
            None if follow => fs::metadata(path),
            None => fs::symlink_metadata(path),
            Some(tree) => tree.look_at(path, follow),
        }
    }

    #[cfg(unix)]
    pub(super) fn symlink(&self, original: &Path, link: &Path) -> io::Result<()> {
        match self.simulated() {
            None => std::os::unix::fs::symlink(original, link),
            Some(tree) => tree.symlink(original, link),
        }
    }

    pub(super) fn create_dir(&self, path: &Path) -> io::Result<()> {
        match self.simulated() {
            None => fs::create_dir(path),
            Some(tree) => tree.create_dir(path, false, None),
        }
    }

    pub(super) fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        match self.simulated() {
            None => fs::create_dir_all(path),
            Some(tree) => tree.create_dir(path, true, None),
        }
    }

    /// `None` if the copy may wait for ever.
    pub(super) fn copy_unless_it_waits(&self, from: &Path, to: &Path) -> io::Result<Option<u64>> {
        match self.0.is_none() && (may_wait(from) || may_wait(to)) {
            true => Ok(None),
            false => self.copy(from, to).map(Some),
        }
    }
}

macro_rules! calls_of_std {
    ($($(#[$if:meta])* $name:ident($($argument:ident: $type:ty),*) -> $output:ty;)*) => {
        impl Files {$(
            $(#[$if])*
            pub(super) fn $name(&self, $($argument: $type),*) -> io::Result<$output> {
                match self.simulated() {
                    None => fs::$name($($argument),*),
                    Some(tree) => tree.$name($($argument),*),
                }
            }
        )*}
    };
}

calls_of_std! {
    copy(from: &Path, to: &Path) -> u64;
    rename(from: &Path, to: &Path) -> ();
    hard_link(original: &Path, link: &Path) -> ();
    remove_file(path: &Path) -> ();
    remove_dir(path: &Path) -> ();
    remove_dir_all(path: &Path) -> ();
    read_link(path: &Path) -> PathBuf;
    canonicalize(path: &Path) -> PathBuf;
    set_permissions(path: &Path, permissions: Permissions) -> ();
    write(path: &Path, bytes: &[u8]) -> ();
}
