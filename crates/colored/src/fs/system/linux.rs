//! Linux: `RWF_NOWAIT`, `RESOLVE_CACHED`, and `statx` without a question to a server.
//!
//! `RWF_NOWAIT` promises only that a read does not wait for its data. It may still wait for a place in
//! the full queue of a device, and for the blocks that say where the data is.

mod readiness;
mod resident;

pub(in crate::fs) use self::readiness::readiness;
pub(in crate::fs) use self::resident::Residency;

use super::{Access, Attempt, FileType, Identity, identify_by_metadata};
use crate::device::Kind;
use colored_core::port::in_own_call;
use rustix::fs::{self as calls_fs, AtFlags, CWD, Mode, OFlags, ResolveFlags, StatxFlags};
use rustix::io::{self as calls, Errno, ReadWriteFlags};
use socket2::Socket;
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Calls that the kernel does not have.
static NO_NOWAIT: AtomicBool = AtomicBool::new(false);
static NO_OPENAT2: AtomicBool = AtomicBool::new(false);

/// Linux 5.9 and 5.10 report the end of a file where the first uncached page is.
fn kernel_reports_false_ends() -> bool {
    static ANSWER: OnceLock<bool> = OnceLock::new();
    *ANSWER.get_or_init(|| {
        let release = rustix::system::uname().release().to_string_lossy().into_owned();
        is_release_with_false_ends(&release)
    })
}

fn is_release_with_false_ends(release: &str) -> bool {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit());
    let mut number = || numbers.next().and_then(|n| n.parse::<u32>().ok());
    matches!((number(), number()), (Some(5), Some(9 | 10)))
}

fn has_no_nowait() -> bool {
    // Ordering: the flag is a hint; a late reader only repeats the call.
    NO_NOWAIT.load(Ordering::Relaxed)
}

/// Reads what is in memory. `Done(0)` is the end of the file, or an empty buffer.
pub(in crate::fs) fn read(file: &File, buf: &mut [u8], offset: u64) -> io::Result<Attempt<usize>> {
    if has_no_nowait() || kernel_reports_false_ends() {
        return Ok(Attempt::Unsupported);
    }
    let bufs = &mut [IoSliceMut::new(buf)];
    answer(calls::preadv2(file, bufs, offset, ReadWriteFlags::NOWAIT))
}

/// Writes what the page cache takes without waiting.
pub(in crate::fs) fn write(file: &File, buf: &[u8], offset: u64) -> io::Result<Attempt<usize>> {
    if has_no_nowait() {
        return Ok(Attempt::Unsupported);
    }
    answer(calls::pwritev2(file, &[IoSlice::new(buf)], offset, ReadWriteFlags::NOWAIT))
}

/// In place of a position: the file has none, or the system keeps it.
const NO_OFFSET: u64 = u64::MAX;

/// Reads what a pipe or a socket has. `Done(0)` is the end: no other end is open for writing.
pub(in crate::fs) fn read_stream(file: &File, buf: &mut [u8]) -> io::Result<Attempt<usize>> {
    let bufs = &mut [IoSliceMut::new(buf)];
    answer_of_stream(calls::preadv2(file, bufs, NO_OFFSET, ReadWriteFlags::NOWAIT))
}

/// Writes what a pipe or a socket has room for.
pub(in crate::fs) fn write_stream(file: &File, buf: &[u8]) -> io::Result<Attempt<usize>> {
    let bufs = &[IoSlice::new(buf)];
    answer_of_stream(calls::pwritev2(file, bufs, NO_OFFSET, ReadWriteFlags::NOWAIT))
}

/// Sends so many bytes of a file to a socket, without a copy. It waits for what is not in memory. 0 at the end of the file,
/// and where the system has no such call for these two.
pub(in crate::fs) fn send(
    file: &File,
    socket: &Socket,
    offset: u64,
    len: usize,
) -> io::Result<usize> {
    let send = || calls_fs::sendfile(socket, file, Some(&mut offset.clone()), len);
    match calls::retry_on_intr(send) {
        // A filter of system calls answers `PERM`.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::OVERFLOW | Errno::PERM) => {
            Ok(0)
        }
        sent => Ok(sent?),
    }
}

