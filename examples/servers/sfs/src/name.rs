//! Names of files, as they come from the wire.

use crate::refused::Refused;
use nfs3_types::nfs3::nfsstat3;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// The longest name, in bytes.
pub(crate) const LONGEST: usize = 255;

/// A name that a look-up asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Sought {
    /// `.`
    Itself,
    /// `..`
    Above,
    Entry(OsString),
}

pub(crate) fn sought(name: &[u8]) -> Result<Sought, Refused> {
    match name {
        b"." => Ok(Sought::Itself),
        b".." => Ok(Sought::Above),
        name => entry(name).map(Sought::Entry),
    }
}

/// A name that can be made, removed or changed.
pub(crate) fn entry(name: &[u8]) -> Result<OsString, Refused> {
    let is_path = name.contains(&b'/') || name.contains(&0);
    match name {
        b"" | b"." | b".." => Err(Refused::INVALID),
        _ if name.len() > LONGEST => Err(Refused(nfsstat3::NFS3ERR_NAMETOOLONG)),
        _ if is_path => Err(Refused::INVALID),
        _ => Ok(OsStr::from_bytes(name).to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_step_down() {
        for bad in [&b""[..], b"a/b", b"/etc", b"../x", b"a\0b", &[b'x'; 256]] {
            assert!(sought(bad).is_err(), "{bad:?}");
        }
        for special in [&b"."[..], b".."] {
            assert!(sought(special).is_ok() && entry(special).is_err());
        }
        assert_eq!(sought(b"..."), Ok(Sought::Entry("...".into())));
        assert_eq!(entry(&[b'x'; 255]).unwrap().len(), 255);
    }
}
