//! Pipes.

use super::support::run;
use colored_stackful::io::{PipeReader, PipeWriter, pipe};
use colored_stackful::{spawn_unique, wait};
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

#[test]
fn a_writer_waits_for_room_and_the_reader_for_bytes() {
    const BYTES: usize = 1_000_000;
    run(|| {
        let (mut reader, mut writer) = pipe().unwrap();
        let writes = spawn_unique(move || writer.write_all(&vec![7; BYTES]).unwrap());
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).unwrap();
        assert!(bytes.len() == BYTES && bytes.iter().all(|byte| *byte == 7));
        wait(writes).unwrap();
    });
}

#[test]
fn the_last_clone_ends_the_pipe() {
    run(|| {
        let (reader, writer) = pipe().unwrap();
        let clone = writer.try_clone().unwrap();
        assert_eq!(clone.as_raw_fd(), writer.as_raw_fd());
        reader.set_read_timeout(Some(Duration::from_millis(10))).unwrap();
        assert_eq!(reader.read_timeout().unwrap(), Some(Duration::from_millis(10)));
        drop(writer);
        assert_eq!((&reader).read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
        // On a busy machine the system's word that the pipe has ended may come later than that.
        reader.set_read_timeout(None).unwrap();
        drop(clone);
        assert_eq!((&reader).read(&mut [0]).unwrap(), 0);

        let (reader, writer) = pipe().unwrap();
        drop(reader.into_inner().unwrap());
        // Until no child that another test has forked holds the reader.
        while (&writer).write(b"a").is_ok() {}
        assert_eq!((&writer).write(b"a").unwrap_err().kind(), ErrorKind::BrokenPipe);
    });
}

#[test]
fn ends_from_elsewhere_become_ours() {
    run(|| {
        let (reader, writer) = std::io::pipe().unwrap();
        let mut reader = PipeReader::try_from(OwnedFd::from(reader)).unwrap();
        let mut writer = PipeWriter::try_from(OwnedFd::from(writer)).unwrap();
        writer.write_all(b"a").unwrap();
        assert_eq!(reader.read(&mut [0; 2]).unwrap(), 1);
        let (other, _) = std::io::pipe().unwrap();
        let error = PipeWriter::try_from(OwnedFd::from(other)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    });
}
