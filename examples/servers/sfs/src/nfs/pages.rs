//! Directories, in pages that fit the reply.

use super::{Answer, Nfs, Request, file};
use crate::nodes::Id;
use crate::refused::Refused;
use crate::users::READ;
use nfs3_types::nfs3::{
    Nfs3Option, READDIR3args, READDIR3resok, READDIRPLUS3args, READDIRPLUS3resok, cookieverf3,
    dirlist3, dirlistplus3, entry3, entryplus3, filename3, nfsstat3, post_op_attr, post_op_fh3,
};
use nfs3_types::xdr_codec::{BoundedList, Opaque};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// What a reply has beside the entries, in bytes: status, attributes, verifier, end.
const OVERHEAD: usize = 128;

/// The longest page, in bytes.
const LONGEST: u32 = 64 * 1024;

impl Nfs {
    pub(crate) async fn readdir(
        &self,
        request: &Request,
        args: READDIR3args,
    ) -> Answer<READDIR3resok<'static>> {
        let id = file(&args.dir)?;
        let listing = self.listing(request, id, args.cookie).await?;
        let mut entries = BoundedList::new(room(args.count));
        let (mut taken, total) = (0, listing.len());
        for (cookie, name) in listing {
            let fileid = self.entry_of(request, id, &name).await.map_or(0, |(id, _)| id.0);
            let entry = entry3 { fileid, name: wire(name), cookie };
            if entries.try_push(entry).is_err() {
                break;
            }
            taken += 1;
        }
        Ok(READDIR3resok {
            dir_attributes: self.seen(request, id).await,
            cookieverf: cookieverf3::default(),
            reply: dirlist3 { entries: entries.into_inner(), eof: is_end(taken, total)? },
        })
    }

    pub(crate) async fn readdirplus(
        &self,
        request: &Request,
        args: READDIRPLUS3args,
    ) -> Answer<READDIRPLUS3resok<'static>> {
        let id = file(&args.dir)?;
        let listing = self.listing(request, id, args.cookie).await?;
        let mut entries = BoundedList::new(room(args.maxcount));
        let (mut taken, total) = (0, listing.len());
        for (cookie, name) in listing {
            let (fileid, name_attributes, name_handle) =
                match self.entry_of(request, id, &name).await {
                    Some((id, attributes)) => (id.0, attributes, Nfs3Option::Some(id.handle())),
                    // It was removed in between.
                    None => (0, post_op_attr::None, post_op_fh3::None),
                };
            let name = wire(name);
            let entry = entryplus3 { fileid, name, cookie, name_attributes, name_handle };
            if entries.try_push(entry).is_err() {
                break;
            }
            taken += 1;
        }
        Ok(READDIRPLUS3resok {
            dir_attributes: self.seen(request, id).await,
            cookieverf: cookieverf3::default(),
            reply: dirlistplus3 { entries: entries.into_inner(), eof: is_end(taken, total)? },
        })
    }

    async fn listing(
        &self,
        request: &Request,
        id: Id,
        behind: u64,
    ) -> Answer<Vec<(u64, OsString)>> {
        request.user.check(&self.tree.look(id).await?, READ)?;
        self.tree.list(id, behind).await
    }

    async fn entry_of(
        &self,
        request: &Request,
        above: Id,
        name: &OsString,
    ) -> Option<(Id, post_op_attr)> {
        let (id, attributes) = match name.as_bytes() {
            b"." => (above, self.tree.look(above).await.ok()?),
            b".." => {
                let id = self.tree.above(above).await.ok()?;
                (id, self.tree.look(id).await.ok()?)
            }
            _ => self.tree.find(above, name).await.ok()?,
        };
        Some((id, request.seen(attributes)))
    }
}

fn room(asked: u32) -> usize {
    (asked.min(LONGEST) as usize).saturating_sub(OVERHEAD)
}

fn wire(name: OsString) -> filename3<'static> {
    filename3(Opaque::owned(name.into_vec()))
}

fn is_end(taken: usize, total: usize) -> Answer<bool> {
    match taken == 0 && total > 0 {
        true => Err(Refused(nfsstat3::NFS3ERR_TOOSMALL)),
        false => Ok(taken == total),
    }
}
