//! `colored` beside the peers that can do the same work: other runtimes, actors, locks, servers.
//!
//! `cargo run --release --manifest-path benches/peers/Cargo.toml` measures every row and writes
//! `results/peers.md`; names choose the rows that contain them. Options:
//! `--quick` ends inside three minutes and writes the same page below the target directory; `--smoke`
//! runs every row once, with small counts, and writes nothing; `--page` writes the page anew from the file of figures.
//!
//! | module | one idea |
//! |---|---|
//! | [`options`] | the command line |
//! | [`setup`] | what a row is made from |
//! | [`rows`] | the comparisons: one file for each family |
//! | [`executors`] | the runtimes, by the operations that the rows use |
//! | [`actors`] | one counter as a cell, as a task with a channel, and in each actor library |
//! | [`consumers`] | consumers of one log: ours, and those written by hand |
//! | [`foreign`] | programs in other languages, which a row starts and asks for samples |
//! | [`server`] | the HTTP servers, each a process |
//! | [`memory`] | what the system says about a process's memory |
//! | [`figures`] | the file of all figures, by row and peer |
//! | [`page`] | the table and the plot made from it |

mod actors;
mod consumers;
mod executors;
mod figures;
mod foreign;
mod memory;
mod options;
mod page;
mod rows;
mod server;
mod setup;

use colored_benches::http::raise_open_files;
use colored_benches::measure::Mode;
use figures::{Figures, Run};
use options::{Options, Task};
use rows::{ALL, Row};
use std::error::Error;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, io, process, thread};

/// How long one row may take.
const LIMIT: Duration = Duration::from_secs(150);

/// The file of figures.
fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("figures.tsv")
}

/// The folder of the page.
fn results() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("results")
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse(env::args().skip(1))?;
    match &options.task {
        Task::All => all(&options),
        Task::Page => Ok(page::write(&results(), &Figures::read(&file())?)?),
        Task::Row(name) => {
            raise_open_files()?;
            end_after(LIMIT);
            row(named(name)?, options.mode)
        }
        Task::Serve(kind) => Ok(server::main(kind)?),
        Task::Memory(what) => Ok(memory::main(what, options.mode)?),
    }
}

fn named(name: &str) -> Result<&'static Row, String> {
    ALL.iter().find(|row| row.name == name).ok_or(format!("no row is called {name:?}"))
}

/// Measures one row in this process, and prints its figures.
fn row(row: &Row, mode: Mode) -> Result<(), Box<dyn Error>> {
    let case = (row.case)(&setup::Setup::new(mode));
    let scale = case.unit.per_second;
    for outcome in case.alternate(mode) {
        println!("FIGURE\t{}\t{}\t{:.4}", row.name, outcome.name, outcome.cost * scale);
    }
    // Threads of leaked runtimes still run, and need not be waited for.
    process::exit(0);
}

/// Measures every wanted row in a process of its own, and writes the page.
fn all(options: &Options) -> Result<(), Box<dyn Error>> {
    if !ALL.iter().any(|row| options.matches(row.name)) {
        return Err("no row has such a name".into());
    }
    foreign::build_all();
    let mut figures = match options.mode {
        Mode::Full => Figures::read(&file())?,
        Mode::Quick | Mode::Smoke => Figures::default(),
    };
    let mut failures = Vec::new();
    for row in ALL.iter().filter(|row| options.matches(row.name)) {
        let start = Instant::now();
        match (0..processes(options.mode)).map(|_| measured(row, options.mode)).collect() {
            Ok(runs) => {
                figures.replace(row.name, runs);
                page::print(row, figures.of(row.name));
            }
            Err(error) => failures.push(format!("{}: {error}", row.name)),
        }
        println!("INFO {} took {:.1} s", row.name, start.elapsed().as_secs_f64());
    }
    match options.mode {
        Mode::Full => {
            figures.write(&file())?;
            page::write(&results(), &figures)?;
        }
        Mode::Quick => {
            let folder = beside_this_program()?.join("peers");
            fs::create_dir_all(&folder)?;
            fs::copy(results().join("peers.md"), folder.join("peers.md"))?;
            page::write(&folder, &figures)?;
            println!("INFO page {}", folder.join("peers.md").display());
        }
        Mode::Smoke => {}
    }
    if failures.is_empty() { Ok(()) } else { Err(failures.join(", ").into()) }
}

/// Processes that measure a row, one after another: on a virtual machine the distance of two cores changes with time, and
/// some figures by a factor of two with it.
const fn processes(mode: Mode) -> usize {
    match mode {
        Mode::Full => 5,
        Mode::Quick => 2,
        Mode::Smoke => 1,
    }
}

/// Runs a row in a child process, and returns the figures that it prints, by peer.
fn measured(row: &Row, mode: Mode) -> io::Result<Run> {
    let mut child = Command::new(env::current_exe()?)
        .args([format!("--row={}", row.name), options::flag(mode).to_owned()])
        // smol starts as many threads as this says, and Go's runtime.
        .env("SMOL_THREADS", setup::workers().to_string())
        .env("GOMAXPROCS", setup::workers().to_string())
        .stdout(Stdio::piped())
        .spawn()?;
    let output = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let mut found = Vec::new();
    for line in BufReader::new(output).lines() {
        let line = line?;
        let figure = line.strip_prefix("FIGURE\t").and_then(|rest| {
            let mut fields = rest.split('\t').skip(1);
            Some((fields.next()?.to_owned(), fields.next()?.parse().ok()?))
        });
        match figure {
            Some(figure) => found.push(figure),
            None => println!("{line}"),
        }
    }
    let status = child.wait()?;
    if status.success() && !found.is_empty() {
        Ok(found)
    } else {
        Err(io::Error::other(status.to_string()))
    }
}

/// Ends this process if it hangs. Its children end too, because their standard input does.
fn end_after(limit: Duration) {
    thread::spawn(move || {
        thread::sleep(limit);
        eprintln!("not done after {limit:?}");
        process::exit(3);
    });
}

/// The folder for what this program builds.
fn beside_this_program() -> io::Result<PathBuf> {
    let program = env::current_exe()?;
    Ok(program.parent().ok_or(io::ErrorKind::NotFound)?.to_owned())
}
