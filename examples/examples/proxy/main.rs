//! A caching web proxy that becomes parallel step by step, as in the paper that introduced colors
//! (Zeldovich and others, USENIX 2003). It refuses requests for thousands of blocked names, and masks the
//! names in pages, so most of a request is work, and the steps show on several cores.
//!
//! | `--coloring` | file | what may overlap |
//! |---|---|---|
//! | `serial` | `serial.rs` | nothing: the program names no color (figure 1) |
//! | `parse` | `parse.rs` | parsing and masking, which cost CPU (figure 4); three lines more |
//! | `full` | `full.rs` | all connections; they meet in the cache only |
//!
//! ```text
//! cargo run --release -p colored-examples --example proxy              # with an origin of its own to try it on
//! cargo run --release -p colored-examples --example proxy -- --compare # all three under load, with ratios; ends by itself
//! diff examples/examples/proxy/serial.rs examples/examples/proxy/parse.rs
//! ```
//!
//! Ctrl-C stops it at once.

mod compare;
mod full;
mod origin;
mod parse;
mod serial;
mod wire;

use self::origin::Origin;
use colored::io::named;
use colored::net::TcpListener;
use colored_examples::{Args, Failure, asked_to_stop};

const USAGE: &str = "proxy [--addr HOST:PORT] [--coloring serial|parse|full], or proxy --compare [--requests N] [--rounds N]";

const COLORINGS: [(&str, Coloring); 3] =
    [("serial", Coloring::Serial), ("parse", Coloring::Parse), ("full", Coloring::Full)];

#[derive(Clone, Copy)]
enum Coloring {
    Serial,
    Parse,
    Full,
}

impl Coloring {
    async fn run(self, listener: TcpListener) {
        match self {
            Coloring::Serial => serial::run(listener).await,
            Coloring::Parse => parse::run(listener).await,
            Coloring::Full => full::run(listener).await,
        }
    }
}

#[colored::main]
async fn main() -> Result<(), Failure> {
    let mut args = Args::from_command_line(USAGE);
    let addr = args.value("--addr", "an address and a port, such as 127.0.0.1:3128")?;
    let addr = addr.unwrap_or(String::from("127.0.0.1:3128"));
    let coloring = args.choice("--coloring", &COLORINGS)?.unwrap_or(Coloring::Full);
    if args.flag("--compare") {
        let requests = args.number("--requests", 1..=1_000_000)?.unwrap_or(50);
        let rounds = args.number("--rounds", 1..=1_000)?.unwrap_or(3);
        args.end()?;
        return compare::run(requests, rounds).await;
    }
    args.end()?;

    let listener = named(TcpListener::bind(addr)).await?;
    let proxy = listener.local_addr()?;
    let origin = Origin::start().await?;
    let stop = asked_to_stop()?;
    println!("listening on {proxy}; try: curl -x http://{proxy} http://{}/hello", origin.addr);
    colored::select! {
        () = coloring.run(listener) => {}
        () = stop => {}
    }
    println!("stopped: the origin has served {} pages", origin.served.call(|n| *n).await);
    Ok(())
}
