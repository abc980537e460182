//! Permissions, owners, attributes, and what is no file on a disk.

use super::How::{InPlace, Made, Refused, Replaced};
use super::{Row, Set, old};
use colored_tests::scratch::Scratch;
use rustix::fs::{
    CWD, FileType, IFlags, Mode, XattrFlags, ioctl_getflags, ioctl_setflags, mknodat, setxattr,
};
use std::fs::{self, File, Permissions, create_dir, set_permissions};
use std::io::{self, Read, Seek, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

const PERMISSIONS: &str = "system.posix_acl_access";

pub(super) const ROWS: &[Row] = &[
    Row { name: "mode 0640", how: Replaced, set_up: |dir| Ok(Set::at(with_mode(dir, 0o640)?)) },
    Row {
        name: "mode 0777 and sticky",
        how: Replaced,
        set_up: |dir| Ok(Set::at(with_mode(dir, 0o1777)?)),
    },
    Row { name: "set-user-ID", how: InPlace, set_up: |dir| Ok(Set::at(with_mode(dir, 0o4755)?)) },
    Row { name: "set-group-ID", how: InPlace, set_up: |dir| Ok(Set::at(with_mode(dir, 0o2755)?)) },
    Row {
        name: "an owner and a group",
        how: Replaced,
        set_up: |dir| {
            let path = with_mode(dir, 0o604)?;
            chown(&path, Some(1234), Some(2345))?;
            Ok(Set::at(path))
        },
    },
    Row {
        name: "a group in a directory with another one",
        how: Replaced,
        set_up: |dir| {
            chown(dir, None, Some(2345))?;
            set_permissions(dir, Permissions::from_mode(0o2755))?;
            let path = old(dir.join("file"))?;
            chown(&path, None, Some(0))?;
            Ok(Set::at(path))
        },
    },
    Row {
        name: "no file in a directory with a group",
        how: Made,
        set_up: |dir| {
            chown(dir, None, Some(2345))?;
            set_permissions(dir, Permissions::from_mode(0o2755))?;
            Ok(Set::at(dir.join("file")))
        },
    },
    Row {
        name: "an access control list",
        how: Replaced,
        set_up: |dir| {
            let path = with_mode(dir, 0o640)?;
            setxattr(&path, PERMISSIONS, &permissions(), XattrFlags::empty())?;
            Ok(Set::at(path))
        },
    },
    Row {
        name: "a directory with a default list, and a file without one",
        how: Replaced,
        set_up: |dir| {
            let path = with_mode(dir, 0o640)?;
            setxattr(dir, "system.posix_acl_default", &permissions(), XattrFlags::empty())?;
            Ok(Set::at(path))
        },
    },
    Row {
        name: "a directory with a default list, and no file",
        how: Made,
        set_up: |dir| {
            setxattr(dir, "system.posix_acl_default", &permissions(), XattrFlags::empty())?;
            Ok(Set::at(dir.join("file")))
        },
    },
    Row {
        name: "attributes",
        how: Replaced,
        set_up: |dir| {
            let path = with_mode(dir, 0o600)?;
            setxattr(&path, "user.empty", b"", XattrFlags::empty())?;
            setxattr(&path, "user.some", &[7; 1000], XattrFlags::empty())?;
            Ok(Set::at(path))
        },
    },
    Row {
        name: "an attribute of a program of the system",
        how: InPlace,
        set_up: |dir| {
            let path = old(dir.join("file"))?;
            setxattr(&path, "trusted.some", b"thing", XattrFlags::empty())?;
            Ok(Set::at(path))
        },
    },
    Row {
        name: "capabilities",
        how: InPlace,
        set_up: |dir| {
            let path = with_mode(dir, 0o755)?;
            let value = [0x0200_0000_u32, 1 << 10, 0, 0, 0].map(u32::to_le_bytes).concat();
            setxattr(&path, "security.capability", &value, XattrFlags::empty())?;
            Ok(Set::at(path))
        },
    },
    Row {
        name: "a flag",
        how: InPlace,
        set_up: |dir| flagged(old(dir.join("file"))?, dir, IFlags::NODUMP),
    },
    Row {
        name: "an immutable file",
        how: Refused,
        set_up: |dir| flagged(old(dir.join("file"))?, dir, IFlags::IMMUTABLE),
    },
    Row {
        name: "a file that only grows",
        how: Refused,
        set_up: |dir| flagged(old(dir.join("file"))?, dir, IFlags::APPEND),
    },
    Row {
        name: "an immutable directory",
        how: InPlace,
        set_up: |dir| {
            old(dir.join("file"))?;
            flagged(dir.into(), dir, IFlags::IMMUTABLE)
        },
    },
    Row {
        name: "a directory that only grows",
        how: InPlace,
        set_up: |dir| {
            old(dir.join("file"))?;
            flagged(dir.into(), dir, IFlags::APPEND)
        },
    },
    Row {
        name: "a running program",
        how: Refused,
        set_up: |dir| {
            let path = dir.join("file");
            let program =
                ["/bin/sleep", "/usr/bin/sleep"].into_iter().find(|path| Path::new(path).exists());
            fs::copy(program.ok_or(io::Error::from_raw_os_error(95))?, &path)?;
            let mut child = spawned(&path)?;
            Ok(Set::at(path).then(move || {
                child.kill().unwrap();
                child.wait().unwrap();
            }))
        },
    },
    Row {
        name: "a pipe",
        how: Made,
        set_up: |dir| {
            let path = dir.join("file");
            mknodat(CWD, &path, FileType::Fifo, Mode::from_raw_mode(0o600), 0)?;
            let mut pipe = File::options().read(true).write(true).open(&path)?;
            Ok(Set::at(path).then(move || {
                let mut bytes = [0; 2];
                pipe.read_exact(&mut bytes).unwrap();
                assert_eq!(&bytes, super::BYTES.as_bytes());
            }))
        },
    },
    Row {
        name: "a socket",
        how: Refused,
        set_up: |dir| {
            let listener = UnixListener::bind(dir.join("file"))?;
            Ok(Set::at(dir.join("file")).then(|| drop(listener)))
        },
    },
    Row { name: "/dev/null", how: Made, set_up: |_| Ok(Set::at("/dev/null")) },
    Row { name: "/dev/full", how: Refused, set_up: |_| Ok(Set::at("/dev/full")) },
    Row { name: "a new file of /dev/fd", how: Refused, set_up: |_| Ok(Set::at("/dev/fd/no")) },
    Row {
        name: "/proc, a file",
        how: InPlace,
        set_up: |_| Ok(Set::at("/proc/self/timerslack_ns")),
    },
    Row {
        name: "/proc, a file for reading",
        how: Refused,
        set_up: |_| Ok(Set::at("/proc/version")),
    },
    Row { name: "/proc, no file", how: Refused, set_up: |_| Ok(Set::at("/proc/self/no")) },
    Row {
        name: "/sys, a file for reading",
        how: Refused,
        set_up: |_| Ok(Set::at("/sys/kernel/uevent_seqnum")),
    },
    Row { name: "/sys, no file", how: Refused, set_up: |_| Ok(Set::at("/sys/no")) },
    Row {
        name: "a link to a file of /proc",
        how: InPlace,
        set_up: |dir| {
            symlink("/proc/self/timerslack_ns", dir.join("link"))?;
            Ok(Set::at(dir.join("link")))
        },
    },
    Row {
        name: "an open file",
        how: InPlace,
        set_up: |dir| opened(dir, |fd| format!("/proc/self/fd/{fd}").into()),
    },
    Row {
        name: "an open file by /dev/fd",
        how: InPlace,
        set_up: |dir| opened(dir, |fd| format!("/dev/fd/{fd}").into()),
    },
    Row {
        name: "a link to an open file",
        how: InPlace,
        set_up: |dir| {
            let set = opened(dir, |fd| format!("/proc/self/fd/{fd}").into())?;
            symlink(&set.path, dir.join("link"))?;
            Ok(Set { path: dir.join("link"), ..set })
        },
    },
    Row {
        name: "an open file that is removed",
        how: InPlace,
        set_up: |dir| {
            let set = opened(dir, |fd| format!("/proc/self/fd/{fd}").into())?;
            fs::remove_file(dir.join("file"))?;
            Ok(set)
        },
    },
    Row {
        name: "an open file whose name another one has",
        how: InPlace,
        set_up: |dir| {
            let set = opened(dir, |fd| format!("/proc/self/fd/{fd}").into())?;
            fs::remove_file(dir.join("file"))?;
            old(dir.join("file"))?;
            Ok(set)
        },
    },
    Row {
        name: "a file through a directory of /proc",
        how: Replaced,
        set_up: |dir| Ok(Set::at(format!("/proc/self/root{}", old(dir.join("file"))?.display()))),
    },
    Row {
        name: "a link to a file of another file system",
        how: Replaced,
        set_up: |dir| {
            let Ok(shared) = fs::canonicalize("/dev/shm") else {
                return Err(io::Error::from_raw_os_error(95));
            };
            let elsewhere = Scratch::within(&shared);
            symlink(old(elsewhere.join("file"))?, dir.join("link"))?;
            // Its name is longer where the directory is; the text of the link must not tell.
            Ok(Set::at(dir.join("link")).then({
                let link = dir.join("link");
                move || {
                    assert_eq!(fs::read(elsewhere.join("file")).unwrap(), super::BYTES.as_bytes());
                    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 1);
                    fs::remove_file(link).unwrap();
                }
            }))
        },
    },
    Row {
        name: "a directory for the names of new files",
        how: Replaced,
        set_up: |dir| {
            create_dir(dir.join(".colored-af63dc4c8601ec8c-0.new"))?;
            Ok(Set::at(old(dir.join("a"))?))
        },
    },
];

