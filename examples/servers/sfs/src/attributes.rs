//! Attributes of files, as NFS version 3 has them.

use crate::nodes::Id;
use crate::refused::Refused;
use crate::root::Root;
use colored::fs::File;
use nfs3_types::nfs3::{
    Nfs3Option, fattr3, ftype3, nfstime3, sattr3, set_atime, set_mtime, specdata3,
};
use rustix::fs::{Gid, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT, Uid};
use std::fs::{Metadata, Permissions};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};

pub(crate) fn of(id: Id, metadata: &Metadata) -> fattr3 {
    let device = metadata.rdev();
    fattr3 {
        type_: kind(metadata),
        mode: metadata.mode() & 0o7777,
        nlink: u32::try_from(metadata.nlink()).unwrap_or(u32::MAX),
        uid: metadata.uid(),
        gid: metadata.gid(),
        size: metadata.len(),
        used: metadata.blocks() * 512,
        rdev: specdata3 {
            specdata1: rustix::fs::major(device),
            specdata2: rustix::fs::minor(device),
        },
        fsid: 1,
        fileid: id.0,
        atime: time(metadata.atime(), metadata.atime_nsec()),
        mtime: time(metadata.mtime(), metadata.mtime_nsec()),
        ctime: time(metadata.ctime(), metadata.ctime_nsec()),
    }
}

fn kind(metadata: &Metadata) -> ftype3 {
    let kind = metadata.file_type();
    match () {
        () if kind.is_dir() => ftype3::NF3DIR,
        () if kind.is_symlink() => ftype3::NF3LNK,
        () if kind.is_block_device() => ftype3::NF3BLK,
        () if kind.is_char_device() => ftype3::NF3CHR,
        () if kind.is_socket() => ftype3::NF3SOCK,
        () if kind.is_fifo() => ftype3::NF3FIFO,
        () => ftype3::NF3REG,
    }
}

fn time(seconds: i64, nanoseconds: i64) -> nfstime3 {
    let seconds = u32::try_from(seconds.max(0)).unwrap_or(u32::MAX);
    nfstime3 { seconds, nseconds: u32::try_from(nanoseconds).unwrap_or(0) }
}

/// Sets what the request names, on an open file or directory. Owner first, since that clears bits of the mode.
pub(crate) async fn set(root: &Root, file: &File, new: &sattr3) -> Result<(), Refused> {
    if root.has_inodes() {
        set_owner(file, new)?;
    }
    if let Nfs3Option::Some(mode) = new.mode {
        file.set_permissions(Permissions::from_mode(mode & 0o7777)).await?;
    }
    if let Nfs3Option::Some(size) = new.size {
        file.set_len(size).await?;
    }
    if root.has_inodes() {
        set_times(file, new)?;
    }
    Ok(())
}

fn set_owner(file: &File, new: &sattr3) -> Result<(), Refused> {
    let uid = match new.uid {
        Nfs3Option::Some(uid) => Some(Uid::from_raw(uid)),
        Nfs3Option::None => None,
    };
    let gid = match new.gid {
        Nfs3Option::Some(gid) => Some(Gid::from_raw(gid)),
        Nfs3Option::None => None,
    };
    if uid.is_some() || gid.is_some() {
        colored::block_in_place(|| rustix::fs::fchown(file.as_fd(), uid, gid))
            .map_err(std::io::Error::from)?;
    }
    Ok(())
}

fn set_times(file: &File, new: &sattr3) -> Result<(), Refused> {
    let last_access = match new.atime {
        set_atime::DONT_CHANGE => special(UTIME_OMIT),
        set_atime::SET_TO_SERVER_TIME => special(UTIME_NOW),
        set_atime::SET_TO_CLIENT_TIME(time) => exact(time),
    };
    let last_modification = match new.mtime {
        set_mtime::DONT_CHANGE => special(UTIME_OMIT),
        set_mtime::SET_TO_SERVER_TIME => special(UTIME_NOW),
        set_mtime::SET_TO_CLIENT_TIME(time) => exact(time),
    };
    let times = Timestamps { last_access, last_modification };
    colored::block_in_place(|| rustix::fs::futimens(file.as_fd(), &times))
        .map_err(std::io::Error::from)?;
    Ok(())
}

fn special(tv_nsec: i64) -> Timespec {
    Timespec { tv_sec: 0, tv_nsec }
}

fn exact(time: nfstime3) -> Timespec {
    Timespec { tv_sec: time.seconds.into(), tv_nsec: time.nseconds.min(999_999_999).into() }
}
