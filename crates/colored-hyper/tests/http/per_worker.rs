//! A server on a listener of each worker.

use crate::support::*;
use colored::net::{TcpListener, TcpStream};
use colored::sync::watch;
use colored::task::JoinSet;
use colored_hyper::serve;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const WORKERS: usize = 3;

/// One server for each listener, with a signal for all of them. With 96 connections, the chance that one of three gets none
/// is below 10⁻¹⁶.
#[colored::test(workers = 3)]
async fn a_server_for_each_worker_answers_and_drains() {
    const CLIENTS: usize = 96;
    let listeners = TcpListener::bind_per_worker("127.0.0.1:0").await.unwrap();
    assert_eq!(listeners.len(), WORKERS);
    let addr = listeners[0].local_addr().unwrap();
    let (stop, stopped) = watch::channel(false);
    let answered: Arc<[AtomicUsize; WORKERS]> = Arc::default();
    let mut servers = JoinSet::new();
    for (number, listener) in listeners.into_iter().enumerate() {
        let answered = Arc::clone(&answered);
        let service = service_fn(move |_: Request<Incoming>| {
            answered[number].fetch_add(1, Ordering::Relaxed);
            async { Answer::Ok(Response::new("there".into())) }
        });
        let mut stopped = stopped.clone();
        let signal = async move { drop(stopped.wait_for(|stopped| *stopped).await) };
        let server = serve(listener, service).with_graceful_shutdown(signal);
        servers.spawn_unique(server.into_future());
    }
    let mut clients = JoinSet::new();
    for _ in 0..CLIENTS {
        clients.spawn_unique(async move {
            let mut stream = within(TcpStream::connect(addr)).await.unwrap();
            let answer = exchange(&mut stream, "GET / HTTP/1.1\r\nhost: a\r\n\r\n", "there").await;
            assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        });
    }
    within(clients.join_all()).await;
    stop.send(true).unwrap();
    for ended in within(servers.join_all()).await {
        ended.unwrap();
    }
    let answered = answered.each_ref().map(|n| n.load(Ordering::Relaxed));
    assert_eq!(answered.iter().sum::<usize>(), CLIENTS);
    assert!(answered.iter().all(|&n| n > 0), "{answered:?}");
}
