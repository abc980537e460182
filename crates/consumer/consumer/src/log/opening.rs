//! Opens the segments of a partition: finds the one that is written to, and goes on where the log had been.

use super::files::Files;
use super::head::{SegmentHead, new_identity};
use super::names;
use super::partition::Keep;
use super::segment::{Fate, Opened, Segment, damaged};
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// More records than a segment can have.
const MANY: u64 = 1 << 32;

/// What is known of a log before it is opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begin {
    /// Whether it may have no segment.
    pub(crate) is_new: bool,
    /// The log has reached this offset for sure.
    pub(crate) known: u64,
}

/// A log that was opened.
#[derive(Debug)]
pub(crate) struct Opening {
    /// The last one is written to.
    pub(crate) segments: Vec<Segment>,
    pub(crate) identity: u128,
    pub(crate) end: u64,
    pub(crate) cut: u64,
    pub(crate) lost: Vec<Range<u64>>,
    /// The damaged file that was passed over.
    pub(crate) damaged: Option<PathBuf>,
}

/// The end of the row of segments.
#[derive(Debug, Default)]
struct Ends {
    /// The last segment that has a record, or whose records cannot be told.
    filled: Option<Opened>,
    /// The segment without a record behind it.
    empty: Option<Opened>,
    /// The offset of a segment that was never made.
    unmade: u64,
    cut: u64,
}

pub(crate) async fn open(
    directory: &Path,
    keep: Keep,
    files: &Arc<Files>,
    begin: Begin,
) -> io::Result<Opening> {
    let mut bases = names::bases(directory).await?;
    if bases.is_empty() && !begin.is_new && !keep.skips {
        let text = format!(
            "{} has no segment: all records are lost. `Options::damage(Damage::Skip)` begins anew",
            directory.display()
        );
        return Err(io::Error::new(io::ErrorKind::InvalidData, text));
    }
    let Ends { filled, empty, unmade, cut } =
        open_ends(directory, keep, files, &mut bases, begin.known).await?;
    let mut segments = Vec::new();
    for base in bases {
        segments.push(Segment::open_complete(files, directory, base).await?);
    }
    let ends = [&filled, &empty].into_iter().flatten();
    let identity = ends.filter_map(|opened| opened.identity).next_back();
    let identity = identity.unwrap_or_else(new_identity);
    let (mut after, mut damaged) = (unmade, None);
    // Where a new segment begins, if there is to be one.
    let mut begins = segments.is_empty().then_some(unmade);
    if let Some(Opened { segment, next, fate, .. }) = filled {
        let path = segment.file.path().to_owned();
        (after, begins) = (next, None);
        match fate {
            Fate::Damaged(free) => (damaged, begins) = (Some(path), Some(free)),
            Fate::Ended if empty.is_none() => begins = Some(follow(&segment, next, keep)?),
            _ => {}
        }
        segments.push(segment);
    }
    if let Some(Opened { segment, next, .. }) = empty {
        (after, begins) = (next, None);
        segments.push(segment);
    }
    let is_ahead = begin.known > begins.unwrap_or(after);
    let mut lost = Vec::new();
    if is_ahead {
        tell_ahead(directory, after, begin.known);
        lost.push(after..begin.known);
        begins = Some(begin.known);
    }
    let mut end = after;
    if let Some(base) = begins {
        let head = SegmentHead::new(base, if is_ahead { after } else { base }, identity);
        segments.push(Segment::create(files, directory, head, keep.sync).await?);
        end = base;
    }
    Ok(Opening { segments, identity, end, cut, lost, damaged })
}

/// Opens the last segments, and removes them from `bases`. One without a record, before the end of the records, was left by a
/// roll that failed: it is deleted, and so is one that was never made.
async fn open_ends(
    directory: &Path,
    keep: Keep,
    files: &Arc<Files>,
    bases: &mut Vec<u64>,
    known: u64,
) -> io::Result<Ends> {
    // A segment begins where all before it was confirmed.
    let known = bases.last().map_or(known, |last| known.max(*last));
    let (mut ends, mut empties, mut unmade) = (Ends::default(), Vec::new(), Vec::new());
    while let Some(base) = bases.pop() {
        let opened = Segment::open(files, directory, base, keep, known).await?;
        ends.cut += opened.cut;
        match opened.fate {
            Fate::Unmade => unmade.push(base),
            Fate::Whole if opened.next == base => empties.push(opened),
            _ => {
                ends.filled = Some(opened);
                break;
            }
        }
    }
    let next = ends.filled.as_ref().map_or(0, |filled| filled.next);
    let is_missed = ends.filled.as_ref().is_some_and(|filled| filled.fate == Fate::Ended);
    ends.unmade = unmade.first().copied().unwrap_or(0);
    // One that had been made is damaged, and stays.
    for base in unmade.into_iter().filter(|_| !is_missed || keep.skips) {
        names::delete(directory, base, keep.sync).await?;
    }
    for opened in empties {
        if opened.next >= next && ends.empty.is_none() {
            ends.empty = Some(opened);
        } else {
            names::delete(directory, opened.segment.base, keep.sync).await?;
        }
    }
    Ok(ends)
}

/// Where the log goes on behind a segment that says that another one follows, which is missing.
fn follow(segment: &Segment, next: u64, keep: Keep) -> io::Result<u64> {
    if keep.skips {
        return Ok(next.saturating_add(MANY));
    }
    let text =
        format!("the segment that follows it, with the records from offset {next} on, is missing");
    Err(damaged(&segment.file, segment.len, &text))
}

fn tell_ahead(directory: &Path, after: u64, known: u64) {
    // `eprintln` would panic if the standard error is closed.
    let _ = writeln!(
        io::stderr(),
        "colored-consumer: {}: the log ends at offset {after}, and a commit says that it had reached {known}: the records \
         between are lost, and the log goes on at {known}",
        directory.display()
    );
}
