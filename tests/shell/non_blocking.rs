//! The standard streams of a process, when somebody has set them to non-blocking mode: pipes, sockets and terminals.

use colored::io::{AsyncReadExt, AsyncWriteExt, stderr, stdin, stdout};
use colored::spawn_colored;
use colored::time::{Duration, timeout};
use colored_tests::{child, runtime, terminal};
use rustix::io::ioctl_fionbio;
use std::fs::File;
use std::io::{Read, Write, pipe};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::thread;

/// More than any of them takes at once.
const LENGTH: usize = 400_000;

fn pattern() -> Vec<u8> {
    (0..LENGTH as u32).map(|i| (i * 7 + i / 251) as u8).collect()
}

/// The end of the child and ours: for reading by the child, or for writing by it.
type Ends = fn(bool) -> (OwnedFd, OwnedFd);

fn of_pipe(reads: bool) -> (OwnedFd, OwnedFd) {
    let (reader, writer) = pipe().unwrap();
    if reads { (reader.into(), writer.into()) } else { (writer.into(), reader.into()) }
}

fn of_sockets(_: bool) -> (OwnedFd, OwnedFd) {
    let (near, far) = UnixStream::pair().unwrap();
    (near.into(), far.into())
}

fn of_terminal(_: bool) -> (OwnedFd, OwnedFd) {
    let (master, slave) = terminal::raw().expect("the system has terminals");
    (slave, master)
}

/// Echoes its input, to the output and the error; the end of the process does not print.
fn echo() -> ! {
    runtime(1).run(async {
        let mut bytes = vec![0; LENGTH];
        stdin().read_exact(&mut bytes).await.unwrap();
        let error = bytes.clone();
        let cried = spawn_colored(7, async move { stderr().write_all(&error).await });
        stdout().write_all(&bytes).await.unwrap();
        stdout().flush().await.unwrap();
        cried.await.unwrap().unwrap();
        let more = async { stdin().read(&mut [0]).await };
        assert!(timeout(Duration::from_millis(20), more).await.is_err(), "it waits for more");
    });
    std::process::exit(7);
}

fn all_bytes_go_through(function: &str, ends: Ends) {
    let Some(mut child) = child::command("", module_path!(), function) else { echo() };
    let [(input, to), (output, from), (error, cries)] = [true, false, false].map(ends);
    for end in [&input, &output, &error] {
        ioctl_fionbio(end, true).unwrap();
    }
    let mut running = child.stdin(input).stdout(output).stderr(error).spawn().unwrap();
    drop(child);
    let fed = thread::spawn(move || {
        let mut to = File::from(to);
        // The child waits for the first bytes, and for others in between.
        thread::sleep(Duration::from_millis(30));
        for part in pattern().chunks(LENGTH / 3) {
            to.write_all(part).unwrap();
            thread::sleep(Duration::from_millis(10));
        }
        to
    });
    let [said, cried] = [from, cries].map(|end| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            // They fill up first.
            thread::sleep(Duration::from_millis(100));
            // A terminal whose other end is gone fails.
            let _ended = File::from(end).read_to_end(&mut bytes);
            bytes
        })
    });
    let status = running.wait().unwrap();
    let (said, cried) = (said.join().unwrap(), cried.join().unwrap());
    assert_eq!(status.code(), Some(7), "{}", String::from_utf8_lossy(&cried));
    drop(fed.join().unwrap());
    assert!(said.ends_with(&pattern()), "{} bytes", said.len());
    assert!(cried.ends_with(&pattern()), "{} bytes", cried.len());
}

/// Shows G13.
#[test]
fn all_bytes_go_through_pipes() {
    all_bytes_go_through("all_bytes_go_through_pipes", of_pipe);
}

/// Shows G13.
#[test]
fn all_bytes_go_through_sockets() {
    all_bytes_go_through("all_bytes_go_through_sockets", of_sockets);
}

/// Shows G13.
#[test]
fn all_bytes_go_through_terminals() {
    all_bytes_go_through("all_bytes_go_through_terminals", of_terminal);
}
