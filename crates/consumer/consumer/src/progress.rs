//! How far a partition is: what is done, and what a commit says of it. No clock, no task, no engine.
//!
//! | module | purpose |
//! |---|---|
//! | `base64` | the text of the metadata |
//! | `compressed` | maps of Parallel Consumer that are compressed |
//! | `metadata` | the map of what is done above the committed offset |
//! | `tracker` | the records of a partition that are in flight |
//! | `words` | their states, by a bit each |

mod base64;
mod compressed;
pub(crate) mod metadata;
mod tracker;
mod words;

pub(crate) use self::tracker::{Accepted, Tracker};
