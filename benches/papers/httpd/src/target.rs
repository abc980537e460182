//! [`Target`]: the path of a request, decoded.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// The path of a request as names. None of them is empty, `.` or `..`, and none has a slash or a zero
/// byte in it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) names: Vec<OsString>,
    /// Whether the path ends with a slash.
    pub(crate) is_directory: bool,
}

/// The bytes of a name that a `Location` need not encode.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

impl Target {
    /// Decodes a path. Several slashes count as one.
    ///
    /// # Errors
    ///
    /// A sentence for the client, if a name could leave the root or is no name.
    pub(crate) fn parse(path: &str) -> Result<Target, &'static str> {
        let Some(path) = path.strip_prefix('/') else {
            return Err("the path of a request begins with a slash\n");
        };
        let mut names = Vec::new();
        for part in path.split('/').filter(|part| !part.is_empty()) {
            let name: Vec<u8> = percent_decode_str(part).collect();
            if name == b"." || name == b".." {
                return Err("a path must not contain `.` or `..`\n");
            }
            if name.iter().any(|byte| matches!(byte, b'/' | 0)) {
                return Err("a name must not contain a slash or a zero byte\n");
            }
            names.push(OsString::from_vec(name));
        }
        Ok(Target { names, is_directory: path.is_empty() || path.ends_with('/') })
    }

    /// The path of the same directory with a slash at its end. It begins with one slash: a browser takes
    /// what follows two for a host.
    pub(crate) fn as_directory(&self) -> String {
        let mut path = String::from("/");
        for name in &self.names {
            path.extend(percent_encode(OsStr::as_bytes(name), ENCODED));
            path.push('/');
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(path: &str) -> Result<(Vec<String>, bool), &'static str> {
        let target = Target::parse(path)?;
        let names = target.names.iter().map(|name| name.to_string_lossy().into_owned());
        Ok((names.collect(), target.is_directory))
    }

    fn parsed(names: &[&str], is_directory: bool) -> Result<(Vec<String>, bool), &'static str> {
        Ok((names.iter().map(|&name| name.to_owned()).collect(), is_directory))
    }

    #[test]
    fn a_path_is_its_names() {
        assert_eq!(names("/"), parsed(&[], true));
        assert_eq!(names("/a/b.txt"), parsed(&["a", "b.txt"], false));
        assert_eq!(names("//a///b/"), parsed(&["a", "b"], true));
        assert_eq!(names("/%61%20b/%C3%A4"), parsed(&["a b", "ä"], false));
        assert_eq!(names("/...a"), parsed(&["...a"], false));
        let raw = Target::parse("/%FF").unwrap();
        assert_eq!(raw.names[0].as_bytes(), b"\xff");
    }

    #[test]
    fn no_path_leads_out() {
        for path in ["/..", "/a/../b", "/%2e%2E/a", "/.", "/a/%2e", "/a%2Fb", "/a%00", "a", ""] {
            assert!(Target::parse(path).is_err(), "{path}");
        }
    }

    #[test]
    fn a_location_begins_with_one_slash() {
        let location = |path: &str| Target::parse(path).unwrap().as_directory();
        assert_eq!(location("//example.org"), "/example.org/");
        assert_eq!(location("/a b/%C3%A4?"), "/a%20b/%C3%A4%3F/");
        assert_eq!(location("/"), "/");
    }
}
