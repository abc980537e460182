//! The directory with the files of a trace.

use crate::support::Directory;
use colored_traces::files::{FilesError, check, create};
use std::fs;

#[test]
fn files_have_exact_sizes_and_contents_that_can_be_checked() {
    let directory = Directory::new();
    let sizes = [0, 1, 70_000, 65_536, 8];
    let sizes: Vec<u64> = sizes.iter().copied().cycle().take(250).collect();
    let bytes = sizes.iter().sum();
    assert_eq!(create(&directory.0, &sizes, bytes).expect("the limit is enough"), bytes);
    assert_eq!(check(&directory.0, &sizes).expect("they are right"), bytes);
    assert_eq!(fs::read_dir(&directory.0).expect("it exists").count(), 3);

    let path = directory.0.join("00001/0000102");
    let mut content = fs::read(&path).expect("it exists");
    content[69_999] ^= 1;
    fs::write(&path, &content).expect("it can be written");
    let error = check(&directory.0, &sizes).expect_err("a byte has changed").to_string();
    assert!(
        error.ends_with("0000102: its content after 65536 bytes is not the file's own"),
        "{error}"
    );

    content.pop();
    fs::write(&path, &content).expect("it can be written");
    let error = check(&directory.0, &sizes).expect_err("a byte is missing").to_string();
    assert!(error.ends_with("0000102: it has 69999 bytes; allowed are 70000"), "{error}");
}

#[test]
fn more_bytes_than_the_limit_are_refused_before_any_is_written() {
    let directory = Directory::new();
    let root = directory.0.join("new");
    let error = create(&root, &[100, 101], 200).expect_err("the limit is too small");
    assert_eq!(error.to_string(), "the files have 201 bytes; allowed are 200, by the limit");
    assert!(!root.exists());
}

#[test]
fn a_directory_with_entries_is_left_as_it_is() {
    let directory = Directory::new();
    fs::write(directory.0.join("mine"), "mine").expect("it can be written");
    let error = create(&directory.0, &[100], 200).expect_err("there is a file");
    assert!(matches!(error, FilesError::NotEmpty(_)), "{error}");
    assert_eq!(fs::read_dir(&directory.0).expect("it exists").count(), 1);
}
