//! The log of the embedded engine: partitions of segments of frames.
//!
//! | module | purpose |
//! |---|---|
//! | `frame` | length, checksum, payload |
//! | `entry` | the payload of a record |
//! | `segment` | a file of frames; cuts off a torn end |
//! | `partition` | a row of segments; appends, and which of them are confirmed |
//! | `write` | the task that writes: one `fdatasync` for all appends that wait |
//! | `read` | records in order |

mod body;
mod entry;
mod frame;
mod partition;
mod read;
mod segment;
#[cfg(test)]
mod tests;
mod write;

pub(crate) use self::entry::Entry;
pub(crate) use self::partition::{Cursor, Keep, Lock, New, Partition, Unread};
pub(crate) use self::segment::{create_directories, sync_directory};
pub(crate) use self::write::now_in_millis;
