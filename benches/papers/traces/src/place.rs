//! The name of a file, from its number.

/// Files in one directory, so that opening a file takes a look-up in a directory that may not be cached either.
const PER_DIRECTORY: u32 = 100;

/// The directory of a file, below the root of all files, such as `00012`.
#[must_use]
pub fn directory(file: u32) -> String {
    format!("{:05}", file / PER_DIRECTORY)
}

/// The path of a file below the root of all files, such as `00012/0001234`. A request asks for this path after a `/`.
#[must_use]
pub fn path(file: u32) -> String {
    format!("{}/{file:07}", directory(file))
}

/// The number of the file with this path, or none if [`path`] never gives it.
#[must_use]
pub fn number(of_path: &str) -> Option<u32> {
    let file = of_path.split_once('/')?.1.parse().ok()?;
    (path(file) == of_path).then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_back_to_its_number() {
        for (file, of_path) in [(0, "00000/0000000"), (1_234, "00012/0001234")] {
            assert_eq!(path(file), of_path);
            assert_eq!(number(of_path), Some(file));
        }
        for wrong in ["", "0", "00000/0000100", "00000/0", "/00000/0000000", "00000/+000001"] {
            assert_eq!(number(wrong), None, "{wrong}");
        }
    }
}
