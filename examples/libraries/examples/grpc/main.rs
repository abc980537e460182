//! tonic: the service on our own server, under our colors; the client is tonic's `Channel`, in tokio's runtime.
//!
//! Each request has a color of its own ([`Coloring::Stream`]), so the requests of one connection run in parallel. They meet
//! in the cells of the totals: additions to one key are serial, and need no lock.

mod tally;

use colored::net::TcpListener;
use colored::task::JoinSet;
use colored::{Color, spawn};
use colored_hyper::{Coloring, serve, tower};
use colored_libraries::Failure;
use tally::{Add, Prefix, Tally, TallyClient};
use tonic::service::Routes;
use tonic::transport::Endpoint;

#[colored::main(tokio)]
async fn main() -> Result<(), Failure> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    let routes = Routes::new(Tally::new()).prepare().into_axum_router();
    let server = serve(listener, tower(routes)).http2_only().coloring(Coloring::Stream);
    drop(spawn(server.into_future()));

    let channel = Endpoint::from_shared(url)?.connect().await?;
    let mut calls = JoinSet::new();
    for n in 0..300_i64 {
        let mut client = TallyClient::new(channel.clone());
        calls.spawn_colored(Color::of(n), async move {
            let key = format!("colour {}", ["blue", "green", "red"][n as usize % 3]);
            client.add(Add { key, amount: n }).await
        });
    }
    while let Some(call) = calls.join_next().await {
        call??;
    }
    let mut client = TallyClient::new(channel);
    let mut totals = client.list(Prefix { prefix: "colour ".into() }).await?;
    while let Some(total) = totals.message().await? {
        println!("{}: {}", total.key, total.total);
    }
    let refused = client.add(Add { key: String::new(), amount: 1 }).await;
    println!(
        "without a key: {}",
        refused.err().map_or_else(String::new, |status| status.to_string())
    );
    Ok(())
}
