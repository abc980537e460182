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
use super::Launch;
use crate::subject::Subject;
use mio::{Poll, Waker};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

/// The thread and its socket. Dropping it ends both.
pub struct Server {
    file: Option<SocketFile>,
    waker: Waker,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Opens the socket, and starts the thread, whose name begins so.
    ///
    /// # Errors
    ///
    /// If the system refuses the socket or the thread, or the path is in use.
    pub fn start(
        path: &Path,
        subject: Arc<dyn Subject>,
        name: &str,
        launch: Launch<'_>,
    ) -> io::Result<Self> {
        let (file, listener) = SocketFile::bind(path)
            .map_err(|error| explain(&error, format_args!("cannot open the socket {path:?}")))?;
        let poll = Poll::new()?;
        let waker = Waker::new(poll.registry(), STOP)?;
        let service = Service::new(poll, listener, path.to_owned(), subject)?;
        let name = format!("{name}-inspect");
        let thread = launch(name.clone(), Box::new(move || service.run()))
            .map_err(|error| explain(&error, format_args!("cannot start the thread `{name}`")))?;
        Ok(Self { file: Some(file), waker, thread: Some(thread) })
    }

    /// Removes the socket, disconnects the readers and ends the thread. Waits for its end, if it is to.
    pub fn stop(mut self, waits: bool) {
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

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").finish_non_exhaustive()
    }
}
