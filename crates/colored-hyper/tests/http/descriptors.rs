//! A server without descriptors.

use crate::support::*;
use colored::net::TcpSocket;
use colored::time::{Duration, sleep};
use colored_hyper::{ServeError, serve};
use hyper::service::service_fn;
use std::fs::File;
use std::process::Command;
use std::sync::{Arc, Mutex};

/// The limit holds for the whole process, so the test has one of its own.
#[test]
fn a_server_without_descriptors_backs_off_and_recovers() {
    let limited = "ulimit -n 64 && exec \"$0\" --exact --ignored descriptors::body";
    let this = std::env::current_exe().unwrap();
    let test = Command::new("sh").arg("-c").arg(limited).arg(this).output().unwrap();
    let (out, error) =
        (String::from_utf8_lossy(&test.stdout), String::from_utf8_lossy(&test.stderr));
    assert!(test.status.success() && out.contains("1 passed"), "{out}\n{error}");
}

#[colored::test(workers = 2)]
#[ignore = "takes all descriptors of its process: the test above runs it"]
async fn body() {
    const CLIENTS: usize = 4;
    const STARVED: Duration = Duration::from_millis(150);
    let (log, numbers) = (Log::default(), Arc::new(Mutex::new(Vec::new())));
    let (told, counted) = (log.clone(), Arc::clone(&numbers));
    let server = start(|listener| {
        serve(listener, service_fn(echo)).on_error(move |error| {
            let ServeError::Accept(cause) = error else { panic!("{error}") };
            counted.lock().unwrap().push(cause.raw_os_error());
            told.add(error);
        })
    })
    .await;
    // A descriptor for each client, and none for its connection.
    let sockets = [(); CLIENTS].map(|()| TcpSocket::new_v4().unwrap());
    let mut hoard = Vec::new();
    let none_left = loop {
        match File::open("/dev/null") {
            Ok(file) => hoard.push(file),
            Err(error) => break error.raw_os_error(),
        }
    };
    let mut clients = Vec::new();
    for socket in sockets {
        clients.push(within(socket.connect(server.addr)).await.unwrap());
    }
    sleep(STARVED).await;
    // On a busy machine the first one may come later.
    log.first().await;
    let errors = log.lines();
    // At 0, 5, 15, 35, 75 and 155 ms: late, perhaps, but never more.
    assert!((1..=7).contains(&errors.len()), "{errors:?}");
    assert!(errors[0].contains("every descriptor that is allowed is in use"), "{errors:?}");
    assert!(none_left.is_some());
    assert!(numbers.lock().unwrap().iter().all(|number| *number == none_left), "{numbers:?}");
    drop(hoard);
    for mut stream in clients {
        let request = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nok";
        let answer = exchange(&mut stream, request, "ok").await;
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    }
    server.end().await;
}
