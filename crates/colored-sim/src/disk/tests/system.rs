//! Random operations on a simulated disk, and on a directory of the system: their results are equal.

use super::Disk;
use crate::disk::{Handle, Kind, Options};
use fastrand::Rng;
use std::fmt::Debug;
use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// The same tree twice, and files that are open in both.
struct Both {
    rng: Rng,
    disk: Disk,
    root: PathBuf,
    open: Vec<(Handle, File)>,
}

/// A result that can be compared: an error is its kind.
fn told<T: Debug>(result: io::Result<T>) -> Result<String, io::ErrorKind> {
    result.map(|value| format!("{value:?}")).map_err(|error| error.kind())
}

fn kind(of: FileType) -> Kind {
    match () {
        () if of.is_dir() => Kind::Directory,
        () if of.is_symlink() => Kind::Link,
        () => Kind::File,
    }
}

fn shown(of: &Metadata) -> (Kind, u64) {
    let kind = kind(of.file_type());
    (kind, if kind == Kind::Directory { 0 } else { of.len() })
}

fn list(path: &Path) -> io::Result<Vec<(std::ffi::OsString, Kind)>> {
    let entry = |entry: io::Result<fs::DirEntry>| {
        let entry = entry?;
        Ok((entry.file_name(), kind(entry.file_type()?)))
    };
    let mut entries: Vec<_> = fs::read_dir(path)?.map(entry).collect::<io::Result<_>>()?;
    entries.sort();
    Ok(entries)
}

impl Both {
    /// A path of few names, below the root.
    fn path(&mut self) -> String {
        let names: Vec<_> = (0..self.rng.usize(1..4))
            .map(|depth| match self.rng.u32(..12) {
                0 if depth > 0 => "..",
                1 => ".",
                n => ["a", "b", "c"][n as usize % 3],
            })
            .collect();
        // `..` is behind a name only, so that it does not leave the root.
        let mut path = names.join("/").replace("./..", "b").replace("../..", "c");
        if path.starts_with("..") {
            path = "a".into();
        }
        if self.rng.u32(..12) == 0 {
            path.push('/');
        }
        path
    }

    fn options(&mut self) -> Options {
        let rng = &mut self.rng;
        Options {
            read: rng.bool(),
            write: rng.bool(),
            append: rng.u32(..4) == 0,
            truncate: rng.u32(..4) == 0,
            create: rng.bool(),
            create_new: rng.u32(..5) == 0,
            ..Options::default()
        }
    }

    fn open(&mut self) -> (String, [Result<String, io::ErrorKind>; 2]) {
        let (path, options) = (self.path(), self.options());
        let opened = self.disk.open(Path::new(&path), &options);
        let file = OpenOptions::new()
            .read(options.read)
            .write(options.write)
            .append(options.append)
            .truncate(options.truncate)
            .create(options.create)
            .create_new(options.create_new)
            .open(self.root.join(&path));
        let results = [
            told(opened.as_ref().map(drop).map_err(copy)),
            told(file.as_ref().map(drop).map_err(copy)),
        ];
        if let (Ok(handle), Ok(file)) = (opened, file) {
            self.open.push((handle, file));
        }
        (format!("open {path} {options:?}"), results)
    }

    /// An operation on an open file.
    fn use_file(&mut self) -> (String, [Result<String, io::ErrorKind>; 2]) {
        let Some(index) = self.open.len().checked_sub(1).map(|last| self.rng.usize(..=last)) else {
            return self.open();
        };
        let (handle, file) = &self.open[index];
        let (offset, len) = (self.rng.u64(..3000), self.rng.usize(..1000));
        let disk = &mut self.disk;
        match self.rng.u32(..5) {
            0 => {
                let (mut one, mut two) = (vec![0; len], vec![0; len]);
                let results = [
                    told(disk.read_at(*handle, &mut one, offset)),
                    told(file.read_at(&mut two, offset)),
                ];
                assert_eq!(one, two, "read {len} at {offset}");
                (format!("read {len} at {offset}"), results)
            }
            1 => {
                let bytes = vec![self.rng.u8(..); len];
                let written = disk.write_at(*handle, &bytes, offset);
                (
                    format!("write {len} at {offset}"),
                    [told(written), told(file.write_at(&bytes, offset))],
                )
            }
            2 => (
                format!("set the length {offset}"),
                [told(disk.set_len(*handle, offset)), told(file.set_len(offset))],
            ),
            3 => {
                let stat = disk.stat_of(*handle).map(|stat| (stat.kind, stat.len));
                ("stat".into(), [told(stat), told(file.metadata().map(|of| shown(&of)))])
            }
            _ => {
                let (handle, _file) = self.open.swap_remove(index);
                disk.close(handle);
                ("close".into(), [Ok(String::new()), Ok(String::new())])
            }
        }
    }

