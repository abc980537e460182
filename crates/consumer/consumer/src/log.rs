//! The log of the embedded engine: partitions of segments of frames.
//!
//! | module | purpose |
//! |---|---|
//! | `frame` | length, checksums, payload |
//! | `entry` | the payload of a record |
//! | `head` | what a segment begins with |
//! | `files` | the open files, a bounded number |
//! | `scan` | how far a file is whole, and what is behind a bad place |
//! | `segment` | a file of frames; cuts off a torn end, and tells it from damage |
//! | `opening` | a row of segments, of which the last is written to |
//! | `partition` | appends, and which of them are confirmed |
//! | `write` | the task that writes: one `fdatasync` for all appends that wait |
//! | `read` | records in order |
//! | `names` | directories and the names of files |

mod body;
mod entry;
mod files;
mod frame;
mod head;
mod names;
mod opening;
mod partition;
mod read;
mod scan;
mod segment;
#[cfg(test)]
mod tests;
mod write;

pub(crate) use self::entry::Entry;
pub(crate) use self::files::{FILES, Files};
pub(crate) use self::names::{create_directories, sync_directory};
pub(crate) use self::opening::Begin;
pub(crate) use self::partition::{Commons, Cursor, Keep, Lock, New, Partition, Unread};
pub(crate) use self::write::{now_in_millis, since_1970};
