//! The thread that makes a dump when a signal comes. It is no worker, so it answers while every worker is stuck.

use crate::dump::{self, DumpHook};
use crate::error_context::with_context;
use crate::runtime::Handle;
use crate::signal::unix::SignalKind;
use colored_core::contain;
use signal_hook::SigId;
use signal_hook::consts::FORBIDDEN;
use signal_hook::low_level::{self, pipe};
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::thread::{self, JoinHandle};

/// The thread, which ends when this is dropped.
pub(in crate::runtime) struct OnSignal {
    action: SigId,
    thread: Option<JoinHandle<()>>,
}

impl OnSignal {
    /// Listens from now on.
    pub(in crate::runtime) fn start(
        kind: SignalKind,
        handle: Handle,
        hook: DumpHook,
        name: &str,
    ) -> io::Result<Self> {
        let refused = |why: &str| format!("dump_on_signal({}): {why}", kind.as_raw());
        if FORBIDDEN.contains(&kind.as_raw()) {
            let text = refused("a program cannot handle this signal");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let (mut reader, writer) = UnixStream::pair()?;
        let body = move || {
            // Signals that come in short order are one. The end: the writer is dropped with its registration.
            while reader.read(&mut [0; 64]).is_ok_and(|bytes| bytes > 0) {
                let dump = dump::make(handle.core.scheduler(), &handle.driver);
                contain(|| hook(&dump));
            }
        };
        let name = format!("{name}-dump");
        let thread = thread::Builder::new().name(name.clone()).spawn(body).map_err(|error| {
            with_context(refused(&format!("cannot start the thread `{name}`: {error}")), error)
        })?;
        // Without the registration the writer is dropped, and the thread ends.
        let action = pipe::register(kind.as_raw(), writer)
            .map_err(|error| io::Error::new(error.kind(), refused(&error.to_string())))?;
        Ok(Self { action, thread: Some(thread) })
    }

    /// Listens no longer, and ends the thread. Waits for its end, and so for the hook, if it is to.
    pub(in crate::runtime) fn stop(mut self, waits: bool) {
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
