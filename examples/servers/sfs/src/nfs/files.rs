//! Attributes and data of one file.

use super::{Answer, Nfs, Request, file};
use crate::refused::Refused;
use crate::users::{READ, WRITE};
use nfs3_types::nfs3::{
    ACCESS3args, ACCESS3resok, COMMIT3args, COMMIT3resok, GETATTR3args, GETATTR3resok, Nfs3Option,
    READ3args, READ3resok, READLINK3args, READLINK3resok, SETATTR3args, SETATTR3resok, WRITE3args,
    WRITE3resok, ftype3, nfspath3, nfsstat3, writeverf3,
};
use nfs3_types::xdr_codec::Opaque;
use std::os::unix::ffi::OsStringExt;

impl Nfs {
    pub(crate) async fn getattr(
        &self,
        request: &Request,
        args: GETATTR3args,
    ) -> Answer<GETATTR3resok> {
        let attributes = self.tree.look(file(&args.object)?).await?;
        Ok(GETATTR3resok { obj_attributes: request.users.outward(attributes) })
    }

    pub(crate) async fn setattr(
        &self,
        request: &Request,
        args: SETATTR3args,
    ) -> Answer<SETATTR3resok> {
        let (id, new) = (file(&args.object)?, request.inward(args.new_attributes));
        request.user.check_change(&self.tree.look(id).await?, &new)?;
        let _change = self.recall.begin_change(&[id], request.holder).await;
        if let Nfs3Option::Some(seen) = args.guard
            && self.tree.look(id).await?.ctime != seen
        {
            return Err(Refused(nfsstat3::NFS3ERR_NOT_SYNC));
        }
        let attributes = self.tree.set(id, &new).await?;
        Ok(SETATTR3resok { obj_wcc: request.changed(attributes) })
    }

    pub(crate) async fn access(
        &self,
        request: &Request,
        args: ACCESS3args,
    ) -> Answer<ACCESS3resok> {
        let attributes = self.tree.look(file(&args.object)?).await?;
        let access = request.user.access(&attributes, args.access);
        Ok(ACCESS3resok { obj_attributes: request.seen(attributes), access })
    }

    pub(crate) async fn readlink(
        &self,
        request: &Request,
        args: READLINK3args,
    ) -> Answer<READLINK3resok<'static>> {
        let (target, attributes) = self.tree.target(file(&args.symlink)?).await?;
        Ok(READLINK3resok {
            symlink_attributes: request.seen(attributes),
            data: nfspath3(Opaque::owned(target.into_vec())),
        })
    }

    pub(crate) async fn read(
        &self,
        request: &Request,
        args: READ3args,
    ) -> Answer<READ3resok<'static>> {
        let (bytes, attributes) =
            self.tree.read(file(&args.file)?, args.offset, args.count).await?;
        // The data go out only if the mode of the file that was read permits it.
        request.user.check(&attributes, READ)?;
        let count = bytes.len() as u32;
        let eof = args.offset.saturating_add(count.into()) >= attributes.size;
        let data = Opaque::owned(bytes);
        Ok(READ3resok { file_attributes: request.seen(attributes), count, eof, data })
    }

    pub(crate) async fn write(
        &self,
        request: &Request,
        args: WRITE3args<'static>,
    ) -> Answer<WRITE3resok> {
        let id = file(&args.file)?;
        let bytes = args.data.get(..args.count as usize).ok_or(Refused::INVALID)?;
        let attributes = self.tree.look(id).await?;
        if attributes.type_ != ftype3::NF3REG {
            return Err(Refused::INVALID);
        }
        request.user.check(&attributes, WRITE)?;
        let _change = self.recall.begin_change(&[id], request.holder).await;
        let (attributes, verifier) = self.tree.write(id, args.offset, bytes, args.stable).await?;
        let committed = args.stable;
        Ok(WRITE3resok {
            file_wcc: request.changed(attributes),
            count: args.count,
            committed,
            verf: writeverf3(verifier),
        })
    }

    pub(crate) async fn commit(
        &self,
        request: &Request,
        args: COMMIT3args,
    ) -> Answer<COMMIT3resok> {
        let (attributes, verifier) = self.tree.commit(file(&args.file)?).await?;
        Ok(COMMIT3resok { file_wcc: request.changed(attributes), verf: writeverf3(verifier) })
    }
}
