//! The bytes of links and directories.

use crate::error::Error;
use crate::id::Id;
use crate::settings::Mistake;

/// Keys in a block of keys: they fill it.
pub(super) const FANOUT: usize = 32;

/// Levels of keys above the leaves, at most: 32^6 blocks of 1 KiB are 1 TiB.
pub(super) const MAX_LEVELS: u8 = 6;

/// Bytes of a link.
const LINK: usize = 8 + 1 + 32;

/// Entries of a directory, at most. Reading one takes memory for all of them.
pub(super) const MAX_ENTRIES: usize = 100_000;

/// The bytes of a directory, at most.
pub(super) const MAX_DIRECTORY: u64 = (MAX_ENTRIES * (LINK + 2 + 255)) as u64;

/// Where a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The length of the file in bytes.
    pub length: u64,
    /// How many levels of keys are above the leaves.
    pub levels: u8,
    /// The key of the topmost block.
    pub key: Id,
}

/// What an entry of a directory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
}

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name: not empty, no `.` or `..`, and without `/` and zero bytes.
    pub name: String,
    /// What it is.
    pub kind: EntryKind,
    /// Where it is.
    pub link: Link,
}

impl Link {
    pub(super) fn to_bytes(self) -> [u8; LINK] {
        let mut bytes = [0; LINK];
        bytes[..8].copy_from_slice(&self.length.to_be_bytes());
        bytes[8] = self.levels;
        bytes[9..].copy_from_slice(&self.key.to_bytes());
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let bytes: &[u8; LINK] = bytes.try_into().map_err(|_| Error::Malformed("a link"))?;
        let (length, rest) = bytes.split_first_chunk::<8>().expect("a link is longer");
        let key = rest[1..].try_into().expect("32 bytes are left");
        let levels = rest[0];
        if levels > MAX_LEVELS {
            return Err(Error::Malformed("a link has too many levels"));
        }
        Ok(Self { length: u64::from_be_bytes(*length), levels, key: Id::from_bytes(key) })
    }
}

/// Whether a file may have this name: whoever unpacks a tree must not be led out of it.
fn is_name(name: &str) -> bool {
    let is_special = matches!(name, "" | "." | "..");
    !is_special && name.len() <= 255 && !name.contains(['/', '\0'])
}

/// The bytes of a directory.
pub(super) fn encode(entries: &[Entry]) -> Result<Vec<u8>, Error> {
    if entries.len() > MAX_ENTRIES {
        return Err(Error::TooLarge("a directory has more than 100,000 entries"));
    }
    let mut bytes = Vec::new();
    for entry in entries {
        let length = u8::try_from(entry.name.len()).ok().filter(|_| is_name(&entry.name));
        let length = length.ok_or(Error::TooLarge("a name has more than 255 bytes"))?;
        bytes.push(entry.kind as u8);
        bytes.extend(entry.link.to_bytes());
        bytes.push(length);
        bytes.extend(entry.name.as_bytes());
    }
    Ok(bytes)
}

/// The entries of a directory, whose names are in order and are names.
pub(super) fn decode(mut bytes: &[u8], mistake: Mistake) -> Result<Vec<Entry>, Error> {
    let is_allowed = |name: &&str| is_name(name) || mistake == Mistake::TakesAnyName;
    let mut entries: Vec<Entry> = Vec::new();
    while let Some((kind, rest)) = bytes.split_first() {
        let kind = match kind {
            0 => EntryKind::File,
            1 => EntryKind::Directory,
            _ => return Err(Error::Malformed("an entry is neither a file nor a directory")),
        };
        let cut = || Error::Malformed("an entry ends too early");
        let (link, rest) = rest.split_at_checked(LINK).ok_or_else(cut)?;
        let (length, rest) = rest.split_first().ok_or_else(cut)?;
        let (name, rest) = rest.split_at_checked(usize::from(*length)).ok_or_else(cut)?;
        let name = str::from_utf8(name).ok().filter(is_allowed);
        let name = name.ok_or(Error::Malformed("a name that no file may have"))?.to_owned();
        if entries.last().is_some_and(|last| last.name >= name) {
            return Err(Error::Malformed("names are not in order"));
        }
        entries.push(Entry { name, kind, link: Link::from_bytes(link)? });
        bytes = rest;
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str) -> Entry {
        let link = Link { length: 5, levels: 1, key: Id::hash(&[name.as_bytes()]) };
        Entry { name: name.to_owned(), kind: EntryKind::Directory, link }
    }

    #[test]
    fn a_directory_is_read_as_it_was_written() {
        let entries = [entry("a"), entry("b c"), entry("ä")];
        let bytes = encode(&entries).unwrap();
        assert_eq!(decode(&bytes, Mistake::None).unwrap(), entries);
        assert!(
            (1..bytes.len()).filter(|end| decode(&bytes[..*end], Mistake::None).is_ok()).count()
                == 2
        );
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for name in ["", ".", "..", "a/b", "/", "a\0"] {
            assert!(encode(&[entry(name)]).is_err(), "{name:?}");
            let mut bytes = encode(&[entry("x")]).unwrap();
            bytes.truncate(1 + LINK);
            bytes.push(u8::try_from(name.len()).unwrap());
            bytes.extend(name.as_bytes());
            assert!(decode(&bytes, Mistake::None).is_err(), "{name:?}");
        }
        let twice = [encode(&[entry("b")]).unwrap(), encode(&[entry("a")]).unwrap()].concat();
        assert!(decode(&twice, Mistake::None).is_err());
        let unknown = [&[2], &encode(&[entry("a")]).unwrap()[1..]].concat();
        assert!(decode(&unknown, Mistake::None).is_err());
    }
}
