//! Servers for measurements: `sfs` with a cipher in software, and a server of another library.

mod peer;
mod software;

use colored::diagnose::dump::install_stack_handler;
use colored::diagnose::report::Report;
use colored::runtime::Tuning;
use colored::time::{Duration, sleep};
use colored::{Handle, Runtime};
use sfs::serve::{self, Address};
use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use tokio_rustls::rustls::crypto::CryptoProvider;

const USAGE: &str = "\
sfs-bench software DIRECTORY serial|cipher|files PERCENT   sfs by TLS with a cipher in software, PERCENT of its work
sfs-bench report DIRECTORY serial|cipher|files PERCENT     the same, which says after 4 s what limits it, and ends
sfs-bench peer DIRECTORY WORKERS                           nfs3_server, on tokio and without TLS";

type Outcome = Result<(), Box<dyn Error + Send + Sync>>;

/// When the report begins, and how long it observes: by then the clients of `measure.sh` read.
const OBSERVED: Duration = Duration::from_secs(2);

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sfs-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[&str]) -> Outcome {
    match *args {
        ["software" | "report", directory, coloring, percent] => {
            let provider = software::provider(percent.parse()?);
            software(directory, coloring, provider, args[0] == "report")
        }
        ["peer", directory, workers] => Ok(peer::run(directory, workers.parse()?)?),
        _ => Err(USAGE.into()),
    }
}

fn software(
    directory: &str,
    coloring: &str,
    provider: Arc<CryptoProvider>,
    reports: bool,
) -> Outcome {
    let options = serve::Options {
        addresses: vec![Address::Tls(String::from("127.0.0.1:0"))],
        provider: Some(provider),
        coloring: coloring.parse()?,
        ..serve::Options::default()
    };
    // A limit of CPU time makes polls long: a spare would have another one.
    let tuning = Tuning::default().spare_workers(0);
    Runtime::builder().tuning(tuning).build()?.block_on(async {
        if !reports {
            return Ok(serve::run(directory, &options).await?);
        }
        install_stack_handler()?;
        colored::select! {
            served = serve::run(directory, &options) => Ok(served?),
            report = report() => Ok(writeln!(io::stdout(), "{report}")?),
        }
    })
}

/// What limits the server while clients read.
async fn report() -> Report {
    sleep(OBSERVED).await;
    Handle::current().observe(OBSERVED).await
}
