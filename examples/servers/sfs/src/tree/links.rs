//! Symbolic links, which the server stores and never follows, and hard links.

use super::Tree;
use crate::nodes::Id;
use crate::refused::Refused;
use colored::fs;
use nfs3_types::nfs3::{fattr3, ftype3};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// The longest target, in bytes.
const LONGEST_TARGET: usize = 1024;

impl Tree {
    pub(crate) async fn make_symbolic_link(
        &self,
        above: Id,
        name: &OsStr,
        target: &[u8],
    ) -> Result<(Id, fattr3), Refused> {
        if target.is_empty() || target.len() > LONGEST_TARGET || target.contains(&0) {
            return Err(Refused::INVALID);
        }
        let path = self.directory_path(above).await?;
        let directory = self.root.directory(&path).await?;
        fs::symlink(OsStr::from_bytes(target), directory.entry(name)).await?;
        self.root.sync_directory(&path).await?;
        self.find(above, name).await
    }

    /// Where a symbolic link leads, for the client to follow.
    pub(crate) async fn target(&self, id: Id) -> Result<(OsString, fattr3), Refused> {
        let attributes = self.look(id).await?;
        let path = self.path(id).await?;
        let (Some(above), Some(name), ftype3::NF3LNK) =
            (path.parent(), path.file_name(), attributes.type_)
        else {
            return Err(Refused::INVALID);
        };
        let directory = self.root.directory(above).await?;
        let target = fs::read_link(directory.entry(name)).await?;
        Ok((target.into_os_string(), attributes))
    }

    /// Gives a file another name.
    pub(crate) async fn link(&self, id: Id, above: Id, name: &OsStr) -> Result<fattr3, Refused> {
        self.look(id).await?;
        let (file, new) = (self.path(id).await?, self.directory_path(above).await?);
        let (Some(old), Some(old_name)) = (file.parent(), file.file_name()) else {
            return Err(Refused::INVALID);
        };
        let (source, target) = (self.root.directory(old).await?, self.root.directory(&new).await?);
        fs::hard_link(source.entry(old_name), target.entry(name)).await?;
        self.root.sync_directory(&new).await?;
        let name = name.to_owned();
        self.nodes.call(move |nodes| nodes.insert(above, name, id)).await;
        self.look(id).await
    }
}
