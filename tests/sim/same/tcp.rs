//! Addresses, listeners and connections.

use super::{settle, told};
use colored::io::{AsyncReadExt, AsyncWriteExt};
use colored::net::{ListenOptions, TcpListener, TcpSocket, TcpStream, lookup_host};
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

super::rows![
    used_ports,
    reused_ports,
    a_socket_that_is_bound,
    ports_of_connections,
    refused,
    both_families,
    families_that_differ,
    a_listener_that_ends,
    names,
];

fn local(port: u16) -> SocketAddr {
    SocketAddr::new("127.0.0.1".parse().unwrap(), port)
}

fn bind(addr: SocketAddr, reuses: bool) -> io::Result<TcpSocket> {
    let socket = if addr.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(reuses)?;
    socket.bind(addr)?;
    Ok(socket)
}

async fn used_ports(_: PathBuf) -> Vec<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let own = listener.local_addr().unwrap();
    let any = SocketAddr::new("0.0.0.0".parse().unwrap(), own.port());
    let six = |ip: &str| SocketAddr::new(ip.parse().unwrap(), own.port());
    let mut seen = vec![told("listen again", TcpListener::bind(own).await.map(drop))];
    seen.push(told("listen at all", TcpListener::bind(any).await.map(drop)));
    seen.push(told("bind", bind(own, false).map(drop)));
    seen.push(told("bind to reuse", bind(own, true).map(drop)));
    seen.push(told(
        "another address",
        TcpListener::bind(("127.0.0.2", own.port())).await.map(drop),
    ));
    seen.push(told("IPv6", TcpListener::bind(six("::1")).await.map(drop)));
    seen.push(told("all of IPv6", TcpListener::bind(six("::")).await.map(drop)));
    let only = ListenOptions::new().only_v6(true).listen(six("::")).await;
    seen.push(told("IPv6 only", only.map(drop)));
    drop(listener);
    seen.push(told("after its end", TcpListener::bind(own).await.map(drop)));
    seen.push(told("foreign", TcpListener::bind("192.0.2.1:0").await.map(drop)));
    seen
}

async fn reused_ports(_: PathBuf) -> Vec<String> {
    let mut seen = Vec::new();
    for (one, other) in [(false, false), (true, false), (false, true), (true, true)] {
        let first = bind(local(0), one).unwrap();
        let addr = first.local_addr().unwrap();
        let what = format!("{one} {other}");
        match bind(addr, other) {
            Err(error) => seen.push(told::<()>(&what, Err(error))),
            Ok(second) => {
                let _first = first.listen(1).unwrap();
                seen.push(told(&what, second.listen(1).map(drop)));
            }
        }
    }
    let shared = ListenOptions::new().reuse_port(true);
    let first = shared.clone().listen("127.0.0.1:0").await.unwrap();
    let second = shared.listen(first.local_addr().unwrap()).await;
    seen.push(told("shared", second.map(drop)));
    seen
}

async fn a_socket_that_is_bound(_: PathBuf) -> Vec<String> {
    let socket = TcpSocket::new_v4().unwrap();
    let mut seen = vec![told("before", socket.local_addr())];
    seen.push(told("bind", socket.bind(local(0))));
    seen.push(told("chosen", socket.local_addr().map(|own| (own.ip(), own.port() > 0))));
    seen.push(told("twice", socket.bind(local(0))));
    let own = socket.local_addr().unwrap();
    // It does not listen yet.
    seen.push(told("connect", TcpStream::connect(own).await.map(drop)));
    let listener = socket.listen(4).unwrap();
    seen.push(told("own", listener.local_addr().map(|addr| addr == own)));
    seen.push(told("connect", TcpStream::connect(own).await.map(drop)));
    let unbound = TcpSocket::new_v4().unwrap().listen(4).unwrap();
    let own = unbound.local_addr().unwrap();
    seen.push(format!("unbound: {} {}", own.ip(), own.port() > 0));
    let unbound = TcpSocket::new_v6().unwrap().listen(4).unwrap();
    seen.push(format!("unbound: {}", unbound.local_addr().unwrap().ip()));
    let dropped = bind(local(0), false).unwrap();
    let own = dropped.local_addr().unwrap();
    drop(dropped);
    seen.push(told("after its end", bind(own, false).map(drop)));
    seen
}

