//! What the RFC has a server answer to calls that it cannot execute, byte by byte.

use colored::io::{AsyncReadExt, AsyncWriteExt};
use colored::net::{TcpStream, UdpSocket};
use colored::time::{Duration, timeout};
use rpc::bank::{Bank, PROGRAM};
use rpc::{Limits, Mistake, Program, Server, Udp};
use std::net::SocketAddr;
use std::process::Command;

/// Until a busy machine has answered.
const MOST: Duration = Duration::from_secs(30);

/// A call with number 9, without credentials.
fn call(rpc_version: u32, program: u32, version: u32, procedure: u32, args: &[u32]) -> Vec<u8> {
    let header = [9, 0, rpc_version, program, version, procedure, 0, 0, 0, 0];
    bytes(&[&header, args].concat())
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// Calls and their replies, without the number.
fn cases() -> Vec<(&'static str, Vec<u8>, Vec<u32>)> {
    let bad_credentials = [9, 0, 2, PROGRAM, 1, 0, 1, 4, u32::MAX, 0, 0];
    let long_credentials = [&[9, 0, 2, PROGRAM, 1, 0, 6, 404][..], &[0; 101], &[0, 0]].concat();
    // Versions 1 and 3 are there.
    vec![
        ("procedure 0", call(2, PROGRAM, 1, 0, &[]), vec![1, 0, 0, 0, 0]),
        ("a deposit", call(2, PROGRAM, 1, 1, &[0, 5]), vec![1, 0, 0, 0, 0, 0, 5]),
        ("another program", call(2, PROGRAM + 1, 1, 0, &[]), vec![1, 0, 0, 0, 1]),
        ("another version", call(2, PROGRAM, 2, 0, &[]), vec![1, 0, 0, 0, 2, 1, 3]),
        ("another procedure", call(2, PROGRAM, 1, 7, &[]), vec![1, 0, 0, 0, 3]),
        ("too few arguments", call(2, PROGRAM, 1, 1, &[0]), vec![1, 0, 0, 0, 4]),
        ("too many arguments", call(2, PROGRAM, 1, 1, &[0, 5, 6]), vec![1, 0, 0, 0, 4]),
        ("no such account", call(2, PROGRAM, 1, 1, &[99, 5]), vec![1, 0, 0, 0, 4]),
        ("another version of RPC", call(3, PROGRAM, 1, 0, &[]), vec![1, 1, 0, 2, 2]),
        ("bad credentials", bytes(&bad_credentials), vec![1, 1, 1, 1]),
        ("too long credentials", bytes(&long_credentials), vec![1, 1, 1, 1]),
    ]
}

fn services() -> rpc::Services {
    Bank::new(1).services().with(Program::new(PROGRAM, 3))
}

async fn start_server(services: rpc::Services, limits: Limits) -> SocketAddr {
    let server = Server::bind("127.0.0.1:0", services).await.unwrap().limits(limits);
    let addr = server.local_addr().unwrap();
    drop(colored::spawn(server.run()));
    addr
}

/// The cases that have another reply than that of the RFC, over TCP.
async fn wrong_over_tcp(services: rpc::Services) -> Vec<&'static str> {
    let addr = start_server(services, Limits::default()).await;
    let mut stream = TcpStream::connect(addr).await.unwrap();
    let mut wrong = Vec::new();
    for (what, call, expected) in cases() {
        // In two fragments.
        let (one, other) = call.split_at(8);
        stream.write_all(&bytes(&[8])).await.unwrap();
        stream.write_all(one).await.unwrap();
        stream.write_all(&bytes(&[1 << 31 | other.len() as u32])).await.unwrap();
        stream.write_all(other).await.unwrap();
        let reply = timeout(MOST, read_record(&mut stream)).await.unwrap();
        if reply != bytes(&[&[9], &expected[..]].concat()) {
            wrong.push(what);
        }
    }
    wrong
}

/// The next record, which is in one fragment.
async fn read_record(stream: &mut TcpStream) -> Vec<u8> {
    let header = stream.read_u32().await.unwrap();
    assert!(header & 1 << 31 != 0, "{header:#x}");
    let mut record = vec![0; (header & !(1 << 31)) as usize];
    stream.read_exact(&mut record).await.unwrap();
    record
}

