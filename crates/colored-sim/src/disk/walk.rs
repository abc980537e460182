//! Where a path leads.

use super::node::Content;
use super::{Disk, Error, Id, ROOT};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// So many symbolic links may follow each other.
const LINKS: u32 = 40;

/// Whether a symbolic link at the end of a path is followed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Follow {
    Always,
    /// Only before a slash.
    BeforeSlash,
    Never,
}

/// Where a path leads.
#[derive(Debug)]
pub(super) struct Place {
    /// The directory of the entry.
    pub(super) directory: Id,
    /// The names from the root to that directory.
    above: Vec<OsString>,
    /// The name of the entry. None for the root, and behind `..`.
    pub(super) name: Option<OsString>,
    /// What is there.
    pub(super) node: Option<Id>,
    /// Whether the path ends with a slash, which only a directory has.
    pub(super) is_of_directory: bool,
}

impl Place {
    pub(super) fn path(&self) -> PathBuf {
        let mut path = PathBuf::from("/");
        path.extend(self.above.iter().chain(&self.name));
        path
    }

    /// What is there, if that is possible with such a path.
    pub(super) fn found(&self, disk: &Disk) -> Result<Id, Error> {
        let id = self.node.ok_or(Error::NotFound)?;
        if self.is_of_directory {
            disk.node(id).names()?;
        }
        Ok(id)
    }
}

enum Part {
    Root,
    Up,
    /// A dot at the end.
    Here,
    Name(OsString),
}

fn parts(path: &Path) -> Vec<Part> {
    let part = |component: Component<'_>| match component {
        Component::RootDir => Some(Part::Root),
        Component::ParentDir => Some(Part::Up),
        Component::Normal(name) => Some(Part::Name(name.to_owned())),
        Component::CurDir | Component::Prefix(_) => None,
    };
    let mut parts: Vec<Part> = path.components().filter_map(part).collect();
    if ends_with(path, b".") {
        parts.push(Part::Here);
    }
    parts
}

/// Whether only a directory can be at such a path.
pub(super) fn is_of_directory(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b"/")
}

/// Whether no system could be asked for such a path.
pub(super) fn has_zero_byte(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().contains(&0)
}

/// Whether this is the last part of a path, before slashes.
pub(super) fn ends_with(path: &Path, part: &[u8]) -> bool {
    let text = path.as_os_str().as_encoded_bytes();
    let last = text.split(|byte| *byte == b'/').rfind(|part| !part.is_empty());
    last == Some(part)
}

impl Disk {
    /// Where a path leads.
    pub(super) fn walk(&self, path: &Path, follow: Follow) -> Result<Place, Error> {
        if path.as_os_str().is_empty() {
            return Err(Error::NotFound);
        }
        if has_zero_byte(path) {
            return Err(Error::ZeroByte);
        }
        let mut is_of_directory = is_of_directory(path);
        let mut stack: Vec<(OsString, Id)> = Vec::new();
        let mut left: VecDeque<Part> = parts(path).into();
        let follows = |is_of_directory| match follow {
            Follow::Always => true,
            Follow::BeforeSlash => is_of_directory,
            Follow::Never => false,
        };
        let mut links = 0;
        while let Some(part) = left.pop_front() {
            let name = match part {
                Part::Root => {
                    stack.clear();
                    continue;
                }
                Part::Up => {
                    stack.pop();
                    continue;
                }
                Part::Here => continue,
                Part::Name(name) => name,
            };
            let directory = stack.last().map_or(ROOT, |(_, id)| *id);
            let found = self.look_up(directory, &name)?;
            let is_last = left.is_empty();
            match found.map(|id| (id, &self.node(id).content)) {
                Some((_, Content::Link(target))) if !is_last || follows(is_of_directory) => {
                    links += 1;
                    if links > LINKS {
                        return Err(Error::Loop);
                    }
                    is_of_directory |= is_last && self::is_of_directory(target);
                    parts(target).into_iter().rev().for_each(|part| left.push_front(part));
                }
                _ if is_last => {
                    let above = stack.into_iter().map(|(name, _)| name).collect();
                    let name = Some(name);
                    return Ok(Place { directory, above, name, node: found, is_of_directory });
                }
                Some((id, Content::Directory(_))) => stack.push((name, id)),
                Some(_) => return Err(Error::NotDirectory),
                None => return Err(Error::NotFound),
            }
        }
        let directory = stack.last().map_or(ROOT, |(_, id)| *id);
        let above = stack.into_iter().map(|(name, _)| name).collect();
        Ok(Place { directory, above, name: None, node: Some(directory), is_of_directory: true })
    }
}
