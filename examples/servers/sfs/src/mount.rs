//! The procedures of MOUNT version 3 (RFC 1813, appendix I): from a path to a handle.

use crate::nfs::{Nfs, Request};
use crate::nodes::Id;
use crate::refused::Refused;
use nfs3_types::mount::{
    dirpath, export_node, exports, fhandle3, mountlist, mountres3, mountres3_ok, mountstat3,
};
use nfs3_types::nfs3::{ftype3, nfsstat3};
use nfs3_types::xdr_codec::{List, Opaque};

/// The flavors of credentials: `AUTH_UNIX`.
const FLAVORS: [u32; 1] = [1];

/// The longest path, in names.
const DEEPEST: usize = 512;

impl Nfs {
    /// The handle of a directory. Each directory that is served can be mounted.
    pub(crate) async fn mount(
        &self,
        request: &Request,
        path: dirpath<'static>,
    ) -> mountres3<'static> {
        match self.directory(request, &path.0).await {
            Ok(id) => mountres3::Ok(mountres3_ok {
                fhandle: fhandle3(id.handle().data),
                auth_flavors: FLAVORS.to_vec(),
            }),
            Err(Refused(status)) => mountres3::Err(match status {
                nfsstat3::NFS3ERR_NOENT => mountstat3::MNT3ERR_NOENT,
                nfsstat3::NFS3ERR_ACCES => mountstat3::MNT3ERR_ACCES,
                nfsstat3::NFS3ERR_NOTDIR => mountstat3::MNT3ERR_NOTDIR,
                nfsstat3::NFS3ERR_NAMETOOLONG => mountstat3::MNT3ERR_NAMETOOLONG,
                nfsstat3::NFS3ERR_INVAL => mountstat3::MNT3ERR_INVAL,
                _ => mountstat3::MNT3ERR_IO,
            }),
        }
    }

    async fn directory(&self, request: &Request, path: &[u8]) -> Result<Id, Refused> {
        let names = path.split(|byte| *byte == b'/').filter(|name| !name.is_empty());
        let mut at = self.tree.top().await;
        for (depth, name) in names.enumerate() {
            if depth == DEEPEST {
                return Err(Refused(nfsstat3::NFS3ERR_NAMETOOLONG));
            }
            at = self.find(request, at, name).await?.0;
        }
        match self.tree.look(at).await?.type_ {
            ftype3::NF3DIR => Ok(at),
            _ => Err(Refused(nfsstat3::NFS3ERR_NOTDIR)),
        }
    }

    /// Who has mounted what: the server does not keep this.
    pub(crate) fn mounts(&self) -> mountlist<'static, 'static> {
        List(Vec::new())
    }

    /// What can be mounted: the root, and all directories below it.
    pub(crate) fn exports(&self) -> exports<'static, 'static> {
        let ex_dir = dirpath(Opaque::borrowed(b"/"));
        List(vec![export_node { ex_dir, ex_groups: List(Vec::new()) }])
    }
}
