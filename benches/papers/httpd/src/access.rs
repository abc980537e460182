//! [`Access`]: the five ways to a file.

use crate::aio;
use crate::helpers::Helpers;
use colored::fs;
use rustix::io::Errno;
use std::fs::Metadata;
use std::io::{self, ErrorKind, Read};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

/// A file of at most this many bytes is read at once, and kept in memory.
pub(crate) const SMALL: u64 = 64 * 1024;

/// How the server reaches its files.
#[derive(Debug)]
pub(crate) enum Access {
    /// A call that would block becomes a job; any other call is over at once.
    Lazy,
    /// Every call runs on the worker, and blocks it.
    Blocking,
    /// Every call runs on a thread for blocking calls.
    Pool,
    /// A read is left to the system untried; every other call runs on the worker, and blocks it.
    Aio,
    /// Helper processes read the file into the page cache; then the call runs on the worker.
    Amped(Helpers),
}

/// An open file.
#[derive(Debug)]
pub(crate) enum Opened {
    /// Of the runtime, which reads lazily, or else always in the background.
    Lazy(fs::File),
    Std(std::fs::File),
}

/// A file that was found.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) metadata: Metadata,
    pub(crate) file: Opened,
    /// The content, if the file is [`SMALL`].
    pub(crate) content: Option<Vec<u8>>,
}

/// Why there is no file to send.
#[derive(Debug)]
pub(crate) enum Absent {
    Directory,
    /// There is nothing, or a pipe, a socket or a device.
    NotFound,
    Forbidden,
    Failed(io::Error),
}

impl From<io::Error> for Absent {
    /// The answers are those of nginx: a chain of links that does not end is forbidden, like what may not be read.
    fn from(error: io::Error) -> Absent {
        // The runtime's files name the operation and the path around the error of the system.
        let source = error.get_ref().and_then(|named| named.source()?.downcast_ref());
        let code = source.unwrap_or(&error).raw_os_error();
        if code == Some(Errno::LOOP.raw_os_error()) {
            return Absent::Forbidden;
        }
        match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidFilename => {
                Absent::NotFound
            }
            ErrorKind::PermissionDenied => Absent::Forbidden,
            _ => Absent::Failed(error),
        }
    }
}

impl Access {
    /// Opens a file, and reads it if it is small.
    pub(crate) async fn load(&self, path: &Arc<Path>) -> Result<Loaded, Absent> {
        match self {
            Access::Lazy => load_lazily(path).await,
            Access::Blocking => load(path),
            Access::Pool => {
                let path = Arc::clone(path);
                in_pool(move || Ok(load(&path))).await?
            }
            Access::Aio => aio::load(path).await,
            Access::Amped(helpers) => {
                helpers.touch(path, 0..SMALL).await;
                load(path)
            }
        }
    }

    pub(crate) async fn metadata(&self, path: &Arc<Path>) -> io::Result<Metadata> {
        match self {
            Access::Lazy => fs::metadata(path).await,
            Access::Blocking | Access::Aio => path.metadata(),
            Access::Pool => {
                let path = Arc::clone(path);
                in_pool(move || path.metadata()).await
            }
            Access::Amped(helpers) => {
                helpers.touch(path, 0..0).await;
                path.metadata()
            }
        }
    }

    /// Reads a part of a file: fewer bytes only at its end. `file` gives the file, which a thread may
    /// have to own.
    pub(crate) async fn read<F>(
        &self,
        path: &Path,
        file: F,
        part: Range<u64>,
    ) -> io::Result<Vec<u8>>
    where
        F: AsRef<Opened> + Send + 'static,
    {
        let mut bytes = vec![0; usize::try_from(part.end - part.start).map_err(io::Error::other)?];
        let n = match (self, file.as_ref()) {
            (_, Opened::Lazy(file)) => file.read_at(&mut bytes, part.start).await?,
            (Access::Pool, Opened::Std(_)) => {
                return in_pool(move || {
                    let Opened::Std(std) = file.as_ref() else { unreachable!("it is the same") };
                    let n = read_at(std, &mut bytes, part.start)?;
                    bytes.truncate(n);
                    Ok(bytes)
                })
                .await;
            }
            (Access::Amped(helpers), Opened::Std(file)) => {
                match read_resident(file, &mut bytes, part.start) {
                    Some(n) => n,
                    None => {
                        helpers.touch(path, part.clone()).await;
                        read_at(file, &mut bytes, part.start)?
                    }
                }
            }
            (_, Opened::Std(file)) => read_at(file, &mut bytes, part.start)?,
        };
        bytes.truncate(n);
        Ok(bytes)
    }
}

async fn in_pool<T: Send + 'static>(
    f: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    colored::spawn_blocking(f).await.map_err(io::Error::other)?
}

async fn load_lazily(path: &Path) -> Result<Loaded, Absent> {
    // To open a pipe waits for its other end, so the kind comes first.
    check_kind(&fs::metadata(path).await?)?;
    let file = fs::File::open(path).await?;
    let metadata = file.metadata().await?;
    let mut content = None;
    if metadata.len() <= SMALL {
        let mut bytes = vec![0; metadata.len() as usize];
        file.read_exact_at(&mut bytes, 0).await?;
        content = Some(bytes);
    }
    Ok(Loaded { metadata, file: Opened::Lazy(file), content })
}

fn load(path: &Path) -> Result<Loaded, Absent> {
    check_kind(&path.metadata()?)?;
    let mut file = std::fs::File::open(path)?;
    let metadata = file.metadata()?;
    let mut content = None;
    if metadata.len() <= SMALL {
        let mut bytes = vec![0; metadata.len() as usize];
        file.read_exact(&mut bytes)?;
        content = Some(bytes);
    }
    Ok(Loaded { metadata, file: Opened::Std(file), content })
}

pub(crate) fn check_kind(metadata: &Metadata) -> Result<(), Absent> {
    match metadata {
        metadata if metadata.is_file() => Ok(()),
        metadata if metadata.is_dir() => Err(Absent::Directory),
        _ => Err(Absent::NotFound),
    }
}

/// Reads until `bytes` is full or the file ends.
fn read_at(file: &std::fs::File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut done = 0;
    while done < bytes.len() {
        match file.read_at(&mut bytes[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(n) => done += n,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

/// Fills `bytes` if the page cache has all of them. Only Linux tells.
#[cfg(target_os = "linux")]
fn read_resident(file: &std::fs::File, bytes: &mut [u8], offset: u64) -> Option<usize> {
    use rustix::io::{ReadWriteFlags, preadv2};
    let wanted = bytes.len();
    let mut buffers = [io::IoSliceMut::new(bytes)];
    match preadv2(file, &mut buffers, offset, ReadWriteFlags::NOWAIT) {
        Ok(n) if n == wanted => Some(n),
        _ => None,
    }
}

#[cfg(not(target_os = "linux"))]
fn read_resident(_: &std::fs::File, _: &mut [u8], _: u64) -> Option<usize> {
    None
}
