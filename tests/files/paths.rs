//! Operations on paths and directories.

use super::in_all_modes;
use colored::fs::{self, DirBuilder, File};
use colored::io::named;
use colored_tests::scratch::Scratch;
use std::collections::BTreeSet;
use std::future::poll_fn;
use std::io::ErrorKind;
use std::pin::Pin;

#[test]
fn directories_are_made_with_options() {
    in_all_modes(|| async {
        let scratch = Scratch::new();
        let (one, deep) = (scratch.join("one"), scratch.join("a/b"));
        let builder = DirBuilder::new();
        builder.create(&one).await.unwrap();
        let again = named(builder.create(&one)).await.unwrap_err();
        assert_eq!(again.kind(), ErrorKind::AlreadyExists);
        let said = format!("cannot make the directory {}: ", one.display());
        assert!(again.to_string().starts_with(&said), "{again}");
        assert_eq!(builder.create(&deep).await.unwrap_err().kind(), ErrorKind::NotFound);
        DirBuilder::new().recursive(true).create(&deep).await.unwrap();
        DirBuilder::new().recursive(true).create(&deep).await.unwrap();
        assert!(deep.is_dir());
    });
}

#[cfg(unix)]
#[test]
fn a_directory_has_the_mode_that_it_was_made_with() {
    use std::os::unix::fs::PermissionsExt;
    in_all_modes(|| async {
        let scratch = Scratch::new();
        let one = scratch.join("one");
        DirBuilder::new().mode(0o500).create(&one).await.unwrap();
        assert_eq!(std::fs::metadata(&one).unwrap().permissions().mode() & 0o777, 0o500);
    });
}

/// Shows G13.
#[test]
fn an_error_names_the_operation_and_the_path_and_has_the_kind_of_the_system() {
    in_all_modes(|| async {
        let scratch = Scratch::new();
        let gone = scratch.join("gone");
        let at = gone.display();
        let other = scratch.join("x");
        for (ours, of_std, said) in [
            (
                named(File::open(&gone)).await.map(drop),
                std::fs::File::open(&gone).map(drop),
                format!("cannot open {at}: "),
            ),
            (
                named(fs::read(&gone)).await.map(drop),
                std::fs::read(&gone).map(drop),
                format!("cannot open {at}: "),
            ),
            (
                named(fs::metadata(&gone)).await.map(drop),
                std::fs::metadata(&gone).map(drop),
                format!("cannot read the metadata of {at}: "),
            ),
            (
                named(fs::remove_file(&gone)).await,
                std::fs::remove_file(&gone),
                format!("cannot remove the file {at}: "),
            ),
            (
                named(fs::read_dir(&gone)).await.map(drop),
                std::fs::read_dir(&gone).map(drop),
                format!("cannot list {at}: "),
            ),
            (
                named(fs::rename(&gone, &other)).await,
                std::fs::rename(&gone, &other),
                format!("cannot rename {at} to {}", other.display()),
            ),
        ] {
            let (error, of_std) = (ours.unwrap_err(), of_std.unwrap_err());
            assert_eq!(error.raw_os_error(), of_std.raw_os_error(), "{error}");
            assert!(error.to_string().starts_with(&said), "{error}");
            assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
        }
        let text = fs::read_to_string(scratch.file("bytes", [b'a', 0xff])).await.unwrap_err();
        assert_eq!(text.kind(), ErrorKind::InvalidData);
        assert!(text.to_string().contains("index 1"), "{text}");
    });
}

#[test]
fn a_large_directory_is_listed_whole_also_while_it_changes() {
    in_all_modes(|| async {
        let scratch = Scratch::new();
        let names: BTreeSet<String> = (0..1000).map(|i| format!("entry-{i}")).collect();
        for name in &names {
            scratch.file(name, name);
        }
        std::fs::create_dir(scratch.join("directory")).unwrap();
        let mut entries = fs::read_dir(scratch.path()).await.unwrap();
        let mut found = BTreeSet::new();
        while let Some(entry) = entries.next_entry().await.unwrap() {
            let name = entry.file_name().into_string().unwrap();
            assert_eq!(entry.file_type().unwrap().is_dir(), name == "directory");
            assert_eq!(entry.path(), scratch.join(&name));
            if found.len() == 10 {
                scratch.file("late", "");
            }
            if name != "directory" && name != "late" {
                assert_eq!(entry.metadata().await.unwrap().len(), name.len() as u64);
                assert!(found.insert(name), "an entry is listed once");
            }
        }
        assert_eq!(found, names);
        assert!(entries.next_entry().await.unwrap().is_none(), "and stays at the end");
        let mut stream = fs::read_dir(scratch.path()).await.unwrap();
        let mut count = 0;
        while let Some(entry) =
            poll_fn(|cx| futures_core::Stream::poll_next(Pin::new(&mut stream), cx)).await
        {
            entry.unwrap();
            count += 1;
        }
        assert_eq!(count, 1002);
    });
}

#[test]
fn a_file_that_is_deleted_while_open_is_read() {
    in_all_modes(|| async {
        let scratch = Scratch::new();
        let path = scratch.file("file", "bytes");
        let file = File::open(&path).await.unwrap();
        std::fs::remove_file(&path).unwrap();
        let mut bytes = [0; 5];
        file.read_exact_at(&mut bytes, 0).await.unwrap();
        assert_eq!(&bytes, b"bytes");
    });
}
