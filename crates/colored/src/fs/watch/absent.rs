//! Systems whose changes of files this crate does not watch.

use super::Event;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::task::{Context, Poll};

/// There is none.
pub(super) struct Source(Infallible);

impl Source {
    pub(super) fn new() -> io::Result<Source> {
        let text = "`fs::Watcher` is there on Linux and Android only; the crate `notify` watches files on this system";
        Err(io::Error::new(ErrorKind::Unsupported, text))
    }

    pub(super) fn add(&mut self, _: &Path, _: &mut VecDeque<Event>) -> io::Result<()> {
        match self.0 {}
    }

    pub(super) fn remove(&mut self, _: &Path) -> io::Result<()> {
        match self.0 {}
    }

    pub(super) fn poll_events(
        &mut self,
        _: &mut Context<'_>,
        _: &mut VecDeque<Event>,
    ) -> Poll<io::Result<()>> {
        match self.0 {}
    }
}
