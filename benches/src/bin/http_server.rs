//! The server process of the HTTP rows: `http-server <kind> <workers> [<path>]`, or
//! `http-server numbered:<model>`, ended by closing its standard input.

use colored_benches::http::{numbered, server};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let mut text = |what: &'static str| {
        let given = arguments.next().ok_or(what)?;
        given.into_string().map_err(|_| "a kind and a number are written in UTF-8")
    };
    let kind = text("which server?")?;
    if let Ok(model) = kind.parse() {
        return Ok(numbered::main(model)?);
    }
    let kind = kind.parse()?;
    let workers = text("how many workers?")?.parse()?;
    Ok(server::main(kind, workers, arguments.next().map(Into::into))?)
}
