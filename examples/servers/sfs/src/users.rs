//! Who a request is from, and what that user may do.

use crate::refused::Refused;
use nfs3_types::nfs3::{
    ACCESS3_DELETE, ACCESS3_EXECUTE, ACCESS3_EXTEND, ACCESS3_LOOKUP, ACCESS3_MODIFY, ACCESS3_READ,
    Nfs3Option, fattr3, ftype3, sattr3,
};
use std::collections::BTreeMap;

/// The user id of those whom the map does not name.
pub const NOBODY: u32 = 65534;

/// Which user of this machine a user of a client is.
#[derive(Clone, Debug, Default)]
pub struct UserMap {
    /// Of no map: users keep their numbers.
    inward: Option<BTreeMap<u32, u32>>,
}

impl UserMap {
    /// Users keep their numbers: for clients of this machine.
    pub fn same() -> UserMap {
        UserMap { inward: None }
    }

    /// Users of the client, each with the user of this machine that it is; all others are [`NOBODY`].
    pub fn of(users: impl IntoIterator<Item = (u32, u32)>) -> UserMap {
        UserMap { inward: Some(users.into_iter().collect()) }
    }

    pub(crate) fn inward(&self, id: u32) -> u32 {
        match &self.inward {
            Some(users) => users.get(&id).copied().unwrap_or(NOBODY),
            None => id,
        }
    }

    /// Attributes as the client should see them.
    pub(crate) fn outward(&self, mut attributes: fattr3) -> fattr3 {
        if let Some(users) = &self.inward {
            let theirs =
                |local| users.iter().find(|(_, to)| **to == local).map_or(NOBODY, |(of, _)| *of);
            (attributes.uid, attributes.gid) = (theirs(attributes.uid), theirs(attributes.gid));
        }
        attributes
    }
}

/// A user of this machine.
#[derive(Clone, Debug)]
pub(crate) struct User {
    pub(crate) uid: u32,
    pub(crate) gids: Vec<u32>,
}

pub(crate) const READ: u32 = 4;
pub(crate) const WRITE: u32 = 2;
pub(crate) const SEARCH: u32 = 1;

impl User {
    fn is_superuser(&self) -> bool {
        self.uid == 0
    }

    fn is_owner(&self, file: &fattr3) -> bool {
        self.uid == file.uid || self.is_superuser()
    }

    /// Which of `READ`, `WRITE` and `SEARCH` the mode grants.
    fn rights(&self, file: &fattr3) -> u32 {
        let is_directory = file.type_ == ftype3::NF3DIR;
        match () {
            () if self.is_superuser() => {
                let any = is_directory || file.mode & 0o111 != 0;
                READ | WRITE | if any { SEARCH } else { 0 }
            }
            () if self.uid == file.uid => file.mode >> 6 & 7,
            () if self.gids.contains(&file.gid) => file.mode >> 3 & 7,
            () => file.mode & 7,
        }
    }

    /// Refuses what the mode does not grant. The owner may always read and write the data of a file: a client checks the mode when it
    /// opens the file, and the mode may change afterwards.
    pub(crate) fn check(&self, file: &fattr3, rights: u32) -> Result<(), Refused> {
        let is_data = file.type_ == ftype3::NF3REG && rights & SEARCH == 0;
        match self.rights(file) & rights == rights || is_data && self.is_owner(file) {
            true => Ok(()),
            false => Err(Refused::DENIED),
        }
    }

