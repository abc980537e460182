//! A caching web proxy that becomes parallel step by step, as in the paper that introduced colors
//! (Zeldovich and others, USENIX 2003).
//!
//! | `--coloring` | file | what may overlap |
//! |---|---|---|
//! | `serial` | `serial.rs` | nothing: the program names no color (figure 1) |
//! | `parse` | `parse.rs` | parsing, which is what costs CPU (figure 4); three lines more |
//! | `full` | `full.rs` | all connections; they meet in the cache only |
//!
//! ```text
//! cargo run --release --example proxy              # with an origin of its own to try it on
//! cargo run --release --example proxy -- --check   # all three under load, with times
//! diff examples/examples/proxy/serial.rs examples/examples/proxy/parse.rs
//! ```

mod check;
mod full;
mod origin;
mod parse;
mod serial;
mod wire;

use self::origin::Origin;
use colored::net::TcpListener;
use colored_examples::{Args, Failure};

const USAGE: &str = "proxy [--addr HOST:PORT] [--coloring serial|parse|full], or proxy --check";

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
    let check = args.flag("--check");
    args.end()?;
    if check {
        return check::run().await;
    }

    let listener = TcpListener::bind(addr).await?;
    let proxy = listener.local_addr()?;
    let origin = Origin::start().await?;
    println!("listening on {proxy}; try: curl -x http://{proxy} http://{}/hello", origin.addr);
    coloring.run(listener).await;
    Ok(())
}
