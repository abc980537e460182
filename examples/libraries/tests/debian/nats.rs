//! NATS, by async-nats.

use super::program::find;
use super::server::Server;
use crate::support::{in_colors, with_tokio};
use async_nats::{Client, ConnectOptions, Event, Subscriber};
use colored::task::JoinSet;
use colored::{Color, ColorCell, spawn_blocking};
use futures_util::StreamExt;
use std::process::Command;
use tokio::sync::mpsc;

/// A new server, if it is installed.
fn server() -> Option<Server> {
    find("nats-server", "nats-server")?;
    Some(Server::new(
        "TERM",
        |_| (),
        |dir, port| {
            let mut nats = Command::new(find("nats-server", "nats-server").unwrap());
            nats.current_dir(dir).args(["--addr", "127.0.0.1", "--port", &port.to_string()]);
            nats
        },
    ))
}

#[test]
fn the_handlers_of_a_key_run_in_the_order_of_its_messages() {
    const KEYS: usize = 10;
    const MESSAGES: usize = 1000;
    let Some(server) = server() else { return };
    let addr = server.addr().to_string();
    with_tokio(async move {
        let client = async_nats::connect(&addr).await.unwrap();
        let mut messages = client.subscribe("keys.*").await.unwrap();
        client.flush().await.unwrap();
        let publisher = colored::spawn_unique(async move {
            for n in 0..MESSAGES {
                let subject = format!("keys.{}", n % KEYS);
                client.publish(subject, n.to_string().into()).await.unwrap();
            }
            client.flush().await.unwrap();
        });
        let color = |key: usize| Color::of(format!("keys.{key}"));
        let handled: Vec<_> = (0..KEYS).map(|key| ColorCell::new(color(key), Vec::new())).collect();
        let mut handlers = JoinSet::new();
        for _ in 0..MESSAGES {
            let message = messages.next().await.unwrap();
            let n: usize = std::str::from_utf8(&message.payload).unwrap().parse().unwrap();
            let cell = handled[n % KEYS].clone();
            let color = Color::of(message.subject.as_str());
            handlers.spawn_colored(color, async move { cell.with(|handled| handled.push(n)) });
        }
        while let Some(handler) = handlers.join_next().await {
            handler.unwrap();
        }
        publisher.await.unwrap();
        for (key, handled) in handled.iter().enumerate() {
            let expected: Vec<_> = (key..MESSAGES).step_by(KEYS).collect();
            assert_eq!(handled.call(|handled| handled.clone()).await, expected);
        }
    });
}

#[test]
fn a_thousand_requests_are_answered_under_their_colors() {
    let Some(server) = server() else { return };
    let addr = server.addr().to_string();
    with_tokio(async move {
        let client = async_nats::connect(&addr).await.unwrap();
        let mut requests = client.subscribe("echo").await.unwrap();
        client.flush().await.unwrap();
        let replies = client.clone();
        let server = colored::spawn_unique(async move {
            while let Some(request) = requests.next().await {
                let to = request.reply.expect("a request has an address for the answer");
                replies.publish(to, request.payload).await.unwrap();
            }
        });
        let visits = in_colors(10, 2, |witness, task| {
            let client = client.clone();
            async move {
                for n in 0..50 {
                    let text = format!("{task} {n}");
                    let answer = client.request("echo", text.clone().into()).await.unwrap();
                    witness.visit();
                    assert_eq!(answer.payload, text);
                }
            }
        });
        assert_eq!(visits.await, 1000);
        server.abort();
    });
}

/// The library connects again by itself, and renews its subscriptions.
#[test]
fn a_request_to_nobody_is_an_error_and_a_restart_is_survived() {
    let Some(mut server) = server() else { return };
    let addr = server.addr().to_string();
    with_tokio(async move {
        let (said, mut events) = mpsc::unbounded_channel();
        let options = ConnectOptions::new().event_callback(move |event| {
            let said = said.clone();
            async move { drop(said.send(event)) }
        });
        let client = options.connect(&addr).await.unwrap();
        let mut messages = client.subscribe("events").await.unwrap();
        exchange(&client, &mut messages, "before").await;
        client.request("nobody", "hello?".into()).await.unwrap_err();

        let restart = move || {
            server.stop();
            server.start_again();
            server
        };
        let server = spawn_blocking(restart).await.unwrap();
        for expected in [Event::Connected, Event::Disconnected, Event::Connected] {
            while events.recv().await.unwrap() != expected {}
        }
        exchange(&client, &mut messages, "after").await;
        drop(server);
    });
}

async fn exchange(client: &Client, messages: &mut Subscriber, text: &'static str) {
    client.publish("events", text.into()).await.unwrap();
    client.flush().await.unwrap();
    assert_eq!(messages.next().await.unwrap().payload, text);
}
