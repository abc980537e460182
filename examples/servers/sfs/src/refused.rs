//! Why a request is refused: a status of NFS version 3.

use nfs3_types::nfs3::nfsstat3;
use rustix::io::Errno;
use std::error::Error;
use std::fmt;
use std::io;

/// A status other than `NFS3_OK`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused(pub nfsstat3);

impl Refused {
    pub(crate) const INVALID: Refused = Refused(nfsstat3::NFS3ERR_INVAL);
    pub(crate) const STALE: Refused = Refused(nfsstat3::NFS3ERR_STALE);
    pub(crate) const DENIED: Refused = Refused(nfsstat3::NFS3ERR_ACCES);
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Error for Refused {}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Self {
        Refused(status(&error))
    }
}

fn status(error: &io::Error) -> nfsstat3 {
    let Some(errno) = errno(error) else { return nfsstat3::NFS3ERR_IO };
    match errno {
        Errno::PERM => nfsstat3::NFS3ERR_PERM,
        Errno::NOENT => nfsstat3::NFS3ERR_NOENT,
        Errno::NXIO => nfsstat3::NFS3ERR_NXIO,
        Errno::ACCESS => nfsstat3::NFS3ERR_ACCES,
        Errno::EXIST => nfsstat3::NFS3ERR_EXIST,
        Errno::XDEV => nfsstat3::NFS3ERR_XDEV,
        Errno::NOTDIR => nfsstat3::NFS3ERR_NOTDIR,
        Errno::ISDIR => nfsstat3::NFS3ERR_ISDIR,
        Errno::INVAL => nfsstat3::NFS3ERR_INVAL,
        Errno::FBIG => nfsstat3::NFS3ERR_FBIG,
        Errno::NOSPC => nfsstat3::NFS3ERR_NOSPC,
        // The opened file is for reading only.
        Errno::ROFS | Errno::BADF => nfsstat3::NFS3ERR_ROFS,
        Errno::MLINK => nfsstat3::NFS3ERR_MLINK,
        Errno::NAMETOOLONG => nfsstat3::NFS3ERR_NAMETOOLONG,
        Errno::NOTEMPTY => nfsstat3::NFS3ERR_NOTEMPTY,
        Errno::DQUOT => nfsstat3::NFS3ERR_DQUOT,
        // A directory on the way has become a symbolic link.
        Errno::STALE | Errno::LOOP => nfsstat3::NFS3ERR_STALE,
        Errno::NOTSUP | Errno::NOSYS => nfsstat3::NFS3ERR_NOTSUPP,
        _ => nfsstat3::NFS3ERR_IO,
    }
}

/// The number of the system's error, which may be the source of the error.
fn errno(error: &io::Error) -> Option<Errno> {
    Errno::from_io_error(error).or_else(|| {
        let source = error.get_ref()?.source()?.downcast_ref::<io::Error>()?;
        Errno::from_io_error(source)
    })
}
