//! What is a stream: intervals and listeners.

use colored::io::{AsyncReadExt, AsyncWriteExt};
use colored::net::{TcpListener, TcpStream};
use colored::time::{Duration, Instant, interval};
use colored_tests::run;
use futures_core::Stream;
use std::future::poll_fn;
use std::pin::Pin;

async fn next<S: Stream + Unpin>(stream: &mut S) -> Option<S::Item> {
    poll_fn(|cx| Pin::new(&mut *stream).poll_next(cx)).await
}

#[colored::test(paused)]
async fn an_interval_is_a_stream_of_its_ticks() {
    let (start, hour) = (Instant::now(), Duration::from_secs(3600));
    let mut ticks = interval(hour);
    for tick in 0..5 {
        assert_eq!(next(&mut ticks).await, Some(start + hour * tick));
    }
    assert_eq!(ticks.size_hint(), (usize::MAX, None));
}

#[test]
fn the_connections_of_a_listener_are_a_stream() {
    run(2, async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let clients = colored::spawn_unique(async move {
            for byte in 0..5 {
                let mut stream = TcpStream::connect(address).await.unwrap();
                stream.write_all(&[byte]).await.unwrap();
            }
        });
        let mut incoming = listener.incoming();
        for byte in 0..5 {
            let mut stream = next(&mut incoming).await.unwrap().unwrap();
            assert_eq!(stream.read_u8().await.unwrap(), byte);
        }
        clients.await.unwrap();
    });
}

#[cfg(unix)]
#[test]
fn the_connections_of_a_listener_on_this_machine_are_a_stream() {
    use colored::net::{UnixListener, UnixStream};
    use colored_tests::scratch::Scratch;
    run(2, async {
        let scratch = Scratch::new();
        let path = scratch.join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        let client = colored::spawn_unique(async move {
            UnixStream::connect(&path).await.unwrap().write_all(&[7]).await.unwrap();
        });
        let mut stream = next(&mut listener.incoming()).await.unwrap().unwrap();
        assert_eq!(stream.read_u8().await.unwrap(), 7);
        client.await.unwrap();
    });
}
