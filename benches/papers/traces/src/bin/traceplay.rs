//! Replays a web trace against an HTTP/1.1 server on this machine, and prints rates and latencies.

use colored_traces::args::{Args, Mistake, run};
use colored_traces::format::Reader;
use colored_traces::play::{Arrivals, PlayError, Settings, loopback, play};
use std::error::Error;
use std::fs::File;
use std::io::BufReader;
use std::process::ExitCode;
use std::time::Duration;

const USAGE: &str = "\
usage: traceplay closed TRACE ADDRESS [OPTIONS]
       traceplay open TRACE ADDRESS --rate X [OPTIONS]

Replays the trace at the path TRACE against the HTTP/1.1 server at ADDRESS, which is a loopback
address with a port, such as 127.0.0.1:8080. A sequence of the trace is a connection that sends
its requests one after another. In the closed loop a client starts the next sequence when it is
free. In the open loop sequences arrive at a fixed rate, and latencies start at the arrivals.

options:
  --rate X          the sequences per second of the open loop: above 0, at most 1000000
  --clients N       the sequences at a time, 1 to 1024; usually 64, and 1024 in the open loop
  --sequences N     starts at most N sequences; usually all of the trace
  --seconds X       sends no request after X seconds, at most 86400; usually 3600, and 60 in the
                    open loop
  --timeout X       waits for the server for X seconds, at most 86400; usually 10
  --max-faults N    ends after N faults, at least 1; usually 1000
  --keep-alive on|off    one connection for a sequence (on, usual), or for each request (off)
  --check-content   compares bodies with the contents that `tracegen files` writes

The exit status is 0 if there was no fault, 1 for faults and other errors, and 2 for mistakes in
the command line.
";

fn main() -> ExitCode {
    run(USAGE, |mut args| {
        let mode = args.word("the mode: closed or open")?;
        let is_open = match mode.as_str() {
            "closed" => false,
            "open" => true,
            other => {
                let text = format!("the mode is {other:?}; allowed is closed or open");
                return Err(Mistake::new(text).into());
            }
        };
        let (settings, path) = settings(args, is_open)?;
        let file = File::open(&path).map_err(|error| format!("{path}: {error}"))?;
        let report = play(Reader::new(BufReader::new(file))?, &settings).map_err(mistake)?;
        print!("{report}");
        match report.all_faults() {
            0 => Ok(()),
            faults => Err(format!("{faults} requests failed").into()),
        }
    })
}

fn settings(mut args: Args, is_open: bool) -> Result<(Settings, String), Mistake> {
    let rate = args.value("--rate", "a number above 0, at most 1000000")?;
    let arrivals = match (is_open, rate) {
        (true, Some(rate)) => Arrivals::Open { rate },
        (false, None) => Arrivals::Closed,
        (true, None) => return Err(Mistake::new("--rate is missing: the open loop needs it")),
        (false, Some(_)) => return Err(Mistake::new("--rate is for the open loop only")),
    };
    let clients = args.value("--clients", "1 to 1024")?;
    let max_sequences = args.value("--sequences", "a number from 0 on")?;
    let seconds = seconds(&mut args, "--seconds")?;
    let timeout = self::seconds(&mut args, "--timeout")?;
    let max_faults = args.value("--max-faults", "a number from 1 on")?;
    let on_or_off = |word: &str| match word {
        "on" => Some(true),
        "off" => Some(false),
        _ => None,
    };
    let keep_alive = args.value_by("--keep-alive", "on or off", on_or_off)?;
    let check_content = args.flag("--check-content");
    let path = args.word("TRACE")?;
    let address =
        loopback(&args.word("ADDRESS")?).map_err(|error| Mistake::new(error.to_string()))?;
    args.end()?;
    let usual = Settings::closed(address, if is_open { 1_024 } else { 64 });
    let usual_time = if is_open { Duration::from_secs(60) } else { usual.max_time };
    let settings = Settings {
        arrivals,
        clients: clients.unwrap_or(usual.clients),
        max_sequences,
        max_time: seconds.unwrap_or(usual_time),
        timeout: timeout.unwrap_or(usual.timeout),
        max_faults: max_faults.unwrap_or(usual.max_faults),
        keep_alive: keep_alive.unwrap_or(usual.keep_alive),
        check_content,
        ..usual
    };
    Ok((settings, path))
}

fn seconds(args: &mut Args, name: &str) -> Result<Option<Duration>, Mistake> {
    let parse = |word: &str| Duration::try_from_secs_f64(word.parse().ok()?).ok();
    args.value_by(name, "seconds, above 0, at most 86400", parse)
}

/// Settings come from the command line.
fn mistake(error: PlayError) -> Box<dyn Error> {
    match error {
        PlayError::Settings(error) => Mistake::new(error.to_string()).into(),
        other => other.into(),
    }
}
