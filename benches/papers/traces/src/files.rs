//! The directory with the files of a trace: [`create`] and [`check`].

use crate::content;
use crate::place;
use std::error::Error;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Bytes that are written or read at once.
const BLOCK: usize = 64 * 1024;

/// The reason for which the files of a trace could not be created, or do not match the trace.
#[derive(Debug)]
pub enum FilesError {
    /// The files have more bytes than the limit allows.
    Limit {
        /// The bytes of all files.
        needed: u64,
        /// The limit.
        limit: u64,
    },
    /// The directory has entries already.
    NotEmpty(PathBuf),
    /// A file does not have the size or the content that the trace gives it.
    Wrong {
        /// The path of the file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The operating system refused an operation.
    Io(PathBuf, io::Error),
}

impl fmt::Display for FilesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limit { needed, limit } => {
                write!(f, "the files have {needed} bytes; allowed are {limit}, by the limit")
            }
            Self::NotEmpty(path) => write!(
                f,
                "{} has entries; allowed is an empty directory, or a path that does not exist",
                path.display()
            ),
            Self::Wrong { path, problem } => write!(f, "{}: {problem}", path.display()),
            Self::Io(path, error) => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl Error for FilesError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Io(_, error) => Some(error),
            _ => None,
        }
    }
}

/// Creates a file of each size below `root`, at [`place::path`] of its number, with the bytes of [`content`]. Returns
/// the number of bytes.
///
/// The limit is for the bytes of the files; a file system that stores whole blocks takes more.
///
/// # Errors
///
/// If the files have more than `limit` bytes, or `root` has entries, the function writes nothing. If the operating
/// system refuses an operation, the files so far stay.
pub fn create(root: &Path, sizes: &[u64], limit: u64) -> Result<u64, FilesError> {
    let needed = sizes.iter().sum();
    if needed > limit {
        return Err(FilesError::Limit { needed, limit });
    }
    let fail = |path: &Path, error| FilesError::Io(path.to_owned(), error);
    fs::create_dir_all(root).map_err(|error| fail(root, error))?;
    let mut entries = fs::read_dir(root).map_err(|error| fail(root, error))?;
    if entries.next().is_some() {
        return Err(FilesError::NotEmpty(root.to_owned()));
    }
    for (file, &size) in (0_u32..).zip(sizes) {
        let directory = root.join(place::directory(file));
        fs::create_dir_all(&directory).map_err(|error| fail(&directory, error))?;
        let path = root.join(place::path(file));
        write(&path, file, size).map_err(|error| fail(&path, error))?;
    }
    Ok(needed)
}

/// Checks the size and the content of every file below `root`. Returns the number of bytes.
///
/// # Errors
///
/// If a file is missing, or is not as [`create`] makes it. The error is about the first such file.
pub fn check(root: &Path, sizes: &[u64]) -> Result<u64, FilesError> {
    for (file, &size) in (0_u32..).zip(sizes) {
        let path = root.join(place::path(file));
        match problem(&path, file, size) {
            Ok(None) => {}
            Ok(Some(problem)) => return Err(FilesError::Wrong { path, problem }),
            Err(error) => return Err(FilesError::Io(path, error)),
        }
    }
    Ok(sizes.iter().sum())
}

fn write(path: &Path, file: u32, size: u64) -> io::Result<()> {
    let mut to = File::create_new(path)?;
    let mut block = vec![0; size.min(BLOCK as u64) as usize];
    let mut offset = 0;
    while offset < size {
        let length = (size - offset).min(BLOCK as u64) as usize;
        content::fill(file, offset, &mut block[..length]);
        to.write_all(&block[..length])?;
        offset += length as u64;
    }
    Ok(())
}

fn problem(path: &Path, file: u32, size: u64) -> io::Result<Option<String>> {
    let mut from = File::open(path)?;
    let length = from.metadata()?.len();
    if length != size {
        return Ok(Some(format!("it has {length} bytes; allowed are {size}")));
    }
    let mut block = vec![0; BLOCK];
    let mut offset = 0;
    while offset < size {
        match from.read(&mut block)? {
            0 => return Ok(Some(format!("it ended after {offset} bytes; allowed are {size}"))),
            length if !content::matches(file, offset, &block[..length]) => {
                return Ok(Some(format!("its content after {offset} bytes is not the file's own")));
            }
            length => offset += length as u64,
        }
    }
    Ok(None)
}
