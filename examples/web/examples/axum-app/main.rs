//! A bank with a JSON API by axum: accounts are cells, each with a color of its own, and a transfer has two
//! of them at once by `when`. No account has a lock, and transfers between different accounts run in parallel.
//!
//! ```text
//! cargo run --release -p colored-examples-web --example axum-app -- [--addr HOST:PORT] [--tls FILE]
//! curl http://127.0.0.1:8080/accounts/1
//! curl --json '{"from": 1, "to": 2, "coins": 10}' http://127.0.0.1:8080/transfers
//! curl http://127.0.0.1:8080/total
//! ```
//!
//! With `--tls`, the server makes a certificate for `localhost`, signs it itself, writes it to the file, and speaks TLS:
//!
//! ```text
//! curl --cacert FILE https://localhost:8080/total
//! ```
//!
//! Ctrl-C stops it: it finishes the requests that run, and prints the total.

mod api;
mod bank;

use bank::Bank;
use colored::net::TcpListener;
use colored_examples::{Args, Failure, asked_to_stop};
use colored_hyper::{serve, tls, tower};
use std::path::{Path, PathBuf};

const USAGE: &str = "axum-app [--addr HOST:PORT] [--tls FILE]";

#[colored::main]
async fn main() -> Result<(), Failure> {
    let mut args = Args::from_command_line(USAGE);
    let addr = args.value("--addr", "an address and a port, such as 127.0.0.1:8080")?;
    let certificate: Option<PathBuf> = args.value("--tls", "a file for the certificate")?;
    args.end()?;

    let listener = TcpListener::bind(addr.unwrap_or(String::from("127.0.0.1:8080"))).await?;
    let addr = listener.local_addr()?;
    let bank = Bank::open();
    let service = tower(api::router(bank.clone()));
    let stop = asked_to_stop()?;
    match certificate {
        None => {
            println!("listening on {addr}; try: curl http://{addr}/accounts/1");
            serve(listener, service).with_graceful_shutdown(stop).await?;
        }
        Some(file) => {
            let config = self_signed(&file)?;
            let (file, port) = (file.display(), addr.port());
            println!(
                "listening on {addr}; try: curl --cacert {file} https://localhost:{port}/total"
            );
            let listener = tls::Listener::new(listener, config);
            serve(listener, service).with_graceful_shutdown(stop).await?;
        }
    }
    println!("stopped: the accounts hold {} coins", bank.total().await);
    Ok(())
}

/// A certificate and its key; only the certificate leaves the process.
fn self_signed(file: &Path) -> Result<tls::ServerConfig, Failure> {
    let names = ["localhost", "127.0.0.1"].map(String::from);
    let made = rcgen::generate_simple_self_signed(names)?;
    let certificate = made.cert.pem();
    std::fs::write(file, &certificate)
        .map_err(|error| Failure::new(format!("cannot write {}: {error}", file.display())))?;
    Ok(tls::server_config_from_pem(certificate, made.signing_key.serialize_pem())?)
}
