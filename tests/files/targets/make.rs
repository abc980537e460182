//! The kinds of files, and how two of each are made.

use super::How;
use super::operations::Outcome;
use colored_tests::scratch::Scratch;
use colored_tests::terminal;
use rustix::fs::{CWD, FileType, MemfdFlags, Mode, OFlags, memfd_create, mkfifoat, mknodat};
use rustix::io::{ioctl_fionbio, ioctl_fionread};
use rustix::mount::{UnmountFlags, mount_bind, unmount};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::thread;

/// So many bytes wait to be read at most: a terminal has room for 4096.
const MOST: u64 = 3000;

/// A file of one kind, for the standard library or for us.
pub(super) struct Side {
    pub(super) path: PathBuf,
    /// Of a file that no path leads to.
    pub(super) file: Option<File>,
    /// The other end, in non-blocking mode.
    far: Option<File>,
    /// Lets a thread end whose files these are.
    _keep: Option<mpsc::Sender<()>>,
}

impl Side {
    pub(super) fn at(path: impl AsRef<Path>) -> Self {
        Self { path: path.as_ref().to_owned(), file: None, far: None, _keep: None }
    }

    fn open(file: impl Into<OwnedFd>) -> Self {
        Self { file: Some(File::from(file.into())), ..Self::at("") }
    }

    fn and(self, far: impl Into<OwnedFd>) -> Self {
        let far = File::from(far.into());
        ioctl_fionbio(&far, true).unwrap();
        Self { far: Some(far), ..self }
    }

    /// Puts bytes in at the other end.
    pub(super) fn feed(&self, bytes: &[u8], near: &impl AsFd) -> Outcome {
        let mut far = self.far.as_ref().expect("a row with an other end");
        let before = ioctl_fionread(near).unwrap();
        if before + bytes.len() as u64 > MOST {
            return Outcome::Number(0);
        }
        let fed = far.write(bytes).map_or(0, |n| n as u64);
        // A terminal passes them on later.
        while ioctl_fionread(near).unwrap() < before + fed {
            thread::yield_now();
        }
        Outcome::Number(fed)
    }

    /// What came out at the other end after a write.
    pub(super) fn through(&self, written: io::Result<u64>) -> Outcome {
        match (written, &self.far) {
            (Ok(n), Some(far)) => {
                while ioctl_fionread(far).unwrap() < n {
                    thread::yield_now();
                }
                let mut bytes = vec![0; n as usize];
                let mut far = far;
                far.read_exact(&mut bytes).unwrap();
                Outcome::Through(n, bytes)
            }
            (Ok(n), None) => Outcome::Number(n),
            (Err(error), _) => Outcome::Failed(error.kind()),
        }
    }
}

/// Whether a read finds something, or the end.
pub(super) fn has_input(near: &File, target: &Target) -> bool {
    !target.may_wait || ioctl_fionread(near).is_ok_and(|n| n > 0)
}

