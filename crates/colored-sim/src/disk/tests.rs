use super::{Disk, Entry, Error, Kind, Options};
use std::io;
use std::path::Path;

mod power;
#[cfg(target_os = "linux")]
mod system;

fn at(path: &str) -> &Path {
    Path::new(path)
}

fn error<T: std::fmt::Debug>(result: io::Result<T>) -> Option<i32> {
    result.unwrap_err().raw_os_error()
}

fn code(error: Error) -> Option<i32> {
    io::Error::from(error).raw_os_error()
}

#[test]
fn files_are_written_and_read() {
    let mut disk = Disk::new();
    disk.create_dir_all(at("/a/b"), 0o777).unwrap();
    disk.write(at("a/b/c"), b"bytes").unwrap();
    assert_eq!(disk.read(at("/a/./b/../b/c")).unwrap(), b"bytes");
    let stat = disk.stat(at("/a/b/c"), true).unwrap();
    assert_eq!((stat.kind, stat.len, stat.mode, stat.links), (Kind::File, 5, 0o644, 1));
    assert_eq!(error(disk.read(at("/a/x"))), code(Error::NotFound));
    let entries = disk.read_dir(at("/")).unwrap();
    let names = ["a", "tmp"].map(|name| Entry { name: name.into(), kind: Kind::Directory });
    assert_eq!(entries, names);
}

#[test]
fn an_open_file_outlives_its_name_and_gives_its_room_back_at_last() {
    let mut disk = Disk::new();
    disk.set_capacity(10);
    disk.write(at("/a"), &[7; 8]).unwrap();
    let handle = disk.open(at("/a"), &Options::to_read()).unwrap();
    disk.remove_file(at("/a")).unwrap();
    assert_eq!(disk.room(), 2);
    let mut bytes = [0; 9];
    assert_eq!(disk.read_at(handle, &mut bytes, 0).unwrap(), 8);
    disk.close(handle);
    assert_eq!(disk.room(), 10);
    assert_eq!(error(disk.read_at(handle, &mut bytes, 0)), code(Error::BadHandle));
}

#[test]
fn a_full_disk_takes_a_part_and_then_nothing() {
    let mut disk = Disk::new();
    disk.set_capacity(10);
    let handle = disk.open(at("/a"), &Options::to_write()).unwrap();
    assert_eq!(disk.write_at(handle, &[1; 8], 0).unwrap(), 8);
    assert_eq!(disk.write_at(handle, &[1; 8], 8).unwrap(), 2);
    assert_eq!(error(disk.write_at(handle, &[1; 8], 10)), code(Error::Full));
    assert_eq!(disk.write_at(handle, &[2; 8], 0).unwrap(), 8, "what is there is written again");
    assert_eq!(error(disk.set_len(handle, 11)), code(Error::Full));
    disk.set_len(handle, 3).unwrap();
    disk.set_capacity(u64::MAX);
    assert_eq!(error(disk.set_len(handle, i64::MAX as u64)), code(Error::TooLarge));
    let beyond = disk.set_len(handle, 1 << 63).unwrap_err();
    assert_eq!((beyond.kind(), beyond.raw_os_error()), (io::ErrorKind::InvalidInput, None));
    assert_eq!(error(disk.write_at(handle, b"x", u64::MAX - 1)), code(Error::TooLarge));
    disk.set_capacity(10);
    assert_eq!(disk.room(), 7);
}

#[test]
fn permissions_are_those_of_the_owner() {
    let mut disk = Disk::new();
    disk.create_dir(at("/a"), 0o777).unwrap();
    disk.write(at("/a/b"), b"x").unwrap();
    disk.set_mode(at("/a/b"), 0o200).unwrap();
    assert_eq!(error(disk.read(at("/a/b"))), code(Error::Denied));
    disk.set_mode(at("/a/b"), 0o400).unwrap();
    assert_eq!(error(disk.write(at("/a/b"), b"y")), code(Error::Denied));
    disk.set_mode(at("/a"), 0o500).unwrap();
    assert_eq!(error(disk.remove_file(at("/a/b"))), code(Error::Denied));
    assert_eq!(error(disk.write(at("/a/c"), b"y")), code(Error::Denied));
    disk.set_mode(at("/a"), 0o600).unwrap();
    assert_eq!(error(disk.stat(at("/a/b"), true)), code(Error::Denied));
}

#[test]
fn links_lead_on_but_not_in_a_circle() {
    let mut disk = Disk::new();
    disk.create_dir(at("/a"), 0o777).unwrap();
    disk.symlink(at("/a"), at("/to-a")).unwrap();
    disk.symlink(at("x"), at("/a/to-x")).unwrap();
    disk.write(at("/to-a/to-x"), b"x").unwrap();
    assert_eq!(disk.canonicalize(at("to-a/to-x")).unwrap(), at("/a/x"));
    assert_eq!(disk.read_link(at("/to-a")).unwrap(), at("/a"));
    disk.symlink(at("two"), at("one")).unwrap();
    disk.symlink(at("one"), at("two")).unwrap();
    assert_eq!(error(disk.read(at("one"))), code(Error::Loop));
}
