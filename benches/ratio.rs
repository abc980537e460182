//! `cargo bench -p colored-benches --bench ratio`: every row beside its peer, one `RATIO` line each.
//!
//! `-- --quick` ends inside a minute; `-- <text>` runs the rows whose names contain it.

use colored_benches::http::{idle, low_rate, paced, raise_open_files, rows, stability, wrk};
use colored_benches::ratio::{Options, against_each, in_process};
use colored_benches::{Mode, Runtimes, features, workload};
use std::error::Error;
use std::io;
use std::path::Path;
use std::process::Command;

const MIMALLOC: &str = env!("CARGO_BIN_EXE_ratio-mimalloc");
const MEMORY: &str = env!("CARGO_BIN_EXE_ratio-memory");
const SERVER: &str = env!("CARGO_BIN_EXE_http-server");

/// Loads the servers of a program, and returns the errors.
type Run = fn(&Path, Mode) -> io::Result<u64>;

/// The rows with many connections, and those with another load generator.
const SERVERS: [(&str, Run); 5] = [
    (stability::NAME, stability::run),
    (paced::NAME, paced::run),
    (low_rate::NAME, low_rate::run),
    (idle::NAME, idle::run),
    (wrk::NAME, wrk::run),
];

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::from_arguments();
    if options.mode != Mode::Smoke {
        features::print_and_refuse_others();
    }
    in_process(&options, Runtimes::start, "", &[workload::ALLOCATING, workload::OTHERS].concat());
    for program in [MIMALLOC, MEMORY] {
        let status = Command::new(program).args(options.to_arguments()).status()?;
        if !status.success() {
            return Err(format!("{program}: {status}").into());
        }
    }
    raise_open_files()?;
    for row in rows::ROWS.iter().filter(|row| options.matches(row.name)) {
        let case = row.build(Path::new(SERVER), options.mode)?;
        let unit = case.unit;
        against_each(row.name, unit, &case.alternate(options.mode));
    }
    for (name, run) in SERVERS {
        if options.mode != Mode::Smoke && options.matches(name) {
            let errors = run(Path::new(SERVER), options.mode)?;
            if errors > 0 {
                return Err(format!("{errors} errors in {name}").into());
            }
        }
    }
    Ok(())
}
