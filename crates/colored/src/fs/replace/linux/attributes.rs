//! Giving the new file what the old one has beside its bytes.

use rustix::fs::{Gid, Uid};
use rustix::fs::{
    IFlags, Mode, Stat, XattrFlags, fchmod, fchown, fgetxattr, flistxattr, fremovexattr, fsetxattr,
    fstat, ioctl_getflags,
};
use rustix::io::Errno;
use std::ffi::{CStr, CString};
use std::fs::File;

/// An attribute, and a list of names of attributes, has at most so many bytes.
const MOST: usize = 64 << 10;

/// The flags of `chattr` that users choose. Others say how the file system keeps the bytes, or forbid to write them.
const FLAGS: IFlags = IFlags::COMPRESSED
    .union(IFlags::SYNC)
    .union(IFlags::NODUMP)
    .union(IFlags::NOATIME)
    .union(IFlags::JOURNALING)
    .union(IFlags::NOTAIL)
    .union(IFlags::NOCOW);

/// Makes the new file like the old one; an error if this process cannot.
pub(super) fn copy(old: &File, stat: &Stat, new: &File) -> Result<(), Errno> {
    let now = fstat(new)?;
    if (now.st_uid, now.st_gid) != (stat.st_uid, stat.st_gid) {
        fchown(new, Some(Uid::from_raw(stat.st_uid)), Some(Gid::from_raw(stat.st_gid)))?;
    }
    // What is not copied is equal, as most are that a directory hands down.
    if flags(old) != flags(new) {
        return Err(Errno::OPNOTSUPP);
    }
    let (wanted, inherited) = (names(old)?, names(new)?);
    for name in inherited.iter().filter(|name| !wanted.contains(name)) {
        fremovexattr(new, copied(name)?)?;
    }
    // Before the access control list, whose mask it would change.
    fchmod(new, Mode::from_raw_mode(stat.st_mode))?;
    for name in &wanted {
        let value = value(old, name)?;
        if !inherited.contains(name) || self::value(new, name)? != value {
            fsetxattr(new, copied(name)?, &value, XattrFlags::empty())?;
        }
    }
    Ok(())
}

/// A name, if such an attribute says the same of another file. One of `security` and `trusted` may not: a write takes
/// capabilities away, and signatures are of the bytes.
fn copied(name: &CStr) -> Result<&CStr, Errno> {
    let bytes = name.to_bytes();
    match bytes.starts_with(b"user.") || bytes == b"system.posix_acl_access" {
        true => Ok(name),
        false => Err(Errno::OPNOTSUPP),
    }
}

fn flags(file: &File) -> IFlags {
    // Some file systems have none.
    ioctl_getflags(file).unwrap_or(IFlags::empty()) & FLAGS
}

fn names(file: &File) -> Result<Vec<CString>, Errno> {
    let mut list = vec![0; 256];
    let len = match flistxattr(file, &mut list[..]) {
        Err(Errno::RANGE) => {
            list.resize(MOST, 0);
            flistxattr(file, &mut list[..])?
        }
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => 0,
        len => len?,
    };
    let names = list[..len].split_inclusive(|byte| *byte == 0);
    names
        .map(|name| CStr::from_bytes_with_nul(name).map(CStr::to_owned).map_err(|_| Errno::IO))
        .collect()
}

fn value(file: &File, name: &CStr) -> Result<Vec<u8>, Errno> {
    let mut value = vec![0; MOST];
    let len = fgetxattr(file, name, &mut value[..])?;
    value.truncate(len);
    Ok(value)
}
