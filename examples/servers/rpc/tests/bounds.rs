//! What the other side can make a connection keep: far more than each limit is sent, and the memory does not grow by as much.

use colored::Color;
use colored::spawn_blocking;
use rpc::nfs3_types::xdr_codec::Void;
use rpc::{Caller, Procedure, Refusal, Server, Services, service};
use std::fs;
use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::time::Duration;

const PROGRAM: u32 = 0x2000_0006;
const ANSWER: Procedure = Procedure::new(PROGRAM, 1, 1);
const HANG: Procedure = Procedure::new(PROGRAM, 1, 2);

/// The memory may grow by so many MiB in a row: more than each limit, and far less than what is sent.
const MOST: usize = 8;

async fn answer(_: (), _: Caller, _: Void) -> Result<Void, Refusal> {
    Ok(Void)
}

async fn hang(_: (), _: Caller, _: Void) -> Result<Void, Refusal> {
    std::future::pending().await
}

fn services() -> Services {
    Services::new().with(service! {
        program PROGRAM, version 1, state ();
        ANSWER.number => answer, under |_, _| Color::DEFAULT;
        HANG.number => hang, under |_, _| Color::DEFAULT;
    })
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// Calls without arguments, with credentials of so many words.
fn calls(procedure: Procedure, credentials: u32) -> Vec<u8> {
    let Procedure { program, version, number } = procedure;
    let length = 4 * (10 + credentials);
    let head = [1 << 31 | length, 9, 0, 2, program, version, number, 6, 4 * credentials];
    let call = [&head[..], &vec![7; credentials as usize], &[0, 0]].concat();
    bytes(&call).repeat(50)
}

/// What is sent again and again.
fn rows() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("fragments of one record", [bytes(&[4096]), vec![7; 4096]].concat()),
        ("small fragments of one record", bytes(&[4, 7]).repeat(500)),
        ("calls whose replies nobody reads", calls(ANSWER, 0)),
        ("calls that hang", calls(HANG, 0)),
        ("calls with credentials", calls(HANG, 100)),
        ("calls with credentials that are too long", calls(ANSWER, 200)),
    ]
}

/// The resident memory, in MiB.
fn resident() -> usize {
    let pages = fs::read_to_string("/proc/self/statm").unwrap();
    (pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096) >> 20
}

/// Sends 80 MiB, or as much as the server reads. Returns by how many MiB the memory has grown.
fn send(addr: SocketAddr, piece: &[u8]) -> usize {
    let before = resident();
    let mut stream = TcpStream::connect(addr).unwrap();
    stream.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
    let (mut most, mut sent) = (before, 0);
    while sent < 80 << 20 && stream.write_all(piece).is_ok() {
        sent += piece.len();
        if (sent / piece.len()).is_multiple_of(64) {
            most = most.max(resident());
        }
    }
    most.max(resident()) - before
}

#[test]
fn nothing_that_comes_is_kept_without_a_limit() {
    let this = std::env::current_exe().unwrap();
    let run = Command::new(this).args(["--exact", "--ignored", "bounds::body"]).output().unwrap();
    let (out, error) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success() && out.contains("1 passed"), "{out}\n{error}");
}

#[colored::test(workers = 1)]
#[ignore = "measures the memory of its process: the test above runs it"]
async fn body() {
    let server = Server::bind("127.0.0.1:0", services()).await.unwrap();
    let addr = server.local_addr().unwrap();
    drop(colored::spawn(server.run()));
    for (what, piece) in rows() {
        let grown = spawn_blocking(move || send(addr, &piece)).await.unwrap();
        println!("{what}: grown by {grown} MiB");
        assert!(grown <= MOST, "{what}: grown by {grown} MiB");
    }
}
