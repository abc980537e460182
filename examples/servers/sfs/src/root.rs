//! Files beneath one directory, which no path can leave.
//!
//! Linux resolves each path from the descriptor of the directory, and refuses symbolic links and `..` on the way
//! (`openat2`). So a link that a client or a local user puts into the tree leads nowhere. Where names change, the directory
//! above is opened in this way first, and the call goes through its descriptor.

use crate::attributes;
use crate::refused::Refused;
use colored::fs::{self, File};
use nfs3_types::nfs3::{Nfs3Option, nfsstat3, sattr3};
use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::{Metadata, Permissions};
use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The directory that is served. A clone is the same directory.
#[derive(Clone, Debug)]
pub struct Root(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Beneath(Arc<OwnedFd>),
    Simulated(PathBuf),
}

/// A directory that is open while names in it change.
pub(crate) struct Directory {
    path: PathBuf,
    _open: Option<OwnedFd>,
}

/// The path of a name in a directory that is open: it leads there while the directory is borrowed.
pub(crate) struct Entry<'a>(PathBuf, PhantomData<&'a Directory>);

impl AsRef<Path> for Entry<'_> {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl Directory {
    pub(crate) fn entry(&self, name: &OsStr) -> Entry<'_> {
        Entry(self.path.join(name), PhantomData)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Root {
    /// The directory at this path. Blocks for the one call that opens it.
    ///
    /// # Errors
    ///
    /// The system's; `Unsupported` if it has no `openat2`, which Linux has since 5.6.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Root> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::open(path.as_ref(), flags, Mode::empty())?;
        match rustix::fs::openat2(&root, ".", flags, Mode::empty(), RESOLVE) {
            Err(Errno::NOSYS | Errno::PERM) => Err(io::ErrorKind::Unsupported.into()),
            opened => opened.map(|_| Root(Kind::Beneath(Arc::new(root)))).map_err(io::Error::from),
        }
    }

    /// The directory at this path of a simulated host, whose files have no descriptors and no inode numbers.
    pub fn simulated(path: impl Into<PathBuf>) -> Root {
        Root(Kind::Simulated(path.into()))
    }

    /// Whether the metadata of a file identify it.
    pub(crate) fn has_inodes(&self) -> bool {
        matches!(self.0, Kind::Beneath(_))
    }

    /// The metadata of what is at a path. A symbolic link at its end is not followed.
    pub(crate) async fn look(&self, path: &Path) -> io::Result<Metadata> {
        match &self.0 {
            Kind::Beneath(root) => {
                let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                std::fs::File::from(open_beneath(root, path, flags, 0).await?).metadata()
            }
            Kind::Simulated(root) => fs::symlink_metadata(root.join(path)).await,
        }
    }

    /// Opens a regular file, for writing too if the system permits it.
    pub(crate) async fn open_file(&self, path: &Path) -> Result<File, Refused> {
        if !self.look(path).await?.is_file() {
            return Err(Refused::INVALID);
        }
        match &self.0 {
            Kind::Beneath(root) => {
                // Somebody may put a named pipe there in between: its opening must not wait.
                let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
                let file = match open_beneath(root, path, flags | OFlags::RDWR, 0).await {
                    Err(error) if is_read_only(&error) => {
                        open_beneath(root, path, flags | OFlags::RDONLY, 0).await?
                    }
                    opened => opened?,
                };
                Ok(File::from_std(file.into())?)
            }
            Kind::Simulated(root) => {
                Ok(fs::OpenOptions::new().read(true).write(true).open(root.join(path)).await?)
            }
        }
    }

    /// Makes a regular file, and opens it.
    ///
    /// # Errors
    ///
    /// `AlreadyExists`, and the system's.
    pub(crate) async fn create_file(&self, path: &Path, mode: u32) -> io::Result<File> {
        match &self.0 {
            Kind::Beneath(root) => {
                let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC;
                File::from_std(open_beneath(root, path, flags, mode).await?.into())
            }
            Kind::Simulated(root) => {
                let mut options = fs::OpenOptions::new();
                options.read(true).write(true).create_new(true).mode(mode);
                options.open(root.join(path)).await
            }
        }
    }

    /// Opens a directory, to change or to list its names.
    pub(crate) async fn directory(&self, path: &Path) -> io::Result<Directory> {
        match &self.0 {
            Kind::Beneath(root) => {
                let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
                let open = open_beneath(root, path, flags, 0).await?;
                let path = PathBuf::from(format!("/proc/self/fd/{}", open.as_raw_fd()));
                Ok(Directory { path, _open: Some(open) })
            }
            Kind::Simulated(root) => Ok(Directory { path: root.join(path), _open: None }),
        }
    }

    /// Waits until the names in a directory are on the device.
    pub(crate) async fn sync_directory(&self, path: &Path) -> io::Result<()> {
        let directory = match &self.0 {
            Kind::Beneath(root) => {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
                File::from_std(open_beneath(root, path, flags, 0).await?.into())?
            }
            Kind::Simulated(root) => File::open(root.join(path)).await?,
        };
        directory.sync_all().await
    }

    /// Sets attributes of a directory. A simulated one has a mode only.
    pub(crate) async fn set_of_directory(&self, path: &Path, new: &sattr3) -> Result<(), Refused> {
        match &self.0 {
            Kind::Beneath(root) => {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
                let open = File::from_std(open_beneath(root, path, flags, 0).await?.into())?;
                if let Nfs3Option::Some(_) = new.size {
                    return Err(Refused(nfsstat3::NFS3ERR_ISDIR));
                }
                attributes::set(self, &open, new).await
            }
            Kind::Simulated(root) => match new.mode {
                Nfs3Option::Some(mode) => {
                    let mode = Permissions::from_mode(mode & 0o7777);
                    Ok(fs::set_permissions(root.join(path), mode).await?)
                }
                Nfs3Option::None => Ok(()),
            },
        }
    }

    /// The room on the file system; of a simulated one it is not known.
    pub(crate) async fn room(&self) -> io::Result<Option<rustix::fs::StatVfs>> {
        match &self.0 {
            Kind::Beneath(root) => {
                let root = Arc::clone(root);
                let room = colored::spawn_blocking(move || rustix::fs::fstatvfs(&*root)).await;
                Ok(Some(room.map_err(io::Error::other)??))
            }
            Kind::Simulated(_) => Ok(None),
        }
    }
}

const RESOLVE: ResolveFlags =
    ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);

/// Opens a path on the worker if all names of it are in memory, else on a thread.
async fn open_beneath(
    root: &Arc<OwnedFd>,
    path: &Path,
    flags: OFlags,
    mode: u32,
) -> io::Result<OwnedFd> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let mode = Mode::from_raw_mode(mode);
    let cached = RESOLVE | ResolveFlags::CACHED;
    let attempt = || match rustix::fs::openat2(&**root, path, flags, mode, cached) {
        // Before Linux 5.12 the flag is not valid.
        Err(Errno::AGAIN | Errno::INVAL) => None,
        opened => Some(opened),
    };
    let (root, path) = (Arc::clone(root), path.to_owned());
    let on_thread = move || rustix::fs::openat2(&*root, &path, flags, mode, RESOLVE);
    let opened = colored::task::lazy(attempt, on_thread).await.map_err(io::Error::other)?;
    Ok(opened?)
}

fn is_read_only(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    matches!(errno, Some(Errno::ACCESS | Errno::PERM | Errno::ROFS | Errno::TXTBSY))
}
