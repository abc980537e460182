//! Which file a handle means, and where the file is.
//!
//! A handle holds a number, and the table leads from the number to the names. A rename moves the place and leaves the
//! number, so handles outlive it. Costs some 200 bytes for each file that was looked up.

use nfs3_types::nfs3::nfs_fh3;
use nfs3_types::xdr_codec::Opaque;
use ring::digest::{Context, SHA256};
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

/// The number of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(pub u64);

/// What handles begin with.
const MAGIC: [u8; 4] = *b"sfs1";

/// No path is deeper. The system's limit of 4096 bytes comes first.
const DEEPEST: usize = 2048;

impl Id {
    /// The number in a handle, if the handle has the form of one.
    pub(crate) fn from_handle(handle: &nfs_fh3) -> Option<Id> {
        let number = handle.data.strip_prefix(&MAGIC)?;
        Some(Id(u64::from_be_bytes(number.try_into().ok()?)))
    }

    /// The handle of the file.
    pub fn handle(self) -> nfs_fh3 {
        let bytes = [&MAGIC[..], &self.0.to_be_bytes()].concat();
        nfs_fh3 { data: Opaque::owned(bytes) }
    }

    /// The number of a file with an inode: the same after a rename, after a restart and by each of its names, and another
    /// one for the next file that gets this inode.
    pub(crate) fn of_inode(metadata: &Metadata) -> Id {
        let born = metadata.created().ok().and_then(|born| born.duration_since(UNIX_EPOCH).ok());
        let born = born.map_or(0, |born| born.as_nanos());
        let (device, inode) = (metadata.dev(), metadata.ino());
        digest(&[&device.to_be_bytes(), &inode.to_be_bytes(), &born.to_be_bytes()])
    }

    fn of_name(above: Id, name: &OsStr, attempt: u64) -> Id {
        digest(&[&above.0.to_be_bytes(), name.as_bytes(), &attempt.to_be_bytes()])
    }
}

fn digest(parts: &[&[u8]]) -> Id {
    let mut context = Context::new(&SHA256);
    parts.iter().for_each(|part| context.update(part));
    let digest = context.finish();
    Id(u64::from_be_bytes(digest.as_ref()[..8].try_into().expect("it has 32 bytes")))
}

/// A name in a directory.
type Place = (Id, OsString);

/// The known files.
#[derive(Debug)]
pub(crate) struct Nodes {
    root: Id,
    places: HashMap<Id, Vec<Place>>,
    names: HashMap<Place, Id>,
    /// Of files that were made exclusively: the number that the client has chosen.
    verifiers: HashMap<Id, [u8; 8]>,
}

impl Nodes {
    pub(crate) fn new(root: Id) -> Nodes {
        let (places, names) = (HashMap::from([(root, Vec::new())]), HashMap::new());
        Nodes { root, places, names, verifiers: HashMap::new() }
    }

    pub(crate) fn root(&self) -> Id {
        self.root
    }

    /// The path of a file, from the root on, if it is known and still has a name.
    pub(crate) fn path(&self, id: Id) -> Option<PathBuf> {
        let (mut names, mut at) = (Vec::new(), id);
        while at != self.root {
            let (above, name) = self.places.get(&at)?.last()?;
            names.push(name);
            at = *above;
            if names.len() > DEEPEST {
                return None;
            }
        }
        Some(names.into_iter().rev().collect())
    }

    /// The directory above; the root is above itself.
    pub(crate) fn above(&self, id: Id) -> Option<Id> {
        if id == self.root { Some(id) } else { Some(self.places.get(&id)?.last()?.0) }
    }

    pub(crate) fn child(&self, above: Id, name: &OsStr) -> Option<Id> {
        self.names.get(&(above, name.to_owned())).copied()
    }

    /// A number for a file without an inode: the one that its name has, or a new one.
    pub(crate) fn number_of_name(&self, above: Id, name: &OsStr) -> Id {
        self.child(above, name).unwrap_or_else(|| {
            let mut attempts = (0..).map(|attempt| Id::of_name(above, name, attempt));
            attempts.find(|id| !self.places.contains_key(id)).expect("there are 2^64")
        })
    }

    pub(crate) fn insert(&mut self, above: Id, name: OsString, id: Id) {
        let place = (above, name);
        match self.names.insert(place.clone(), id) {
            Some(before) if before == id => return,
            Some(before) => self.leave(before, &place),
            None => (),
        }
        self.places.entry(id).or_default().push(place);
    }

    /// The file that had the name, if it was known.
    pub(crate) fn remove(&mut self, above: Id, name: &OsStr) -> Option<Id> {
        let place = (above, name.to_owned());
        let id = self.names.remove(&place)?;
        self.leave(id, &place);
        Some(id)
    }

    fn leave(&mut self, id: Id, place: &Place) {
        let Some(places) = self.places.get_mut(&id) else { return };
        places.retain(|other| other != place);
        if places.is_empty() && id != self.root {
            self.places.remove(&id);
            self.verifiers.remove(&id);
        }
    }

    pub(crate) fn set_verifier(&mut self, id: Id, verifier: [u8; 8]) {
        self.verifiers.insert(id, verifier);
    }

    pub(crate) fn has_verifier(&self, id: Id, verifier: [u8; 8]) -> bool {
        self.verifiers.get(&id) == Some(&verifier)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_number_outlives_renames_of_its_file_and_of_directories_above() {
        let root = Id(1);
        let mut nodes = Nodes::new(root);
        nodes.insert(root, "a".into(), Id(2));
        nodes.insert(Id(2), "b".into(), Id(3));
        assert_eq!(nodes.path(Id(3)).as_deref(), Some(Path::new("a/b")));
        let moved = nodes.remove(root, "a".as_ref()).unwrap();
        assert_eq!(nodes.path(Id(3)), None);
        nodes.insert(root, "c".into(), moved);
        assert_eq!(nodes.path(Id(3)).as_deref(), Some(Path::new("c/b")));
        assert_ne!(
            nodes.number_of_name(root, "a".as_ref()),
            nodes.number_of_name(root, "b".as_ref())
        );
    }

    #[test]
    fn a_file_with_two_names_is_there_until_both_are_removed() {
        let root = Id(1);
        let mut nodes = Nodes::new(root);
        nodes.insert(root, "a".into(), Id(2));
        nodes.insert(root, "b".into(), Id(2));
        nodes.remove(root, "b".as_ref());
        assert_eq!(nodes.path(Id(2)).as_deref(), Some(Path::new("a")));
        nodes.insert(root, "a".into(), Id(3));
        assert_eq!((nodes.path(Id(2)), nodes.child(root, "a".as_ref())), (None, Some(Id(3))));
    }

    #[test]
    fn handles_of_another_form_mean_nothing() {
        assert_eq!(Id::from_handle(&Id(7).handle()), Some(Id(7)));
        for bytes in [&b""[..], b"sfs1", b"sfs1aaaaaaaaa", b"nfs1aaaaaaaa", &[0; 64]] {
            let handle = nfs_fh3 { data: Opaque::owned(bytes.to_vec()) };
            assert_eq!(Id::from_handle(&handle), None);
        }
    }
}