type Make = Box<dyn Fn(&Scratch, &'static str) -> Option<Side> + Send + Sync>;

/// A row: a kind of file, and what it is asked for.
pub(super) struct Target {
    pub(super) name: &'static str,
    pub(super) how: How,
    make: Make,
    /// See [`Operation`](super::operations::Operation). None of a file that cannot be opened.
    pub(super) operations: &'static str,
    /// A read fills its buffer, and positions are ours.
    pub(super) is_on_disk: bool,
    pub(super) is_direct: bool,
    pub(super) is_text: bool,
    pub(super) is_random: bool,
    pub(super) may_wait: bool,
    /// What is at the paths is compared at the end.
    pub(super) has_contents: bool,
    /// The longest operation.
    pub(super) longest: usize,
}

impl Target {
    /// A row of a file that somebody else makes.
    pub(super) fn row(name: &'static str, how: How, operations: &'static str) -> Self {
        Self {
            name,
            how,
            make: Box::new(|_, _| None),
            operations,
            is_on_disk: false,
            is_direct: false,
            is_text: false,
            is_random: false,
            may_wait: false,
            has_contents: false,
            longest: 5000,
        }
    }

    fn made(
        mut self,
        make: impl Fn(&Scratch, &'static str) -> Option<Side> + Send + Sync + 'static,
    ) -> Self {
        self.make = Box::new(make);
        self
    }

    /// A row of one file, which both open.
    fn of(path: &'static str, letters: &'static str, operations: &'static str) -> Self {
        let row = Self::row(path, How::new(letters), operations);
        row.made(move |_, _| Path::new(path).exists().then(|| Side::at(path)))
    }

    /// A row of a file on a disk.
    fn on_disk(name: &'static str, how: How, operations: &'static str) -> Self {
        Self {
            is_on_disk: true,
            has_contents: true,
            longest: 60_000,
            ..Self::row(name, how, operations)
        }
    }

    pub(super) fn twins(&self, scratch: &Scratch) -> Option<(Side, Side)> {
        let twins = (self.make)(scratch, "std").zip((self.make)(scratch, "ours"));
        if twins.is_none() {
            println!("skipped: there is no {}", self.name);
        }
        twins
    }
}

const ALL: &str = "rroeRwwWssspml";

fn pattern() -> Vec<u8> {
    (0..20_000_u32).map(|i| (i * 7 + i / 251) as u8).collect()
}

fn file(scratch: &Scratch, side: &str) -> Option<Side> {
    Some(Side::at(scratch.file(side, pattern())))
}

pub(super) fn on_disks() -> Vec<Target> {
    let direct = How::new("rw").with(OFlags::DIRECT);
    let is_direct = move |scratch: &Scratch| direct.std().open(scratch.file("probe", "")).is_ok();
    vec![
        Target::on_disk("a file", How::new("rw"), "rroeRwwWssspmly").made(file),
        Target::on_disk("a new file", How::new("rwc"), ALL)
            .made(|scratch, side| Some(Side::at(scratch.join(side)))),
        Target::on_disk("an emptied file", How::new("rwct"), ALL).made(file),
        Target::on_disk("a file to read", How::new("r"), ALL).made(file),
        Target::on_disk("a file to write", How::new("w"), ALL).made(file),
        // A position stays where it was at a write, which differs from std, and is documented.
        Target::on_disk("a file to append to", How::new("ra"), "RwwWmy").made(file),
        Target { is_direct: true, ..Target::on_disk("a direct file", direct, "rorRRwWWspm") }
            .made(move |scratch, side| is_direct(scratch).then(|| file(scratch, side)).flatten()),
        Target::on_disk("a synchronous file", How::new("rw").with(OFlags::SYNC), "rwWRs")
            .made(file),
        Target::on_disk("a link to a link", How::new("rw"), ALL).made(|scratch, side| {
            let links = [format!("{side}.1"), format!("{side}.2")].map(|name| scratch.join(&name));
            let _ = links.each_ref().map(std::fs::remove_file);
            symlink(scratch.file(side, pattern()), &links[0]).unwrap();
            symlink(&links[0], &links[1]).unwrap();
            Some(Side::at(&links[1]))
        }),
        Target::on_disk("a hard link", How::new("rw"), ALL).made(|scratch, side| {
            let link = scratch.join(&format!("{side}.link"));
            std::fs::hard_link(scratch.file(side, pattern()), &link).unwrap();
            Some(Side::at(link))
        }),
        Target::on_disk("a dangling link that is created", How::new("rwc"), ALL).made(
            |scratch, side| {
                let link = scratch.join(&format!("{side}.link"));
                symlink(scratch.join(side), &link).unwrap();
                Some(Side::at(link))
            },
        ),
        Target::on_disk("a name of 255 bytes", How::new("rwc"), ALL)
            .made(|scratch, side| Some(Side::at(scratch.join(&format!("{side:0>255}"))))),
        Target::on_disk("a file by its descriptor", How::new("rw"), ALL).made(|scratch, side| {
            let file = File::open(scratch.file(side, pattern())).unwrap();
            let number = std::os::fd::IntoRawFd::into_raw_fd(file);
            // A few are never closed: who opens the path needs them.
            Some(Side::at(format!("/proc/self/fd/{number}")))
        }),
        Target { has_contents: false, ..Target::on_disk("a memfd", How::new(""), ALL) }.made(
            |_, _| {
                let mut file = File::from(memfd_create("twin", MemfdFlags::CLOEXEC).ok()?);
                file.write_all(&pattern()).unwrap();
                Some(Side::open(file))
            },
        ),
        Target::on_disk("a file in memory", How::new("rw"), ALL).made(|_, side| {
            let shm = Path::new("/dev/shm");
            let path = shm.join(format!("colored-twin-{}-{side}", std::process::id()));
            std::fs::write(&path, pattern()).ok()?;
            let file = File::options().read(true).write(true).open(&path).ok()?;
            std::fs::remove_file(path).ok()?;
            Some(Side::open(file))
        }),
        Target {
            has_contents: false,
            ..Target::on_disk("a block device", How::new(""), "rroReRwwWsspmly")
        }
        .made(|scratch, side| {
            let image = scratch.file(side, &pattern()[..19 * 1024]);
            let shown = Command::new("losetup").args(["-f", "--show"]).arg(image).output().ok()?;
            let path = String::from_utf8(shown.stdout).ok()?;
            let device = File::options().read(true).write(true).open(path.trim()).ok()?;
            // It ends when the file is closed.
            let _ = Command::new("losetup").args(["-d", path.trim()]).status();
            Some(Side::open(device))
        }),
        Target::row("only a name", How::new("r").with(OFlags::PATH), "roeRwWspmly").made(file),
        Target::row("a directory", How::new("r"), "rRspmly")
            .made(|scratch, _| Some(Side::at(scratch.path()))),
        Target::row("a directory by its flag", How::new("r").with(OFlags::DIRECTORY), "roRwWp")
            .made(|scratch, _| Some(Side::at(scratch.path()))),
        Target::of("/proc", "r", "roRwWmp"),
    ]
}

/// In a namespace of mounts of its own.
pub(super) fn mounted() -> Vec<Target> {
    vec![
        Target { has_contents: false, ..Target::on_disk("a bind-mounted file", How::new(""), ALL) }
            .made(|scratch, side| {
                let (source, place) = (scratch.file(side, pattern()), scratch.join("place"));
                std::fs::write(&place, "").unwrap();
                mount_bind(&source, &place).ok()?;
                let opened = File::options().read(true).write(true).open(&place);
                unmount(&place, UnmountFlags::DETACH).unwrap();
                Some(Side::open(opened.unwrap()))
            }),
    ]
}

pub(super) fn of_the_system() -> Vec<Target> {
    let text = |row: Target| Target { is_text: true, ..row };
    let comm = |how| {
        text(Target::row("/proc/self/task/N/comm", How::new(how), "roeRwWspmly")).made(|_, _| {
            // Each has a thread of its own, whose name this is.
            let (keep, until) = mpsc::channel::<()>();
            let (tell, told) = mpsc::channel();
            thread::Builder::new()
                .name("twin".into())
                .spawn(move || {
                    tell.send(rustix::thread::gettid().as_raw_nonzero()).unwrap();
                    let _ = until.recv();
                })
                .unwrap();
            let path = format!("/proc/self/task/{}/comm", told.recv().unwrap());
            Some(Side { _keep: Some(keep), ..Side::at(path) })
        })
    };
    vec![
        comm("rw"),
        comm("w"),
        comm("a"),
        comm("r"),
        Target::of("/proc/devices", "r", "rooRspmy"),
        Target::of("/proc/version", "r", "roeRwWspmly"),
        Target::of("/proc/filesystems", "r", "roeRsp"),
        Target::of("/proc/self/environ", "r", "roeRsp"),
        Target::of("/proc/self/cmdline", "r", "roeRspm"),
        Target::of("/proc/self/mem", "rw", "roeRspm"),
        Target::of("/proc/self/clear_refs", "w", "rwWspm"),
        Target::of("/proc/self/uid_map", "rw", "roeRwWspm"),
        text(Target::of("/proc/self/oom_score_adj", "rw", "roeRspm")),
        Target::of("/proc/self/attr/current", "rw", "roRwWsp"),
        Target::of("/proc/sys/kernel/ostype", "r", "roeRwspm"),
        Target::of("/proc/sys/vm/overcommit_ratio", "rw", "roeRspm"),
        // What it says changes.
        Target::of("/proc/pressure/cpu", "rw", "Wsp"),
        Target::of("/sys/kernel/mm/transparent_hugepage/enabled", "rw", "roeRWspmly"),
        Target::of("/sys/kernel/notes", "r", "roeRspm"),
        Target::of("/sys/power/state", "rw", "roeRwWspm"),
    ]
}

pub(super) fn devices() -> Vec<Target> {
    let random = |row: Target| Target { is_random: true, ..row };
    let terminal = |name, is_master| {
        let row = Target { may_wait: true, ..Target::row(name, How::new(""), "rroRwfffspmly") };
        Target { longest: 900, ..row }.made(move |_, _| {
            let (master, slave) = terminal::raw()?;
            let (near, far) = if is_master { (master, slave) } else { (slave, master) };
            Some(Side::open(near).and(far))
        })
    };
    vec![
        Target::of("/dev/null", "rw", "roeRwWspmly"),
        Target::of("/dev/null", "a", "roeRwWspmly"),
        Target::of("/dev/zero", "rw", "rooRwWspmly"),
        Target::of("/dev/full", "rw", "roRwWspmly"),
        random(Target::of("/dev/urandom", "r", "rooRR")),
        Target::of("/dev/urandom", "r", "spmlyW"),
        Target::of("/dev/kmsg", "w", "roRspm"),
        Target::of("/dev/fuse", "r", "spm"),
        terminal("a terminal", false),
        terminal("the master of a terminal", true),
    ]
}

pub(super) fn streams() -> Vec<Target> {
    let waits = |row: Target| Target { may_wait: true, ..row };
    let fifo = |letters: &'static str, operations| {
        waits(Target::row("a named pipe", How::new(letters), operations)).made(
            move |scratch, side| {
                let path = scratch.join(side);
                mkfifoat(CWD, &path, Mode::RWXU).unwrap();
                let far = File::options().read(true).write(true).open(&path).unwrap();
                let side = Side::at(path);
                Some(if letters == "rw" { side } else { side.and(far) })
            },
        )
    };
    vec![
        fifo("r", "rroRfffwWspmly"),
        fifo("w", "wwwWRspmly"),
        fifo("a", "wwwRsp"),
        Target { longest: 1000, ..fifo("rw", "wroRspm") },
        waits(Target::row("a pipe", How::new(""), "rroRfffWspmly")).made(|_, _| {
            let (reader, writer) = io::pipe().unwrap();
            Some(Side::open(reader).and(writer))
        }),
        waits(Target::row("a pair of sockets", How::new(""), "rroRwwfffWspmly")).made(|_, _| {
            let (near, far) = UnixStream::pair().unwrap();
            Some(Side::open(near).and(far))
        }),
        Target::row("a pipe whose writer is gone", How::new(""), "roeRwspm").made(|_, _| {
            let (reader, mut writer) = io::pipe().unwrap();
            writer.write_all(&pattern()[..3000]).unwrap();
            Some(Side::open(reader))
        }),
        Target::row("a pipe whose reader is gone", How::new(""), "wwWrR").made(|_, _| {
            let (reader, writer) = io::pipe().unwrap();
            drop(reader);
            // Until no child that another test has forked holds the reader.
            while (&writer).write(&[0]).is_ok() {}
            Some(Side::open(writer))
        }),
    ]
}

/// A link, in place of the one that another row has made.
fn link(scratch: &Scratch, to: PathBuf) -> PathBuf {
    let link = scratch.join("link");
    let _ = std::fs::remove_file(&link);
    symlink(to, &link).unwrap();
    link
}

/// A device that has no driver.
fn node(path: PathBuf, kind: FileType) -> PathBuf {
    let number = rustix::fs::makedev(240, 77);
    let _ = mknodat(CWD, &path, kind, Mode::RWXU, number);
    path
}

pub(super) fn refused() -> Vec<Target> {
    let refused = |name, letters, make: fn(&Scratch) -> PathBuf| {
        Target::row(name, How::new(letters), "")
            .made(move |scratch, _| Some(Side::at(make(scratch))))
    };
    vec![
        refused("no file", "r", |scratch| scratch.join("none")),
        refused("no directory", "rwc", |scratch| scratch.join("none/file")),
        refused("a file in a file", "r", |scratch| scratch.file("file", "").join("file")),
        refused("a file that exists", "wn", |scratch| scratch.file("file", "")),
        refused("a directory to write", "w", |scratch| scratch.path().to_owned()),
        refused("a directory to make", "rwc", |scratch| scratch.path().to_owned()),
        refused("nothing to do", "", |scratch| scratch.file("file", "")),
        refused("truncate and append", "at", |scratch| scratch.file("file", "")),
        refused("create without write", "rc", |scratch| scratch.join("none")),
        refused("a name of 256 bytes", "rwc", |scratch| scratch.join(&"n".repeat(256))),
        refused("a path of 5000 bytes", "r", |scratch| scratch.join(&"n/".repeat(2500))),
        refused("a path with a zero", "r", |scratch| scratch.join("a\0b")),
        refused("the empty path", "r", |_| PathBuf::new()),
        refused("a dangling link", "r", |scratch| link(scratch, scratch.join("none"))),
        refused("a link to itself", "r", |scratch| link(scratch, scratch.join("link"))),
        refused("a socket", "rw", |scratch| {
            let path = scratch.join("socket");
            let _ = std::fs::remove_file(&path);
            drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
            path
        }),
        refused("a device that is none", "rw", |scratch| {
            node(scratch.join("device"), FileType::CharacterDevice)
        }),
        refused("a block device that is none", "rw", |scratch| {
            node(scratch.join("block"), FileType::BlockDevice)
        }),
        refused("/proc/self/status to make", "wn", |_| "/proc/self/none".into()),
        refused("a file of /sys to make", "wc", |_| "/sys/kernel/none".into()),
        refused("a pipe to write in non-blocking mode", "w", |scratch| {
            let path = scratch.join("pipe");
            let _ = mkfifoat(CWD, &path, Mode::RWXU);
            path
        })
        .flagged(OFlags::NONBLOCK),
        refused("a link that is not followed", "r", |scratch| {
            link(scratch, scratch.file("file", "bytes"))
        })
        .flagged(OFlags::NOFOLLOW),
        refused("a file as a directory", "r", |scratch| scratch.file("file", ""))
            .flagged(OFlags::DIRECTORY),
    ]
}

impl Target {
    fn flagged(mut self, flags: OFlags) -> Self {
        self.how = self.how.with(flags);
        self
    }
}