    fn use_paths(&mut self) -> (String, [Result<String, io::ErrorKind>; 2]) {
        let (one, two) = (self.path(), self.path());
        let (from, to) = (self.root.join(&one), self.root.join(&two));
        let (a, b, disk) = (Path::new(&one), Path::new(&two), &mut self.disk);
        let shown_of = |of: Metadata| shown(&of);
        let (name, results) = match self.rng.u32(..14) {
            0 | 1 => ("mkdir", [told(disk.create_dir(a, 0o777)), told(fs::create_dir(from))]),
            2 => {
                ("mkdir -p", [told(disk.create_dir_all(a, 0o777)), told(fs::create_dir_all(from))])
            }
            3 => ("rm", [told(disk.remove_file(a)), told(fs::remove_file(from))]),
            4 => ("rmdir", [told(disk.remove_dir(a)), told(fs::remove_dir(from))]),
            5 | 6 => ("mv", [told(disk.rename(a, b)), told(fs::rename(from, to))]),
            7 => ("ln", [told(disk.hard_link(a, b)), told(fs::hard_link(from, to))]),
            8 => {
                // What it leads to is below the root.
                let target = one.replace("..", "a").replace('.', "b");
                let target = target.trim_end_matches('/').to_owned();
                let made = std::os::unix::fs::symlink(&target, to);
                ("ln -s", [told(disk.symlink(Path::new(&target), b)), told(made)])
            }
            9 => ("readlink", [told(disk.read_link(a)), told(fs::read_link(from))]),
            10 => {
                let found = fs::canonicalize(from).map(|path| {
                    let root = fs::canonicalize(&self.root).expect("it is there");
                    Path::new("/").join(path.strip_prefix(root).expect("it is below"))
                });
                ("realpath", [told(disk.canonicalize(a)), told(found)])
            }
            11 => {
                let entries = disk.read_dir(a).map(|entries| {
                    entries.into_iter().map(|of| (of.name, of.kind)).collect::<Vec<_>>()
                });
                ("ls", [told(entries), told(list(&from))])
            }
            12 => {
                let follow = self.rng.bool();
                let found = if follow { fs::metadata(from) } else { fs::symlink_metadata(from) };
                let stat = disk.stat(a, follow).map(|stat| (stat.kind, stat.len));
                ("stat", [told(stat), told(found.map(shown_of))])
            }
            _ => ("cp", [told(disk.copy(a, b)), told(fs::copy(from, to))]),
        };
        (format!("{name} {one} {two}"), results)
    }
}

fn copy(error: &io::Error) -> io::Error {
    error.kind().into()
}

#[test]
fn random_operations_have_the_results_of_the_system() {
    let base = std::env::temp_dir().join(format!("colored-sim-disk-{}", std::process::id()));
    let seeds = if std::env::var_os("COLORED_LONG_TESTS").is_some() { 300 } else { 50 };
    for seed in 0..seeds {
        let root = base.join(seed.to_string());
        fs::create_dir_all(&root).unwrap();
        let disk = Disk::new();
        let mut both = Both { rng: Rng::with_seed(seed), disk, root, open: Vec::new() };
        both.disk.remove_dir(Path::new("/tmp")).unwrap();
        let mut done = Vec::new();
        for _ in 0..80 {
            let (operation, [ours, systems]) = match both.rng.u32(..10) {
                0 | 1 => both.open(),
                2..=4 => both.use_file(),
                _ => both.use_paths(),
            };
            done.push(format!("{operation}: {systems:?}"));
            assert_eq!(ours, systems, "seed {seed}\n{}", done.join("\n"));
        }
        both.disk.remove_dir_all(Path::new("/")).unwrap_err();
        assert!(both.disk.read_dir(Path::new("/")).unwrap().is_empty());
        both.open.clear();
    }
    fs::remove_dir_all(base).unwrap();
}