async fn ports_of_connections(_: PathBuf) -> Vec<String> {
    let listener = bind(local(0), false).unwrap().listen(4).unwrap();
    let own = listener.local_addr().unwrap();
    let mut seen = Vec::new();
    // The side that connects is bound first.
    let socket = bind(local(0), false).unwrap();
    let port = socket.local_addr().unwrap();
    let client = socket.connect(own).await.unwrap();
    let (server, from) = listener.accept().await.unwrap();
    seen.push(format!("from the port: {}", from == port));
    seen.push(told("its port", bind(port, false).map(drop)));
    seen.push(told("its port to reuse", bind(port, true).map(drop)));
    drop(listener);
    // The connection has the port of the listener.
    seen.push(told("the listener's port", bind(own, false).map(drop)));
    seen.push(told("the listener's port to reuse", bind(own, true).map(drop)));
    // The client ends first, and its port lingers; the listener's does not.
    drop(client);
    settle().await;
    drop(server);
    settle().await;
    seen.push(told("after the end", bind(own, false).map(drop)));
    seen.push(told("of the side that ended first", bind(port, false).map(drop)));
    seen
}

async fn refused(_: PathBuf) -> Vec<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let own = listener.local_addr().unwrap();
    let mut seen = Vec::new();
    // To no address in particular.
    let stream = TcpStream::connect(("0.0.0.0", own.port())).await.unwrap();
    seen.push(told("peer", stream.peer_addr().map(|peer| peer == own)));
    drop((stream, listener));
    settle().await;
    seen.push(told("connect", TcpStream::connect(own).await.map(drop)));
    seen.push(told("port 0", TcpStream::connect(local(0)).await.map(drop)));
    seen
}

async fn both_families(_: PathBuf) -> Vec<String> {
    let listener = TcpListener::bind("[::]:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut seen = Vec::new();
    for ip in ["127.0.0.1", "::1", "::ffff:127.0.0.1"] {
        let client = TcpStream::connect((ip, port)).await.unwrap();
        let (server, from) = listener.accept().await.unwrap();
        let ips =
            [server.local_addr(), server.peer_addr(), client.local_addr(), client.peer_addr()];
        let ips = ips.map(|addr| addr.unwrap().ip().to_string());
        seen.push(format!("{ip}: from {}, {ips:?}", from.ip()));
    }
    let only = ListenOptions::new().only_v6(true).listen("[::]:0").await.unwrap();
    let port = only.local_addr().unwrap().port();
    seen.push(told("only", TcpStream::connect(("127.0.0.1", port)).await.map(drop)));
    seen.push(told("only", TcpStream::connect(("::1", port)).await.map(drop)));
    seen
}

async fn families_that_differ(_: PathBuf) -> Vec<String> {
    let (four, six) = (local(0), SocketAddr::new("::1".parse().unwrap(), 0));
    let mut seen = vec![told("4 to 6", TcpSocket::new_v4().unwrap().bind(six))];
    seen.push(told("6 to 4", TcpSocket::new_v6().unwrap().bind(four)));
    let listener = TcpListener::bind("[::]:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let to = |ip: &str| SocketAddr::new(ip.parse().unwrap(), port);
    let connected = TcpSocket::new_v4().unwrap().connect(to("::1")).await;
    seen.push(told("connect 4 to 6", connected.map(drop)));
    let connected = TcpSocket::new_v6().unwrap().connect(to("127.0.0.1")).await;
    seen.push(told("connect 6 to 4", connected.map(drop)));
    seen
}

async fn a_listener_that_ends(_: PathBuf) -> Vec<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let own = listener.local_addr().unwrap();
    // It is taken by the system, and by nobody here.
    let mut client = TcpStream::connect(own).await.unwrap();
    let mut seen = vec![told("write", client.write(b"hello").await)];
    let accepted = TcpStream::connect(own).await.unwrap();
    let (_first, _) = listener.accept().await.unwrap();
    drop(accepted);
    // A connection that is over before it is taken.
    settle().await;
    let (mut second, _) = listener.accept().await.unwrap();
    seen.push(told("the end", second.read(&mut [0; 4]).await));
    let mut waits = TcpStream::connect(own).await.unwrap();
    settle().await;
    drop(listener);
    settle().await;
    seen.push(told("read", waits.read(&mut [0; 4]).await));
    seen.push(told("peer", waits.peer_addr()));
    seen.push(told("write", waits.write(b"more").await));
    seen
}

async fn names(_: PathBuf) -> Vec<String> {
    let mut seen = Vec::new();
    let connected = TcpStream::connect("a\0b:80").await.map(drop);
    seen.push(format!("connect: {:?}", connected.map_err(|error| error.kind())));
    let found = lookup_host("a\0b:80").await.map(|found| found.count());
    seen.push(format!("look up: {:?}", found.map_err(|error| error.kind())));
    seen.push(told("an address", lookup_host("127.0.0.1:80").await.map(|found| found.count())));
    seen
}
