//! The record of a run: for each color, in which order its turns came, and what they read from outside.
//!
//! Internal to `colored-rt`, whose `Builder::record` and `Builder::replay` are the interface for users. This crate knows no
//! runtime, no file and no thread: a [`Writer`] makes the bytes of one color, a [`Reader`] reads them, and a [`File`] is the
//! whole record in memory.
//!
//! | part | what it is |
//! |---|---|
//! | [`Source`] | what pushes work on a color: another color, the thread that made the runtime, a blocking call |
//! | [`Event`] | one event of a color: a turn, or what a turn has read |
//! | [`Writer`], [`Reader`] | the events of one color as bytes: about one an event, and next to none for turns that are alike |
//! | [`File`], [`Damage`] | the events of all colors, in checked blocks |

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod bytes;
mod damage;
mod event;
mod file;
mod last;
mod ranks;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use self::damage::Damage;
pub use self::event::{Event, Mark, Source, SourceKind, Turn, Value};
pub use self::file::{File, end, head, put_block};
pub use self::reader::Reader;
pub use self::writer::Writer;
