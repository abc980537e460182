//! The servers of the experiment `connections` with few descriptors: they wait, and serve all clients in the end.

use colored_benches::http::child::Server;
use colored_benches::http::numbered::Model;
use colored_benches::http::wire::Address;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::thread;
use std::time::Duration;

/// More than the server has descriptors for, and fewer than its backlog.
const CLIENTS: usize = 100;

const REQUEST: &[u8] = b"GET /0123456789abcdef HTTP/1.1\r\n\r\n";

/// Until a response has come, if one comes in time.
fn is_answered(mut client: &TcpStream, time: Duration) -> bool {
    let mut response = [0; 55];
    client.set_read_timeout(Some(time)).expect("the time is not zero");
    match client.read_exact(&mut response) {
        Ok(()) => response.ends_with(b"\r\n\r\n0123456789abcdef"),
        Err(_) => false,
    }
}

#[test]
#[cfg(unix)]
fn servers_without_descriptors_go_on() {
    super::alone(|| {
        // Each waits for two seconds until a client is not served.
        thread::scope(|scope| {
            for model in Model::ALL {
                scope.spawn(move || serve_with_few_descriptors(model));
            }
        });
    });
}

#[cfg(unix)]
fn serve_with_few_descriptors(model: Model) {
    let mut command = Command::new("sh");
    let program = env!("CARGO_BIN_EXE_http-server");
    command.args(["-c", "ulimit -n 64; exec \"$@\"", "sh", program, model.name()]);
    let server = Server::spawn(command, None).expect("it listens");
    let Address::Tcp(address) = server.address else { panic!("it listens at a port") };
    let connect = |_| {
        let mut client = TcpStream::connect(address).expect("the backlog has room");
        client.write_all(REQUEST).expect("the socket's buffer has room");
        client
    };
    let mut waiting: Vec<TcpStream> = (0..CLIENTS).map(connect).collect();
    // The first clients are served; at some client the descriptors end.
    let first = waiting.iter().take_while(|client| is_answered(client, Duration::from_secs(2)));
    let served = first.count();
    assert!((20..64).contains(&served), "{model:?} has served {served} at once");
    // Each client that goes away makes room for another one.
    drop(waiting.drain(..served));
    while !waiting.is_empty() {
        let client = waiting.remove(0);
        assert!(is_answered(&client, Duration::from_secs(20)), "{model:?}: {} wait", waiting.len());
    }
    // A new client is served too.
    assert!(is_answered(&connect(0), Duration::from_secs(20)), "{model:?}");
}
