//! Names that are made, removed and moved.

use super::{Answer, Nfs, Request, file};
use crate::name::entry;
use crate::nodes::Id;
use crate::refused::Refused;
use crate::tree::IfExists;
use crate::users::{SEARCH, WRITE};
use nfs3_types::nfs3::{
    CREATE3args, CREATE3resok, LINK3args, LINK3resok, MKDIR3args, MKDIR3resok, Nfs3Option,
    REMOVE3args, REMOVE3resok, RENAME3args, RENAME3resok, RMDIR3args, RMDIR3resok, SYMLINK3args,
    SYMLINK3resok, createhow3, diropargs3, ftype3, nfsstat3, sattr3,
};
use std::ffi::{OsStr, OsString};

/// A name that a request may change.
struct Entry {
    above: Id,
    name: OsString,
}

impl Nfs {
    /// The name, if the user may change names in the directory.
    async fn entry(&self, request: &Request, place: &diropargs3<'_>) -> Answer<Entry> {
        let (above, name) = (file(&place.dir)?, entry(place.name.as_ref())?);
        let directory = self.tree.look(above).await?;
        if directory.type_ != ftype3::NF3DIR {
            return Err(Refused(nfsstat3::NFS3ERR_NOTDIR));
        }
        request.user.check(&directory, WRITE | SEARCH)?;
        Ok(Entry { above, name })
    }

    async fn existing(&self, above: Id, name: &OsStr) -> Option<Id> {
        self.tree.find(above, name).await.ok().map(|(id, _)| id)
    }

    pub(crate) async fn create(
        &self,
        request: &Request,
        args: CREATE3args<'static>,
    ) -> Answer<CREATE3resok> {
        let Entry { above, name } = self.entry(request, &args.where_).await?;
        let (new, if_exists) = match args.how {
            createhow3::UNCHECKED(new) => (new, IfExists::Take),
            createhow3::GUARDED(new) => (new, IfExists::Fail),
            createhow3::EXCLUSIVE(verifier) => (sattr3::default(), IfExists::TakeOwn(verifier.0)),
        };
        let existing = self.existing(above, &name).await;
        if let (Some(id), IfExists::Take, Nfs3Option::Some(_)) = (existing, if_exists, new.size) {
            request.user.check(&self.tree.look(id).await?, WRITE)?;
        }
        let changed: Vec<Id> = [above].into_iter().chain(existing).collect();
        let _change = self.recall.begin_change(&changed, request.holder).await;
        let new = self.owned(request, new);
        let (id, attributes) = self.tree.create(above, &name, &new, if_exists).await?;
        Ok(CREATE3resok {
            obj: Nfs3Option::Some(id.handle()),
            obj_attributes: request.seen(attributes),
            dir_wcc: self.changed(request, above).await,
        })
    }

    pub(crate) async fn mkdir(
        &self,
        request: &Request,
        args: MKDIR3args<'static>,
    ) -> Answer<MKDIR3resok> {
        let Entry { above, name } = self.entry(request, &args.where_).await?;
        let _change = self.recall.begin_change(&[above], request.holder).await;
        let new = self.owned(request, args.attributes);
        let (id, attributes) = self.tree.make_directory(above, &name, &new).await?;
        Ok(MKDIR3resok {
            obj: Nfs3Option::Some(id.handle()),
            obj_attributes: request.seen(attributes),
            dir_wcc: self.changed(request, above).await,
        })
    }

    pub(crate) async fn symlink(
        &self,
        request: &Request,
        args: SYMLINK3args<'static>,
    ) -> Answer<SYMLINK3resok> {
        let Entry { above, name } = self.entry(request, &args.where_).await?;
        let _change = self.recall.begin_change(&[above], request.holder).await;
        let target = args.symlink.symlink_data.as_ref();
        let (id, attributes) = self.tree.make_symbolic_link(above, &name, target).await?;
        Ok(SYMLINK3resok {
            obj: Nfs3Option::Some(id.handle()),
            obj_attributes: request.seen(attributes),
            dir_wcc: self.changed(request, above).await,
        })
    }

    pub(crate) async fn link(
        &self,
        request: &Request,
        args: LINK3args<'static>,
    ) -> Answer<LINK3resok> {
        let (id, Entry { above, name }) =
            (file(&args.file)?, self.entry(request, &args.link).await?);
        let _change = self.recall.begin_change(&[above, id], request.holder).await;
        let attributes = self.tree.link(id, above, &name).await?;
        Ok(LINK3resok {
            file_attributes: request.seen(attributes),
            linkdir_wcc: self.changed(request, above).await,
        })
    }

    pub(crate) async fn remove(
        &self,
        request: &Request,
        args: REMOVE3args<'static>,
    ) -> Answer<REMOVE3resok> {
        let Entry { above, name } = self.entry(request, &args.object).await?;
        let existing = self.existing(above, &name).await;
        let changed: Vec<Id> = [above].into_iter().chain(existing).collect();
        let _change = self.recall.begin_change(&changed, request.holder).await;
        self.tree.remove(above, &name).await?;
        Ok(REMOVE3resok { dir_wcc: self.changed(request, above).await })
    }

    pub(crate) async fn rmdir(
        &self,
        request: &Request,
        args: RMDIR3args<'static>,
    ) -> Answer<RMDIR3resok> {
        let Entry { above, name } = self.entry(request, &args.object).await?;
        let existing = self.existing(above, &name).await;
        let changed: Vec<Id> = [above].into_iter().chain(existing).collect();
        let _change = self.recall.begin_change(&changed, request.holder).await;
        self.tree.remove_directory(above, &name).await?;
        Ok(RMDIR3resok { dir_wcc: self.changed(request, above).await })
    }

    pub(crate) async fn rename(
        &self,
        request: &Request,
        args: RENAME3args<'static, 'static>,
    ) -> Answer<RENAME3resok> {
        let from = self.entry(request, &args.from).await?;
        let to = self.entry(request, &args.to).await?;
        let moved = self.existing(from.above, &from.name).await;
        let replaced = self.existing(to.above, &to.name).await;
        let changed: Vec<Id> =
            [from.above, to.above].into_iter().chain(moved).chain(replaced).collect();
        let _change = self.recall.begin_change(&changed, request.holder).await;
        self.tree.rename((from.above, &from.name), (to.above, &to.name)).await?;
        Ok(RENAME3resok {
            fromdir_wcc: self.changed(request, from.above).await,
            todir_wcc: self.changed(request, to.above).await,
        })
    }
}
