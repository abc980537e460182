//! The thread that makes a dump when a signal comes. It is no worker, so it answers while every worker is stuck.

use crate::dump::{DumpHook, make};
use crate::subject::Subject;
use colored_core::contain;
use signal_hook::SigId;
use signal_hook::consts::FORBIDDEN;
use signal_hook::low_level::{self, pipe};
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

/// The thread, which ends when this is dropped.
#[derive(Debug)]
pub struct OnSignal {
    action: SigId,
    thread: Option<JoinHandle<()>>,
}

impl OnSignal {
    /// Makes a dump each time this signal comes, on a thread whose name begins so.
    ///
    /// # Errors
    ///
    /// If a program cannot handle the signal, and if the system refuses the thread or the handler.
    pub fn start(
        signal: i32,
        subject: Arc<dyn Subject>,
        hook: DumpHook,
        name: &str,
    ) -> io::Result<Self> {
        let refused = |why: &str| format!("dump_on_signal({}): {why}", signal);
        if FORBIDDEN.contains(&signal) {
            let text = refused("a program cannot handle this signal");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let (mut reader, writer) = UnixStream::pair()?;
        let body = move || {
            // Signals that come in short order are one. The end: the writer is dropped with its registration.
            while reader.read(&mut [0; 64]).is_ok_and(|bytes| bytes > 0) {
                let dump = make(&*subject);
                contain(|| hook(&dump));
            }
        };
        let name = format!("{name}-dump");
        let thread = thread::Builder::new().name(name.clone()).spawn(body).map_err(|error| {
            let text = refused(&format!("cannot start the thread `{name}`: {error}"));
            io::Error::new(error.kind(), text)
        })?;
        // Without the registration the writer is dropped, and the thread ends.
        let action = pipe::register(signal, writer)
            .map_err(|error| io::Error::new(error.kind(), refused(&error.to_string())))?;
        Ok(Self { action, thread: Some(thread) })
    }

    /// Listens no longer, and ends the thread. Waits for its end, and so for the hook, if it is to.
    pub fn stop(mut self, waits: bool) {
        if !waits {
            // The thread ends by itself.
            self.thread = None;
        }
    }
}

impl Drop for OnSignal {
    fn drop(&mut self) {
        low_level::unregister(self.action);
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}
