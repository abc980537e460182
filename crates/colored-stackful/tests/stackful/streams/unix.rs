//! Unix sockets.

use super::support::{echo, run};
use colored_stackful::net::{UnixListener, UnixStream};
use colored_stackful::{spawn_unique, wait};
use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::time::Duration;
use std::{env, fs, process};

#[test]
fn bytes_go_both_ways_up_to_the_end() {
    run(|| {
        let (client, server) = UnixStream::pair().unwrap();
        echo(client, server, |client| client.shutdown(Shutdown::Write).unwrap());
    });
}

#[test]
fn a_listener_at_a_path() {
    let path = env::temp_dir().join(format!("colored-stackful-{}", process::id()));
    let _ = fs::remove_file(&path);
    let at = path.clone();
    run(move || {
        let error = UnixStream::connect(&at).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        let listener = UnixListener::bind(&at).unwrap();
        assert_eq!(listener.local_addr().unwrap().as_pathname(), Some(&*at));
        let server = spawn_unique(move || {
            let (stream, _) = listener.accept().unwrap();
            (&stream).write_all(b"hello").unwrap();
            listener.into_inner()
        });
        let mut text = String::new();
        UnixStream::connect(&at).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "hello");
        drop(wait(server).unwrap());
    });
    fs::remove_file(path).unwrap();
}

#[test]
fn a_read_ends_when_its_time_is_over() {
    run(|| {
        let (client, _server) = UnixStream::pair().unwrap();
        client.set_read_timeout(Some(Duration::from_millis(10))).unwrap();
        assert_eq!((&client).read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
    });
}
