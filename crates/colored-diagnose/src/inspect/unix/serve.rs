//! [`Service`]: what the thread does.

use super::history::History;
use super::paced::{self, Kind};
use super::reader::Reader;
use super::state;
use super::tasks;
use super::timeline;
use crate::subject::Subject;
use crate::wall;
use mio::net::UnixListener;
use mio::{Events, Interest, Poll, Token};
use rustix::process::geteuid;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixListener as StdListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

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
    /// When the latest dump was made.
    dumped: Option<Instant>,
    /// When the latest trace was written.
    traced: Option<Instant>,
    /// Where the socket is.
    path: PathBuf,
    subject: Arc<dyn Subject>,
}

impl Service {
    pub(super) fn new(
        poll: Poll,
        listener: StdListener,
        path: PathBuf,
        subject: Arc<dyn Subject>,
    ) -> io::Result<Self> {
        let mut listener = UnixListener::from_std(listener);
        poll.registry().register(&mut listener, READY, Interest::READABLE)?;
        let (readers, history) = (Vec::new(), History::default());
        Ok(Self { poll, listener, readers, history, dumped: None, traced: None, path, subject })
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
    fn patience(&self) -> Option<Duration> {
        let snapshot = self.wants(Kind::Snapshot).then(|| self.history.rest());
        let dump = self.wants(Kind::Dump).then(|| paced::rest(self.dumped));
        let trace = self.wants(Kind::Trace).then(|| paced::rest(self.traced));
        let paced = snapshot.into_iter().chain(dump).chain(trace);
        self.readers.iter().filter_map(Reader::patience).chain(paced).min()
    }

    /// Whether a reader waits for this.
    fn wants(&self, kind: Kind) -> bool {
        self.readers.iter().any(|reader| reader.wants(kind))
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
            if !self.subject.user_of_peer(stream.as_fd()).is_ok_and(may_read) {
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
        self.readers.iter_mut().for_each(|reader| reader.serve(&self.subject));
        if self.wants(Kind::Snapshot) {
            self.history.look(&*self.subject);
        }
        if self.wants(Kind::Snapshot) && self.history.wait().is_zero() {
            self.history.make(&*self.subject);
            let text = state::text(&mut self.history, &*self.subject);
            self.tell(Kind::Snapshot, &text);
        }
        if self.wants(Kind::Dump) && paced::rest(self.dumped).is_zero() {
            let text = tasks::text(&*self.subject);
            self.dumped = Some(wall::now());
            self.tell(Kind::Dump, &text);
        }
        if self.wants(Kind::Trace) && paced::rest(self.traced).is_zero() {
            let text = timeline::text(&*self.subject, &self.path);
            self.traced = Some(wall::now());
            self.tell(Kind::Trace, &text);
        }
        self.readers.retain(Reader::is_open);
        if self.readers.is_empty() {
            self.history = History::default();
        }
    }

    /// The text for all who wait for it.
    fn tell(&mut self, kind: Kind, text: &str) {
        for reader in self.readers.iter_mut().filter(|reader| reader.wants(kind)) {
            reader.tell(text);
            reader.serve(&self.subject);
        }
    }
}
