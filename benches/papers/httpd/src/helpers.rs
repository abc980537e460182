//! [`Helpers`]: processes that read files into the system's page cache.
//!
//! A helper is this program with [`ROLE`] as its argument. Its standard input is one end of a pair of
//! sockets. A request is a position, a length and a path; the answer is one byte, after which the data
//! is in the page cache, or cannot be read. A helper ends when its server does, because its input ends.

use colored::ColorCell;
use colored::io::{AsyncReadExt, AsyncWriteExt};
use colored::net::UnixStream;
use colored::sync::Semaphore;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The argument that makes this program a helper.
pub(crate) const ROLE: &str = "--as-helper";

/// The position, the length and the length of the path.
const HEAD: usize = 8 + 8 + 4;

/// Some helpers, each with one request at a time.
#[derive(Debug)]
pub(crate) struct Helpers {
    /// As many permits as helpers are idle.
    permits: Semaphore,
    idle: ColorCell<Vec<Helper>>,
}

#[derive(Debug)]
struct Helper {
    child: Child,
    stream: UnixStream,
    state: State,
}

/// Where a request is that was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Ready,
    /// A part of it may be written.
    Writing,
    /// The answer is still to come.
    Waiting,
}

impl Helpers {
    /// Starts `count` helpers.
    pub(crate) fn start(count: usize) -> io::Result<Helpers> {
        let helpers = (0..count).map(|_| Helper::start()).collect::<io::Result<Vec<_>>>()?;
        let idle = ColorCell::new(colored::Color::unique(), helpers);
        Ok(Helpers { permits: Semaphore::new(count), idle })
    }

    /// The numbers of the idle processes.
    pub(crate) async fn processes(&self) -> Vec<u32> {
        self.idle.call(|idle| idle.iter().map(|helper| helper.child.id()).collect()).await
    }

    /// Reads a part of a file into the page cache, or does nothing: the caller will meet the error
    /// itself. A helper that does not answer is replaced.
    pub(crate) async fn touch(&self, path: &Path, part: Range<u64>) {
        let _permit = self.permits.acquire().await.expect("nobody closes it");
        let helper = self.idle.call(Vec::pop).await;
        let mut borrowed = Borrowed { idle: &self.idle, helper };
        let answered = match &mut borrowed.helper {
            Some(helper) => helper.ask(path, part).await.is_ok(),
            None => false,
        };
        if !answered {
            let broken = borrowed.helper.take();
            borrowed.helper = colored::spawn_blocking(|| replace(broken)).await.unwrap_or(None);
        }
    }
}

/// Gives its helper back, also if the request is given up.
struct Borrowed<'a> {
    idle: &'a ColorCell<Vec<Helper>>,
    helper: Option<Helper>,
}

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        if let Some(helper) = self.helper.take() {
            self.idle.post(move |idle| idle.push(helper));
        }
    }
}

impl Helper {
    fn start() -> io::Result<Helper> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let child = Command::new(std::env::current_exe()?)
            .arg(ROLE)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            // Control-C at the terminal is for the server, which ends its helpers.
            .process_group(0)
            .spawn()?;
        Ok(Helper { child, stream: UnixStream::from_std(ours)?, state: State::Ready })
    }

    async fn ask(&mut self, path: &Path, part: Range<u64>) -> io::Result<()> {
        match self.state {
            State::Ready => {}
            State::Writing => return Err(io::Error::other("half a request was written")),
            State::Waiting => self.answer().await?,
        }
        let path = path.as_os_str().as_bytes();
        let mut request = Vec::with_capacity(HEAD + path.len());
        request.extend(part.start.to_le_bytes());
        request.extend((part.end - part.start).to_le_bytes());
        request.extend(u32::try_from(path.len()).map_err(io::Error::other)?.to_le_bytes());
        request.extend(path);
        self.state = State::Writing;
        self.stream.write_all(&request).await?;
        self.state = State::Waiting;
        self.answer().await
    }

    async fn answer(&mut self) -> io::Result<()> {
        self.stream.read_exact(&mut [0]).await?;
        self.state = State::Ready;
        Ok(())
    }
}

/// Ends a helper that does not answer, and starts another one. Without it the server reads by itself.
fn replace(broken: Option<Helper>) -> Option<Helper> {
    if let Some(Helper { mut child, .. }) = broken {
        let _it_may_have_ended = child.kill();
        let _its_number_is_free = child.wait();
    }
    Helper::start().inspect_err(|error| eprintln!("cannot start a helper: {error}")).ok()
}

/// The program of a helper.
///
/// # Errors
///
/// If its input is none of a server's.
pub(crate) fn help() -> io::Result<()> {
    let stream = std::os::unix::net::UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut stream = &stream;
    let mut scratch = vec![0; 64 * 1024];
    loop {
        let mut head = [0; HEAD];
        match stream.read_exact(&mut head) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(()),
            read => read?,
        }
        let (offset, rest) = head.split_at(8);
        let (len, path_len) = rest.split_at(8);
        let offset = u64::from_le_bytes(offset.try_into().expect("eight bytes"));
        let len = u64::from_le_bytes(len.try_into().expect("eight bytes"));
        let path_len = u32::from_le_bytes(path_len.try_into().expect("four bytes"));
        let mut path = vec![0; path_len as usize];
        stream.read_exact(&mut path)?;
        // The server meets the error itself.
        let _read_or_not = touch(Path::new(OsStr::from_bytes(&path)), offset, len, &mut scratch);
        stream.write_all(&[1])?;
    }
}

fn touch(path: &Path, mut offset: u64, mut len: u64, scratch: &mut [u8]) -> io::Result<()> {
    // The name is in memory now, which is all that a request of no bytes wants.
    if !path.metadata()?.is_file() || len == 0 {
        return Ok(());
    }
    let file = File::open(path)?;
    while len > 0 {
        let part = scratch.len().min(usize::try_from(len).unwrap_or(usize::MAX));
        match file.read_at(&mut scratch[..part], offset)? {
            0 => break,
            n => (offset, len) = (offset + n as u64, len - n as u64),
        }
    }
    Ok(())
}
