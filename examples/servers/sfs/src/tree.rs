//! The files that are served: operations by number and name, over the files beneath the root.
//!
//! An operation returns when its change is on the device, as NFS requires, except for unstable writes, which `commit`
//! brings there.

mod changes;
mod data;
mod links;
mod list;

pub(crate) use self::changes::IfExists;
pub(crate) use self::data::LONGEST;

use crate::attributes;
use crate::nodes::{Id, Nodes};
use crate::open_files::OpenFiles;
use crate::palette::Palette;
use crate::refused::Refused;
use crate::root::Root;
use crate::settings::Mistake;
use colored::ColorCell;
use colored::fs::File;
use colored::sync::OnceCell;
use nfs3_types::nfs3::{fattr3, nfsstat3};
use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The served files.
#[derive(Debug)]
pub(crate) struct Tree {
    root: Root,
    nodes: ColorCell<Nodes>,
    open: Vec<ColorCell<OpenFiles>>,
    walk: OnceCell<()>,
    /// Which data may be lost: a client writes again what it wrote under another one.
    verifier: ColorCell<[u8; 8]>,
    mistake: Option<Mistake>,
}

impl Tree {
    pub(crate) async fn new(
        root: Root,
        palette: &Palette,
        verifier: [u8; 8],
        mistake: Option<Mistake>,
    ) -> io::Result<Tree> {
        let top = root.look(Path::new("")).await?;
        let id = if root.has_inodes() { Id::of_inode(&top) } else { Id(1) };
        Ok(Tree {
            root,
            nodes: ColorCell::new(palette.names, Nodes::new(id)),
            open: palette
                .files
                .iter()
                .map(|color| ColorCell::new(*color, OpenFiles::default()))
                .collect(),
            walk: OnceCell::new(),
            verifier: ColorCell::new(palette.names, verifier),
            mistake,
        })
    }

    /// The number of the root.
    pub(crate) async fn top(&self) -> Id {
        self.nodes.call(|nodes| nodes.root()).await
    }

    pub(crate) fn root(&self) -> &Root {
        &self.root
    }

    /// The attributes of a file.
    pub(crate) async fn look(&self, id: Id) -> Result<fattr3, Refused> {
        let path = self.path(id).await?;
        let metadata = self.root.look(&path).await.map_err(gone)?;
        self.check(id, &metadata)?;
        Ok(attributes::of(id, &metadata))
    }

    /// The file of this name in a directory.
    pub(crate) async fn find(&self, above: Id, name: &OsStr) -> Result<(Id, fattr3), Refused> {
        let path = self.directory_path(above).await?.join(name);
        let metadata = self.root.look(&path).await?;
        let id = self.enter(above, name.to_owned(), &metadata).await;
        Ok((id, attributes::of(id, &metadata)))
    }

    pub(crate) async fn above(&self, id: Id) -> Result<Id, Refused> {
        self.directory_path(id).await?;
        self.nodes.call(move |nodes| nodes.above(id)).await.ok_or(Refused::STALE)
    }

    /// Notes that a name means this file, and returns its number.
    async fn enter(&self, above: Id, name: OsString, metadata: &Metadata) -> Id {
        let by_inode = self.root.has_inodes().then(|| Id::of_inode(metadata));
        self.nodes
            .call(move |nodes| {
                let id = by_inode.unwrap_or_else(|| nodes.number_of_name(above, &name));
                nodes.insert(above, name, id);
                id
            })
            .await
    }

    /// Where a file is. The first number that this run has not given out makes it look at all files: a client may have it
    /// from the run before.
    async fn path(&self, id: Id) -> Result<PathBuf, Refused> {
        if let Some(path) = self.known(id).await {
            return Ok(path);
        }
        self.walk.get_or_init(|| self.enter_all()).await;
        self.known(id).await.ok_or(Refused::STALE)
    }

    async fn known(&self, id: Id) -> Option<PathBuf> {
        self.nodes.call(move |nodes| nodes.path(id)).await
    }

    /// Where a directory is.
    async fn directory_path(&self, id: Id) -> Result<PathBuf, Refused> {
        let path = self.path(id).await?;
        let metadata = self.root.look(&path).await.map_err(gone)?;
        self.check(id, &metadata)?;
        match metadata.is_dir() {
            true => Ok(path),
            false => Err(Refused(nfsstat3::NFS3ERR_NOTDIR)),
        }
    }

    async fn enter_all(&self) {
        let mut directories = vec![(self.top().await, PathBuf::new())];
        while let Some((above, path)) = directories.pop() {
            // What cannot be listed or looked at is not found.
            let Ok(names) = self.names(&path).await else { continue };
            for name in names {
                let path = path.join(&name);
                let Ok(metadata) = self.root.look(&path).await else { continue };
                let id = self.enter(above, name, &metadata).await;
                if metadata.is_dir() {
                    directories.push((id, path));
                }
            }
        }
    }

    /// Whether the place still has this file: a local user may have put another one there.
    fn check(&self, id: Id, metadata: &Metadata) -> Result<(), Refused> {
        match self.root.has_inodes() && Id::of_inode(metadata) != id {
            true => Err(Refused::STALE),
            false => Ok(()),
        }
    }

    /// The open file, which is kept open.
    pub(crate) async fn open(&self, id: Id) -> Result<Arc<File>, Refused> {
        let files = &self.open[id.0 as usize % self.open.len()];
        if let Some(file) = files.call(move |files| files.get(id)).await {
            return Ok(file);
        }
        let path = self.path(id).await?;
        let file = self.root.open_file(&path).await?;
        self.check(id, &file.metadata().await?)?;
        let file = Arc::new(file);
        let kept = Arc::clone(&file);
        files.post(move |files| files.keep(id, kept));
        Ok(file)
    }

    fn close(&self, id: Id) {
        self.open[id.0 as usize % self.open.len()].post(move |files| files.close(id));
    }
}

/// A file that has a number, and is not where it was.
fn gone(error: io::Error) -> Refused {
    match error.kind() {
        io::ErrorKind::NotFound => Refused::STALE,
        _ => error.into(),
    }
}
