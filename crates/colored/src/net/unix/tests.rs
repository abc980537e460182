//! Tests of Unix sockets.

mod address;
mod credentials;
mod datagram;
mod halves;
mod listener;
mod stream;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, process};

use super::listener::UnixListener;
use super::stream::UnixStream;

/// A path that is free, and is so again afterwards.
struct Place(PathBuf);

impl Place {
    fn new() -> Place {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        // Ordering: the number only has to be unique.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let place = Place(env::temp_dir().join(format!("colored-{}-{number}", process::id())));
        // Of a process that had this number, and was killed.
        let _ = fs::remove_file(&place.0);
        place
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // The file may not exist.
        let _ = fs::remove_file(&self.0);
    }
}

/// Two ends of one connection, made by a listener.
async fn pair(place: &Place) -> (UnixStream, UnixStream) {
    let listener = UnixListener::bind(&place.0).unwrap();
    let (client, accepted) = tokio::join!(UnixStream::connect(&place.0), listener.accept());
    (client.unwrap(), accepted.unwrap().0)
}
