//! Changes that inotify(7) reports.
//!
//! The system watches *inodes*: it gives each watched inode a number, the same one for every path of it, and never gives
//! a number twice. Programs name *paths*. This holds whenever no event is unread, and is what each step below keeps:
//!
//! > A path that was added, and for which no [`Event::Removed`] was reported since, belongs to exactly one watch, and
//! > names its inode, as far as the system tells of changes. A watch that no path belongs to has ended.
//!
//! * `add` puts the path to the watch that the system names. If that watch or the path was known before, what is unread
//!   happened under the old names; so `add` reads it first, and then looks at the old names.
//! * An inode that was moved, or has lost a name, may still have one: a path that was added since, before this event was
//!   read, or another link. So the event ends nothing by itself: each path of the watch is looked up, and those that
//!   name something else are reported as removed. The look-up is exact, because the system itself compares the inodes: a
//!   watch of the path has the same number, or it has not.
//! * When the system ends a watch, because the inode is gone or its file system unmounted, all its paths are removed.
//!   Whatever comes later of that number belongs to nobody.
//! * When the system has lost events, it has perhaps lost one of these, and every path is looked up.
//!
//! The system does not tell that a directory above a path was moved. The path then goes on to report under its old name
//! until it is added by its new one.

mod watches;

use self::watches::Watches;
use super::Event;
use crate::error_context::with_context;
use crate::io::{AsyncFd, Interest};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::task::{Context, Poll, ready};

/// Several events fit, each with the longest name, 255 bytes.
const BUFFER: usize = 4096;

/// The bytes of the shortest event.
const SHORTEST: u64 = 16;

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
    watches: Watches,
}

