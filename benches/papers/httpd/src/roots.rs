//! [`Roots`]: which directory serves a path.

use crate::target::Target;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Directories, each with the prefix of the paths that it serves. The longest prefix of a path decides.
#[derive(Clone, Debug)]
pub(crate) struct Roots(Vec<(Vec<OsString>, PathBuf)>);

impl Roots {
    /// Reads `DIR`, for all paths, or `/PREFIX=DIR`, of each option.
    ///
    /// # Errors
    ///
    /// A sentence about the first one that is wrong.
    pub(crate) fn parse(options: &[String]) -> Result<Roots, String> {
        let mut roots = Vec::<(Vec<OsString>, PathBuf)>::new();
        for option in options {
            let (prefix, directory) = match option.split_once('=') {
                Some((prefix, directory)) if prefix.starts_with('/') => (prefix, directory),
                _ => ("/", option.as_str()),
            };
            let prefix = match Target::parse(prefix) {
                Ok(target) => target.names,
                Err(reason) => return Err(format!("--root {option}: {}", reason.trim_end())),
            };
            if !Path::new(directory).is_dir() {
                return Err(format!("--root {option}: there is no directory {directory:?}"));
            }
            if roots.iter().any(|(other, _)| *other == prefix) {
                return Err(format!("--root {option}: the prefix has a directory already"));
            }
            roots.push((prefix, directory.into()));
        }
        // The first match is the longest one.
        roots.sort_by_key(|(prefix, _)| std::cmp::Reverse(prefix.len()));
        Ok(Roots(roots))
    }

    /// The path in the file system, if some directory serves the target.
    pub(crate) fn find(&self, target: &Target) -> Option<PathBuf> {
        self.0.iter().find_map(|(prefix, directory)| {
            let rest = target.names.strip_prefix(prefix.as_slice())?;
            let mut path = directory.clone();
            path.extend(rest);
            Some(path)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_prefix_decides() {
        let options = ["/a=/tmp", "/", "/a/b=/dev"].map(String::from);
        let roots = Roots::parse(&options).unwrap();
        let find = |path: &str| roots.find(&Target::parse(path).unwrap()).unwrap();
        assert_eq!(find("/a/b/c"), Path::new("/dev/c"));
        assert_eq!(find("/a/bc"), Path::new("/tmp/bc"));
        assert_eq!(find("/a"), Path::new("/tmp"));
        assert_eq!(find("/c/a"), Path::new("/c/a"));
    }

    #[test]
    fn a_path_outside_every_prefix_has_no_directory() {
        let roots = Roots::parse(&[String::from("/a=/tmp")]).unwrap();
        assert_eq!(roots.find(&Target::parse("/b").unwrap()), None);
    }

    #[test]
    fn mistakes_say_what_is_wrong() {
        let error = |options: &[&str]| {
            Roots::parse(&options.iter().map(|&o| o.to_owned()).collect::<Vec<_>>()).unwrap_err()
        };
        assert_eq!(error(&["nowhere"]), "--root nowhere: there is no directory \"nowhere\"");
        let twice = "--root /x/=/tmp: the prefix has a directory already";
        assert_eq!(error(&["/x=/tmp", "/x/=/tmp"]), twice);
        let up = "--root /..=/tmp: a path must not contain `.` or `..`";
        assert_eq!(error(&["/..=/tmp"]), up);
    }
}
