//! `sfs`: the server, the client and a demonstration. The library has all but the command line.

use sfs::client::{self, Client, Options, Target};
use sfs::demo;
use sfs::keys::Identity;
use sfs::serve::{self, Address};
use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "\
sfs demo                                  serves, drives it with real clients, compares, and ends
sfs serve DIRECTORY [--tls HOST:PORT] [--plain HOST:PORT] [--key FILE] [--clients FILE]
          [--lease SECONDS] [--coloring serial|cipher|files]
sfs ls|cat|hash|watch SERVER/PATH [--key FILE]
sfs cp FILE SERVER/PATH [--key FILE]
sfs cp SERVER/PATH FILE [--key FILE]

SERVER is HOST:PORT:HASH, as the server prints it, or HOST:PORT without TLS.
FILE of --key has the key of this side; it is made if it does not exist.
FILE of --clients has a line for each client: the hash of its key, then USER=USER for each of its users and the one of
this machine that it is. Without it, all clients are served, and users keep their numbers.";

type Outcome = Result<(), Box<dyn Error + Send + Sync>>;

#[colored::main]
async fn main() -> ExitCode {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let command = if args.is_empty() { String::new() } else { args.remove(0) };
    let outcome = match command.as_str() {
        "demo" => demo::run().await,
        "serve" => serve(args).await,
        "ls" | "cat" | "hash" | "watch" | "cp" => ask(&command, args).await,
        _ => Err(USAGE.into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sfs: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Takes an option and its value out of the arguments.
fn option(args: &mut Vec<String>, name: &str) -> Result<Option<String>, String> {
    let Some(at) = args.iter().position(|arg| arg == name) else { return Ok(None) };
    args.remove(at);
    match at < args.len() {
        true => Ok(Some(args.remove(at))),
        false => Err(format!("{name} needs a value\n{USAGE}")),
    }
}

async fn serve(mut args: Vec<String>) -> Outcome {
    let mut options = serve::Options::default();
    let tls = option(&mut args, "--tls")?.map(Address::Tls);
    let plain = option(&mut args, "--plain")?.map(Address::Plain);
    options.addresses.extend(tls.into_iter().chain(plain));
    if options.addresses.is_empty() {
        options.addresses.push(Address::Tls(String::from("127.0.0.1:2050")));
    }
    options.key = option(&mut args, "--key")?.map(PathBuf::from);
    options.clients = option(&mut args, "--clients")?.map(PathBuf::from);
    if let Some(seconds) = option(&mut args, "--lease")? {
        options.settings.lease = colored::time::Duration::try_from_secs_f64(seconds.parse()?)?;
    }
    if let Some(coloring) = option(&mut args, "--coloring")? {
        options.coloring = coloring.parse()?;
    }
    let [directory] = &args[..] else { return Err(USAGE.into()) };
    Ok(serve::run(directory, &options).await?)
}

async fn ask(command: &str, mut args: Vec<String>) -> Outcome {
    let identity = match option(&mut args, "--key")? {
        Some(path) => Identity::load_or_make(path)?,
        None => Identity::generate(),
    };
    let connect = |target: &Target| Client::new(target, &identity, &Options::default());
    match (command, &args[..]) {
        ("cp", [from, to]) => match to.parse::<Target>() {
            Ok(target) => {
                let client = connect(&target);
                client::copy(&client, &std::fs::read(from)?, &target.path).await?;
                client.close().await?;
            }
            Err(_) => {
                let target: Target = from.parse()?;
                let client = connect(&target);
                let mut file = std::fs::File::create(to)?;
                client::cat(&client, &target.path, &mut file).await?;
                client.close().await?;
            }
        },
        (_, [target]) if command != "cp" => {
            let target: Target = target.parse()?;
            let client = connect(&target);
            print(command, &client, &target.path).await?;
            client.close().await?;
        }
        _ => return Err(USAGE.into()),
    }
    Ok(())
}

async fn print(command: &str, client: &Client, path: &str) -> Outcome {
    let mut out = io::stdout();
    match command {
        "ls" => {
            for entry in client::list(client, path).await?.iter() {
                let name = String::from_utf8_lossy(&entry.name);
                let size = entry.attributes.as_ref().map_or(0, |attributes| attributes.size);
                writeln!(out, "{size:>12}  {name}")?;
            }
        }
        "cat" => drop(client::cat(client, path, &mut out).await?),
        "watch" => client::watch(client, path, &mut out).await?,
        _ => writeln!(out, "{}  {path}", client::hash(client, path).await?)?,
    }
    Ok(())
}
