//! Names of Unix sockets.

use super::{inside, told};
use colored::fs;
use colored::io::AsyncReadExt;
use colored::net::{UnixListener, UnixStream};
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::SocketAddr;
use std::path::{Path, PathBuf};

super::rows![a_name_is_a_file, what_is_no_socket, names_that_move, abstract_names, addresses];

/// Connects, and says whether the listener has it.
async fn reaches(path: &Path, listener: &UnixListener) -> io::Result<()> {
    let stream = UnixStream::connect(path).await?;
    drop(stream);
    let (mut taken, _) = listener.accept().await?;
    assert_eq!(taken.read(&mut [0; 1]).await?, 0);
    Ok(())
}

async fn a_name_is_a_file(root: PathBuf) -> Vec<String> {
    let path = inside(&root, "s");
    let mut seen = vec![told("nothing", UnixStream::connect(&path).await.map(drop))];
    let listener = UnixListener::bind(&path).unwrap();
    let of = fs::symlink_metadata(&path).await.unwrap();
    seen.push(format!("socket: {} {}", of.file_type().is_socket(), of.len()));
    let mut entries = fs::read_dir(&root).await.unwrap();
    let entry = entries.next_entry().await.unwrap().unwrap();
    let is_socket = entry.file_type().map(|of| of.is_socket());
    seen.push(format!("entry: {:?} {:?}", entry.file_name(), is_socket.unwrap()));
    seen.push(told("again", UnixListener::bind(&path).map(drop)));
    seen.push(told("open", fs::read(&path).await.map(drop)));
    seen.push(told("write", fs::File::options().append(true).open(&path).await.map(drop)));
    seen.push(told("reaches", reaches(&path, &listener).await));
    drop(listener);
    // The file outlives its listener.
    seen.push(told("there", fs::try_exists(&path).await));
    seen.push(told("nobody listens", UnixStream::connect(&path).await.map(drop)));
    seen.push(told("stale", UnixListener::bind(&path).map(drop)));
    seen.push(told("remove", fs::remove_file(&path).await));
    seen.push(told("nothing", UnixStream::connect(&path).await.map(drop)));
    let listener = UnixListener::bind(&path).unwrap();
    seen.push(told("anew", reaches(&path, &listener).await));
    seen.push(told("remove all", fs::remove_dir_all(&root).await));
    seen
}

async fn what_is_no_socket(root: PathBuf) -> Vec<String> {
    let file = inside(&root, "file");
    fs::write(&file, "text").await.unwrap();
    let mut seen = Vec::new();
    let missing = inside(&root, "missing/s");
    for (what, path) in [
        ("a file", &*file),
        ("a directory", &*root),
        ("missing", &*missing),
        ("below a file", &*file.join("s")),
        ("a zero byte", Path::new("a\0b")),
        ("empty", Path::new("")),
    ] {
        seen.push(format!("bind: {}", told(what, UnixListener::bind(path).map(drop))));
        let connected = UnixStream::connect(path).await;
        seen.push(format!("connect: {}", told(what, connected.map(drop))));
    }
    seen
}

async fn names_that_move(root: PathBuf) -> Vec<String> {
    let (one, other, link) = (inside(&root, "one"), inside(&root, "other"), inside(&root, "link"));
    let listener = UnixListener::bind(&one).unwrap();
    fs::rename(&one, &other).await.unwrap();
    let mut seen = vec![told("old", UnixStream::connect(&one).await.map(drop))];
    seen.push(told("new", reaches(&other, &listener).await));
    let own = listener.local_addr().unwrap();
    seen.push(format!("own: {:?}", own.as_pathname()));
    fs::symlink("other", &link).await.unwrap();
    seen.push(told("link", reaches(&link, &listener).await));
    seen.push(told("bind to a link", UnixListener::bind(&link).map(drop)));
    fs::hard_link(&other, &one).await.unwrap();
    seen.push(told("second name", reaches(&one, &listener).await));
    // Another one takes the name; the first goes on without.
    fs::remove_file(&other).await.unwrap();
    let second = UnixListener::bind(&other).unwrap();
    seen.push(told("second", reaches(&other, &second).await));
    seen.push(told("first", reaches(&one, &listener).await));
    fs::write(inside(&root, "file"), "text").await.unwrap();
    fs::rename(inside(&root, "file"), &other).await.unwrap();
    seen.push(told("replaced", UnixStream::connect(&other).await.map(drop)));
    seen
}

#[cfg(target_os = "linux")]
async fn abstract_names(root: PathBuf) -> Vec<String> {
    use std::os::linux::net::SocketAddrExt;
    let name = SocketAddr::from_abstract_name(root.to_str().unwrap()).unwrap();
    let kind = |error: io::Error| error.kind();
    let nobody = UnixStream::connect_addr(&name).await.map(drop).map_err(kind);
    let mut seen = vec![format!("nobody: {nobody:?}")];
    let listener = UnixListener::bind_addr(&name).unwrap();
    let again = UnixListener::bind_addr(&name).map(drop).map_err(kind);
    seen.push(format!("again: {again:?}"));
    let stream = UnixStream::connect_addr(&name).await.unwrap();
    let peer = stream.peer_addr().unwrap();
    seen.push(format!("peer: {:?}", peer.as_abstract_name() == name.as_abstract_name()));
    drop(listener);
    let anew = UnixListener::bind_addr(&name).map(drop).map_err(kind);
    seen.push(format!("anew: {anew:?}"));
    seen
}

#[cfg(not(target_os = "linux"))]
async fn abstract_names(_: PathBuf) -> Vec<String> {
    Vec::new()
}

async fn addresses(root: PathBuf) -> Vec<String> {
    let path = inside(&root, "s");
    let listener = UnixListener::bind(&path).unwrap();
    let client = UnixStream::connect(&path).await.unwrap();
    let (server, from) = listener.accept().await.unwrap();
    let shown = |addr: io::Result<SocketAddr>| format!("{:?}", addr.unwrap().as_pathname());
    vec![
        format!("from {:?}", from.is_unnamed()),
        shown(client.local_addr()),
        shown(client.peer_addr()),
        shown(server.local_addr()),
        shown(server.peer_addr()),
    ]
}