    /// Refuses a change of attributes that belongs to the owner, or to the superuser.
    pub(crate) fn check_change(&self, file: &fattr3, new: &sattr3) -> Result<(), Refused> {
        use nfs3_types::nfs3::{nfsstat3, set_atime, set_mtime};
        let not_permitted = Err(Refused(nfsstat3::NFS3ERR_PERM));
        let changes_owner = matches!(new.uid, Nfs3Option::Some(uid) if uid != file.uid);
        let changes_group = matches!(new.gid, Nfs3Option::Some(gid) if gid != file.gid && !self.gids.contains(&gid));
        if (changes_owner || changes_group) && !self.is_superuser() {
            return not_permitted;
        }
        let sets_time = matches!(new.atime, set_atime::SET_TO_CLIENT_TIME(_))
            || matches!(new.mtime, set_mtime::SET_TO_CLIENT_TIME(_));
        let is_of_owner = new.mode.is_some() || new.gid.is_some() || new.uid.is_some() || sets_time;
        if is_of_owner && !self.is_owner(file) {
            return not_permitted;
        }
        match new.size {
            Nfs3Option::Some(_) => self.check(file, WRITE),
            Nfs3Option::None if is_of_owner => Ok(()),
            Nfs3Option::None => self
                .check(file, WRITE)
                .or_else(|refused| if self.is_owner(file) { Ok(()) } else { Err(refused) }),
        }
    }

    /// Which of the rights that ACCESS asks for the user has.
    pub(crate) fn access(&self, file: &fattr3, asked: u32) -> u32 {
        let (rights, is_directory) = (self.rights(file), file.type_ == ftype3::NF3DIR);
        let mut granted = 0;
        if rights & READ != 0 {
            granted |= ACCESS3_READ;
        }
        if rights & WRITE != 0 {
            granted |= ACCESS3_MODIFY | ACCESS3_EXTEND;
            granted |= if is_directory { ACCESS3_DELETE } else { 0 };
        }
        if rights & SEARCH != 0 {
            granted |= if is_directory { ACCESS3_LOOKUP } else { ACCESS3_EXECUTE };
        }
        granted & asked
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nfs3_types::nfs3::{nfstime3, specdata3};

    fn file(mode: u32) -> fattr3 {
        let time = nfstime3::default();
        fattr3 {
            type_: ftype3::NF3REG,
            mode,
            nlink: 1,
            uid: 1000,
            gid: 100,
            size: 0,
            used: 0,
            rdev: specdata3::default(),
            fsid: 1,
            fileid: 2,
            atime: time,
            mtime: time,
            ctime: time,
        }
    }

    fn user(uid: u32, gid: u32) -> User {
        User { uid, gids: vec![gid] }
    }

    #[test]
    fn the_first_class_that_fits_decides() {
        let file = file(0o604);
        assert!(user(1000, 1).check(&file, READ | WRITE).is_ok());
        assert!(user(7, 100).check(&file, READ).is_err(), "of the group");
        assert!(user(7, 1).check(&file, READ).is_ok(), "of the others");
        assert!(user(7, 1).check(&file, WRITE).is_err());
        assert!(user(0, 0).check(&file, READ | WRITE).is_ok());
        assert_eq!(user(7, 1).access(&file, 0x3f), ACCESS3_READ);
    }

    #[test]
    fn only_the_owner_changes_the_mode_and_only_the_superuser_the_owner() {
        let file = file(0o666);
        let mode = sattr3 { mode: Nfs3Option::Some(0o777), ..sattr3::default() };
        assert!(user(7, 100).check_change(&file, &mode).is_err());
        assert!(user(1000, 1).check_change(&file, &mode).is_ok());
        let owner = sattr3 { uid: Nfs3Option::Some(7), ..sattr3::default() };
        assert!(user(1000, 1).check_change(&file, &owner).is_err());
        assert!(user(0, 0).check_change(&file, &owner).is_ok());
        let size = sattr3 { size: Nfs3Option::Some(0), ..sattr3::default() };
        assert!(user(7, 1).check_change(&file, &size).is_ok(), "others may write");
    }

    #[test]
    fn users_outside_the_map_are_nobody() {
        let map = UserMap::of([(500, 1000)]);
        assert_eq!((map.inward(500), map.inward(0)), (1000, NOBODY));
        let seen = map.outward(file(0o644));
        assert_eq!((seen.uid, seen.gid), (500, NOBODY));
    }
}
