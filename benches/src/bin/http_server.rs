//! The server process of the HTTP rows: `http-server <kind> <workers> [<path>]`, ended by
//! closing its standard input.

use colored_benches::http::server;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let kind = arguments.next().ok_or("which server?")?.parse()?;
    let workers = arguments.next().ok_or("how many workers?")?.parse()?;
    Ok(server::main(kind, workers, arguments.next().map(Into::into))?)
}
