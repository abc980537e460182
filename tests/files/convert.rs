//! Files, the standard library's files, and descriptors.

use super::{in_all_modes, runtime_that_is};
use colored::fs::File;
use colored_tests::polls::waits;
use colored_tests::scratch::Scratch;
use std::io::{Read, Write};
use std::pin::pin;

#[test]
fn a_file_is_given_back_at_once_with_its_position() {
    in_all_modes(|| async {
        let scratch = Scratch::new();
        let mut file = File::open(scratch.file("file", "0123456789")).await.unwrap();
        file.read(&mut [0; 3]).await.unwrap();
        let mut std = file.try_into_std().unwrap();
        let mut rest = String::new();
        std.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "3456789");
    });
}

/// Without attempts a thread reads, and goes on when its future is dropped.
#[test]
fn a_file_with_an_operation_that_is_not_over_comes_back() {
    let runtime = runtime_that_is(false, 1);
    runtime.run(async {
        let (reader, mut writer) = std::io::pipe().unwrap();
        #[cfg(unix)]
        let reader = std::os::fd::OwnedFd::from(reader);
        #[cfg(windows)]
        let reader = std::os::windows::io::OwnedHandle::from(reader);
        let mut file = File::from_std(reader.into()).unwrap();
        {
            let mut byte = [0];
            assert!(waits(pin!(file.read(&mut byte))).await);
        }
        let mut file = file.try_into_std().unwrap_err();
        writer.write_all(b"x").unwrap();
        // The byte of the dropped read is not lost to the `File`.
        let mut byte = [0];
        assert_eq!(file.read(&mut byte).await.unwrap(), 1);
        assert_eq!(&byte, b"x");
        writer.write_all(b"y").unwrap();
        let mut std = file.try_into_std().unwrap();
        std.read_exact(&mut byte).unwrap();
        assert_eq!(&byte, b"y");
    });
}

#[cfg(unix)]
#[test]
fn a_descriptor_has_the_bytes_and_a_position_of_its_own() {
    use std::io::{Seek, SeekFrom};
    use std::os::fd::{AsFd, AsRawFd, OwnedFd};
    use std::os::unix::fs::FileExt;
    in_all_modes(|| async {
        let scratch = Scratch::new();
        let std = std::fs::File::open(scratch.file("file", "0123456789")).unwrap();
        let number = std.as_raw_fd();
        let mut file = File::try_from(OwnedFd::from(std)).unwrap();
        assert_eq!((file.as_raw_fd(), file.as_fd().as_raw_fd()), (number, number));
        file.read(&mut [0; 4]).await.unwrap();
        let mut same = std::fs::File::from(file.as_fd().try_clone_to_owned().unwrap());
        let mut two = [0; 2];
        same.read_exact_at(&mut two, 8).unwrap();
        assert_eq!(&two, b"89");
        // Wherever the system's position is, the file's stays.
        same.seek(SeekFrom::Start(9)).unwrap();
        file.read(&mut two).await.unwrap();
        assert_eq!(&two, b"45");
        assert_eq!(file.into_std().await.unwrap().stream_position().unwrap(), 6);
    });
}
