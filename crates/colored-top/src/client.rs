//! [`Client`]: a connection to the program that is looked at.

#[cfg(not(unix))]
mod absent;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
use self::absent::{Stream, connect};
#[cfg(unix)]
use self::unix::{Stream, connect};

use crate::model::{Dump, Failure, Snapshot, Traced};
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

/// The protocol that this program understands.
const PROTOCOL: u64 = 1;

/// A connection, on which one line is asked, and one comes back.
pub(crate) struct Client(BufReader<Stream>);

impl Client {
    pub(crate) fn connect(path: &Path) -> io::Result<Self> {
        let stream = connect(path).map_err(|error| {
            io::Error::new(error.kind(), format!("cannot connect to {path:?}: {error}"))
        })?;
        Ok(Self(BufReader::new(stream)))
    }

    /// The program measures waits until this client has gone.
    pub(crate) fn measure_waits(&mut self) -> io::Result<()> {
        self.ask("level 1").map(drop)
    }

    /// The text of a snapshot. The program makes two a second, and this waits for one.
    pub(crate) fn snapshot(&mut self) -> io::Result<String> {
        self.ask("snapshot")
    }

    /// The tasks. The program lists them twice a second at most, and this waits for that.
    pub(crate) fn tasks(&mut self) -> io::Result<Dump> {
        let text = self.request("dump")?;
        serde_json::from_str(&text).map_err(|error| {
            io::Error::other(format!("the program does not write what this version reads: {error}"))
        })
    }

    /// Lets the program write a trace file, and says where it is, or why there is none.
    pub(crate) fn trace(&mut self) -> io::Result<String> {
        let text = self.request("trace")?;
        let told: Traced = serde_json::from_str(&text).unwrap_or_default();
        Ok(match told {
            Traced { trace: Some(path), .. } => format!("wrote {path}: open it in ui.perfetto.dev"),
            Traced { error: Some(error), .. } => error,
            _ => String::from("the program does not write what this version reads"),
        })
    }

    fn ask(&mut self, request: &str) -> io::Result<String> {
        let line = self.request(request)?;
        match serde_json::from_str::<Failure>(&line) {
            Ok(Failure { error: Some(error) }) => Err(io::Error::other(error)),
            _ => Ok(line),
        }
    }

    fn request(&mut self, request: &str) -> io::Result<String> {
        // What the program says before it disconnects is better to know than that it has.
        let _ = writeln!(self.0.get_mut(), "{request}");
        let mut line = String::new();
        // Nothing comes where the program has closed the connection, or it is reset, as the request has not been read.
        match self.0.read_line(&mut line) {
            Ok(1..) => {}
            Err(error) if error.kind() != io::ErrorKind::ConnectionReset => return Err(error),
            Ok(0) | Err(_) => {
                let text = "the program has ended, or has closed the connection";
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, text));
            }
        }
        Ok(line.trim_end().to_owned())
    }
}

/// Reads the text of a snapshot.
pub(crate) fn read(text: &str) -> io::Result<Snapshot> {
    let snapshot: Snapshot = serde_json::from_str(text).map_err(|error| {
        io::Error::other(format!("the program does not write what this version reads: {error}"))
    })?;
    if snapshot.protocol != PROTOCOL {
        let text = format!(
            "the program writes protocol {}, and this version reads {PROTOCOL}: take the versions of one release",
            snapshot.protocol
        );
        return Err(io::Error::other(text));
    }
    Ok(snapshot)
}
