//! The procedures of NFS version 3 (RFC 1813).
//!
//! A procedure checks the user, calls back the caches of what it changes, and then does its work in the tree. Device files
//! cannot be made.

mod change;
mod files;
mod lease;
mod names;
mod pages;
mod system;
#[cfg(test)]
mod tests;

use crate::leases::Holder;
use crate::nodes::Id;
use crate::recall::Recall;
use crate::refused::Refused;
use crate::replies::Replies;
use crate::tree::Tree;
use crate::users::{NOBODY, User, UserMap};
use colored::ColorCell;
use nfs3_types::nfs3::{
    Nfs3Option, fattr3, nfs_fh3, nfsstat3, post_op_attr, pre_op_attr, sattr3, wcc_data,
};
use std::sync::Arc;

/// What a procedure answers.
pub(crate) type Answer<T> = Result<T, Refused>;

/// The served files, and the caches of the clients.
#[derive(Debug)]
pub(crate) struct Nfs {
    pub(crate) tree: Tree,
    pub(crate) recall: Recall,
    pub(crate) replies: ColorCell<Replies>,
    /// Whether the server may give files to other users.
    pub(crate) gives_files: bool,
}

/// Who asks.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) user: User,
    pub(crate) users: Arc<UserMap>,
    /// The cache of the client, if it has one.
    pub(crate) holder: Option<Holder>,
}

impl Request {
    /// A request of a user of the client, by number; without one, of nobody.
    pub(crate) fn new(
        users: Arc<UserMap>,
        user: Option<(u32, &[u32])>,
        holder: Option<Holder>,
    ) -> Request {
        let user = match user {
            Some((uid, gids)) => User {
                uid: users.inward(uid),
                gids: gids.iter().map(|gid| users.inward(*gid)).collect(),
            },
            None => User { uid: NOBODY, gids: vec![NOBODY] },
        };
        Request { user, users, holder }
    }

    fn seen(&self, attributes: fattr3) -> post_op_attr {
        Nfs3Option::Some(self.users.outward(attributes))
    }

    fn changed(&self, attributes: fattr3) -> wcc_data {
        wcc_data { before: pre_op_attr::None, after: self.seen(attributes) }
    }

    /// New attributes, with the users of this machine.
    fn inward(&self, mut new: sattr3) -> sattr3 {
        for id in [&mut new.uid, &mut new.gid] {
            if let Nfs3Option::Some(id) = id {
                *id = self.users.inward(*id);
            }
        }
        new
    }
}

/// The file that a handle means.
pub(crate) fn file(handle: &nfs_fh3) -> Answer<Id> {
    Id::from_handle(handle).ok_or(Refused(nfsstat3::NFS3ERR_BADHANDLE))
}

impl Nfs {
    /// The attributes of a directory in whose names a change was made.
    async fn changed(&self, request: &Request, directory: Id) -> wcc_data {
        match self.tree.look(directory).await {
            Ok(attributes) => request.changed(attributes),
            Err(_) => wcc_data::default(),
        }
    }

    async fn seen(&self, request: &Request, id: Id) -> post_op_attr {
        match self.tree.look(id).await {
            Ok(attributes) => request.seen(attributes),
            Err(_) => post_op_attr::None,
        }
    }

    /// The attributes of a new file: it belongs to the user who makes it.
    fn owned(&self, request: &Request, new: sattr3) -> sattr3 {
        let (uid, gid) = match self.gives_files {
            true => (
                Nfs3Option::Some(request.user.uid),
                Nfs3Option::Some(request.user.gids.first().copied().unwrap_or(NOBODY)),
            ),
            false => (Nfs3Option::None, Nfs3Option::None),
        };
        sattr3 { uid, gid, ..new }
    }
}
