//! A server of hyper, and its clients in the same runtime, over the loopback interface.

use colored::net::{TcpListener, TcpStream};
use colored::spawn_unique;
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use std::convert::Infallible;

const CLIENTS: u64 = 16;
const REQUESTS_OF_EACH: u64 = 500;
pub(crate) const REQUESTS: u64 = CLIENTS * REQUESTS_OF_EACH;

/// Each client has one connection, on which it makes one request behind the other.
pub(crate) async fn echo() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("it has one");
    let answer = |_| async {
        Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(b"hello, world"))))
    };
    let server = spawn_unique(async move {
        let _never = colored_hyper::serve(listener, service_fn(answer)).await;
    });
    let client = |_| {
        spawn_unique(async move {
            let stream = TcpStream::connect(address).await.expect("a connection");
            let (mut sender, connection) = http1::handshake(stream).await.expect("it begins");
            drop(spawn_unique(connection));
            for _ in 0..REQUESTS_OF_EACH {
                let request = Request::get("/").header("host", "server");
                let request = request.body(Empty::<Bytes>::new()).expect("it is right");
                sender.ready().await.expect("the connection stays");
                let response = sender.send_request(request).await.expect("an answer");
                response.into_body().collect().await.expect("its body");
            }
        })
    };
    for client in (0..CLIENTS).map(client).collect::<Vec<_>>() {
        client.await.expect("it ends");
    }
    server.abort();
}
