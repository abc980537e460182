//! [`Damage`]: why a file cannot be replayed.

use std::fmt;

/// Why a file is no record that can be replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// It is something else.
    Foreign,
    /// Another version has made it.
    Version {
        /// The version of the record.
        found: u8,
        /// The version that this crate reads.
        known: u8,
    },
    /// The end is missing: the program that wrote it did not end its runtime.
    Truncated,
    /// A checksum is wrong, or the bytes make no sense.
    Corrupt,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreign => f.write_str("it is no record of `Builder::record`"),
            Self::Version { found, known } => {
                write!(f, "it is a record of version {found}, and this build reads version {known}")
            }
            Self::Truncated => f.write_str(
                "its end is missing: a record is complete when its runtime has been dropped or shut down",
            ),
            Self::Corrupt => f.write_str("it is damaged: a checksum is wrong"),
        }
    }
}

impl std::error::Error for Damage {}
