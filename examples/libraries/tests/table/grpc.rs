//! tonic.

#[path = "../../examples/grpc/tally.rs"]
mod tally;

use super::EACH;
use crate::support::in_colors;
use colored::net::TcpListener;
use colored::sync::oneshot;
use colored::time::{Duration, sleep};
use colored::{JoinHandle, spawn_unique};
use colored_hyper::{Coloring, serve, tower};
use std::io;
use tally::{Add, Prefix, Tally, TallyClient};
use tonic::service::Routes;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status};

/// A server, what ends it, and a channel to it.
async fn connect() -> (JoinHandle<io::Result<()>>, oneshot::Sender<()>, Channel) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let routes = Routes::new(Tally::new()).prepare().into_axum_router();
    let server = serve(listener, tower(routes)).http2_only().coloring(Coloring::Stream);
    let (end, ended) = oneshot::channel::<()>();
    let server = server.with_graceful_shutdown(async move { drop(ended.await) });
    let server = spawn_unique(async move { Ok(server.await?) });
    let channel = Endpoint::from_shared(url).unwrap().connect().await.unwrap();
    (server, end, channel)
}

pub(super) async fn many() -> u64 {
    let (_server, _end, channel) = connect().await;
    let each = EACH as i64;
    let visits = in_colors(10, 2, |witness, task| {
        let mut client = TallyClient::new(channel.clone());
        async move {
            for n in 1..=each {
                let add = Add { key: task.to_string(), amount: n };
                let total = client.add(add).await.unwrap();
                witness.visit();
                assert_eq!(total.total, n * (n + 1) / 2);
            }
        }
    });
    let visits = visits.await;
    let mut client = TallyClient::new(channel);
    let mut totals = client.list(Prefix { prefix: String::new() }).await.unwrap();
    let mut keys = 0;
    while let Some(total) = totals.message().await.unwrap() {
        assert_eq!(total.total, each * (each + 1) / 2);
        keys += 1;
    }
    assert_eq!(keys, 20);
    visits
}

async fn refused(channel: Channel) -> Status {
    let mut client = TallyClient::new(channel);
    client.add(Add { key: "late".into(), amount: 1 }).await.unwrap_err()
}

pub(super) async fn gone() {
    let (server, end, channel) = connect().await;
    drop(end);
    server.await.unwrap().unwrap();
    // The task of the channel reads the last words of the server: a call before that ends otherwise.
    while refused(channel.clone()).await.code() != Code::Unavailable {
        sleep(Duration::from_millis(1)).await;
    }
    let visits = in_colors(4, 2, |witness, _| {
        let channel = channel.clone();
        async move {
            let refused = refused(channel).await;
            assert_eq!(refused.code(), Code::Unavailable, "{refused}");
            witness.visit();
        }
    });
    assert_eq!(visits.await, 8);
}
