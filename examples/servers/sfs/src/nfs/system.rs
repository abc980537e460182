//! The file system as a whole.

use super::{Answer, Nfs, Request, file};
use crate::name;
use crate::tree::LONGEST;
use nfs3_types::nfs3::{
    FSF3_CANSETTIME, FSF3_HOMOGENEOUS, FSF3_LINK, FSF3_SYMLINK, FSINFO3args, FSINFO3resok,
    FSSTAT3args, FSSTAT3resok, PATHCONF3args, PATHCONF3resok, nfstime3,
};

impl Nfs {
    pub(crate) async fn fsstat(
        &self,
        request: &Request,
        args: FSSTAT3args,
    ) -> Answer<FSSTAT3resok> {
        let obj_attributes = request.seen(self.tree.look(file(&args.fsroot)?).await?);
        // What is not known is 0.
        let answer = FSSTAT3resok {
            obj_attributes,
            tbytes: 0,
            fbytes: 0,
            abytes: 0,
            tfiles: 0,
            ffiles: 0,
            afiles: 0,
            invarsec: 0,
        };
        let Some(room) = self.tree.root().room().await? else { return Ok(answer) };
        Ok(FSSTAT3resok {
            tbytes: room.f_blocks * room.f_frsize,
            fbytes: room.f_bfree * room.f_frsize,
            abytes: room.f_bavail * room.f_frsize,
            tfiles: room.f_files,
            ffiles: room.f_ffree,
            afiles: room.f_favail,
            ..answer
        })
    }

    pub(crate) async fn fsinfo(
        &self,
        request: &Request,
        args: FSINFO3args,
    ) -> Answer<FSINFO3resok> {
        let obj_attributes = request.seen(self.tree.look(file(&args.fsroot)?).await?);
        Ok(FSINFO3resok {
            obj_attributes,
            rtmax: LONGEST,
            rtpref: LONGEST,
            rtmult: 4096,
            wtmax: LONGEST,
            wtpref: LONGEST,
            wtmult: 4096,
            dtpref: 32 * 1024,
            maxfilesize: i64::MAX as u64,
            time_delta: nfstime3 { seconds: 0, nseconds: 1 },
            properties: FSF3_LINK | FSF3_SYMLINK | FSF3_HOMOGENEOUS | FSF3_CANSETTIME,
        })
    }

    pub(crate) async fn pathconf(
        &self,
        request: &Request,
        args: PATHCONF3args,
    ) -> Answer<PATHCONF3resok> {
        let obj_attributes = request.seen(self.tree.look(file(&args.object)?).await?);
        Ok(PATHCONF3resok {
            obj_attributes,
            linkmax: 127,
            name_max: name::LONGEST as u32,
            no_trunc: true,
            chown_restricted: true,
            case_insensitive: false,
            case_preserving: true,
        })
    }
}
