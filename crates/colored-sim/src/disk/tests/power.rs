//! What a power failure leaves.

use super::{Disk, Options, at, code, error};
use crate::disk::Error;

fn lose(disk: &mut Disk) {
    disk.fail_power(&mut |_| false);
}

fn sync(disk: &mut Disk, path: &str) {
    let handle = disk.open(at(path), &Options::to_read()).unwrap();
    disk.sync(handle, true).unwrap();
    disk.close(handle);
}

#[test]
fn a_file_needs_a_sync_of_itself_and_of_its_directory() {
    for (file, directory) in [(false, false), (true, false), (false, true), (true, true)] {
        let mut disk = Disk::new();
        disk.write(at("/a"), b"bytes").unwrap();
        if file {
            sync(&mut disk, "/a");
        }
        if directory {
            sync(&mut disk, "/");
        }
        lose(&mut disk);
        let left = disk.read(at("/a")).ok();
        let expected = directory.then(|| if file { b"bytes".to_vec() } else { Vec::new() });
        assert_eq!(left, expected, "file {file}, directory {directory}");
    }
}

#[test]
fn a_rename_without_a_sync_of_the_new_file_may_leave_it_empty() {
    let mut disk = Disk::new();
    disk.write(at("/a"), b"old").unwrap();
    disk.sync_everything();
    disk.write(at("/b"), b"new").unwrap();
    disk.rename(at("/b"), at("/a")).unwrap();
    let mut is_rename = [false, true, false].into_iter();
    // The entry of the new file, its rename, and its bytes.
    disk.fail_power(&mut |_| is_rename.next().unwrap());
    assert_eq!(disk.read(at("/a")).unwrap(), b"");
    assert!(disk.stat(at("/b"), true).is_err());
}

#[test]
fn the_sync_of_a_directory_keeps_the_order_of_the_changes_of_a_name() {
    let mut disk = Disk::new();
    disk.create_dir(at("/d"), 0o777).unwrap();
    disk.write(at("/d/a"), b"1").unwrap();
    disk.rename(at("/d/a"), at("/a")).unwrap();
    disk.remove_file(at("/a")).unwrap();
    disk.write(at("/b"), b"2").unwrap();
    sync(&mut disk, "/");
    lose(&mut disk);
    let names: Vec<_> = disk.read_dir(at("/")).unwrap().into_iter().map(|of| of.name).collect();
    assert_eq!(names, ["b", "d", "tmp"]);
    assert!(disk.read_dir(at("/d")).unwrap().is_empty());
}

#[test]
fn a_removed_file_comes_back_until_the_directory_is_synced() {
    let mut disk = Disk::new();
    disk.write(at("/a"), b"bytes").unwrap();
    disk.sync_everything();
    disk.remove_file(at("/a")).unwrap();
    lose(&mut disk);
    assert_eq!(disk.read(at("/a")).unwrap(), b"bytes");
    assert_eq!(disk.room(), (1 << 30) - 5);
    disk.remove_file(at("/a")).unwrap();
    sync(&mut disk, "/");
    lose(&mut disk);
    assert!(disk.read(at("/a")).is_err());
    assert_eq!((disk.room(), disk.nodes.len()), (1 << 30, 2));
}

#[test]
fn handles_end_and_permissions_go_back() {
    let mut disk = Disk::new();
    disk.write(at("/a"), b"").unwrap();
    disk.sync_everything();
    disk.set_mode(at("/a"), 0o600).unwrap();
    let handle = disk.open(at("/a"), &Options::to_write()).unwrap();
    lose(&mut disk);
    assert_eq!(error(disk.write_at(handle, b"x", 0)), code(Error::BadHandle));
    disk.close(handle);
    assert_eq!(disk.stat(at("/a"), true).unwrap().mode, 0o644);
}

#[test]
fn a_failed_sync_is_reported_once_and_the_bytes_are_gone() {
    let mut disk = Disk::new();
    disk.write(at("/a"), b"").unwrap();
    disk.sync_everything();
    let handle = disk.open(at("/a"), &Options::to_write()).unwrap();
    disk.write_at(handle, b"bytes", 0).unwrap();
    assert_eq!(disk.fail_sync(handle, &mut |_| false).raw_os_error(), code(Error::Io));
    disk.sync(handle, true).unwrap();
    assert_eq!(disk.read(at("/a")).unwrap(), b"bytes");
    lose(&mut disk);
    assert_eq!(disk.read(at("/a")).unwrap(), b"");
}
