//! [`Group`]: a control group with limits of memory and of the disk.

use rustix::fs::{major, minor};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Where the system has its control groups.
const ROOT: &str = "/sys/fs/cgroup";

/// What the processes of a group may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Memory in bytes. The pages of files count that a process of the group has read first.
    pub memory: u64,
    /// Reads of the disk in a second.
    pub read_ops: Option<u64>,
}

/// A control group, which is removed with the value. All its processes must have ended then.
#[derive(Debug)]
pub struct Group {
    /// One directory in version 2; in version 1 that of the memory, then that of the disk.
    directories: Vec<PathBuf>,
    files: &'static Files,
    /// The disk, as `MAJOR:MINOR`.
    disk: String,
}

/// The names in a version of control groups.
#[derive(Debug)]
struct Files {
    memory: &'static str,
    /// What a limit of reads begins with, behind the disk.
    read_ops: (&'static str, &'static str),
    read_bytes: (&'static str, &'static str),
}

static ONE: Files = Files {
    memory: "memory.limit_in_bytes",
    read_ops: ("blkio.throttle.read_iops_device", ""),
    read_bytes: ("blkio.throttle.io_service_bytes", "Read "),
};

static TWO: Files = Files {
    memory: "memory.max",
    read_ops: ("io.max", "riops="),
    read_bytes: ("io.stat", "rbytes="),
};

impl Group {
    /// A group for servers of the files in `root`.
    ///
    /// # Errors
    ///
    /// If the system has no groups with limits of memory and disks, or this user may not make one.
    pub fn new(root: &Path, limits: Limits) -> io::Result<Group> {
        // Ordering: only that the numbers differ counts.
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("colored-{}-{number}", std::process::id());
        let (parents, files) = match Path::new(ROOT).join("cgroup.controllers").exists() {
            true => (vec![PathBuf::from(ROOT)], &TWO),
            false => (["memory", "blkio"].map(|name| Path::new(ROOT).join(name)).to_vec(), &ONE),
        };
        let mut group = Group { directories: Vec::new(), files, disk: disk(root)? };
        if std::ptr::eq(files, &TWO) {
            write(&Path::new(ROOT).join("cgroup.subtree_control"), "+memory +io")?;
        }
        for parent in parents {
            let directory = parent.join(&name);
            fs::create_dir(&directory).map_err(|error| failed("make", &directory, &error))?;
            group.directories.push(directory);
        }
        group.set(files.memory, &limits.memory.to_string())?;
        if let Some(read_ops) = limits.read_ops {
            let (file, before) = files.read_ops;
            group.set(file, &format!("{} {before}{read_ops}", group.disk))?;
        }
        Ok(group)
    }

    /// What a process joins: directories with a file `cgroup.procs`.
    #[must_use]
    pub fn directories(&self) -> &[PathBuf] {
        &self.directories
    }

    /// The bytes that its processes have read from the disk.
    ///
    /// # Errors
    ///
    /// If the system does not tell.
    pub fn bytes_read(&self) -> io::Result<u64> {
        let (file, before) = self.files.read_bytes;
        let path = self.path(file);
        let text = fs::read_to_string(&path).map_err(|error| failed("read", &path, &error))?;
        Ok(counted(&text, &self.disk, before))
    }

    fn set(&self, file: &str, value: &str) -> io::Result<()> {
        write(&self.path(file), value)
    }

    /// The directory that has the file.
    fn path(&self, file: &str) -> PathBuf {
        let mut paths = self.directories.iter().map(|directory| directory.join(file));
        paths.clone().find(|path| path.exists()).or(paths.next_back()).unwrap_or_default()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for directory in &self.directories {
            // Processes leave a little after their end.
            let begin = Instant::now();
            while fs::remove_dir(directory).is_err() && begin.elapsed() < Duration::from_secs(2) {
                thread::sleep(Duration::from_millis(10));
            }
        }
    }
}

fn write(path: &Path, value: &str) -> io::Result<()> {
    fs::write(path, value).map_err(|error| failed(&format!("write {value} to"), path, &error))
}

fn failed(what: &str, path: &Path, error: &io::Error) -> io::Error {
    let text = format!(
        "cannot {what} {}: {error}; control groups with limits of memory and disks need root, and a \
         system that has them",
        path.display()
    );
    io::Error::new(error.kind(), text)
}

/// The number of a disk in a table of the system, where it stands behind the disk and `before`; 0 if there is none yet.
fn counted(table: &str, disk: &str, before: &str) -> u64 {
    let lines = table.lines().filter_map(|line| line.strip_prefix(disk)?.strip_prefix(' '));
    let number = |line: &str| {
        let (_, rest) = line.split_once(before)?;
        rest.split_ascii_whitespace().next()?.parse::<u64>().ok()
    };
    lines.filter_map(number).sum()
}

/// The whole disk that the files are on, as `MAJOR:MINOR`: only whole disks have limits.
fn disk(root: &Path) -> io::Result<String> {
    let device = fs::metadata(root)?.dev();
    let name = format!("{}:{}", major(device), minor(device));
    let place = Path::new("/sys/dev/block").join(&name);
    match place.join("partition").exists() {
        // The name is a link into the folder of the disk.
        true => {
            let disk = fs::canonicalize(&place)?.with_file_name("dev");
            Ok(fs::read_to_string(disk)?.trim().to_owned())
        }
        false => Ok(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_tell_the_bytes_that_were_read() {
        let one = "8:0 Read 7\n254:0 Read 4096\n254:0 Write 5\n254:0 Total 4101\nTotal 4108\n";
        let two = "8:0 rbytes=7 wbytes=1\n254:0 rbytes=4096 wbytes=5 rios=1 wios=1\n";
        assert_eq!(counted(one, "254:0", ONE.read_bytes.1), 4096);
        assert_eq!(counted(two, "254:0", TWO.read_bytes.1), 4096);
        assert_eq!(counted("", "254:0", TWO.read_bytes.1), 0);
        assert_eq!(counted(one, "54:0", ONE.read_bytes.1), 0);
    }

    #[test]
    fn a_disk_is_no_partition() {
        let disk = disk(Path::new(".")).unwrap();
        assert!(!Path::new("/sys/dev/block").join(&disk).join("partition").exists(), "{disk}");
    }
}
