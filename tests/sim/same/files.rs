//! Files beside those of `files/both.rs`: flags, paths, and what is open.

use super::{inside, told};
use colored::fs::{self, File};
use colored::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt, SeekFrom};
use std::path::{Path, PathBuf};

super::rows![flags, positions, open_and_gone, renames, paths, links, directories, wrong_use];

async fn flags(root: PathBuf) -> Vec<String> {
    let mut seen = Vec::new();
    for number in 0..64_u8 {
        let bit = |at: u8| number & 1 << at != 0;
        for (what, exists) in [("old", true), ("new", false)] {
            let path = inside(&root, &format!("{what}-{number}"));
            if exists {
                fs::write(&path, "text").await.unwrap();
            }
            let mut options = File::options();
            options.read(bit(0)).write(bit(1)).append(bit(2)).truncate(bit(3)).create(bit(4));
            let opened = options.create_new(bit(5)).open(&path).await;
            let after = fs::read(&path).await.map(|bytes| bytes.len());
            let opened = opened.map(drop).map_err(|error| error.kind());
            seen.push(format!("{what} {number:06b}: {opened:?}, {}", told("holds", after)));
        }
    }
    seen
}

async fn positions(root: PathBuf) -> Vec<String> {
    let path = inside(&root, "file");
    fs::write(&path, "0123456789").await.unwrap();
    let mut file = File::options().read(true).write(true).open(&path).await.unwrap();
    let mut seen = Vec::new();
    for to in [SeekFrom::Start(20), SeekFrom::Current(-21), SeekFrom::End(-11), SeekFrom::End(3)] {
        seen.push(told("seek", file.seek(to).await));
        seen.push(told("at", file.stream_position().await));
    }
    seen.push(told("read behind the end", file.read(&mut [0; 4]).await));
    file.write_all(b"x").await.unwrap();
    file.flush().await.unwrap();
    seen.push(told("with a hole", fs::read(&path).await));
    file.set_len(4).await.unwrap();
    seen.push(told("at", file.stream_position().await));
    seen.push(told("read", file.read(&mut [0; 4]).await));
    let mut log = File::options().read(true).append(true).open(&path).await.unwrap();
    log.seek(SeekFrom::Start(1)).await.unwrap();
    log.write_all(b"end").await.unwrap();
    log.flush().await.unwrap();
    seen.push(told("at", log.stream_position().await));
    seen.push(told("appended", fs::read_to_string(&path).await));
    seen.push(told("written at 0", log.write_at(b"!", 0).await));
    seen.push(told("appended", fs::read_to_string(&path).await));
    seen
}

async fn open_and_gone(root: PathBuf) -> Vec<String> {
    let (path, other) = (inside(&root, "file"), inside(&root, "other"));
    fs::write(&path, "text").await.unwrap();
    let mut file = File::options().read(true).write(true).open(&path).await.unwrap();
    fs::remove_file(&path).await.unwrap();
    file.write_all(b"more text").await.unwrap();
    file.flush().await.unwrap();
    let mut seen = vec![told("length", file.metadata().await.map(|of| of.len()))];
    seen.push(told("open again", File::open(&path).await.map(drop)));
    fs::write(&path, "another").await.unwrap();
    file.rewind().await.unwrap();
    let mut text = String::new();
    seen.push(told("read", file.read_to_string(&mut text).await));
    seen.push(text);
    fs::write(&other, "replaced").await.unwrap();
    let old = File::open(&other).await.unwrap();
    fs::rename(&path, &other).await.unwrap();
    let mut bytes = [0; 8];
    seen.push(told("the replaced one", old.read_at(&mut bytes, 0).await));
    seen.push(String::from_utf8(bytes.to_vec()).unwrap());
    seen.push(told("the new one", fs::read_to_string(&other).await));
    seen
}

