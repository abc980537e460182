//! Files of std.

use std::fs::{self, File, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

/// A new folder, which is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("control-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("temporary files can be made");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn a_file_is_read_where_it_was_written() {
    let folder = Folder::new("seek");
    let path = folder.0.join("file");
    let mut file = File::create_new(&path).expect("it is new");
    file.write_all(b"0123456789").expect("there is room");
    file.sync_all().expect("it comes to the disk");
    let mut file = File::open(&path).expect("it is there");
    file.seek(SeekFrom::End(-3)).expect("it has ten bytes");
    let mut rest = String::new();
    file.read_to_string(&mut rest).expect("it can be read");
    assert_eq!(rest, "789");
}

pub(crate) fn a_rename_replaces() {
    let folder = Folder::new("rename");
    let [old, new] = ["old", "new"].map(|name| folder.0.join(name));
    fs::write(&old, "old").expect("there is room");
    fs::write(&new, "new").expect("there is room");
    fs::rename(&new, &old).expect("a file is replaced");
    assert_eq!(fs::read_to_string(&old).expect("it is there"), "new");
}

pub(crate) fn a_lock_excludes() {
    let folder = Folder::new("lock");
    let path = folder.0.join("file");
    let first = File::create_new(&path).expect("it is new");
    first.try_lock().expect("nobody has it");
    let second = File::open(&path).expect("it is there");
    assert!(matches!(second.try_lock(), Err(TryLockError::WouldBlock)));
    drop(first);
    second.try_lock().expect("nobody has it");
}

pub(crate) fn an_open_file_that_is_deleted_frees_its_name() {
    let folder = Folder::new("name");
    let path = folder.0.join("file");
    let _open = File::create_new(&path).expect("it is new");
    fs::remove_file(&path).expect("a file that is open is deleted");
    File::create_new(&path).expect("the name is free");
}

pub(crate) fn a_folder_goes_beside_an_open_file() {
    let folder = Folder::new("open");
    let inner = folder.0.join("inner");
    fs::create_dir(&inner).expect("it is new");
    let _open = File::create_new(inner.join("file")).expect("it is new");
    fs::remove_dir_all(&inner).expect("the folder goes");
}
