//! [`Service`]: what the thread does.

use super::history::History;
use super::reader::Reader;
use super::state;
use crate::net::unix::uid_of_peer;
use crate::runtime::handle::Handle;
use mio::net::UnixListener;
use mio::{Events, Interest, Poll, Token};
use nix::unistd::geteuid;
use std::io;
use std::os::unix::net::UnixListener as StdListener;

/// The event that ends the thread.
pub(super) const STOP: Token = Token(0);

/// All other events. Each only says that something may have come, and all readers are asked: they are few.
const READY: Token = Token(1);

/// The most readers at once.
const READERS: usize = 4;

/// The socket and its readers.
pub(super) struct Service {
    poll: Poll,
    listener: UnixListener,
    readers: Vec<Reader>,
    history: History,
    handle: Handle,
}

impl Service {
    pub(super) fn new(poll: Poll, listener: StdListener, handle: Handle) -> io::Result<Self> {
        let mut listener = UnixListener::from_std(listener);
        poll.registry().register(&mut listener, READY, Interest::READABLE)?;
        Ok(Self { poll, listener, readers: Vec::new(), history: History::default(), handle })
    }

    /// Answers until the event [`STOP`].
    pub(super) fn run(mut self) {
        let mut events = Events::with_capacity(2 * READERS);
        loop {
            match self.poll.poll(&mut events, self.patience()) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return,
                Ok(()) if events.iter().any(|event| event.token() == STOP) => return,
                Ok(()) => {}
            }
            self.accept();
            self.serve();
        }
    }

    /// How long nothing is to be done; none if it takes an event.
    fn patience(&self) -> Option<std::time::Duration> {
        let waits = self.readers.iter().any(Reader::wants_snapshot).then(|| self.history.rest());
        self.readers.iter().filter_map(Reader::patience).chain(waits).min()
    }

    /// Takes the connections that have come.
    fn accept(&mut self) {
        loop {
            let mut stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                // No more have come; or the process has no descriptor left, and the next connection asks again.
                Err(_) => return,
            };
            let may_read = |user| user == geteuid().as_raw() || user == 0;
            if !uid_of_peer(&stream).is_ok_and(may_read) {
                Reader::refuse(stream, "only the user of the program, and root, may connect");
            } else if self.readers.len() == READERS {
                Reader::refuse(stream, "four readers are connected: no more are allowed");
            } else {
                let interest = Interest::READABLE | Interest::WRITABLE;
                if self.poll.registry().register(&mut stream, READY, interest).is_ok() {
                    self.readers.push(Reader::new(stream));
                }
            }
        }
    }

    /// Answers what has come, and disconnects readers that have gone or do nothing.
    fn serve(&mut self) {
        self.readers.iter_mut().for_each(|reader| reader.go_on(&self.handle));
        let waits = self.readers.iter().any(Reader::wants_snapshot);
        if waits {
            self.history.look(&self.handle);
        }
        if waits && self.history.wait().is_zero() {
            self.history.make(&self.handle);
            let text = state::text(&mut self.history, &self.handle);
            for reader in self.readers.iter_mut().filter(|reader| reader.wants_snapshot()) {
                reader.tell(&text);
                reader.go_on(&self.handle);
            }
        }
        self.readers.retain(Reader::stays);
        if self.readers.is_empty() {
            self.history = History::default();
        }
    }
}
