//! Streams in destructors, which cannot wait.

use super::support::{pair, run};
use colored::sync::oneshot;
use colored_stackful::net::TcpStream;
use colored_stackful::{spawn_unique, wait};
use std::io::{BufWriter, Read, Write};

/// What a task has written into a buffer when it ends, its peer reads.
fn read_after(end: impl FnOnce(TcpStream) + Send + 'static) {
    run(|| {
        let (client, mut server) = pair();
        end(client);
        let mut text = String::new();
        server.read_to_string(&mut text).unwrap();
        assert_eq!(text, "bye");
    });
}

#[test]
fn a_panic_flushes_a_buffer() {
    read_after(|client| {
        let task = spawn_unique(move || {
            let mut buffer = BufWriter::new(client);
            buffer.write_all(b"bye").unwrap();
            panic!("on purpose");
        });
        assert!(wait(task).unwrap_err().is_panic());
    });
}

#[test]
fn an_abort_flushes_a_buffer() {
    read_after(|client| {
        let (begins, begun) = oneshot::channel();
        let task = spawn_unique(move || {
            let mut buffer = BufWriter::new(&client);
            buffer.write_all(b"bye").unwrap();
            begins.send(()).unwrap();
            (&client).read(&mut [0]).unwrap()
        });
        // One worker: the task has begun, and waits.
        wait(begun).unwrap();
        task.abort();
        assert!(wait(task).unwrap_err().is_cancelled());
    });
}

/// The destructor gives up.
#[test]
fn an_abort_does_not_wait_for_room() {
    run(|| {
        let (client, server) = pair();
        let (begins, begun) = oneshot::channel();
        let task = spawn_unique(move || {
            let mut buffer = BufWriter::with_capacity(1 << 20, client);
            buffer.write_all(&[7; 1 << 19]).unwrap();
            begins.send(()).unwrap();
            // More than there is room for.
            buffer.get_ref().write_all(&vec![7; 50_000_000]).unwrap();
        });
        wait(begun).unwrap();
        task.abort();
        assert!(wait(task).unwrap_err().is_cancelled());
        let mut bytes = Vec::new();
        (&server).read_to_end(&mut bytes).unwrap();
        assert!((1..50_000_000).contains(&bytes.len()), "{}", bytes.len());
    });
}
