//! redis.

use super::program::find;
use super::server::Server;
use crate::support::{in_colors, with_tokio};
use colored::spawn_blocking;
use futures_util::StreamExt;
use redis::aio::MultiplexedConnection;
use redis::{AsyncCommands, AsyncConnectionConfig, Client};
use std::process::Command;
use std::time::Duration;

/// A new database, if it is installed.
fn server() -> Option<Server> {
    find("redis-server", "redis-server")?;
    Some(Server::new(
        "TERM",
        |_| (),
        |dir, port| {
            let mut redis = Command::new("redis-server");
            let port = port.to_string();
            redis.current_dir(dir).args(["--port", &port, "--bind", "127.0.0.1", "--save", ""]);
            redis
        },
    ))
}

fn url(server: &Server) -> String {
    format!("redis://{}", server.addr())
}

/// With a time limit far above the usual half a second, as a machine may be busy.
async fn connect(client: &Client) -> MultiplexedConnection {
    let config = AsyncConnectionConfig::new().set_response_timeout(Some(Duration::from_secs(60)));
    client.get_multiplexed_async_connection_with_config(&config).await.unwrap()
}

#[test]
fn a_thousand_pipelines_on_one_connection() {
    let Some(server) = server() else { return };
    let url = url(&server);
    with_tokio(async move {
        let connection = connect(&Client::open(url).unwrap()).await;
        let visits = in_colors(10, 2, |witness, task| {
            let mut connection = connection.clone();
            async move {
                for n in 1..=50 {
                    let key = format!("sum of {task}");
                    let mut pipeline = redis::pipe();
                    pipeline.incr(&key, n).incr(&key, 0);
                    let sums: (u64, u64) = pipeline.query_async(&mut connection).await.unwrap();
                    witness.visit();
                    assert_eq!(sums, (n * (n + 1) / 2, n * (n + 1) / 2));
                }
            }
        });
        assert_eq!(visits.await, 1000);
    });
}

#[test]
fn messages_arrive_in_order() {
    let Some(server) = server() else { return };
    let url = url(&server);
    with_tokio(async move {
        let client = Client::open(url).unwrap();
        let publisher = connect(&client).await;
        let visits = in_colors(5, 1, move |witness, task| {
            let (client, mut publisher) = (client.clone(), publisher.clone());
            async move {
                let channel = format!("channel {task}");
                let mut events = client.get_async_pubsub().await.unwrap();
                events.subscribe(&channel).await.unwrap();
                witness.visit();
                let mut messages = events.into_on_message();
                for n in 0..200 {
                    let heard: usize = publisher.publish(&channel, n).await.unwrap();
                    witness.visit();
                    assert_eq!(heard, 1);
                }
                for n in 0..200 {
                    let message = messages.next().await.unwrap();
                    witness.visit();
                    assert_eq!(message.get_payload::<u64>().unwrap(), n);
                }
            }
        });
        assert_eq!(visits.await, 5 * 401);
    });
}

#[test]
fn a_server_that_goes_away_is_an_error_and_may_come_back() {
    let Some(mut server) = server() else { return };
    let url = url(&server);
    with_tokio(async move {
        let client = Client::open(url).unwrap();
        let mut connection = connect(&client).await;
        let mut events = client.get_async_pubsub().await.unwrap();
        events.subscribe("events").await.unwrap();
        let mut messages = events.into_on_message();
        let _: () = connection.set("key", 1).await.unwrap();
        let mut waiting = connection.clone();
        let waiting = colored::spawn_unique(async move {
            waiting.blpop::<_, Option<(String, String)>>("nothing", 0.0).await
        });
        let stop = move || {
            server.stop();
            server
        };
        let mut server = spawn_blocking(stop).await.unwrap();
        waiting.await.unwrap().unwrap_err();
        connection.get::<_, u64>("key").await.unwrap_err();
        assert!(messages.next().await.is_none());
        assert!(client.get_multiplexed_async_connection().await.is_err());

        let start = move || {
            server.start_again();
            server
        };
        let server = spawn_blocking(start).await.unwrap();
        let mut connection = connect(&client).await;
        assert_eq!(connection.incr::<_, _, u64>("key", 5).await.unwrap(), 5);
        drop(server);
    });
}
