//! [`OpenOptions`], and opening a [`File`].

use super::File;
use super::backing::Backing;
use super::cursor::Cursor;
use super::files::Files;
use super::offload::{failed, offload, offload_to};
use super::open_file::OpenFile;
use super::opening::Opening;
use super::system::{self, Access, Attempt, Status};
use crate::device::Event;
use crate::driver::simulated::{Machine, Simulated};
use crate::services::current::{self, Context};
use colored_machine as machine;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// How to open a file, as [`std::fs::OpenOptions`].
#[derive(Clone, Debug)]
pub struct OpenOptions {
    pub(super) options: std::fs::OpenOptions,
    pub(super) access: Access,
    pub(super) creation: Creation,
    /// Whether the call may change the file system, or has flags that we do not know.
    is_special: bool,
    /// The flags of the caller.
    pub(super) flags: i32,
}

/// What an opening does if the file exists, and if it does not.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Creation {
    pub(super) truncate: bool,
    pub(super) create: bool,
    pub(super) create_new: bool,
    /// The permissions of a new file.
    pub(super) mode: Option<u32>,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl OpenOptions {
    /// No options: choose at least one of [`read`](Self::read), [`write`](Self::write) and
    /// [`append`](Self::append).
    pub fn new() -> OpenOptions {
        OpenOptions {
            options: std::fs::OpenOptions::new(),
            access: Access::default(),
            creation: Creation::default(),
            is_special: false,
            flags: 0,
        }
    }

    /// Whether the file can be read.
    pub fn read(&mut self, read: bool) -> &mut OpenOptions {
        self.access.read = read;
        self.options.read(read);
        self
    }

    /// Whether the file can be written.
    pub fn write(&mut self, write: bool) -> &mut OpenOptions {
        self.access.write = write;
        self.options.write(write);
        self
    }

    /// Whether each write goes to the end of the file. Such a file keeps its position at a write.
    pub fn append(&mut self, append: bool) -> &mut OpenOptions {
        self.access.append = append;
        self.options.append(append);
        self
    }

    /// Whether the file is emptied.
    pub fn truncate(&mut self, truncate: bool) -> &mut OpenOptions {
        self.is_special |= truncate;
        self.creation.truncate = truncate;
        self.options.truncate(truncate);
        self
    }

    /// Whether the file is made if it does not exist.
    pub fn create(&mut self, create: bool) -> &mut OpenOptions {
        self.is_special |= create;
        self.creation.create = create;
        self.options.create(create);
        self
    }

    /// Whether the file must not exist, and is made.
    pub fn create_new(&mut self, create_new: bool) -> &mut OpenOptions {
        self.is_special |= create_new;
        self.creation.create_new = create_new;
        self.options.create_new(create_new);
        self
    }

    /// The permissions of a new file, before the mask of the process. Default: `0o666`.
    #[cfg(unix)]
    pub fn mode(&mut self, mode: u32) -> &mut OpenOptions {
        self.creation.mode = Some(mode);
        std::os::unix::fs::OpenOptionsExt::mode(&mut self.options, mode);
        self
    }

    /// More flags for the system's call, as
    /// [`std::os::unix::fs::OpenOptionsExt::custom_flags`]. Such a file is always opened by a blocking
    /// thread.
    #[cfg(unix)]
    pub fn custom_flags(&mut self, flags: i32) -> &mut OpenOptions {
        self.is_special = true;
        self.flags = flags;
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut self.options, flags);
        self
    }

    /// Opens the file. If its path is in memory, and it is a regular file that need not be made or
    /// emptied, that happens at once. Cancel safe, but a dropped call may still make or empty the file.
    ///
    /// A named pipe that is opened for one direction waits for its other end, on a thread that the end of the runtime does
    /// not wait for. A dropped call goes on to wait, and keeps its thread; of the 65th such opening in a direction on, each
    /// waits for one of the others before it begins. A pipe of `net::unix::pipe` waits for no other end.
    ///
    /// # Errors
    ///
    /// The system's, with the path.
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    pub async fn open(&self, path: impl AsRef<Path>) -> io::Result<File> {
        let path = path.as_ref();
        let context = current::with(Arc::clone);
        let devices = &context.services.devices;
        let fail = |error| failed("open", path, error);
        let attempt = match (Files::of(&context.services).machine(), self.is_special) {
            (Some(machine), false) if !machine.files().is_deferred() => {
                let file = self.open_simulated(machine, path).map_err(fail)?;
                return Ok(self.simulated(file, path, context));
            }
            (None, false) if devices.tries() => system::open(path, self.access).map_err(fail)?,
            _ => Attempt::Unsupported,
        };
        let event = match &attempt {
            Attempt::Done(_) => Some(Event::Hit),
            Attempt::WouldBlock => Some(Event::WouldBlock),
            Attempt::Unsupported => None,
        };
        if let Some(event) = event {
            devices.paths.add(event);
        }
        let (file, identity) = match attempt {
            Attempt::Done((file, identity)) => (Arc::new(file), Some(identity)),
            _ => match self.open_on_thread(path).await? {
                Backing::System(file) => (file, None),
                Backing::Simulated(file) => return Ok(self.simulated(file, path, context)),
            },
        };
        // Without flags of the caller no file bypasses the page cache, or is only a name.
        let status = if self.is_special { system::status(&file) } else { Status::default() };
        let open =
            OpenFile::new(Backing::System(file), Some(path.to_owned()), context, status.is_direct);
        if status.is_path {
            open.refuse_positions();
        }
        let was_tried = identity.is_some();
        if let Some(identity) = identity {
            open.learn(identity);
        }
        let open = Arc::new(open);
        open.know().await?;
        open.set_mode(was_tried)?;
        Ok(File { cursor: Cursor::new(open, 0, self.access.append) })
    }

    fn open_simulated(
        &self,
        machine: &Machine,
        path: &Path,
    ) -> io::Result<Simulated<Box<dyn machine::File>>> {
        let (Access { read, write, append }, flags) = (self.access, self.flags);
        let Creation { truncate, create, create_new, mode } = self.creation;
        let options =
            machine::OpenOptions { read, write, append, truncate, create, create_new, mode, flags };
        machine.as_ref().try_map(|machine| machine.files().open(path, &options))
    }

    fn simulated(
        &self,
        file: Simulated<Box<dyn machine::File>>,
        path: &Path,
        context: Arc<Context>,
    ) -> File {
        let open = OpenFile::new(Backing::Simulated(file), Some(path.to_owned()), context, false);
        File { cursor: Cursor::new(Arc::new(open), 0, self.access.append) }
    }

    /// Opens a file by a call that may wait.
    async fn open_on_thread(&self, path: &Path) -> io::Result<Backing> {
        let (first, second) = (self.clone(), self.clone());
        let begin = move |files: &Files, path: &Path| match files.machine() {
            Some(machine) => {
                let opened = first.open_simulated(machine, path);
                opened.map(|file| Opening::Done(Backing::Simulated(file)))
            }
            None => first.begin(path),
        };
        match offload("open", path, begin).await? {
            Opening::Done(backing) => Ok(backing),
            Opening::Waits(class) => {
                offload_to(class, "open", path, move |_, path| second.finish(path)).await
            }
        }
    }
}

impl File {
    /// Opens a file for reading. Cancel safe.
    ///
    /// # Errors
    ///
    /// The system's, with the path.
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    pub async fn open(path: impl AsRef<Path>) -> io::Result<File> {
        OpenOptions::new().read(true).open(path).await
    }

    /// Opens a file for writing, makes it if it does not exist, and empties it if it does. Cancel safe:
    /// a dropped call may still make the file.
    ///
    /// # Errors
    ///
    /// The system's, with the path.
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    pub async fn create(path: impl AsRef<Path>) -> io::Result<File> {
        OpenOptions::new().write(true).create(true).truncate(true).open(path).await
    }

    /// The options of an opening.
    pub fn options() -> OpenOptions {
        OpenOptions::new()
    }
}