fn answer_of_stream(result: Result<usize, Errno>) -> io::Result<Attempt<usize>> {
    match result {
        // To wait for the reactor would not help: it is no shortage of bytes or room.
        Err(Errno::PERM | Errno::NOSYS) => Ok(Attempt::Unsupported),
        result => answer(result),
    }
}

fn answer(result: Result<usize, Errno>) -> io::Result<Attempt<usize>> {
    match result {
        Ok(bytes) => Ok(Attempt::Done(bytes)),
        // A filter of system calls answers `PERM`. A file may, too; then the call that may wait says so.
        Err(Errno::AGAIN | Errno::PERM) => Ok(Attempt::WouldBlock),
        Err(Errno::OPNOTSUPP) => Ok(Attempt::Unsupported),
        Err(Errno::NOSYS) => {
            // Ordering: the flag is a hint, and stands for itself.
            NO_NOWAIT.store(true, Ordering::Relaxed);
            Ok(Attempt::Unsupported)
        }
        Err(error) => Err(error.into()),
    }
}

/// Opens a regular file whose path is in memory. Other files are left to a call that may wait, because
/// opening them means something: a pipe waits for its other end.
pub(in crate::fs) fn open(path: &Path, access: Access) -> io::Result<Attempt<(File, Identity)>> {
    let direction = match (access.read, access.write || access.append) {
        (true, true) => OFlags::RDWR,
        (false, true) => OFlags::WRONLY,
        (true, false) => OFlags::RDONLY,
        // The call that may wait explains it.
        (false, false) => return Ok(Attempt::Unsupported),
    };
    let status = if access.append { OFlags::APPEND } else { OFlags::empty() };
    // Without `NONBLOCK` the opening of a pipe waits for its other end, and that of a leased file for
    // the end of the lease.
    match open_cached(path, direction | status | OFlags::NONBLOCK)? {
        Attempt::Done((_, identity)) if identity.file_type != FileType::Regular => {
            Ok(Attempt::WouldBlock)
        }
        // `NONBLOCK` stays set, since it means nothing for a file on a disk: clearing it is a call more.
        found => Ok(found),
    }
}

/// Finds what is at a path that is in memory, to look at its metadata.
pub(in crate::fs) fn find(path: &Path, follow: bool) -> io::Result<Attempt<(File, Identity)>> {
    let no_follow = if follow { OFlags::empty() } else { OFlags::NOFOLLOW };
    open_cached(path, OFlags::PATH | no_follow)
}

fn open_cached(path: &Path, flags: OFlags) -> io::Result<Attempt<(File, Identity)>> {
    // Ordering: the flag is a hint; a late reader only repeats the call.
    if NO_OPENAT2.load(Ordering::Relaxed) {
        return Ok(Attempt::Unsupported);
    }
    let flags = flags | OFlags::CLOEXEC;
    let open = || calls_fs::openat2(CWD, path, flags, Mode::empty(), ResolveFlags::CACHED);
    match in_own_call(open) {
        Ok(file) => {
            let file = File::from(file);
            Ok(match identify(&file) {
                Some(identity) => Attempt::Done((file, identity)),
                None => Attempt::Unsupported,
            })
        }
        // These answers come from memory, and are final.
        Err(
            error @ (Errno::NOENT | Errno::ACCESS | Errno::NOTDIR | Errno::ISDIR | Errno::LOOP),
        ) => Err(error.into()),
        Err(Errno::NOSYS) => {
            // Ordering: the flag is a hint, and stands for itself.
            NO_OPENAT2.store(true, Ordering::Relaxed);
            Ok(Attempt::Unsupported)
        }
        // The call that may wait finds the error again, if it is one: a filter of system calls answers
        // `PERM`, and so does a file.
        Err(_) => Ok(Attempt::WouldBlock),
    }
}

