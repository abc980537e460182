//! One program on files of the system and on simulated ones: what it sees is equal.

use crate::silent;
use colored::fs::{self, DirBuilder, File};
use colored::io::{AsyncBufReadExt, AsyncReadExt, AsyncSeekExt, AsyncWriteExt, BufReader};
use colored::{Runtime, sim};
use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// What the program has seen. Paths are shown from the root of its tree.
struct Seen {
    root: String,
    lines: Vec<String>,
}

impl Seen {
    fn note(&mut self, what: &str, value: impl Debug) {
        let value = format!("{value:?}").replace(&self.root, "");
        self.lines.push(format!("{what}: {value}"));
    }

    fn note_result<T: Debug>(&mut self, what: &str, result: io::Result<T>) {
        match result {
            Ok(value) => self.note(what, value),
            Err(error) => self.note(what, (error.kind(), error.to_string())),
        }
    }
}

async fn program(root: PathBuf) -> Vec<String> {
    let mut seen = Seen { root: root.to_str().unwrap().to_owned(), lines: Vec::new() };
    use_files(&root, &mut seen).await.unwrap();
    use_directories(&root, &mut seen).await.unwrap();
    #[cfg(unix)]
    use_unix(&root, &mut seen).await.unwrap();
    seen.lines
}

async fn use_files(root: &Path, seen: &mut Seen) -> io::Result<()> {
    let path = root.join("file");
    fs::write(&path, "first\nsecond\n").await?;
    let mut lines = BufReader::new(File::open(&path).await?).lines();
    while let Some(line) = lines.next_line().await? {
        seen.note("line", line);
    }
    let mut log = File::options().append(true).open(&path).await?;
    log.write_all(b"third\n").await?;
    log.flush().await?;
    seen.note("appended", fs::read_to_string(&path).await?);

    let mut file = File::options().read(true).write(true).open(&path).await?;
    seen.note("end", file.seek(io::SeekFrom::End(-6)).await?);
    let mut text = String::new();
    file.read_to_string(&mut text).await?;
    seen.note("last", text);
    file.write_all_at(b"FIRST", 0).await?;
    file.set_len(40).await?;
    let mut second = file.try_clone().await?;
    seen.note("position", second.stream_position().await?);
    let mut bytes = [9; 64];
    seen.note("read", file.read_at(&mut bytes, 0).await?);
    seen.note("bytes", &bytes[..40]);
    seen.note_result("too far", file.read_exact_at(&mut bytes, 30).await);
    file.sync_all().await?;
    seen.note("length", file.metadata().await?.len());
    fs::remove_file(&path).await?;
    seen.note("read after the removal", second.read_at(&mut bytes, 0).await?);

    let big: Vec<u8> = (0..3_000_000_u32).map(|n| n as u8).collect();
    fs::write(&path, &big).await?;
    seen.note("big", fs::read(&path).await? == big);
    let reader = File::open(&path).await?;
    seen.note_result("write to a reader", reader.write_at(b"x", 0).await);
    seen.note_result("nothing", fs::read(root.join("nothing")).await);
    // The standard library has texts of its own for this.
    let kind = File::options().open(&path).await.map_err(|error| error.kind());
    seen.note("no options", kind.unwrap_err());
    let new = File::options().write(true).create_new(true).open(&path).await;
    seen.note_result("not new", new.map(drop));
    seen.note_result("below a file", fs::read(path.join("x")).await);
    Ok(())
}

async fn use_directories(root: &Path, seen: &mut Seen) -> io::Result<()> {
    let inner = root.join("a/b/c");
    fs::create_dir_all(&inner).await?;
    DirBuilder::new().create(root.join("d")).await?;
    seen.note_result("again", fs::create_dir(&inner).await);
    fs::write(inner.join("one"), "1").await?;
    seen.note("copied", fs::copy(inner.join("one"), inner.join("two")).await?);
    fs::rename(inner.join("two"), root.join("d/three")).await?;
    seen.note_result("onto a directory", fs::rename(inner.join("one"), root.join("d")).await);
    seen.note_result("into itself", fs::rename(root.join("a"), &inner).await);
    for directory in [root.to_owned(), inner.clone(), root.join("d")] {
        let mut entries = fs::read_dir(&directory).await?;
        let mut names = Vec::new();
        while let Some(entry) = entries.next_entry().await? {
            let (file_type, metadata) = (entry.file_type()?, entry.metadata().await?);
            let is_same = file_type.is_dir() == metadata.is_dir();
            names.push((entry.path(), entry.file_name(), file_type.is_dir(), is_same));
        }
        names.sort();
        seen.note("entries", names);
    }
    seen.note_result("not empty", fs::remove_dir(root.join("a")).await);
    seen.note_result("a directory", fs::remove_file(root.join("a")).await);
    seen.note_result("read a directory", fs::read(root.join("a")).await);
    seen.note("there", fs::try_exists(&inner).await?);
    fs::remove_dir_all(root.join("a")).await?;
    seen.note("there", fs::try_exists(&inner).await?);
    let metadata = fs::metadata(root.join("d/three")).await?;
    seen.note("metadata", (metadata.is_file(), metadata.len(), metadata.permissions().readonly()));
    Ok(())
}

#[cfg(unix)]
async fn use_unix(root: &Path, seen: &mut Seen) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let (file, link) = (root.join("d/three"), root.join("link"));
    fs::symlink("d/three", &link).await?;
    fs::hard_link(&file, root.join("d/four")).await?;
    seen.note("link", fs::read_link(&link).await?);
    seen.note("resolved", fs::canonicalize(&link).await?);
    seen.note("is a link", fs::symlink_metadata(&link).await?.is_symlink());
    fs::write(&link, "through the link").await?;
    seen.note("other name", fs::read_to_string(root.join("d/four")).await?);
    let mode = |of: std::fs::Metadata| of.permissions().mode() & 0o7777;
    fs::set_permissions(&file, PermissionsExt::from_mode(0o640)).await?;
    seen.note("mode", mode(fs::metadata(&link).await?));
    let mut options = File::options();
    let new = options.write(true).create(true).mode(0o600).open(root.join("private")).await?;
    seen.note("mode", mode(new.metadata().await?));
    new.set_permissions(PermissionsExt::from_mode(0o400)).await?;
    seen.note("mode", mode(fs::metadata(root.join("private")).await?));
    Ok(())
}

#[test]
fn a_program_sees_the_same_on_files_of_the_system() {
    let name = format!("colored-tests-sim-both-{}", std::process::id());
    let root = std::fs::canonicalize(std::env::temp_dir()).unwrap().join(name);
    std::fs::create_dir_all(&root).unwrap();
    let runtime = Runtime::builder().workers(2).build().unwrap();
    let real = runtime.block_on(program(root.clone()));
    std::fs::remove_dir_all(&root).unwrap();

    let simulated = Arc::new(Mutex::new(Vec::new()));
    sim::Builder::new()
        .seeds(silent(50))
        .run(|| {
            let simulated = Arc::clone(&simulated);
            async move {
                fs::create_dir("/root").await.unwrap();
                let seen = program("/root".into()).await;
                simulated.lock().unwrap().push(seen);
            }
        })
        .assert_passed();
    let simulated = simulated.lock().unwrap();
    assert!(real.len() > 35, "{}", real.len());
    for seen in &*simulated {
        for (ours, systems) in seen.iter().zip(&real) {
            assert_eq!(ours, systems);
        }
        assert_eq!(seen.len(), real.len());
    }
}
