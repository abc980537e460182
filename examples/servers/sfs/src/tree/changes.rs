//! Names that come, go and move.

use super::Tree;
use crate::attributes;
use crate::nodes::Id;
use crate::refused::Refused;
use colored::fs::{self, File};
use nfs3_types::nfs3::{fattr3, nfsstat3, sattr3};
use std::ffi::OsStr;
use std::sync::Arc;

/// What a creation does if the name exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IfExists {
    /// It takes the file that is there.
    Take,
    Fail,
    /// It takes the file if it was made by a request with this verifier, so that the request can be repeated.
    TakeOwn([u8; 8]),
}

impl Tree {
    /// Makes a file, with attributes.
    pub(crate) async fn create(
        &self,
        above: Id,
        name: &OsStr,
        new: &sattr3,
        if_exists: IfExists,
    ) -> Result<(Id, fattr3), Refused> {
        let directory = self.directory_path(above).await?;
        let mode =
            if let nfs3_types::nfs3::Nfs3Option::Some(mode) = new.mode { mode } else { 0o644 };
        let created = self.root.create_file(&directory.join(name), mode & 0o7777).await;
        let file = match created.map_err(Refused::from) {
            Err(Refused(nfsstat3::NFS3ERR_EXIST)) => {
                return self.take_existing(above, name, new, if_exists).await;
            }
            created => created?,
        };
        attributes::set(&self.root, &file, new).await?;
        let id = self.enter(above, name.to_owned(), &file.metadata().await?).await;
        if let IfExists::TakeOwn(verifier) = if_exists {
            self.nodes.call(move |nodes| nodes.set_verifier(id, verifier)).await;
        }
        self.sync_new(&file, &directory).await?;
        let attributes = attributes::of(id, &file.metadata().await?);
        let files = &self.open[id.0 as usize % self.open.len()];
        let file = Arc::new(file);
        files.post(move |files| files.keep(id, file));
        Ok((id, attributes))
    }

    async fn sync_new(&self, file: &File, directory: &std::path::Path) -> Result<(), Refused> {
        file.sync_all().await?;
        Ok(self.root.sync_directory(directory).await?)
    }

    async fn take_existing(
        &self,
        above: Id,
        name: &OsStr,
        new: &sattr3,
        if_exists: IfExists,
    ) -> Result<(Id, fattr3), Refused> {
        let (id, attributes) = self.find(above, name).await?;
        match if_exists {
            IfExists::Take => {
                let size = sattr3 { size: new.size, ..sattr3::default() };
                let attributes = self.set(id, &size).await?;
                self.sync_existing(above).await?;
                Ok((id, attributes))
            }
            IfExists::TakeOwn(verifier)
                if self.nodes.call(move |nodes| nodes.has_verifier(id, verifier)).await =>
            {
                self.sync_existing(above).await?;
                Ok((id, attributes))
            }
            _ => Err(Refused(nfsstat3::NFS3ERR_EXIST)),
        }
    }

    /// The request that makes the name may not have synced it yet, or have failed to.
    async fn sync_existing(&self, above: Id) -> Result<(), Refused> {
        let directory = self.directory_path(above).await?;
        Ok(self.root.sync_directory(&directory).await?)
    }

    pub(crate) async fn make_directory(
        &self,
        above: Id,
        name: &OsStr,
        new: &sattr3,
    ) -> Result<(Id, fattr3), Refused> {
        let path = self.directory_path(above).await?;
        fs::create_dir(self.root.directory(&path).await?.entry(name)).await?;
        self.root.set_of_directory(&path.join(name), new).await?;
        self.root.sync_directory(&path).await?;
        self.find(above, name).await
    }

    /// Removes a name of a file that is no directory.
    pub(crate) async fn remove(&self, above: Id, name: &OsStr) -> Result<(), Refused> {
        let path = self.directory_path(above).await?;
        fs::remove_file(self.root.directory(&path).await?.entry(name)).await?;
        self.forget(above, name).await;
        Ok(self.root.sync_directory(&path).await?)
    }

    pub(crate) async fn remove_directory(&self, above: Id, name: &OsStr) -> Result<(), Refused> {
        let path = self.directory_path(above).await?;
        fs::remove_dir(self.root.directory(&path).await?.entry(name)).await?;
        self.forget(above, name).await;
        Ok(self.root.sync_directory(&path).await?)
    }

    async fn forget(&self, above: Id, name: &OsStr) {
        let name = name.to_owned();
        if let Some(id) = self.nodes.call(move |nodes| nodes.remove(above, &name)).await {
            self.close(id);
        }
    }

    /// Moves a file to another name, whose file is removed.
    pub(crate) async fn rename(&self, from: (Id, &OsStr), to: (Id, &OsStr)) -> Result<(), Refused> {
        let (old, new) = (self.directory_path(from.0).await?, self.directory_path(to.0).await?);
        let (moved, _) = self.find(from.0, from.1).await?;
        let replaced = self.find(to.0, to.1).await.ok().map(|(id, _)| id);
        if replaced == Some(moved) {
            // Two names of one file: both stay.
            return Ok(());
        }
        let (source, target) = (self.root.directory(&old).await?, self.root.directory(&new).await?);
        fs::rename(source.entry(from.1), target.entry(to.1)).await?;
        let (from_name, to_name) = (from.1.to_owned(), to.1.to_owned());
        self.nodes
            .call(move |nodes| {
                nodes.remove(from.0, &from_name);
                nodes.insert(to.0, to_name, moved);
            })
            .await;
        if let Some(replaced) = replaced {
            self.close(replaced);
        }
        self.root.sync_directory(&new).await?;
        if from.0 != to.0 {
            self.root.sync_directory(&old).await?;
        }
        Ok(())
    }
}
