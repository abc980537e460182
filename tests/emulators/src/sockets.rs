//! Sockets of std.

use std::io::{ErrorKind, IoSlice, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream, UdpSocket};
use std::thread;
use std::time::Duration;

fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let client = TcpStream::connect(listener.local_addr().expect("an address")).expect("a client");
    (client, listener.accept().expect("a connection").0)
}

pub(crate) fn std_tcp_echo() {
    let (mut client, mut server) = pair();
    let echo = thread::spawn(move || {
        let mut bytes = [0; 5];
        server.read_exact(&mut bytes).expect("five bytes");
        server.write_all(&bytes).expect("the client reads");
    });
    client.write_all(b"hello").expect("the server reads");
    let mut bytes = Vec::new();
    client.read_to_end(&mut bytes).expect("the server answers");
    echo.join().expect("it ends");
    assert_eq!(bytes, b"hello");
}

pub(crate) fn udp_echo() {
    let one = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let other = UdpSocket::bind("127.0.0.1:0").expect("a port");
    one.send_to(b"hello", other.local_addr().expect("an address")).expect("it is sent");
    let mut bytes = [0; 9];
    let (length, from) = other.recv_from(&mut bytes).expect("it comes");
    assert_eq!((&bytes[..length], from), (&b"hello"[..], one.local_addr().expect("an address")));
}

pub(crate) fn a_refused_connection_is_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    drop(listener);
    let error = TcpStream::connect(address).expect_err("nobody listens");
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
}

/// A connection that is closed before all was read is reset.
pub(crate) fn a_reset_is_an_error() {
    let (mut client, server) = pair();
    client.write_all(b"not read").expect("there is room");
    thread::sleep(Duration::from_millis(50));
    drop(server);
    let error = client.read(&mut [0; 8]).expect_err("it was reset");
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
}

pub(crate) fn a_shutdown_wakes_a_reader() {
    let (client, _server) = pair();
    let mut reader = client.try_clone().expect("a second handle");
    let thread = thread::spawn(move || reader.read(&mut [0; 8]));
    thread::sleep(Duration::from_millis(50));
    client.shutdown(Shutdown::Read).expect("it is connected");
    // Windows ends the read by an error.
    let _ = thread.join().expect("it ends");
}

pub(crate) fn two_thousand_pieces_are_written() {
    let (mut client, mut server) = pair();
    let pieces = vec![IoSlice::new(b"x"); 2000];
    let written = client.write_vectored(&pieces).expect("some are written");
    drop(client);
    let mut bytes = Vec::new();
    server.read_to_end(&mut bytes).expect("they come");
    assert_eq!(bytes.len(), written);
}
