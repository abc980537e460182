//! Changes that inotify(7) reports.

use super::Event;
use crate::explained::explained;
use crate::io::{AsyncFd, Interest};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;
use std::collections::{HashMap, VecDeque};
use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::task::{Context, Poll, ready};

/// Several events fit, each with the longest name, 255 bytes.
const BUFFER: usize = 4096;

/// The changes that are asked for.
const CHANGES: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::MODIFY)
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVE)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF);

/// A queue of the system.
pub(super) struct Source {
    queue: AsyncFd<OwnedFd>,
    paths: Paths,
}

/// The watched paths, by the numbers that the system gives them.
type Paths = HashMap<i32, PathBuf>;

/// A move of which only the first half is known: its number, and where the file was.
type HalfMoved = Option<(u32, PathBuf)>;

impl Source {
    #[track_caller]
    pub(super) fn new() -> io::Result<Source> {
        let queue = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK);
        let queue = queue.map_err(|error| {
            let text = format!(
                "cannot make a watcher: {error}; /proc/sys/fs/inotify/max_user_instances limits their number"
            );
            explained(text, error.into())
        });
        Ok(Source { queue: AsyncFd::new(queue?)?, paths: Paths::new() })
    }

    pub(super) fn add(&mut self, path: &Path) -> io::Result<()> {
        match inotify::add_watch(&self.queue, path, CHANGES) {
            Ok(number) => {
                self.paths.insert(number, path.to_owned());
                Ok(())
            }
            Err(error) => {
                let why = match error {
                    Errno::NOSPC => "; /proc/sys/fs/inotify/max_user_watches limits their number",
                    _ => "",
                };
                let text = format!("cannot watch {}: {error}{why}", path.display());
                Err(explained(text, error.into()))
            }
        }
    }

    pub(super) fn remove(&mut self, path: &Path) -> io::Result<()> {
        let number = self.paths.iter().find(|(_, watched)| *watched == path);
        // The path stays for events that have happened; the system tells when the last one has come.
        match number.map(|(number, _)| inotify::remove_watch(&self.queue, *number)) {
            Some(Ok(())) => Ok(()),
            _ => {
                let path = path.display();
                let text = format!("{path} is not watched; allowed are paths that were added");
                Err(io::Error::new(ErrorKind::NotFound, text))
            }
        }
    }

    /// Appends at least one event of the system, though it may be none that users see.
    pub(super) fn poll_events(
        &mut self,
        cx: &mut Context<'_>,
        events: &mut VecDeque<Event>,
    ) -> Poll<io::Result<()>> {
        loop {
            ready!(self.queue.poll_read_ready(cx))?;
            let (queue, paths) = (&self.queue, &mut self.paths);
            match queue.try_io(Interest::READABLE, |queue| read(queue, paths, events)) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                done => return Poll::Ready(done),
            }
        }
    }
}

/// Reads once, and again while a half of a move is the last event.
fn read(queue: &OwnedFd, paths: &mut Paths, events: &mut VecDeque<Event>) -> io::Result<()> {
    let mut buffer = [MaybeUninit::uninit(); BUFFER];
    let mut reader = Reader::new(queue, &mut buffer);
    let (mut half, mut any) = (None, false);
    while !any || half.is_some() || !reader.is_buffer_empty() {
        match reader.next() {
            Ok(event) => {
                note(&event, paths, &mut half, events);
                if event.events().contains(ReadFlags::MOVE_SELF) {
                    // What was moved has another path now, which this does not know. An error: it is gone already.
                    let _ = inotify::remove_watch(queue, event.wd());
                }
            }
            Err(Errno::INTR) => continue,
            // There is no second half.
            Err(_) if any => break,
            Err(error) => return Err(error.into()),
        }
        any = true;
    }
    moved_away(half, events);
    Ok(())
}

/// Turns an event of the system into events of users.
fn note(
    event: &inotify::Event<'_>,
    paths: &mut Paths,
    half: &mut HalfMoved,
    events: &mut VecDeque<Event>,
) {
    let flags = event.events();
    let has = |flag| flags.contains(flag);
    if has(ReadFlags::QUEUE_OVERFLOW) {
        moved_away(half.take(), events);
        events.push_back(Event::Overflow);
        return;
    }
    let Some(watched) = paths.get(&event.wd()) else { return };
    let name = event.file_name().map(|name| OsStr::from_bytes(name.to_bytes()));
    let path = name.map_or_else(|| watched.clone(), |name| watched.join(name));
    if has(ReadFlags::MOVED_TO) {
        match half.take() {
            Some((number, from)) if number == event.cookie() => {
                events.push_back(Event::Renamed { from, to: path });
            }
            other => {
                moved_away(other, events);
                events.push_back(Event::Created(path));
            }
        }
        return;
    }
    moved_away(half.take(), events);
    if has(ReadFlags::MOVED_FROM) {
        *half = Some((event.cookie(), path));
    } else if has(ReadFlags::CREATE) {
        events.push_back(Event::Created(path));
    } else if has(ReadFlags::MODIFY) {
        events.push_back(Event::Modified(path));
    } else if has(ReadFlags::CLOSE_WRITE) {
        events.push_back(Event::Closed(path));
    } else if has(ReadFlags::ATTRIB) {
        events.push_back(Event::Metadata(path));
    } else if has(ReadFlags::DELETE) || has(ReadFlags::DELETE_SELF) || has(ReadFlags::MOVE_SELF) {
        events.push_back(Event::Removed(path));
    }
    if has(ReadFlags::IGNORED) || has(ReadFlags::MOVE_SELF) {
        paths.remove(&event.wd());
    }
}

/// What was moved to where nothing is watched.
fn moved_away(half: HalfMoved, events: &mut VecDeque<Event>) {
    events.extend(half.map(|(_, from)| Event::Removed(from)));
}
