//! Programs in other languages. A row starts one and asks it for samples.
//!
//! For each line `<work> <count>` that it reads, the program does that work and prints its cost and
//! its time on the clock in nanoseconds, and the number of operations. It checks its counts itself,
//! and fails if they are wrong. It ends with its standard input.

use crate::memory;
use colored_benches::{Entry, Sample};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;
use std::{env, fs};

/// A language or library, and its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    /// Go's scheduler, channels and HTTP server.
    Go,
    /// Asio's thread pool and strands.
    Asio,
}

const ALL: [Tool; 2] = [Tool::Go, Tool::Asio];

impl Tool {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Tool::Go => "Go",
            Tool::Asio => "Asio",
        }
    }

    /// The program, if it could be built.
    pub(crate) fn program(self) -> Option<PathBuf> {
        let path = folder().ok()?.join(self.name().to_lowercase());
        path.exists().then_some(path)
    }

    fn source(self) -> PathBuf {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("foreign");
        match self {
            Tool::Go => here.join("go/main.go"),
            Tool::Asio => here.join("asio.cpp"),
        }
    }

    fn compiler(self, source: &Path, program: &Path) -> Command {
        match self {
            Tool::Go => {
                let mut command = Command::new("go");
                // Neither another toolchain nor a module is needed, so none is looked for.
                command.env("GOTOOLCHAIN", "local").env("GOFLAGS", "-mod=mod");
                command.args(["build", "-o"]).arg(program).arg("main.go");
                command.current_dir(source.parent().expect("a source is in a folder"));
                command
            }
            Tool::Asio => {
                let mut command = Command::new("g++");
                command.args(["-O2", "-std=c++17", "-pthread", "-o"]).arg(program).arg(source);
                command
            }
        }
    }

    fn build(self) -> io::Result<()> {
        let (source, program) = (self.source(), folder()?.join(self.name().to_lowercase()));
        let changed = |path: &Path| fs::metadata(path)?.modified();
        if program.exists() && changed(&program)? > changed(&source)? {
            return Ok(());
        }
        let output = self.compiler(&source, &program).output()?;
        if output.status.success() {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&output.stderr);
        Err(io::Error::other(text.lines().next().unwrap_or("no reason given").to_owned()))
    }
}

/// Where the programs are.
fn folder() -> io::Result<PathBuf> {
    let folder = crate::beside_this_program()?.join("foreign");
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Builds what can be built here, and says what cannot.
pub(crate) fn build_all() {
    for tool in ALL {
        if let Err(error) = tool.build() {
            println!("SKIPPED {}: {error}", tool.name());
        }
    }
    if let Err(error) = crate::server::nginx_version() {
        println!("SKIPPED nginx: {error}");
    }
}

/// A peer that is a program of this tool, if it is there.
///
/// # Panics
///
/// When sampled: if the program fails.
pub(crate) fn entry(tool: Tool, work: &'static str, count: u64) -> Option<Entry> {
    let mut running = Running::start(&tool.program()?).expect("a program that was built starts");
    Some(Entry::peer(tool.name(), move || {
        running.sample(work, count).unwrap_or_else(|error| panic!("{}: {error}", tool.name()))
    }))
}

/// As [`entry`], in a process of its own for each sample: for figures of memory.
pub(crate) fn fresh_entry(tool: Tool, work: &'static str, count: u64) -> Option<Entry> {
    let program = tool.program()?;
    Some(Entry::peer(tool.name(), move || {
        let mut running = Running::start(&program).expect("a program that was built starts");
        let sample = running.sample(work, count);
        let sample = sample.unwrap_or_else(|error| panic!("{}: {error}", tool.name()));
        Sample { cost: sample.cost.max(Duration::from_nanos(memory::PAGE)), ..sample }
    }))
}

/// A program that waits for work.
struct Running {
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Running {
    fn start(program: &Path) -> io::Result<Self> {
        let mut process =
            Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let requests = process.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let answers = process.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Self { process, requests, answers: BufReader::new(answers) })
    }

    fn sample(&mut self, work: &str, count: u64) -> io::Result<Sample> {
        writeln!(self.requests, "{work} {count}")?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        let numbers: Vec<u64> =
            line.split_whitespace().filter_map(|one| one.parse().ok()).collect();
        let [cost, wall, ops] = numbers[..] else {
            return Err(io::Error::other(format!("{work} {count} was answered by {line:?}")));
        };
        Ok(Sample { cost: Duration::from_nanos(cost), wall: Duration::from_nanos(wall), ops })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail only if the process has already ended, which is the aim.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The version of a peer that is a program, for the page.
pub(crate) fn version(name: &str) -> Option<String> {
    let Some(tool) = ALL.into_iter().find(|tool| tool.name() == name) else {
        return (name == "nginx").then(|| crate::server::nginx_version().ok())?;
    };
    let output = Command::new(tool.program()?).arg("version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().trim_start_matches("go").to_owned())
}
