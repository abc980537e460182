//! Reading and writing at a position, by calls that may block.

use std::fs::File;
use std::io::{self, ErrorKind};

/// Reads once.
pub(super) fn read(file: &File, buf: &mut [u8], offset: u64) -> io::Result<usize> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::read_at(file, buf, offset);
    #[cfg(windows)]
    return std::os::windows::fs::FileExt::seek_read(file, buf, offset);
}

/// Writes once.
pub(super) fn write(file: &File, buf: &[u8], offset: u64) -> io::Result<usize> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::write_at(file, buf, offset);
    #[cfg(windows)]
    return std::os::windows::fs::FileExt::seek_write(file, buf, offset);
}

/// Calls `part` with what is left of `0..len` until nothing is left, it makes no progress, or it fails.
/// An error after some progress is not reported: the next operation meets it again.
pub(super) fn repeat(
    len: usize,
    mut part: impl FnMut(usize) -> io::Result<usize>,
) -> io::Result<usize> {
    let mut done = 0;
    while done < len {
        match part(done) {
            Ok(0) => break,
            Ok(n) => done += n,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) if done > 0 => break,
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

/// The offset of a position, which the system takes as a signed number.
pub(super) fn check(offset: u64, len: usize) -> io::Result<()> {
    match i64::try_from(offset).ok().and_then(|offset| offset.checked_add_unsigned(len as u64)) {
        Some(_) => Ok(()),
        None => {
            let text = format!(
                "{len} bytes at offset {offset} end behind the last offset of a file, {}",
                i64::MAX
            );
            Err(io::Error::new(ErrorKind::InvalidInput, text))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interrupted_calls_are_repeated_and_an_error_after_progress_is_left_to_the_next() {
        let mut answers = vec![Ok(3), Err(ErrorKind::Interrupted), Ok(4)].into_iter();
        let done = repeat(7, |_| answers.next().expect("no more calls").map_err(io::Error::from));
        assert_eq!(done.unwrap(), 7);
        let mut answers = vec![Ok(3), Err(ErrorKind::StorageFull)].into_iter();
        let done = repeat(7, |_| answers.next().expect("no more calls").map_err(io::Error::from));
        assert_eq!(done.unwrap(), 3);
        let failed = repeat(7, |_| Err(ErrorKind::StorageFull.into()));
        assert_eq!(failed.unwrap_err().kind(), ErrorKind::StorageFull);
    }

    #[test]
    fn an_offset_out_of_range_names_the_last_one() {
        assert!(check(i64::MAX as u64, 0).is_ok());
        let error = check(i64::MAX as u64, 1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.to_string().contains("9223372036854775807"), "{error}");
    }
}
