//! [`Server`]: the thread that answers readers.

mod history;
mod paced;
mod reader;
mod request;
mod serve;
mod socket_file;
mod state;
mod tasks;
mod timeline;

use self::serve::{STOP, Service};
use self::socket_file::SocketFile;
use crate::runtime::handle::Handle;
use crate::thread_settings::ThreadSettings;
use mio::{Poll, Waker};
use std::io;
use std::path::Path;
use std::thread::JoinHandle;

/// The thread and its socket. Dropping it ends both.
pub(in crate::runtime) struct Server {
    file: Option<SocketFile>,
    waker: Waker,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Opens the socket, and starts the thread.
    pub(in crate::runtime) fn start(
        path: &Path,
        handle: Handle,
        launch: &ThreadSettings,
        name: &str,
    ) -> io::Result<Self> {
        let (file, listener) = SocketFile::bind(path)
            .map_err(|error| explain(&error, format_args!("cannot open the socket {path:?}")))?;
        let poll = Poll::new()?;
        let waker = Waker::new(poll.registry(), STOP)?;
        let service = Service::new(poll, listener, path.to_owned(), handle)?;
        let name = format!("{name}-inspect");
        let thread = launch.thread(name.clone()).spawn(launch.around(move || service.run()));
        let thread = thread
            .map_err(|error| explain(&error, format_args!("cannot start the thread `{name}`")))?;
        Ok(Self { file: Some(file), waker, thread: Some(thread) })
    }

    /// Removes the socket, disconnects the readers and ends the thread. Waits for its end, if it is to.
    pub(in crate::runtime) fn stop(mut self, waits: bool) {
        if !waits {
            // The thread ends by itself.
            self.thread = None;
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.file = None;
        // It fails if the thread has no room for events, and then the thread has one.
        let _ = self.waker.wake();
        if let Some(thread) = self.thread.take() {
            // It has reported a panic itself.
            let _ = thread.join();
        }
    }
}

fn explain(error: &io::Error, what: std::fmt::Arguments<'_>) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}
