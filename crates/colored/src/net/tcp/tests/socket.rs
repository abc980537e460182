//! Sockets whose options are set one by one.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::Duration;

use socket2::{Domain, Socket, Type};

use crate::io::{named, named_call};
use crate::net::testing::{check_echo, listen, run};
use crate::net::{TcpSocket, TcpStream};

fn free() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

#[test]
fn it_binds_listens_and_connects() {
    run(async {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_reuseaddr(true).unwrap();
        socket.bind(free()).unwrap();
        let addr = socket.local_addr().unwrap();
        let listener = socket.listen(7).unwrap();
        assert_eq!(listener.local_addr().unwrap(), addr);
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(free()).unwrap();
        let own = socket.local_addr().unwrap();
        let (client, accepted) = tokio::join!(socket.connect(addr), listener.accept());
        let (client, (server, peer)) = (client.unwrap(), accepted.unwrap());
        assert_eq!((peer, client.peer_addr().unwrap()), (own, addr));
        check_echo(client, server).await;
    });
}

#[test]
fn options_are_kept_by_the_connection() {
    run(async {
        let (listener, addr) = listen().await;
        let socket = TcpSocket::new_v4().unwrap();
        assert!(!socket.nodelay().unwrap() && !socket.keepalive().unwrap());
        assert!(!socket.reuseaddr().unwrap() && socket.linger().unwrap().is_none());
        socket.set_nodelay(true).unwrap();
        socket.set_keepalive(true).unwrap();
        socket.set_reuseaddr(true).unwrap();
        socket.set_linger(Some(Duration::from_millis(1500))).unwrap();
        socket.set_send_buffer_size(20_000).unwrap();
        socket.set_recv_buffer_size(30_000).unwrap();
        assert!(socket.reuseaddr().unwrap() && socket.take_error().unwrap().is_none());
        assert!((20_000..=40_000).contains(&socket.send_buffer_size().unwrap()));
        assert!((30_000..=60_000).contains(&socket.recv_buffer_size().unwrap()));
        let (client, accepted) = tokio::join!(socket.connect(addr), listener.accept());
        let (client, _) = (client.unwrap(), accepted.unwrap());
        assert!(client.nodelay().unwrap() && client.keep_alive().unwrap());
        assert_eq!(client.linger().unwrap(), Some(Duration::from_secs(2)));
    });
}

#[test]
#[cfg(all(unix, not(any(target_os = "solaris", target_os = "illumos"))))]
fn a_port_is_shared_by_sockets_that_ask_for_it() {
    run(async {
        let listening = |addr| {
            let socket = TcpSocket::new_v4()?;
            socket.set_reuseport(true)?;
            assert!(socket.reuseport()?);
            socket.bind(addr)?;
            socket.listen(1)
        };
        let first = listening(free()).unwrap();
        let addr = first.local_addr().unwrap();
        assert_eq!(listening(addr).unwrap().local_addr().unwrap(), addr);
        let alone = TcpSocket::new_v4().unwrap();
        assert_eq!(alone.bind(addr).unwrap_err().kind(), ErrorKind::AddrInUse);
    });
}

#[test]
fn a_socket_of_the_standard_library_is_taken_over_and_goes_back() {
    run(async {
        let (listener, addr) = listen().await;
        let made = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        made.set_tcp_nodelay(true).unwrap();
        let socket = TcpSocket::from_std_stream(made.into());
        assert!(socket.nodelay().unwrap());
        #[cfg(unix)]
        let socket = TcpSocket::from(std::os::fd::OwnedFd::from(socket));
        let (client, accepted) = tokio::join!(socket.connect(addr), listener.accept());
        assert!(client.unwrap().nodelay().unwrap());
        accepted.unwrap();
    });
}

#[test]
fn errors_name_the_address() {
    run(async {
        let (listener, taken) = listen().await;
        let error = named_call(|| TcpSocket::new_v4()?.bind(taken)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AddrInUse);
        assert!(error.to_string().starts_with(&format!("cannot bind to {taken}: ")), "{error}");
        drop(listener);
        // A port of the reserved range, which has no listener.
        for closed in ["127.0.0.1:1", "[::1]:1"] {
            let addr: SocketAddr = closed.parse().unwrap();
            let error = named(TcpSocket::new_v4().unwrap().connect(addr)).await.unwrap_err();
            let text = format!("cannot connect to {closed}: ");
            assert!(error.to_string().starts_with(&text), "{error}");
        }
        let socket = TcpSocket::new_v4().unwrap();
        for (refused, name) in [
            (socket.set_send_buffer_size(0), "set_send_buffer_size(0)"),
            (socket.set_recv_buffer_size(0), "set_recv_buffer_size(0)"),
        ] {
            let error: io::Error = refused.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            assert_eq!(error.to_string(), format!("{name}: allowed are 1 to 2147483647 bytes"));
        }
        let long = Some(Duration::from_secs(40_000));
        assert_eq!(socket.set_linger(long).unwrap_err().kind(), ErrorKind::InvalidInput);
    });
}

/// Dropped in the middle of a connect, it leaves nothing: the address can be bound again.
#[test]
fn a_dropped_connect_closes_the_socket() {
    run(async {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(free()).unwrap();
        let own = socket.local_addr().unwrap();
        // This side waits, since a queue of no place is full.
        let listener = TcpSocket::new_v4().unwrap();
        listener.bind(free()).unwrap();
        let addr = listener.local_addr().unwrap();
        let _listener = listener.listen(0).unwrap();
        let _first = TcpStream::connect(addr).await.unwrap();
        let limit = Duration::from_millis(20);
        let outcome = crate::time::timeout(limit, socket.connect(addr)).await;
        drop(outcome);
        let again = TcpSocket::new_v4().unwrap();
        again.set_reuseaddr(true).unwrap();
        again.bind(own).unwrap();
    });
}