/// What an open file is, from memory; where a filter of system calls refuses that, by a call that may
/// ask a server. `None` if the system does not tell.
pub(in crate::fs) fn identify(file: &File) -> Option<Identity> {
    let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC;
    let Ok(stat) = calls_fs::statx(file, c"", flags, StatxFlags::TYPE) else {
        return identify_by_metadata(file);
    };
    Some(Identity {
        device: calls_fs::makedev(stat.stx_dev_major, stat.stx_dev_minor),
        file_type: match calls_fs::FileType::from_raw_mode(stat.stx_mode.into()) {
            calls_fs::FileType::RegularFile => FileType::Regular,
            calls_fs::FileType::Fifo | calls_fs::FileType::Socket => FileType::Stream,
            calls_fs::FileType::BlockDevice => FileType::Block,
            calls_fs::FileType::CharacterDevice => FileType::Device,
            _ => FileType::Other,
        },
    })
}

/// Whether a device, as in `st_dev`, is none of the machine's: what is mounted is in memory, on another machine, or
/// made by the system or by a process.
pub(in crate::fs) fn is_anonymous(device: u64) -> bool {
    calls_fs::major(device) == 0
}

/// The kind of the file system that a file is on. May block.
pub(in crate::fs) fn kind(file: &File) -> Kind {
    const MEMORY: [i64; 2] = [0x0102_1994, 0x8584_58f6]; // tmpfs, ramfs
    const LOCAL: [i64; 8] = [
        0xef53,      // ext2 to ext4
        0x5846_5342, // xfs
        0x9123_683e, // btrfs
        0xf2f5_2010, // f2fs
        0x2fc1_2fc1, // zfs
        0x794c_7630, // overlayfs
        0xe0f5_e1e2, // erofs
        0x7371_7368, // squashfs
    ];
    // A process answers.
    const SERVED: i64 = 0x6573_5546; // fuse
    const GENERATED: [i64; 21] = [
        0x9fa0,      // proc
        0x6265_6572, // sysfs
        0x6462_6720, // debugfs
        0x7472_6163, // tracefs
        0x0027_e0eb, // cgroup
        0x6367_7270, // cgroup2
        0x0765_5821, // resctrl
        0x6265_6570, // configfs
        0x7363_6673, // securityfs
        0xf97c_ff8c, // selinux
        0x4341_5d53, // smack
        0x5a3c_69f0, // apparmor
        0x6165_676c, // pstore
        0xde5e_81e4, // efivarfs
        0xcafe_4a11, // bpf
        0x4249_4e4d, // binfmt_misc
        0x1980_0202, // mqueue
        0x6e73_6673, // namespaces
        0x6573_5543, // fusectl
        0x6e66_7364, // nfsd
        0x6759_6969, // rpc_pipefs
    ];
    // The type of the field differs between architectures, some of which extend the sign.
    let Ok(stat) = calls_fs::fstatfs(file) else { return Kind::Remote };
    let magic = i64::from(stat.f_type as u32);
    match magic {
        _ if MEMORY.contains(&magic) => Kind::Memory,
        _ if LOCAL.contains(&magic) => Kind::Local,
        _ if GENERATED.contains(&magic) => Kind::Generated,
        SERVED => Kind::Served,
        _ => Kind::Remote,
    }
}

#[cfg(test)]
mod tests {
    use super::is_release_with_false_ends;

    #[test]
    fn the_kernels_with_false_ends_are_known() {
        for release in ["5.9.0", "5.10.1-generic", "5.9"] {
            assert!(is_release_with_false_ends(release), "{release}");
        }
        for release in ["5.8.18", "5.11.0", "6.9.0", "6.10.3", "15.9.0", "5.90.1", "", "x"] {
            assert!(!is_release_with_false_ends(release), "{release}");
        }
    }
}
