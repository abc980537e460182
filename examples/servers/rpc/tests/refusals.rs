//! What the RFC has a server answer to calls that it cannot execute, byte by byte.

use colored::io::{AsyncReadExt, AsyncWriteExt};
use colored::net::{TcpStream, UdpSocket};
use colored::time::{Duration, timeout};
use rpc::bank::{Bank, PROGRAM};
use rpc::{Program, Server, Udp};
use std::net::SocketAddr;
use std::process::Command;

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

async fn start_server() -> SocketAddr {
    let server = Server::bind("127.0.0.1:0", services()).await.unwrap();
    let addr = server.local_addr().unwrap();
    drop(colored::spawn(server.run()));
    addr
}

#[colored::test]
async fn the_replies_over_tcp_are_those_of_the_rfc() {
    let mut stream = TcpStream::connect(start_server().await).await.unwrap();
    for (what, call, expected) in cases() {
        // In two fragments.
        let (one, other) = call.split_at(8);
        stream.write_all(&bytes(&[8])).await.unwrap();
        stream.write_all(one).await.unwrap();
        stream.write_all(&bytes(&[1 << 31 | other.len() as u32])).await.unwrap();
        stream.write_all(other).await.unwrap();
        let mut reply = vec![0; 4 * (expected.len() + 2)];
        let header = 1 << 31 | (reply.len() - 4) as u32;
        timeout(Duration::from_secs(10), stream.read_exact(&mut reply)).await.unwrap().unwrap();
        assert_eq!(reply, bytes(&[&[header, 9], &expected[..]].concat()), "{what}");
    }
}

#[colored::test]
async fn the_replies_over_udp_are_those_of_the_rfc() {
    let server = Udp::bind("127.0.0.1:0").await.unwrap();
    server.serve(services());
    for (what, call, expected) in cases() {
        // An address for each, so that none is taken for the one before.
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        socket.connect(server.local_addr().unwrap()).await.unwrap();
        let expected = bytes(&[&[9], &expected[..]].concat());
        // The second time it comes from the cache: the same bytes.
        for _ in 0..2 {
            let mut reply = [0; 512];
            let length = loop {
                socket.send(&call).await.unwrap();
                // If the call comes while its handler still runs, it is dropped.
                let received = timeout(Duration::from_secs(1), socket.recv(&mut reply)).await;
                if let Ok(received) = received {
                    break received.unwrap();
                }
            };
            assert_eq!(reply[..length], expected, "{what}");
        }
    }
}

#[colored::test]
async fn a_header_of_a_huge_record_costs_its_four_bytes() {
    for header in [u32::MAX, 1 << 31 | 2 << 20 | 1, 2 << 20 | 1] {
        let mut stream = TcpStream::connect(start_server().await).await.unwrap();
        stream.write_all(&bytes(&[header])).await.unwrap();
        // The server ends the connection at once, and does not wait for the record.
        let mut rest = Vec::new();
        let read = timeout(Duration::from_secs(10), stream.read_to_end(&mut rest)).await;
        assert!(matches!(read.unwrap(), Ok(0)), "{header:#x}: {rest:?}");
    }
}

/// `rpcinfo` of Debian's package `rpcbind`, if it is installed.
#[colored::test]
async fn rpcinfo_sees_the_same() {
    let addr = start_server().await;
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