/// The cases that have another reply than that of the RFC, over UDP.
async fn wrong_over_udp(services: rpc::Services) -> Vec<&'static str> {
    let server = Udp::bind("127.0.0.1:0").await.unwrap();
    server.serve(services);
    let mut wrong = Vec::new();
    for (what, call, expected) in cases() {
        // An address for each, so that none is taken for the one before.
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        socket.connect(server.local_addr().unwrap()).await.unwrap();
        let expected = bytes(&[&[9], &expected[..]].concat());
        // The second time it comes from the cache: the same bytes.
        let replies = [ask(&socket, &call).await, ask(&socket, &call).await];
        if replies.iter().any(|reply| *reply != expected) {
            wrong.push(what);
        }
    }
    wrong
}

/// Sends a call until it is answered.
async fn ask(socket: &UdpSocket, call: &[u8]) -> Vec<u8> {
    let mut reply = [0; 512];
    loop {
        socket.send(call).await.unwrap();
        // If the call comes while its handler still runs, it is dropped.
        let received = timeout(Duration::from_secs(1), socket.recv(&mut reply)).await;
        if let Ok(received) = received {
            return reply[..received.unwrap()].to_vec();
        }
    }
}

#[colored::test]
async fn the_replies_are_those_of_the_rfc() {
    assert_eq!(wrong_over_tcp(services()).await, [""; 0]);
    assert_eq!(wrong_over_udp(services()).await, [""; 0]);
}

#[colored::test]
async fn each_wrong_reply_is_found() {
    for (mistake, cases) in [
        (Mistake::ConfusesPrograms, &["another program"][..]),
        (Mistake::ForgetsVersions, &["another version"]),
        (Mistake::AnswersEachProcedure, &["another procedure"]),
        (Mistake::FailsOnWrongArguments, &["too few arguments", "too many arguments"]),
    ] {
        let mistaken = || services().with_mistake(mistake);
        assert_eq!(wrong_over_tcp(mistaken()).await, cases, "{mistake:?}");
        assert_eq!(wrong_over_udp(mistaken()).await, cases, "{mistake:?}");
    }
}

/// Whether a server with these limits ends a connection whose first bytes are this header, before the record comes.
async fn is_refused(limits: Limits, header: u32, most: Duration) -> bool {
    let addr = start_server(services(), limits).await;
    let mut stream = TcpStream::connect(addr).await.unwrap();
    stream.write_all(&bytes(&[header])).await.unwrap();
    let mut rest = Vec::new();
    let read = timeout(most, stream.read_to_end(&mut rest)).await;
    assert!(rest.is_empty(), "{header:#x}: {rest:?}");
    matches!(read, Ok(Ok(0)))
}

#[colored::test]
async fn a_header_of_a_huge_record_costs_its_four_bytes() {
    for header in [u32::MAX, 1 << 31 | 2 << 20 | 1, 2 << 20 | 1] {
        assert!(is_refused(Limits::default(), header, MOST).await, "{header:#x}");
    }
}

#[colored::test]
async fn without_a_limit_a_server_waits_for_a_huge_record() {
    let limits = Limits { record: usize::MAX, ..Limits::default() };
    assert!(!is_refused(limits, u32::MAX, Duration::from_secs(1)).await);
}

/// `rpcinfo` of Debian's package `rpcbind`, if it is installed.
#[colored::test]
async fn rpcinfo_sees_the_same() {
    let addr = start_server(services(), Limits::default()).await;
    let [high, low] = addr.port().to_be_bytes();
    let addr = format!("{}.{high}.{low}", addr.ip());
    for (program, version, expected) in [
        (PROGRAM, 1, "program 536916144 version 1 ready and waiting"),
        (PROGRAM, 2, "Program/version mismatch; low version = 1, high version = 3"),
        (PROGRAM + 1, 1, "Program unavailable"),
    ] {
        let (program, version) = (program.to_string(), version.to_string());
        let args = ["-a", &addr, "-T", "tcp", &program, &version].map(ToOwned::to_owned);
        let run = move || Command::new("/usr/sbin/rpcinfo").args(args).output();
        match colored::spawn_blocking(run).await.unwrap() {
            Err(error) => return eprintln!("skipped: rpcinfo, of the package rpcbind: {error}"),
            Ok(output) => {
                let text = [output.stdout, output.stderr].concat();
                let text = String::from_utf8_lossy(&text).into_owned();
                assert!(text.contains(expected), "{text}");
            }
        }
    }
}
