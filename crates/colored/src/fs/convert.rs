//! From and to files of the standard library, and the descriptor of a [`File`].

use super::File;
use super::cursor::Cursor;
use super::open_file::OpenFile;
use super::system;
use crate::budget;
use crate::services::current;
use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::task::{Context, Waker};

impl File {
    /// Takes over a file of the standard library, with its position.
    ///
    /// # Errors
    ///
    /// When the system does not tell the position.
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    #[track_caller]
    pub fn from_std(file: std::fs::File) -> io::Result<File> {
        let context = current::with(Arc::clone);
        let status = system::status(&file);
        let open = OpenFile::new(file.into(), None, context, status.is_direct);
        if status.is_path {
            open.refuse_positions();
        }
        let position = match open.has_positions() {
            true => match io::Seek::stream_position(&mut &**open.system_file()) {
                Err(error) if open.learn_refusal(&error, 0) => 0,
                position => position?,
            },
            false => 0,
        };
        Ok(File { cursor: Cursor::new(Arc::new(open), position, status.appends) })
    }

    /// Gives the file to the standard library, with its position, after its last deferred operation. Of a
    /// pipe, bytes that a dropped read has taken are lost. Not cancel safe: a dropped call closes the file.
    ///
    /// # Errors
    ///
    /// When the system does not take the position, or gives no second descriptor while an operation
    /// that was dropped still uses the first one.
    pub async fn into_std(mut self) -> io::Result<std::fs::File> {
        poll_fn(|cx| self.cursor.poll_settle(cx)).await;
        self.detach().map_err(|(_, error)| error)
    }

    /// As [`into_std`](Self::into_std), without waiting.
    ///
    /// # Errors
    ///
    /// Returns the `File` if its last operation was dropped and is not over, or for the reasons of
    /// [`into_std`](Self::into_std), which tells them.
    pub fn try_into_std(mut self) -> Result<std::fs::File, File> {
        let settled = budget::unlimited(|| {
            self.cursor.poll_settle(&mut Context::from_waker(Waker::noop())).is_ready()
        });
        if !settled {
            return Err(self);
        }
        self.detach().map_err(|(file, _)| file)
    }

    /// Gives away what is in here, with the position, when no operation is under way at the position.
    fn detach(self) -> Result<std::fs::File, (File, io::Error)> {
        let open = self.cursor.open();
        if open.backing.simulated().is_some() {
            let text = "a simulated file cannot become one of the standard library";
            return Err((self, io::Error::new(io::ErrorKind::Unsupported, text)));
        }
        let handed_over = self.cursor.leave_position().and_then(|()| open.reset_mode());
        // An operation at another place that was dropped may have its own reference.
        let shared = match handed_over {
            Ok(()) if Arc::strong_count(open) == 1 => None,
            Ok(()) => Some(open.system_file().try_clone()),
            Err(error) => Some(Err(error)),
        };
        match shared {
            Some(Ok(second)) => Ok(second),
            Some(Err(error)) => Err((self, error)),
            None => {
                let open = Arc::into_inner(self.cursor.into_open());
                Ok(open
                    .expect("only the cursor makes references, and had the last one")
                    .into_file())
            }
        }
    }
}

impl TryFrom<std::fs::File> for File {
    type Error = io::Error;

    /// See [`from_std`](File::from_std), also for errors and panics.
    #[track_caller]
    fn try_from(file: std::fs::File) -> io::Result<File> {
        File::from_std(file)
    }
}

#[cfg(unix)]
mod unix {
    use super::super::File;
    use std::io;
    use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

    impl AsFd for File {
        /// The descriptor, whose position is not that of the `File`: see there.
        fn as_fd(&self) -> BorrowedFd<'_> {
            self.cursor.open().system_file().as_fd()
        }
    }

    impl AsRawFd for File {
        /// The descriptor, whose position is not that of the `File`: see there.
        fn as_raw_fd(&self) -> RawFd {
            self.cursor.open().system_file().as_raw_fd()
        }
    }

    impl TryFrom<OwnedFd> for File {
        type Error = io::Error;

        /// See [`from_std`](File::from_std), also for errors and panics.
        #[track_caller]
        fn try_from(descriptor: OwnedFd) -> io::Result<File> {
            File::from_std(descriptor.into())
        }
    }
}

#[cfg(windows)]
mod windows {
    use super::super::File;
    use std::io;
    use std::os::windows::io::{AsHandle, AsRawHandle, BorrowedHandle, OwnedHandle, RawHandle};

    impl AsHandle for File {
        /// The handle, whose position is not that of the `File`: see there.
        fn as_handle(&self) -> BorrowedHandle<'_> {
            self.cursor.open().system_file().as_handle()
        }
    }

    impl AsRawHandle for File {
        /// The handle, whose position is not that of the `File`: see there.
        fn as_raw_handle(&self) -> RawHandle {
            self.cursor.open().system_file().as_raw_handle()
        }
    }

    impl TryFrom<OwnedHandle> for File {
        type Error = io::Error;

        /// See [`from_std`](File::from_std), also for errors and panics.
        #[track_caller]
        fn try_from(handle: OwnedHandle) -> io::Result<File> {
            File::from_std(handle.into())
        }
    }
}
