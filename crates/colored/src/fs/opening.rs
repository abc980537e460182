//! Opening a file by a call that may wait: what may wait for ever does so apart from what does not.

use super::OpenOptions;
use super::backing::Backing;
use crate::pool::Class;
use std::io;
use std::path::Path;

/// What a thread has found that opens files.
#[derive(Debug)]
pub(super) enum Opening {
    Done(Backing),
    /// A thread of that class has to open it.
    Waits(Class),
}

impl OpenOptions {
    /// Opens what is at a path, unless that may wait for ever.
    pub(super) fn begin(&self, path: &Path) -> io::Result<Opening> {
        match self.waits(path) {
            Some(Class::OpenWriter) => self.open_writer(path),
            Some(class) => Ok(Opening::Waits(class)),
            None => self.finish(path).map(Opening::Done),
        }
    }

    /// Opens what is at a path.
    pub(super) fn finish(&self, path: &Path) -> io::Result<Backing> {
        self.options.open(path).map(Backing::from)
    }
}

#[cfg(unix)]
mod unix {
    use super::super::system::clear_nonblock;
    use super::{OpenOptions, Opening};
    use crate::pool::Class;
    use rustix::fs::OFlags;
    use rustix::io::Errno;
    use std::io;
    use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
    use std::path::Path;

    impl OpenOptions {
        /// The threads that open what is at a path, if that may wait. Who puts a pipe there meanwhile makes another
        /// class wait.
        pub(super) fn waits(&self, path: &Path) -> Option<Class> {
            let flags = OFlags::from_bits_retain(self.flags.cast_unsigned());
            #[cfg(any(target_os = "linux", target_os = "android"))]
            let never_waits = OFlags::NONBLOCK | OFlags::PATH;
            #[cfg(not(any(target_os = "linux", target_os = "android")))]
            let never_waits = OFlags::NONBLOCK;
            if flags.intersects(never_waits) {
                return None;
            }
            let of = std::fs::metadata(path).ok()?.file_type();
            match (self.access.read, self.access.write || self.access.append) {
                _ if of.is_char_device() => Some(Class::Ready),
                (true, false) if of.is_fifo() => Some(Class::OpenReader),
                (false, true) if of.is_fifo() => Some(Class::OpenWriter),
                _ => None,
            }
        }

        /// Opens a pipe for writing if it has a reader. So the openings of this program that wait for this one go on
        /// although as many others wait for readers as there are threads.
        pub(super) fn open_writer(&self, path: &Path) -> io::Result<Opening> {
            let flags = self.flags | OFlags::NONBLOCK.bits().cast_signed();
            match self.options.clone().custom_flags(flags).open(path) {
                Ok(file) => {
                    clear_nonblock(&file)?;
                    Ok(Opening::Done(file.into()))
                }
                Err(error) if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => {
                    Ok(Opening::Waits(Class::OpenWriter))
                }
                Err(error) => Err(error),
            }
        }
    }
}

/// Whether what is at a path may make each operation wait for ever: a pipe or a device.
pub(super) fn may_wait(path: &Path) -> bool {
    path.metadata().is_ok_and(|of| !of.is_file() && !of.is_dir())
}

#[cfg(not(unix))]
impl OpenOptions {
    /// No opening waits.
    fn waits(&self, _: &Path) -> Option<Class> {
        None
    }

    fn open_writer(&self, path: &Path) -> io::Result<Opening> {
        self.finish(path).map(Opening::Done)
    }
}
