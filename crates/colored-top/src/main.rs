//! `colored-top`: shows in a terminal what a program on the `colored` runtime does.
//!
//! A program with the feature `diagnose` opens a socket (`diagnose::Options::inspect`, or the environment variable
//! `COLORED_INSPECT`), and this one reads from it. See the documentation of `colored::diagnose::inspect` for what comes over the socket.

mod app;
mod arguments;
mod client;
mod model;
mod screen;
mod terminal;

use self::app::App;
use self::arguments::{Arguments, Mode};
use self::client::Client;
use std::io::{self, Write};
use std::process::ExitCode;

/// The windows before `--once` and `--json` print: two seconds, after which the report has four.
const WINDOWS: usize = 4;

fn main() -> ExitCode {
    let arguments = match Arguments::parse(std::env::args_os().skip(1)) {
        Ok(arguments) => arguments,
        Err(text) => {
            eprintln!("colored-top: {text}");
            return ExitCode::from(2);
        }
    };
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        // Such as `head`, which has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("colored-top: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> io::Result<()> {
    let path = match (&arguments.mode, &arguments.path) {
        (Mode::Help, _) => return io::stdout().write_all(arguments::HELP.as_bytes()),
        (Mode::Version, _) => {
            return writeln!(io::stdout(), "colored-top {}", env!("CARGO_PKG_VERSION"));
        }
        (_, Some(path)) => path,
        (_, None) => return Err(io::Error::other(arguments::NO_PATH)),
    };
    let mut client = Client::connect(path)?;
    if !arguments.leaves_level {
        client.measure_waits()?;
    }
    if arguments.mode == Mode::Live {
        return terminal::run(client);
    }
    let mut text = client.snapshot()?;
    for _ in 0..WINDOWS {
        text = client.snapshot()?;
    }
    if arguments.mode == Mode::Json {
        return writeln!(io::stdout(), "{text}");
    }
    let mut app = App::default();
    app.show(client::read(&text)?);
    let (width, height) = terminal::size();
    io::stdout().write_all(screen::text(&app, width, height).as_bytes())
}
