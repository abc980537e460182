//! tonic.

#[path = "../examples/grpc/tally.rs"]
mod tally;

use crate::support::{in_colors, with_tokio};
use colored::net::TcpListener;
use colored::spawn_unique;
use colored_hyper::{Coloring, serve, tower};
use tally::{Add, Prefix, Tally, TallyClient};
use tonic::Code;
use tonic::service::Routes;
use tonic::transport::Endpoint;

#[test]
fn a_thousand_calls_are_answered_and_a_server_that_goes_away_is_an_error() {
    const EACH: i64 = 50;
    with_tokio(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let routes = Routes::new(Tally::new()).prepare().into_axum_router();
        let server = serve(listener, tower(routes)).http2_only().coloring(Coloring::Stream);
        let (end, ended) = colored::sync::oneshot::channel::<()>();
        let server = server.with_graceful_shutdown(async move { drop(ended.await) });
        let server = spawn_unique(server.into_future());

        let channel = Endpoint::from_shared(url).unwrap().connect().await.unwrap();
        let visits = in_colors(10, 2, |witness, task| {
            let mut client = TallyClient::new(channel.clone());
            async move {
                for n in 1..=EACH {
                    let add = Add { key: task.to_string(), amount: n };
                    let total = client.add(add).await.unwrap();
                    witness.visit();
                    assert_eq!(total.total, n * (n + 1) / 2);
                }
            }
        });
        assert_eq!(visits.await, 1000);

        let mut client = TallyClient::new(channel);
        let mut totals = client.list(Prefix { prefix: String::new() }).await.unwrap();
        let mut keys = 0;
        while let Some(total) = totals.message().await.unwrap() {
            assert_eq!(total.total, EACH * (EACH + 1) / 2);
            keys += 1;
        }
        assert_eq!(keys, 20);

        drop(end);
        server.await.unwrap().unwrap();
        let refused = client.add(Add { key: "late".into(), amount: 1 }).await.unwrap_err();
        assert_eq!(refused.code(), Code::Unavailable, "{refused}");
    });
}
