//! The format of a trace in a file: text, read and written line by line.
//!
//! ```text
//! colored-trace 1 FILES        the version, and the number of files
//! # TEXT                       a comment; allowed on any line after the first
//! file SIZE                    FILES lines: the sizes in bytes of the files 0, 1, 2 and so on
//! seq NUMBER NUMBER ...        a sequence: the numbers of the files it requests, in order
//! end SEQUENCES REQUESTS       the last line, with the numbers of sequences and requests above
//! ```
//!
//! Words are separated by spaces. The last line shows that the trace is whole. [`place`](crate::place) gives the name
//! of a file from its number.

mod read;

pub use self::read::{ParseError, Reader};

use crate::generate::Trace;
use std::io::{self, Write};

/// The largest number of files in a trace.
pub const MAX_FILES: u64 = 10_000_000;

/// The largest size of a file in bytes: 1 TiB.
pub const MAX_SIZE: u64 = 1 << 40;

/// The largest number of requests in a sequence.
pub const MAX_SEQUENCE: usize = 10_000;

/// The longest line in bytes, with its end.
pub const MAX_LINE: u64 = 128 * 1024;

/// The first words of a trace.
const MAGIC: &str = "colored-trace";
const VERSION: &str = "1";

/// Writes a trace. `comment` stands below the first line; each of its lines becomes a comment.
///
/// `to` should have a buffer: every word is a write of its own.
///
/// # Errors
///
/// If writing fails.
pub fn write(trace: &Trace, comment: &str, to: &mut impl Write) -> io::Result<()> {
    writeln!(to, "{MAGIC} {VERSION} {}", trace.files().len())?;
    for line in comment.lines() {
        writeln!(to, "# {line}")?;
    }
    for size in trace.files() {
        writeln!(to, "file {size}")?;
    }
    let (mut sequences, mut requests) = (0_u64, 0);
    for sequence in trace.sequences() {
        write!(to, "seq")?;
        for file in sequence {
            write!(to, " {file}")?;
        }
        writeln!(to)?;
        sequences += 1;
        requests += sequence.len() as u64;
    }
    writeln!(to, "end {sequences} {requests}")?;
    to.flush()
}
