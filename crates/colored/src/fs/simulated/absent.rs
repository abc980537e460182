//! Without the feature `sim` no file is simulated.

use crate::world::Host;
use std::ffi::OsString;
use std::fs::{FileType, Metadata, Permissions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// There is none.
#[derive(Clone, Debug)]
pub(super) enum Tree {}

/// There is none.
#[derive(Debug)]
pub(super) enum File {}

impl Tree {
    pub(super) fn of(host: &Arc<Host>) -> Tree {
        match **host {}
    }

    pub(super) fn is_deferred(&self) -> bool {
        match *self {}
    }
}

impl File {
    pub(super) fn unless_deferred<T>(
        &self,
        _: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<Option<T>> {
        match *self {}
    }
}

macro_rules! calls_of {
    ($of:ident: $($name:ident($($argument:ty),*) -> $output:ty;)*) => {
        impl $of {$(
            pub(super) fn $name(&self, $(_: $argument),*) -> io::Result<$output> {
                match *self {}
            }
        )*}
    };
}

calls_of! { Tree:
    open(&Path, &super::open::OpenOptions) -> File;
    look_at(&Path, bool) -> Metadata;
    read_dir(&Path) -> Vec<(OsString, io::Result<FileType>)>;
    create_dir(&Path) -> ();
    create_dir_all(&Path) -> ();
    create_dir_by(&Path, bool, Option<u32>) -> ();
    set_permissions(&Path, Permissions) -> ();
    copy(&Path, &Path) -> u64;
    rename(&Path, &Path) -> ();
    hard_link(&Path, &Path) -> ();
    remove_file(&Path) -> ();
    remove_dir(&Path) -> ();
    remove_dir_all(&Path) -> ();
    read_link(&Path) -> PathBuf;
    canonicalize(&Path) -> PathBuf;
    write(&Path, &[u8]) -> ();
}

#[cfg(unix)]
calls_of! { Tree:
    symlink(&Path, &Path) -> ();
}

calls_of! { File:
    read(&mut [u8], u64) -> usize;
    write(&[u8], u64) -> usize;
    seek(u64) -> u64;
    set_len(u64) -> ();
    len() -> u64;
    metadata() -> Metadata;
    set_permissions(&Permissions) -> ();
    sync(bool) -> ();
    try_clone() -> File;
}
