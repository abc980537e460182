//! Sockets that outlive their runtime.

use std::task::Waker;

use crate::io::{AsyncReadExt, AsyncWriteExt};
use crate::net::TcpListener;
use crate::net::testing::{World, listen, pair};

#[test]
fn waiting_ends_with_an_error_and_dropping_is_fine() {
    let world = World::new();
    let (listener, _) = world.block_on(listen());
    let (mut client, mut server) = world.block_on(pair());
    let end = async {
        let mut wakers = Vec::new();
        world.driver.shards.get(0).shut_down(&mut wakers);
        wakers.into_iter().for_each(Waker::wake);
    };
    let mut byte = [0];
    let (read, accepted, ()) =
        world.block_on(async { tokio::join!(server.read(&mut byte), listener.accept(), end) });
    let text = "the runtime of this socket has shut down";
    assert!(read.unwrap_err().to_string().starts_with(text));
    assert!(accepted.unwrap_err().to_string().contains(text));
    drop(world);

    let world = World::new();
    assert!(world.block_on(client.write(b"x")).unwrap_err().to_string().starts_with(text));
    assert!(client.try_write(b"x").is_err());
    drop((client, server, listener));
}

#[test]
fn a_socket_of_a_past_runtime_moves_to_another() {
    let world = World::new();
    let (client, server) = world.block_on(pair());
    drop(world);
    let world = World::new();
    world.block_on(async {
        let mut client = super::super::TcpStream::from_std(client.into_std().unwrap()).unwrap();
        let mut server = super::super::TcpStream::from_std(server.into_std().unwrap()).unwrap();
        client.write_all(b"hello").await.unwrap();
        let mut buf = [0; 5];
        server.read_exact(&mut buf).await.unwrap();
        assert_eq!(&buf, b"hello");
    });
}

#[test]
#[should_panic(expected = "runtime")]
fn making_a_socket_outside_a_runtime_panics() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let _ = TcpListener::from_std(listener);
}