fn with_mode(dir: &Path, mode: u32) -> io::Result<PathBuf> {
    let path = old(dir.join("file"))?;
    set_permissions(&path, Permissions::from_mode(mode))?;
    Ok(path)
}

/// A list that lets user 1234 read and write, and the group and others read.
fn permissions() -> Vec<u8> {
    const NOBODY: u32 = u32::MAX;
    let entries =
        [(1, 6, NOBODY), (2, 6, 1234), (4, 4, NOBODY), (0x10, 6, NOBODY), (0x20, 4, NOBODY)];
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (tag, may, id) in entries {
        list.extend([tag, may].map(u16::to_le_bytes).concat());
        list.extend(id.to_le_bytes());
    }
    list
}

/// The file of a directory, after a flag was set on this path.
fn flagged(path: PathBuf, dir: &Path, flag: IFlags) -> io::Result<Set> {
    let file = File::open(path)?;
    let before = ioctl_getflags(&file)?;
    ioctl_setflags(&file, before | flag)?;
    Ok(Set::at(dir.join("file")).then(move || {
        // Else it cannot be removed.
        if flag != IFlags::NODUMP {
            ioctl_setflags(&file, before).unwrap();
        }
    }))
}

/// The program at a path, once it runs. Another test may fork while the file is open for writing, and then it cannot run.
fn spawned(path: &Path) -> io::Result<std::process::Child> {
    for _ in 0..100 {
        match Command::new(path).arg("60").spawn() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            child => return child,
        }
    }
    Err(io::ErrorKind::ExecutableFileBusy.into())
}

/// A file that this process has open, and prints to after the write.
fn opened(dir: &Path, path: fn(i32) -> PathBuf) -> io::Result<Set> {
    let path_of_file = old(dir.join("file"))?;
    let mut file = File::options().read(true).write(true).open(path_of_file)?;
    Ok(Set::at(path(file.as_raw_fd())).then(move || {
        file.seek(io::SeekFrom::End(0)).unwrap();
        file.write_all(b"printed afterwards").unwrap();
        file.rewind().unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, format!("{}printed afterwards", super::BYTES));
    }))
}
