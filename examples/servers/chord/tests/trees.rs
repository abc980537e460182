//! A directory is published, and read again.

use super::sockets::{self, settings};
use chord::tree::{Tree, publish};
use chord::{Mistake, Signer};
use std::fs;
use std::path::{Path, PathBuf};

/// A directory that is removed in the end.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("chord-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("the directory for temporary files is there");
        Self(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Lengths around those at which a tree gets a level more.
const LENGTHS: [usize; 9] = [0, 1, 1023, 1024, 1025, 32_768, 32_769, 65_537, 1_100_000];

fn content(length: usize) -> Vec<u8> {
    (0..length).map(|place| (place / 7 + place / 1024) as u8).collect()
}

fn fill(directory: &Path) {
    fs::create_dir_all(directory.join("inner/empty")).unwrap();
    for length in LENGTHS {
        fs::write(directory.join(format!("inner/{length}")), content(length)).unwrap();
    }
}

#[colored::test]
async fn a_directory_is_published_and_read_again() {
    let ring = sockets::start(3, 3, |_| settings(Mistake::None)).await;
    let (directory, signer) = (Directory::new("published"), Signer::from_secret(&[9; 32]));
    fill(&directory.0);
    let source = directory.0.join("inner");
    let first = publish(&ring.client, &signer, &source).await.expect("there is room");
    assert_eq!((first.sequence, first.bytes), (1, LENGTHS.iter().sum::<usize>() as u64));
    let tree = Tree::open(&ring.client, first.key, 16).await.expect("it is published");
    tree.save("", &directory.0.join("copy")).await.expect("all blocks are there");
    for length in LENGTHS {
        let copied = fs::read(directory.0.join(format!("copy/{length}"))).unwrap();
        assert!(copied == content(length), "{length} bytes");
    }
    assert!(directory.0.join("copy/empty").is_dir());
    tree.save("32769", &directory.0.join("file")).await.expect("all blocks are there");
    assert_eq!(fs::read(directory.0.join("file")).unwrap(), content(32_769));
    for path in ["missing", "1/1", "../1", "empty/.."] {
        assert!(tree.find(path).await.is_err(), "{path}");
    }
    assert!(tree.save("1", &directory.0.join("file")).await.is_err(), "it would be replaced");

    fs::write(source.join("1"), b"!").unwrap();
    let second = publish(&ring.client, &signer, &source).await.expect("there is room");
    assert_eq!((second.key, second.sequence), (first.key, 2));
    let tree = Tree::open(&ring.client, first.key, 1).await.expect("it is published");
    tree.save("1", &directory.0.join("newer")).await.expect("all blocks are there");
    assert_eq!(fs::read(directory.0.join("newer")).unwrap(), b"!");
}

#[colored::test]
async fn links_out_of_the_directory_are_refused() {
    let ring = sockets::start(3, 1, |_| settings(Mistake::None)).await;
    let (directory, signer) = (Directory::new("links"), Signer::from_secret(&[8; 32]));
    std::os::unix::fs::symlink("/etc/passwd", directory.0.join("link")).unwrap();
    assert!(publish(&ring.client, &signer, &directory.0).await.is_err());
}