impl Source {
    #[track_caller]
    pub(super) fn new() -> io::Result<Source> {
        let queue = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK);
        let queue = queue.map_err(|error| {
            let text = format!(
                "cannot make a watcher: {error}; /proc/sys/fs/inotify/max_user_instances limits their number"
            );
            with_context(text, error.into())
        });
        Ok(Source { queue: AsyncFd::new(queue?)?, watches: Watches::default() })
    }

    /// Appends what has happened so far, if it must be told from what happens from now on.
    pub(super) fn add(&mut self, path: &Path, events: &mut VecDeque<Event>) -> io::Result<()> {
        let number = inotify::add_watch(&self.queue, path, CHANGES).map_err(|error| {
            let why = match error {
                Errno::NOSPC => "; /proc/sys/fs/inotify/max_user_watches limits their number",
                _ => "",
            };
            with_context(format!("cannot watch {}: {error}{why}", path.display()), error.into())
        })?;
        let before = self.watches.number_of(path);
        if before == Some(number) {
            return Ok(());
        }
        let is_new = self.watches.begin(number);
        if !is_new || before.is_some() {
            // The next read reports an error.
            let _ = self.read_unread(events);
        }
        let mut changes = Changes::new(self.queue.get_ref(), &mut self.watches, events);
        if let Some(before) = before {
            changes.look_up(before);
        }
        changes.give(path, number);
        if !is_new {
            changes.look_up(number);
        }
        Ok(())
    }

    pub(super) fn remove(&mut self, path: &Path) -> io::Result<()> {
        // An error of the system: the file is gone, which is yet to be reported.
        let ended = match self.watches.remove(path) {
            Some((number, true)) => inotify::remove_watch(&self.queue, number).is_ok(),
            Some((_, false)) => true,
            None => false,
        };
        if ended {
            return Ok(());
        }
        let text = format!("{} is not watched; allowed are paths that were added", path.display());
        Err(io::Error::new(ErrorKind::NotFound, text))
    }

    /// Appends at least one event of the system, though it may be none that users see.
    pub(super) fn poll_events(
        &mut self,
        cx: &mut Context<'_>,
        events: &mut VecDeque<Event>,
    ) -> Poll<io::Result<()>> {
        loop {
            ready!(self.queue.poll_read_ready(cx))?;
            let (queue, watches) = (&self.queue, &mut self.watches);
            let read = |queue: &OwnedFd| Changes::new(queue, watches, events).read();
            match queue.try_io(Interest::READABLE, read) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                done => return Poll::Ready(done.map(drop)),
            }
        }
    }

    /// Reads what is in the queue at present, which another process may fill meanwhile.
    fn read_unread(&mut self, events: &mut VecDeque<Event>) -> io::Result<()> {
        let mut left = rustix::io::ioctl_fionread(&self.queue)? / SHORTEST;
        while left > 0 {
            match Changes::new(self.queue.get_ref(), &mut self.watches, events).read() {
                Ok(count) => left = left.saturating_sub(count),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Turns events of the system into events of users.
struct Changes<'a> {
    queue: &'a OwnedFd,
    watches: &'a mut Watches,
    events: &'a mut VecDeque<Event>,
    /// A move of which only the first half is known: its number, and where the file was.
    half: Option<(u32, Vec<PathBuf>)>,
}

impl<'a> Changes<'a> {
    fn new(
        queue: &'a OwnedFd,
        watches: &'a mut Watches,
        events: &'a mut VecDeque<Event>,
    ) -> Changes<'a> {
        Changes { queue, watches, events, half: None }
    }

    /// Reads once, and again while a half of a move is the last event. Gives the number of events of the system.
    fn read(mut self) -> io::Result<u64> {
        let mut buffer = [MaybeUninit::uninit(); BUFFER];
        let mut reader = Reader::new(self.queue, &mut buffer);
        let mut count = 0;
        while count == 0 || self.half.is_some() || !reader.is_buffer_empty() {
            match reader.next() {
                Ok(event) => self.note(&event),
                Err(Errno::INTR) => continue,
                // There is no second half.
                Err(_) if count > 0 => break,
                Err(error) => return Err(error.into()),
            }
            count += 1;
        }
        self.note_moved_away();
        Ok(count)
    }

    fn note(&mut self, event: &inotify::Event<'_>) {
        let (number, flags) = (event.wd(), event.events());
        let has = |flag| flags.contains(flag);
        if has(ReadFlags::QUEUE_OVERFLOW) {
            self.note_moved_away();
            self.events.push_back(Event::Overflow);
            self.watches.numbers().into_iter().for_each(|number| self.look_up(number));
            return;
        }
        let name = event.file_name().map(|name| OsStr::from_bytes(name.to_bytes()));
        let paths = self.watches.paths(number, name);
        if has(ReadFlags::MOVED_TO) {
            return self.note_moved_to(event.cookie(), paths);
        }
        self.note_moved_away();
        if has(ReadFlags::MOVED_FROM) {
            self.half = Some((event.cookie(), paths));
        } else if has(ReadFlags::CREATE) {
            self.events.extend(paths.into_iter().map(Event::Created));
        } else if has(ReadFlags::MODIFY) {
            self.events.extend(paths.into_iter().map(Event::Modified));
        } else if has(ReadFlags::CLOSE_WRITE) {
            self.events.extend(paths.into_iter().map(Event::Closed));
        } else if has(ReadFlags::ATTRIB) {
            self.events.extend(paths.into_iter().map(Event::Metadata));
            // A file that loses one of its names has other metadata, and nothing else tells of it.
            if name.is_none() && !has(ReadFlags::ISDIR) {
                self.look_up(number);
            }
        } else if has(ReadFlags::DELETE) {
            self.events.extend(paths.into_iter().map(Event::Removed));
        } else if has(ReadFlags::MOVE_SELF) {
            self.look_up(number);
        } else if flags.intersects(ReadFlags::DELETE_SELF | ReadFlags::UNMOUNT | ReadFlags::IGNORED)
        {
            self.watches.end(number);
            self.events.extend(paths.into_iter().map(Event::Removed));
        }
    }

    fn note_moved_to(&mut self, cookie: u32, to: Vec<PathBuf>) {
        match self.half.take() {
            Some((number, from)) if number == cookie && !from.is_empty() && !to.is_empty() => {
                // A directory that was added by several paths has as many names for the file.
                for at in 0..from.len().max(to.len()) {
                    let nth = |paths: &[PathBuf]| paths[at.min(paths.len() - 1)].clone();
                    self.events.push_back(Event::Renamed { from: nth(&from), to: nth(&to) });
                }
            }
            other => {
                self.half = other;
                self.note_moved_away();
                self.events.extend(to.into_iter().map(Event::Created));
            }
        }
    }

    /// What was moved to where nothing is watched.
    fn note_moved_away(&mut self) {
        let from = self.half.take().into_iter().flat_map(|(_, from)| from);
        self.events.extend(from.map(Event::Removed));
    }

    /// Lets the path belong to that watch, which `begin` has kept from ending.
    fn give(&mut self, path: &Path, number: i32) {
        if let Some((before, true)) = self.watches.remove(path) {
            let _ = inotify::remove_watch(self.queue, before);
        }
        if !self.watches.insert(number, path) {
            // The system has ended it since.
            self.events.push_back(Event::Removed(path.to_owned()));
        }
    }

    /// Reports the paths of a watch that name its inode no more, and ends the watch if no path is left.
    fn look_up(&mut self, number: i32) {
        for (given, look_up) in self.watches.places(number) {
            if self.names_another(&look_up, number) {
                self.watches.remove(&given);
                self.events.push_back(Event::Removed(given.to_path_buf()));
            }
        }
        if self.watches.end_if_empty(number) {
            // An error: the system has ended it.
            let _ = inotify::remove_watch(self.queue, number);
        }
    }

    /// Whether the path names nothing, or another inode than that of the watch. False if the system does not say, because
    /// the path may not be read any more.
    fn names_another(&self, path: &Path, number: i32) -> bool {
        match inotify::add_watch(self.queue, path, CHANGES) {
            Ok(found) => {
                if found != number && !self.watches.is_known(found) {
                    let _ = inotify::remove_watch(self.queue, found);
                }
                found != number
            }
            // No further watch is allowed, so the inode has none.
            Err(Errno::NOSPC) => true,
            Err(error) => matches!(error, Errno::NOENT | Errno::NOTDIR | Errno::LOOP),
        }
    }
}
