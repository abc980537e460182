//! A directory is published, and read again.

use super::sockets::{self, Housed, settings};
use chord::tree::{Tree, publish};
use chord::{Client, Error, Id, Mistake, Signer, Value};
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

/// A ring of four processes, with the mistakes of each, and of the client behind them.
async fn start(mistake: impl Fn(u16) -> Mistake) -> Housed {
    sockets::start(4, 3, |number| settings(mistake(number))).await
}

/// The trees of a test.
const TREES: u8 = 8;

/// Of some trees, how many are read as they were published, if the processes of these numbers alter what they send. The others
/// cannot be read, or are read with other names or bytes.
async fn count_right(name: &str, liars: &[u16], reader: Mistake) -> usize {
    let mistake = |process| match process {
        4 => reader,
        _ if liars.contains(&process) => Mistake::AltersValues,
        _ => Mistake::None,
    };
    let (ring, directory) = (start(mistake).await, Directory::new(name));
    let mut right = 0;
    for number in 0..TREES {
        let (source, copy) = (directory.0.join("source"), directory.0.join(number.to_string()));
        fs::create_dir_all(source.join("inner")).unwrap();
        fs::write(source.join("inner/file"), [number; 1500]).unwrap();
        let signer = Signer::from_secret(&[number; 32]);
        publish(&ring.client, &signer, &source).await.expect("there is room");
        let saved = save(&ring.client, signer.key(), &copy).await;
        let read = fs::read(copy.join("inner/file")).unwrap_or_default();
        right += usize::from(saved.is_ok() && read == [number; 1500]);
    }
    right
}

async fn save(client: &Client, key: Id, target: &Path) -> Result<u64, Error> {
    Tree::open(client, key, 4).await?.save("", target).await
}

#[colored::test]
async fn altered_directories_and_files_are_not_delivered() {
    let right = count_right("altered", &[0, 1], Mistake::None).await;
    assert_eq!(right, usize::from(TREES));
}

#[colored::test]
async fn altered_trees_are_delivered_if_the_reader_trusts() {
    let right = count_right("trusted", &[0, 1], Mistake::TrustsReplies).await;
    assert!(right < usize::from(TREES));
}

#[colored::test]
async fn a_tree_of_which_each_copy_is_altered_is_refused() {
    let ring = start(|_| Mistake::AltersValues).await;
    let (directory, signer) = (Directory::new("lies"), Signer::from_secret(&[6; 32]));
    let (source, copy) = (directory.0.join("source"), directory.0.join("copy"));
    fs::create_dir(&source).unwrap();
    // The processes alter what they send, and this client what it stores.
    let addresses: Vec<_> = ring.processes.iter().map(chord::Process::address).collect();
    let client = ring.processes[0].client(&addresses, settings(Mistake::None));
    publish(&client, &signer, &source).await.expect("there is room");
    let saved = save(&client, signer.key(), &copy).await;
    assert!(matches!(saved, Err(Error::NotFound(_))), "{saved:?}");
    assert!(!copy.exists());
}

/// Stores a directory with one entry of this name, as no honest publisher does.
async fn publish_name(client: &Client, signer: &Signer, name: &str) {
    let link = |target: &Value| {
        let length = target.bytes().len() as u64;
        [&length.to_be_bytes()[..], &[0], &target.key().to_bytes()].concat()
    };
    let file = Value::block(b"escaped".to_vec()).expect("it is short");
    let length = u8::try_from(name.len()).expect("it is short");
    let entry = [&[0][..], &link(&file), &[length], name.as_bytes()].concat();
    let directory = Value::block(entry).expect("it is short");
    let record = Value::record(signer, 1, &link(&directory)).expect("it is short");
    for value in [file, directory, record] {
        client.put(&value).await.expect("the ring is settled");
    }
}

/// How many of the names lead a reader out of the directory that it writes.
async fn count_escapes(name: &str, reader: Mistake) -> usize {
    let ring = start(|process| if process == 4 { reader } else { Mistake::None }).await;
    let directory = Directory::new(name);
    let absolute = directory.0.join("absolute").into_os_string().into_string().unwrap();
    let mut escapes = 0;
    for (secret, (name, target)) in
        (0..).zip([("../parent", "parent"), (absolute.as_str(), "absolute")])
    {
        let signer = Signer::from_secret(&[secret; 32]);
        publish_name(&ring.client, &signer, name).await;
        let saved = save(&ring.client, signer.key(), &directory.0.join(secret.to_string())).await;
        let has_escaped = directory.0.join(target).exists();
        assert_eq!(saved.is_ok(), has_escaped, "{saved:?}");
        escapes += usize::from(has_escaped);
    }
    escapes
}

#[colored::test]
async fn names_do_not_lead_out_of_the_target() {
    assert_eq!(count_escapes("names", Mistake::None).await, 0);
}

#[colored::test]
async fn names_lead_out_of_the_target_if_the_reader_takes_them() {
    assert_eq!(count_escapes("any-names", Mistake::TakesAnyName).await, 2);
}

/// Whether a directory with a link to a file outside can be published.
async fn is_link_published(name: &str, publisher: Mistake) -> bool {
    let ring = start(|process| if process == 4 { publisher } else { Mistake::None }).await;
    let (directory, signer) = (Directory::new(name), Signer::from_secret(&[8; 32]));
    let source = directory.0.join("source");
    fs::create_dir(&source).unwrap();
    fs::write(directory.0.join("outside"), b"secret").unwrap();
    std::os::unix::fs::symlink("../outside", source.join("link")).unwrap();
    match publish(&ring.client, &signer, &source).await {
        Ok(_) => true,
        Err(Error::NoFile(_)) => false,
        Err(error) => panic!("{error}"),
    }
}

#[colored::test]
async fn links_out_of_the_directory_are_refused() {
    assert!(!is_link_published("links", Mistake::None).await);
}

#[colored::test]
async fn a_file_outside_is_published_if_links_are_followed() {
    assert!(is_link_published("followed", Mistake::FollowsLinks).await);
}
