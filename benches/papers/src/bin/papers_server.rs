//! The server process of the experiments: as `http-server` of `colored-benches`, and the servers under the papers' policies.

use colored_benches::http::{numbered, server};
use colored_papers::policies;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let mut text = |what: &'static str| {
        let given = arguments.next().ok_or(what)?;
        given.into_string().map_err(|_| "a kind and a number are written in UTF-8")
    };
    let kind = text("which server?")?;
    if kind == policies::HOME {
        return Ok(policies::serve_at_home()?);
    }
    if let Ok(model) = kind.parse() {
        return Ok(numbered::main(model)?);
    }
    let workers = text("how many workers?")?.parse()?;
    let path = arguments.next().map(Into::into);
    if let Some(way) = policies::Way::find(&kind) {
        return Ok(policies::serve_file(way, workers, path)?);
    }
    Ok(server::main(kind.parse()?, workers, path)?)
}