/// Every kind of thing over every other one.
async fn renames(root: PathBuf) -> Vec<String> {
    let kinds = ["file", "directory", "full", "link", "dangling", "missing"];
    let mut seen = Vec::new();
    for from in kinds {
        for to in kinds {
            let place = inside(&root, &format!("{from}-{to}"));
            fs::create_dir(&place).await.unwrap();
            for (name, kind) in [("from", from), ("to", to)] {
                make(&place.join(name), kind).await;
            }
            let renamed = fs::rename(place.join("from"), place.join("to")).await;
            let mut names = names(&place).await;
            names.sort();
            seen.push(format!("{from} to {to}: {} {names:?}", told("", renamed)));
        }
    }
    let file = inside(&root, "same");
    make(&file, "file").await;
    seen.push(told("to itself", fs::rename(&file, &file).await));
    fs::hard_link(&file, inside(&root, "second")).await.unwrap();
    seen.push(told("to its other name", fs::rename(&file, inside(&root, "second")).await));
    seen.push(told("both are there", fs::try_exists(&file).await));
    seen
}

async fn make(path: &Path, kind: &str) {
    match kind {
        "file" => fs::write(path, "text").await.unwrap(),
        "directory" => fs::create_dir(path).await.unwrap(),
        "full" => {
            fs::create_dir(path).await.unwrap();
            fs::write(path.join("inner"), "text").await.unwrap();
        }
        #[cfg(unix)]
        "link" => fs::symlink(".", path).await.unwrap(),
        #[cfg(unix)]
        "dangling" => fs::symlink("nowhere", path).await.unwrap(),
        _ => {}
    }
}

async fn names(of: &Path) -> Vec<String> {
    let mut entries = fs::read_dir(of).await.unwrap();
    let mut names = Vec::new();
    while let Some(entry) = entries.next_entry().await.unwrap() {
        let kind = entry.file_type().unwrap();
        let kind = if kind.is_dir() { "/" } else { "" };
        names.push(format!("{}{kind}", entry.file_name().to_str().unwrap()));
    }
    names
}

async fn paths(root: PathBuf) -> Vec<String> {
    make(&inside(&root, "file"), "file").await;
    make(&inside(&root, "full"), "full").await;
    let long = "x".repeat(256);
    let mut seen = Vec::new();
    for name in [
        "",
        "a\0b",
        "file/",
        "file/.",
        "file/..",
        "full/",
        "full/.",
        "full/..",
        "full/../file",
        "none",
        "none/",
        "none/..",
        &long,
    ] {
        let path = if name.is_empty() { PathBuf::new() } else { root.join(name) };
        let what = if name.len() > 99 { "long" } else { name };
        seen.push(format!(
            "{what:?} is {}",
            told("", fs::metadata(&path).await.map(|of| of.is_dir()))
        ));
        seen.push(format!("{what:?} {}", told("reads", fs::read(&path).await.map(|of| of.len()))));
        seen.push(format!("{what:?} {}", told("there", fs::try_exists(&path).await)));
        seen.push(format!("{what:?} {}", told("full name", fs::canonicalize(&path).await)));
        seen.push(format!("{what:?} {}", told("lists", fs::read_dir(&path).await.map(drop))));
        seen.push(format!(
            "{what:?} {}",
            told("makes", File::options().append(true).create(true).open(&path).await.map(drop))
        ));
        seen.push(format!("{what:?} {}", told("makes a directory", fs::create_dir(&path).await)));
        let _ = fs::remove_file(inside(&root, "none")).await;
        let _ = fs::remove_dir(inside(&root, "none")).await;
    }
    seen
}

