//! How streams end: each end of one side, and what the other one then sees, by each order of reads and writes.

use super::{settle, told};
use colored::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use colored::net::TcpStream;
use colored::time::{Duration, timeout};
use colored_tests::echo;
use std::io;
use std::net::Shutdown;
use std::path::PathBuf;

#[cfg(unix)]
super::rows![
    tcp_by_reads,
    tcp_by_writes,
    tcp_half_closed,
    unix_by_reads,
    unix_by_writes,
    unix_half_closed
];
#[cfg(not(unix))]
super::rows![tcp_by_reads, tcp_by_writes, tcp_half_closed];

pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Send + Sized {
    async fn pair() -> (Self, Self);
    fn end(&self, how: Shutdown) -> io::Result<()>;
    /// What else the socket says.
    fn says(&self) -> String;
}

impl Stream for TcpStream {
    async fn pair() -> (Self, Self) {
        let (one, other) = echo::pair().await;
        // Without, the system keeps a second small write until the first is acknowledged.
        one.set_nodelay(true).unwrap();
        other.set_nodelay(true).unwrap();
        (one, other)
    }

    fn end(&self, how: Shutdown) -> io::Result<()> {
        self.shutdown_with(how)
    }

    fn says(&self) -> String {
        let own = self.local_addr().map(|addr| addr.ip());
        format!("{}, {}", told("own", own), told("peer", self.peer_addr().map(|addr| addr.ip())))
    }
}

#[cfg(unix)]
impl Stream for colored::net::UnixStream {
    async fn pair() -> (Self, Self) {
        colored::net::UnixStream::pair().unwrap()
    }

    fn end(&self, how: Shutdown) -> io::Result<()> {
        self.shutdown_with(how)
    }

    fn says(&self) -> String {
        told("peer", self.peer_addr().map(drop))
    }
}

/// What one side does.
const ENDS: [&str; 7] = [
    "drops",
    "drops what it has not read",
    "writes and drops",
    "writes and drops what it has not read",
    "ends its writing",
    "ends its writing and drops",
    "ends its writing and drops what it has not read",
];

async fn end<S: Stream>(how: &str, one: &mut S, mut other: S) -> Option<S> {
    if how.ends_with("has not read") && !how.starts_with("ends") {
        one.write_all(b"unread").await.unwrap();
        settle().await;
    }
    if how.starts_with("writes") {
        other.write_all(b"last").await.unwrap();
    }
    if how.starts_with("ends") {
        other.shutdown().await.unwrap();
        settle().await;
    }
    if how.starts_with("ends") && how.ends_with("has not read") {
        one.write_all(b"unread").await.unwrap();
        settle().await;
    }
    how.contains("drops").then_some(()).map_or(Some(other), |()| None)
}

async fn read(of: &mut (impl AsyncRead + Unpin)) -> String {
    let mut buf = [0; 32];
    match timeout(Duration::from_millis(20), of.read(&mut buf)).await {
        Ok(got) => told("read", got.map(|len| String::from_utf8(buf[..len].to_vec()).unwrap())),
        Err(_) => "read: waits".to_owned(),
    }
}

async fn by_order<S: Stream>(order: &str) -> Vec<String> {
    let mut seen = Vec::new();
    for how in ENDS {
        let (mut one, other) = S::pair().await;
        let kept = end(how, &mut one, other).await;
        settle().await;
        seen.push(format!("{how}: {}", one.says()));
        for act in order.chars() {
            let what = match act {
                'r' => read(&mut one).await,
                _ => told("write", one.write(b"more").await),
            };
            settle().await;
            seen.push(format!("{how}: {what}, {}", one.says()));
        }
        seen.push(format!("{how}: {}", told("end", one.end(Shutdown::Write))));
        drop(kept);
    }
    seen
}

async fn tcp_by_reads(_: PathBuf) -> Vec<String> {
    by_order::<TcpStream>("rrrww").await
}

async fn tcp_by_writes(_: PathBuf) -> Vec<String> {
    by_order::<TcpStream>("wwrr").await
}

async fn tcp_half_closed(_: PathBuf) -> Vec<String> {
    half_closed::<TcpStream>().await
}

#[cfg(unix)]
async fn unix_by_reads(_: PathBuf) -> Vec<String> {
    by_order::<colored::net::UnixStream>("rrrww").await
}

#[cfg(unix)]
async fn unix_by_writes(_: PathBuf) -> Vec<String> {
    by_order::<colored::net::UnixStream>("wwrr").await
}

#[cfg(unix)]
async fn unix_half_closed(_: PathBuf) -> Vec<String> {
    half_closed::<colored::net::UnixStream>().await
}

async fn half_closed<S: Stream>() -> Vec<String> {
    let mut seen = Vec::new();
    for how in [Shutdown::Write, Shutdown::Read, Shutdown::Both] {
        let (mut one, mut other) = S::pair().await;
        other.write_all(b"before").await.unwrap();
        settle().await;
        let mut note = |what: String| seen.push(format!("{how:?}: {what}"));
        note(told("end", one.end(how)));
        note(told("twice", one.end(how)));
        note(format!("own {}", told("write", one.write(b"after").await)));
        note(format!("own {}", read(&mut one).await));
        settle().await;
        note(format!("other {}", told("write", other.write(b"answer").await)));
        settle().await;
        note(format!("other {}", told("write", other.write(b"answer").await)));
        settle().await;
        note(format!("other {}", read(&mut other).await));
        // A stream has no pieces: by one read or by two.
        let twice = [read(&mut one).await, read(&mut one).await].concat();
        note(format!("own {}", twice.replace("\"read: \"", "")));
        note(told("other end", other.end(Shutdown::Write)));
        settle().await;
        note(format!("own {}", read(&mut one).await));
        note(format!("own {}", one.says()));
        note(format!("other {}", other.says()));
        note(told("at last", one.end(Shutdown::Both)));
    }
    seen
}
