//! A signed tree of files, read-only: as SFSRO has it, on the blocks of the ring, as CFS.
//!
//! A file is a tree of hashes: its leaves are blocks of its bytes, and each block above has the keys of up to 32 blocks. A
//! directory is a file of entries, sorted by name. The record of a public key holds the link to the root directory. So one
//! signature proves all of it: whoever serves the blocks cannot alter them, and only withhold them.
//!
//! Names and bytes of regular files are kept. Owners, permissions and times are not, and symbolic links are refused.

mod format;
mod publish;
mod read;

pub use self::format::{Entry, EntryKind, Link};
pub use self::publish::{Published, publish};
pub use self::read::{Reader, Tree};
