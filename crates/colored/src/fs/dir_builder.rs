//! [`DirBuilder`].

use super::files::Files;
use super::offload::offload;
use std::io;
use std::path::Path;

/// How to make a directory, as [`std::fs::DirBuilder`].
///
/// # Examples
///
/// ```
/// use colored::fs::DirBuilder;
///
/// # #[colored::main]
/// # async fn main() -> std::io::Result<()> {
/// # let root = std::env::temp_dir().join(format!("colored-dir-builder-{}", std::process::id()));
/// DirBuilder::new().recursive(true).create(root.join("a/b")).await?;
/// # assert!(root.join("a/b").is_dir());
/// # std::fs::remove_dir_all(root)
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct DirBuilder {
    recursive: bool,
    mode: Option<u32>,
}

impl DirBuilder {
    /// One directory, in one that exists, with the usual permissions.
    #[must_use]
    pub fn new() -> DirBuilder {
        DirBuilder::default()
    }

    /// Whether the directories above are made if they do not exist, with the same permissions; a directory that exists
    /// already is then no error.
    pub fn recursive(&mut self, recursive: bool) -> &mut DirBuilder {
        self.recursive = recursive;
        self
    }

    /// The permissions of new directories, before the mask of the process. Default: `0o777`.
    #[cfg(unix)]
    pub fn mode(&mut self, mode: u32) -> &mut DirBuilder {
        self.mode = Some(mode);
        self
    }

    /// Makes the directory. Not cancel safe: a dropped call may still make it.
    ///
    /// # Errors
    ///
    /// The system's, with the path: [`AlreadyExists`](io::ErrorKind::AlreadyExists) if something is there already,
    /// [`NotFound`](io::ErrorKind::NotFound) if the directory above is not, unless it is
    /// [`recursive`](Self::recursive).
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    pub async fn create(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let builder = self.clone();
        let create = move |files: &Files, path: &Path| match files.simulated() {
            Some(tree) => tree.create_dir(path, builder.recursive, builder.mode),
            None => builder.builder().create(path),
        };
        offload("make the directory", path.as_ref(), create).await
    }

    fn builder(&self) -> std::fs::DirBuilder {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(self.recursive);
        #[cfg(unix)]
        if let Some(mode) = self.mode {
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, mode);
        }
        builder
    }
}