#[cfg(unix)]
async fn links(root: PathBuf) -> Vec<String> {
    let at = |name: &str| inside(&root, name);
    make(&at("dangling"), "dangling").await;
    fs::symlink("loop", at("loop")).await.unwrap();
    let mut seen = vec![told("loop", fs::read(at("loop")).await)];
    seen.push(told("of the link", fs::symlink_metadata(at("loop")).await.map(|of| of.len())));
    seen.push(told("dangling", fs::metadata(at("dangling")).await.map(drop)));
    seen.push(told("there", fs::try_exists(at("dangling")).await));
    let new = File::options().write(true).create_new(true).open(at("dangling")).await;
    seen.push(told("not new", new.map(drop)));
    seen.push(told("through it", fs::write(at("dangling"), "made").await));
    seen.push(told("made", fs::read_to_string(at("nowhere")).await));
    seen.push(told("again", fs::symlink("x", at("dangling")).await));
    seen.push(told("no link", fs::read_link(at("nowhere")).await));
    seen.push(told("empty", fs::symlink("", at("empty")).await));
    seen.push(told("a zero byte", fs::symlink("a\0b", at("zero")).await));
    seen.push(told("of a directory", fs::hard_link(&root, at("hard")).await));
    seen.push(told("onto one", fs::hard_link(at("nowhere"), at("dangling")).await));
    seen.push(told("of nothing", fs::hard_link(at("none"), at("hard")).await));
    seen
}

#[cfg(not(unix))]
async fn links(_: PathBuf) -> Vec<String> {
    Vec::new()
}

async fn directories(root: PathBuf) -> Vec<String> {
    let at = |name: &str| inside(&root, name);
    make(&at("file"), "file").await;
    make(&at("full"), "full").await;
    let mut seen = vec![told("full", fs::remove_dir(at("full")).await)];
    seen.push(told("a file", fs::remove_dir(at("file")).await));
    seen.push(told("a directory", fs::remove_file(at("full")).await));
    seen.push(told("missing", fs::remove_dir(at("none")).await));
    seen.push(told("all of a file", fs::remove_dir_all(at("file")).await));
    seen.push(told("all of nothing", fs::remove_dir_all(at("none")).await));
    seen.push(told("again", fs::create_dir(at("full")).await));
    seen.push(told("all again", fs::create_dir_all(at("full")).await));
    seen.push(told("over a file", fs::create_dir_all(at("file")).await));
    seen.push(told("below a file", fs::create_dir_all(at("file/x/y")).await));
    seen.push(told("without its parent", fs::create_dir(at("x/y")).await));
    seen.push(told("list a file", fs::read_dir(at("file")).await.map(drop)));
    let opened = File::open(at("full")).await.unwrap();
    seen.push(told("read a directory", opened.read_at(&mut [0; 4], 0).await));
    seen.push(told(
        "write a directory",
        File::options().write(true).open(at("full")).await.map(drop),
    ));
    fs::remove_dir_all(at("full")).await.unwrap();
    seen.push(told("copy", fs::copy(at("file"), at("copy")).await));
    seen.push(told("copy nothing", fs::copy(at("none"), at("copy")).await));
    seen.push(told("copy a directory", fs::copy(&root, at("copy")).await));
    seen.push(told("copy to a directory", fs::copy(at("file"), &root).await));
    seen
}

async fn wrong_use(root: PathBuf) -> Vec<String> {
    let path = inside(&root, "file");
    fs::write(&path, "text").await.unwrap();
    let mut reader = File::open(&path).await.unwrap();
    let mut writer = File::options().write(true).open(&path).await.unwrap();
    let mut seen = vec![told("read", writer.read(&mut [0; 4]).await)];
    seen.push(told("read", writer.read_at(&mut [0; 4], 0).await));
    let written = reader.write(b"x").await;
    let flushed = reader.flush().await;
    // A write may be told by the flush.
    seen.push(told("write", written.and(flushed)));
    seen.push(told("write", reader.write_at(b"x", 0).await));
    seen.push(told("length", reader.set_len(1).await));
    seen.push(told("sync", reader.sync_all().await));
    seen.push(told("nothing", writer.write_at(b"", 9).await));
    seen.push(told("still", fs::read_to_string(&path).await));
    seen.push(told("too long", writer.set_len(u64::MAX).await));
    seen
}
