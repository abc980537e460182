//! reqwest as it is, in colored tasks: each user's answers come in order, and lie in a cell without a lock.
//!
//! The client's connections are tasks of tokio and have no color. What waits for an answer is a task of ours, and goes
//! on under its own color: all work of a user is serial, users run in parallel.

use axum::Router;
use axum::extract::Path;
use axum::routing::get;
use colored::task::JoinSet;
use colored::{Color, ColorCell, net::TcpListener, spawn};
use colored_hyper::{serve, tower};
use colored_libraries::Failure;

#[colored::main(tokio)]
async fn main() -> Result<(), Failure> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    let square = get(async |Path(n): Path<u64>| (n * n).to_string());
    let server = serve(listener, tower(Router::new().route("/square/{n}", square)));
    drop(spawn(server.into_future()));

    let client = reqwest::Client::new();
    let mut users = JoinSet::new();
    for user in 0..4_u64 {
        let (client, url) = (client.clone(), url.clone());
        users.spawn_colored(Color::of(user), ask(client, url, user));
    }
    while let Some(answers) = users.join_next().await {
        println!("{}", answers??);
    }
    Ok(())
}

async fn ask(client: reqwest::Client, url: String, user: u64) -> Result<String, Failure> {
    let color = Color::of(user);
    let squares = ColorCell::new(color, Vec::new());
    for n in user..user + 5 {
        let answer = client.get(format!("{url}/square/{n}")).send().await?.error_for_status()?;
        let square: u64 = answer.text().await?.parse()?;
        // Still the same color, so no lock and no wait.
        squares.with(|squares| squares.push(square));
    }
    Ok(squares.with(|squares| format!("user {user}: {squares:?}")))
}
