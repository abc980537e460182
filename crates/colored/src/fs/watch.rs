//! Watching files and directories for changes.

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod absent;
#[cfg(any(target_os = "linux", target_os = "android"))]
mod inotify;
#[cfg(all(test, target_os = "linux"))]
mod tests;

#[cfg(not(any(target_os = "linux", target_os = "android")))]
use self::absent::Source;
#[cfg(any(target_os = "linux", target_os = "android"))]
use self::inotify::Source;
use crate::services::current;
use futures_core::Stream;
use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// A change that a [`Watcher`] reports. Paths begin with the path that was given to [`add`](Watcher::add).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Event {
    /// A file or directory has come into a watched directory: made there, linked, or moved from where nothing is watched.
    Created(PathBuf),
    /// The contents of a file have changed; a program that writes is not done yet, perhaps.
    Modified(PathBuf),
    /// A program has closed a file that it had open for writing, whether or not it has written.
    Closed(PathBuf),
    /// Permissions, times, the owner or the number of links have changed.
    Metadata(PathBuf),
    /// A file or directory has gone: removed, moved to where nothing is watched, or unmounted. If it was given to
    /// [`add`](Watcher::add), nothing watches it any more, unless it was added again before this was reported.
    Removed(PathBuf),
    /// A file or directory was moved between two watched directories, or inside one. Under load this may arrive as
    /// `Removed` and `Created`.
    Renamed {
        /// Where it was.
        from: PathBuf,
        /// Where it is.
        to: PathBuf,
    },
    /// The queue of the system was full, and events are lost: look at everything again. Paths that were added and are still
    /// there are watched; of those that are not, `Removed` follows.
    Overflow,
}

/// Tells of changes of files and directories, in the order in which they happen; a stream as well.
///
/// A watched directory reports changes of its entries, not of what is in its subdirectories: for a tree, add each of its
/// directories, and each new one at its [`Event::Created`], or the `to` of its [`Event::Renamed`]. List a directory after
/// adding it, because entries may have come before. Do this again for all directories inside one that was renamed: the
/// system does not tell them that a directory above has another name, and they report under their old paths until they are
/// added by their new ones.
///
/// Many programs replace a file instead of writing to it; watch its directory to notice this.
///
/// Costs one descriptor, and for each path some memory of the system, which limits the number of both
/// (`/proc/sys/fs/inotify`). When a file that was given to `add` is moved or has other metadata, its path is looked up, and
/// all paths when events were lost; that may wait for a disk. The system does not report changes that another machine makes in a network file system, nor
/// writes through a memory map.
///
/// Linux and Android have this. Elsewhere [`new`](Watcher::new) returns an error; use the crate `notify` there, and send
/// what its thread receives through a channel of [`sync`](crate::sync).
///
/// # Examples
///
/// ```
/// use colored::fs::{self, Event, Watcher};
///
/// # #[colored::main]
/// # async fn main() -> std::io::Result<()> {
/// # if !cfg!(target_os = "linux") {
/// #     return Ok(());
/// # }
/// # let directory = std::env::temp_dir().join(format!("colored-watch-{}", std::process::id()));
/// # fs::create_dir_all(&directory).await?;
/// let mut watcher = Watcher::new()?;
/// watcher.add(&directory)?;
///
/// let file = directory.join("settings");
/// std::fs::write(&file, "color = red")?;
/// while watcher.next_event().await? != Event::Closed(file.clone()) {}
/// assert_eq!(fs::read_to_string(&file).await?, "color = red");
/// # fs::remove_dir_all(&directory).await
/// # }
/// ```
pub struct Watcher {
    source: Source,
    events: VecDeque<Event>,
}

impl Watcher {
    /// A watcher that watches nothing yet.
    ///
    /// # Errors
    ///
    /// When the system has no descriptors or no such watchers left;
    /// [`Unsupported`](io::ErrorKind::Unsupported) on systems other than Linux and Android, and in a simulation.
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    #[track_caller]
    pub fn new() -> io::Result<Watcher> {
        if current::with(|context| context.services.host.is_some()) {
            let text = "`fs::Watcher` sees no changes of simulated files, so a simulation has none";
            return Err(io::Error::new(io::ErrorKind::Unsupported, text));
        }
        Ok(Watcher { source: Source::new()?, events: VecDeque::new() })
    }

    /// Watches a file, or the entries of a directory, from now on. A link is followed. Adding a path again changes nothing
    /// if the same file is there, and watches the new one otherwise. A change of a file or directory that was added by
    /// several paths is reported for each; each is watched until it is removed, or reported as such.
    ///
    /// Events that are reported later may have happened before. The look-up of the path may wait for a disk.
    ///
    /// # Errors
    ///
    /// When there is no such file, it may not be read, or the system watches no more.
    /// [`named_call`](crate::io::named_call) names the path.
    pub fn add(&mut self, path: impl AsRef<Path>) -> io::Result<()> {
        self.source.add(path.as_ref(), &mut self.events)
    }

    /// Watches a path no more. Events that have happened before may still be reported, or not.
    ///
    /// # Errors
    ///
    /// [`NotFound`](io::ErrorKind::NotFound) if the path is not watched. The error names it.
    pub fn remove(&mut self, path: impl AsRef<Path>) -> io::Result<()> {
        self.source.remove(path.as_ref())
    }

    /// Waits for the next event. Cancel safe.
    ///
    /// # Errors
    ///
    /// When the runtime has shut down.
    pub async fn next_event(&mut self) -> io::Result<Event> {
        poll_fn(|cx| self.poll_next_event(cx)).await
    }

    /// Like [`next_event`](Watcher::next_event); only the last task to poll is woken.
    pub fn poll_next_event(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Event>> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Poll::Ready(Ok(event));
            }
            ready!(self.source.poll_events(cx, &mut self.events))?;
        }
    }
}

/// It has no end; after an error it returns errors.
impl Stream for Watcher {
    type Item = io::Result<Event>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_next_event(cx).map(Some)
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watcher").field("unread", &self.events.len()).finish_non_exhaustive()
    }
}
