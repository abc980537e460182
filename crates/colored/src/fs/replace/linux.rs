//! Linux: a new file that has no name until it is complete, where the file system has such files.

mod attributes;
mod new;
mod target;
#[cfg(test)]
mod tests;

use self::new::New;
use self::target::Target;
use super::Refusal;
use rustix::io::Errno;
use std::io::Write;
use std::path::Path;

impl From<Errno> for Refusal {
    fn from(error: Errno) -> Self {
        match error {
            // The file can be replaced another time, so it is not destroyed now.
            Errno::NOSPC | Errno::DQUOT | Errno::MFILE | Errno::NFILE | Errno::NOMEM => {
                Refusal::Failed(error.into())
            }
            _ => Refusal::InPlace,
        }
    }
}

/// So often others may replace the same file meanwhile. A guess: more would delay a write where a file system gives a
/// file another number each time.
const TRIES: u32 = 30;

/// How an attempt to replace a file ended.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Replaced,
    /// Somebody else has replaced, made or removed the file meanwhile.
    Changed,
    /// The file system has no files without a name, or they cannot be given one.
    Unnameable,
}

/// Whether the new file has a name from the beginning.
#[derive(Clone, Copy, Debug)]
enum Start {
    Unnamed,
    Named,
}

pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<(), Refusal> {
    let mut start = Start::Unnamed;
    for _ in 0..TRIES {
        match attempt(path, bytes, start)? {
            Outcome::Replaced => return Ok(()),
            Outcome::Changed => {}
            Outcome::Unnameable => start = Start::Named,
        }
    }
    Err(Refusal::InPlace)
}

fn attempt(path: &Path, bytes: &[u8], start: Start) -> Result<Outcome, Refusal> {
    let Some(target) = Target::find(path)? else { return Ok(Outcome::Changed) };
    let new = match start {
        Start::Unnamed => New::without_name(&target)?,
        Start::Named => Some(New::with_name(&target)?),
    };
    let Some(mut new) = new else { return Ok(Outcome::Unnameable) };
    // After the new file: in `/proc` and the like there is none, and opening may mean something. It stays
    // open until the end: who waits for the closing of a written file then finds the new contents.
    let Some(old) = target.open(path)? else { return Ok(Outcome::Changed) };
    if let Some((file, stat)) = &old {
        // Before the bytes, which may be private.
        attributes::copy(file, stat, &new.file)?;
    }
    new.file.write_all(bytes).map_err(Refusal::Failed)?;
    new.publish()
}
