//! The player: [`play`] replays a trace against an HTTP/1.1 server on this machine.
//!
//! The server must answer `GET /00012/0001234` with the file at that [`place`](crate::place), with status 200 and a
//! `content-length`. The player refuses addresses that are not loopback addresses.
//!
//! | what is measured | from | to |
//! |---|---|---|
//! | the first request of a sequence, closed loop | a client is free, before it connects | the last byte of the body |
//! | the first request of a sequence, open loop | the scheduled arrival of the sequence | the same |
//! | any later request | the end of the response before it | the same |
//! | a whole sequence | the start of its first request | the last byte of its last body |
//!
//! In the open loop a sequence that has arrived waits for one of the clients. The wait belongs to the latency of its
//! first request. Sequences that no client has started when the time is over have no latency; the report counts them.
//!
//! A thread sleeps until a scheduled arrival, and wakes some 50 µs late; latencies of the open loop include this time.
//!
//! The client closes its connections. On Linux the loopback device reuses their ports after a second, so some 28,000
//! sequences per second are possible.

mod client;
mod fault;
mod http;
mod latency;
mod report;
mod response;
mod settings;
mod source;
mod tally;

pub use self::fault::FaultKind;
pub use self::latency::Latency;
pub use self::report::{Report, Stop};
pub use self::settings::{Arrivals, MAX_CLIENTS, Settings, SettingsError, loopback};

use self::client::Client;
use self::source::Source;
use self::tally::Tally;
use crate::format::{ParseError, Reader};
use std::error::Error;
use std::fmt;
use std::io::{self, BufRead};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

/// Why a trace was not played to its end.
#[derive(Debug)]
pub enum PlayError {
    /// A setting is not allowed.
    Settings(SettingsError),
    /// The trace has an error.
    Parse(ParseError),
    /// The operating system did not start a thread for a client.
    Thread(io::Error),
}

impl fmt::Display for PlayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settings(error) => error.fmt(f),
            Self::Parse(error) => error.fmt(f),
            Self::Thread(error) => write!(f, "a client has no thread: {error}"),
        }
    }
}

impl Error for PlayError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Settings(_) => None,
            Self::Parse(error) => Some(error),
            Self::Thread(error) => Some(error),
        }
    }
}

/// The stack of a client. Its buffers are on the heap.
const STACK: usize = 128 * 1024;

/// Replays a trace, and blocks until all clients have ended.
///
/// After the time limit no client sends another request. A request under way ends at the latest three time-outs later:
/// one to connect, and two for the response. The report takes 8 bytes of memory for each request and each sequence.
///
/// # Errors
///
/// If a setting is not allowed, the trace has an error, or a thread cannot be started. Errors of the server are not
/// errors of this function: the report counts them.
pub fn play<R: BufRead + Send>(
    reader: Reader<R>,
    settings: &Settings,
) -> Result<Report, PlayError> {
    settings.check().map_err(PlayError::Settings)?;
    let files = reader.files().to_vec();
    let source = Source::new(reader, settings);
    let faults = AtomicU64::new(0);
    let (tallies, wall) = thread::scope(|scope| {
        let start = Instant::now();
        let (source, faults, files) = (&source, &faults, &files[..]);
        let mut clients = Vec::with_capacity(settings.clients);
        for number in 0..settings.clients {
            let name = format!("client-{number}");
            let work = move || Client::new(settings, files, source, faults).run();
            let spawned =
                thread::Builder::new().name(name).stack_size(STACK).spawn_scoped(scope, work);
            // The scope waits for the clients so far, which must not play the whole trace first.
            clients.push(spawned.inspect_err(|_| source.stop()).map_err(PlayError::Thread)?);
        }
        let join = |client: thread::ScopedJoinHandle<'_, Tally>| {
            client.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        let tallies: Vec<Tally> = clients.into_iter().map(join).collect();
        Ok::<_, PlayError>((tallies, start.elapsed()))
    })?;
    // Ordering: the threads that add have been joined.
    let too_many = faults.load(Ordering::Relaxed) >= settings.max_faults;
    let end = source.end(too_many).map_err(PlayError::Parse)?;
    Ok(Report::new(tallies, wall, &end))
}
