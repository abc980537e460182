//! The command line, and the life of the server.

use crate::access::Access;
use crate::aio;
use crate::answer::Site;
use crate::cache::{Cache, Limits};
use crate::helpers::{self, Helpers};
use crate::roots::Roots;
use colored::Runtime;
use colored::net::TcpListener;
use colored::time::Duration;
use colored_examples::{Args, Failure, asked_to_stop};
use colored_hyper::serve;
use hyper::service::service_fn;
use std::convert::Infallible;
use std::sync::Arc;

const USAGE: &str = "httpd [--root DIR|/PREFIX=DIR]... [--addr HOST:PORT] [--workers N] \
    [--fs lazy|blocking|pool|aio|amped] [--keepalive on|off] [--helpers N] [--shards N] [--cache-mib N] \
    [--open-files N] [--recheck-ms N]";

#[derive(Clone, Copy)]
enum Mode {
    Lazy,
    Blocking,
    Pool,
    Aio,
    Amped,
}

const MODES: [(&str, Mode); 5] = [
    ("lazy", Mode::Lazy),
    ("blocking", Mode::Blocking),
    ("pool", Mode::Pool),
    ("aio", Mode::Aio),
    ("amped", Mode::Amped),
];

struct Options {
    addr: String,
    roots: Roots,
    mode: Mode,
    keep_alive: bool,
    helpers: usize,
    shards: usize,
    limits: Limits,
}

/// The whole program: a server, or one of its helpers.
pub(crate) fn main() -> Result<(), Failure> {
    if std::env::args_os().nth(1).is_some_and(|word| word == helpers::ROLE) {
        return Ok(helpers::help()?);
    }
    let mut args = Args::from_command_line(USAGE);
    let mut runtime = Runtime::builder();
    if let Some(workers) = args.value("--workers", "a number of threads, such as 2")? {
        runtime = runtime.workers(workers);
    }
    let options = options(args)?;
    if let Mode::Aio = options.mode {
        runtime = runtime.tuning(aio::tuning());
    }
    runtime.build()?.run(listen(options))
}

fn options(mut args: Args) -> Result<Options, Failure> {
    let mut roots = Vec::new();
    while let Some(root) = args.value("--root", "a directory, or /PREFIX=DIR")? {
        roots.push(root);
    }
    if roots.is_empty() {
        roots.push(String::from("."));
    }
    let addr = args.value("--addr", "an address and a port, such as 127.0.0.1:8080")?;
    let mode = args.choice("--fs", &MODES)?.unwrap_or(Mode::Lazy);
    let keep_alive = args.choice("--keepalive", &[("on", true), ("off", false)])?.unwrap_or(true);
    let helpers = number(&mut args, "--helpers", 1..=256, 8)?;
    let shards = number(&mut args, "--shards", 1..=1024, 10)?;
    let mebibytes = number(&mut args, "--cache-mib", 0..=1 << 20, 64)?;
    let files = number(&mut args, "--open-files", 0..=1 << 20, 512)?;
    let recheck = number(&mut args, "--recheck-ms", 0..=86_400_000, 1000)?;
    let roots = Roots::parse(&roots).map_err(|text| args.mistake(text))?;
    args.end()?;
    let recheck = Duration::from_millis(recheck as u64);
    Ok(Options {
        addr: addr.unwrap_or(String::from("127.0.0.1:8080")),
        roots,
        mode,
        keep_alive,
        helpers,
        shards,
        limits: Limits { bytes: mebibytes << 20, files, recheck },
    })
}

fn number(
    args: &mut Args,
    name: &str,
    allowed: std::ops::RangeInclusive<usize>,
    usual: usize,
) -> Result<usize, Failure> {
    let expected = format!("a number from {} to {}", allowed.start(), allowed.end());
    match args.value(name, &expected)? {
        None => Ok(usual),
        Some(number) if allowed.contains(&number) => Ok(number),
        Some(number) => Err(args.mistake(format!("{name} {number}: expected {expected}"))),
    }
}

async fn listen(options: Options) -> Result<(), Failure> {
    let access = match options.mode {
        Mode::Lazy => Access::Lazy,
        Mode::Blocking => Access::Blocking,
        Mode::Pool => Access::Pool,
        Mode::Aio => Access::Aio,
        Mode::Amped => {
            let helpers = Helpers::start(options.helpers)?;
            println!("helpers {:?}", helpers.processes().await);
            Access::Amped(helpers)
        }
    };
    let site = Arc::new(Site {
        roots: options.roots,
        access: Arc::new(access),
        cache: Cache::new(options.shards, options.limits),
    });
    let listener = TcpListener::bind(options.addr).await?;
    let stop = asked_to_stop()?;
    println!("listening on http://{}", listener.local_addr()?);

    let service = {
        let site = Arc::clone(&site);
        service_fn(move |request| {
            let site = Arc::clone(&site);
            async move { Ok::<_, Infallible>(site.answer(request).await) }
        })
    };
    let served = serve(listener, service)
        .http1_only()
        .http1(|http1| {
            http1.keep_alive(options.keep_alive);
        })
        .with_graceful_shutdown(stop)
        .await;
    let counts = site.cache.counts().await;
    println!(
        "{} hits, {} misses and {} evictions of the cache",
        counts.hits, counts.misses, counts.evictions
    );
    Ok(served?)
}
