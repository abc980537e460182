//! Addresses, and errors that name them.

use std::io::ErrorKind;
use std::path::Path;

use super::{Place, UnixListener, UnixStream};
use crate::io::{named, named_call};
use crate::net::testing::run;

#[test]
fn a_path_without_a_socket_is_named() {
    run(async {
        let place = Place::new();
        let error = named(UnixStream::connect(&place.0)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        let of_std = std::os::unix::net::UnixStream::connect(&place.0).unwrap_err();
        assert_eq!(error.raw_os_error(), of_std.raw_os_error());
        let expected = format!("cannot connect to {}: {of_std}", place.0.display());
        assert_eq!(error.to_string(), expected);
    });
}

#[test]
fn a_path_in_use_is_named_and_outlives_its_listener() {
    run(async {
        let place = Place::new();
        let listener = UnixListener::bind(&place.0).unwrap();
        for held in [Some(listener), None] {
            let error = named_call(|| UnixListener::bind(&place.0)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::AddrInUse);
            let of_std = std::os::unix::net::UnixListener::bind(&place.0).unwrap_err();
            assert_eq!(error.raw_os_error(), of_std.raw_os_error());
            let text = error.to_string();
            let start = format!("cannot listen on {}: {of_std}", place.0.display());
            assert!(text.starts_with(&start), "{text}");
            assert!(text.contains("outlives its listener: remove it"), "{text}");
            drop(held);
        }
        let error = named(UnixStream::connect(&place.0)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        assert!(error.to_string().contains("; the file is there, but nobody listens"), "{error}");
    });
}

#[test]
fn a_path_that_cannot_be_a_sockets_is_refused() {
    run(async {
        for path in ["x".repeat(200), String::from("a\0b"), String::new()] {
            let error = UnixStream::connect(&path).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            let text = error.to_string();
            assert!(text.starts_with(&format!("cannot connect to {path}: ")), "{text}");
            assert!(text.contains("1 to some 100 bytes"), "{text}");
            let error = UnixListener::bind(Path::new(&path)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
        }
    });
}

#[test]
#[cfg(target_os = "linux")]
fn a_path_that_begins_with_nul_is_an_abstract_name() {
    use std::os::linux::net::SocketAddrExt;
    run(async {
        let name = format!("colored-nul-{}", std::process::id());
        let path = format!("\0{name}");
        let listener = UnixListener::bind(&path).unwrap();
        assert_eq!(listener.local_addr().unwrap().as_abstract_name(), Some(name.as_bytes()));
        let (client, accepted) = tokio::join!(UnixStream::connect(&path), listener.accept());
        assert_eq!(client.unwrap().peer_addr().unwrap().as_abstract_name(), Some(name.as_bytes()));
        accepted.unwrap();
        drop(listener);
        let error = UnixStream::connect(&path).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    });
}

#[test]
#[cfg(target_os = "linux")]
fn an_abstract_name_ends_with_its_listener() {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::SocketAddr;
    run(async {
        let name = format!("colored-test-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let listener = UnixListener::bind_addr(&address).unwrap();
        let (client, accepted) =
            tokio::join!(UnixStream::connect_addr(&address), listener.accept());
        let client = client.unwrap();
        assert_eq!(client.peer_addr().unwrap().as_abstract_name(), Some(name.as_bytes()));
        assert!(accepted.unwrap().1.is_unnamed());
        drop(listener);
        let error = named(UnixStream::connect_addr(&address)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        assert!(error.to_string().contains(&name), "{error}");
    });
}

/// As long as the system allows, which is one byte more than there is room for with a zero behind.
#[test]
#[cfg(target_os = "linux")]
fn a_peer_whose_path_fills_its_address_is_accepted() {
    use socket2::{Domain, SockAddr, Socket, Type};
    run(async {
        let place = Place::new();
        let listener = UnixListener::bind(&place.0).unwrap();
        let long = format!("{:x<108}", place.0.with_extension("long").display());
        let peer = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
        rustix::net::bind(&peer, &rustix::net::SocketAddrUnix::new(&*long).unwrap()).unwrap();
        peer.connect(&SockAddr::unix(&place.0).unwrap()).unwrap();
        let accepted = listener.accept().await;
        std::fs::remove_file(&long).unwrap();
        let (stream, from) = accepted.unwrap();
        assert_eq!(from.as_pathname(), None);
        drop((format!("{stream:?}"), stream.peer_addr()));
    });
}

#[test]
fn a_named_peer_is_identified_by_its_name() {
    use socket2::{Domain, SockAddr, Socket, Type};
    run(async {
        let (place, own) = (Place::new(), Place::new());
        let listener = UnixListener::bind(&place.0).unwrap();
        let peer = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
        peer.bind(&SockAddr::unix(&own.0).unwrap()).unwrap();
        peer.connect(&SockAddr::unix(&place.0).unwrap()).unwrap();
        assert_eq!(listener.accept().await.unwrap().1.as_pathname(), Some(&*own.0));
    });
}
