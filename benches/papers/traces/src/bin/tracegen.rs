//! Writes a synthetic web trace, shows its marginals, and creates the files that it names.

use colored_traces::args::{Args, Mistake, bytes, run};
use colored_traces::files;
use colored_traces::format::{Reader, write};
use colored_traces::generate::{GenerateError, Options, generate};
use colored_traces::profile::Profile;
use colored_traces::specweb;
use colored_traces::summary::Summary;
use std::error::Error;
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "\
usage: tracegen new PROFILE TRACE [OPTIONS]   writes a trace, and prints its marginals
       tracegen show TRACE [--sequences N]    prints the marginals of a trace, or of its start
       tracegen files TRACE DIR [--limit N]   creates the files that the trace names
       tracegen check TRACE DIR               checks sizes and contents of these files

PROFILE is rice, berkeley or specweb. TRACE is the path of a trace. DIR is the path of a directory, which
`files` creates, or finds empty. `files` writes nothing if the files have more bytes than the limit.

options of new:
  --scale X          the factor of requests and footprint: above 0, at most 1; usually 1;
                     of specweb the factor of requests
  --seed N           another trace for each N from 0 to 2^64 - 1; usually 0
  --zipf X           the exponent of the popularity of files, 0 to 2; usually 1
  --per-sequence X   the mean number of requests in a sequence, 1 to 1000; usually 8;
                     not of specweb, which has 10 in each
option of files:
  --limit N          the largest number of bytes, such as 4096, 300MB or 7GB; usually 2GB
";

/// A directory of more bytes should be somebody's decision.
const LIMIT: u64 = 2_000_000_000;

fn main() -> ExitCode {
    run(USAGE, |mut args| match args.word("the command: new, show, files or check")?.as_str() {
        "new" => new(args),
        "show" => show(args),
        "files" => create(args),
        "check" => check(args),
        other => {
            let text = format!("the command is {other:?}; allowed is new, show, files or check");
            Err(Mistake::new(text).into())
        }
    })
}

fn new(mut args: Args) -> Result<(), Box<dyn Error>> {
    let usual = Options::default();
    let mean_sequence = args.value("--per-sequence", "a number from 1 to 1000")?;
    let options = Options {
        scale: args.value("--scale", "a number above 0, at most 1")?.unwrap_or(usual.scale),
        seed: args.value("--seed", "0 to 2^64 - 1")?.unwrap_or(usual.seed),
        zipf: args.value("--zipf", "a number from 0 to 2")?.unwrap_or(usual.zipf),
        mean_sequence: mean_sequence.unwrap_or(usual.mean_sequence),
    };
    let name = args.word("PROFILE")?;
    let path = args.word("TRACE")?;
    args.end()?;
    let profile = Profile::ALL.into_iter().find(|profile| profile.name == name);
    let made = match &profile {
        Some(profile) => generate(profile, &options),
        None if name != specweb::NAME => {
            let text = format!("PROFILE is {name:?}; allowed is rice, berkeley or specweb");
            return Err(Mistake::new(text).into());
        }
        None if mean_sequence.is_some() => {
            let text = format!("--per-sequence: specweb has {} always", specweb::PER_CONNECTION);
            return Err(Mistake::new(text).into());
        }
        None => specweb::generate(&options),
    };
    let trace = made.map_err(|error| match error {
        GenerateError::Option { .. } => Mistake::new(error.to_string()).into(),
        GenerateError::TooSmall { .. } => Box::<dyn Error>::from(error),
    })?;
    let Options { scale, seed, zipf, mean_sequence } = options;
    let mut comment = format!("{name} --scale {scale} --seed {seed} --zipf {zipf}");
    if profile.is_some() {
        comment += &format!(" --per-sequence {mean_sequence}");
    }
    let named = |error| format!("{path}: {error}");
    let file = File::create(&path).map_err(named)?;
    write(&trace, &comment, &mut BufWriter::new(file)).map_err(named)?;
    print!("{}", trace.summary());
    if profile.is_some() {
        let memory = Profile::MEMORY as f64 / 1e6 * scale;
        println!("\nThe paper's ratio of footprint to memory needs a server with {memory:.1} MB.");
    }
    Ok(())
}

fn show(mut args: Args) -> Result<(), Box<dyn Error>> {
    let most = args.value("--sequences", "a number from 0 on")?.unwrap_or(u64::MAX);
    let path = args.word("TRACE")?;
    args.end()?;
    let mut reader = open(&path)?;
    let (mut summary, mut sequence) = (Summary::new(reader.files()), Vec::new());
    while summary.sequences() < most && reader.read(&mut sequence)? {
        summary.add(&sequence);
    }
    print!("{summary}");
    Ok(())
}

fn create(mut args: Args) -> Result<(), Box<dyn Error>> {
    let limit = args.value_by("--limit", "bytes, such as 4096, 300MB or 7GB", bytes)?;
    let (trace, root) = (args.word("TRACE")?, args.word("DIR")?);
    args.end()?;
    let reader = open(&trace)?;
    let bytes = files::create(Path::new(&root), reader.files(), limit.unwrap_or(LIMIT))?;
    println!("{} files with {bytes} bytes are in {root}", reader.files().len());
    Ok(())
}

fn check(mut args: Args) -> Result<(), Box<dyn Error>> {
    let (trace, root) = (args.word("TRACE")?, args.word("DIR")?);
    args.end()?;
    let reader = open(&trace)?;
    let bytes = files::check(Path::new(&root), reader.files())?;
    println!("{} files with {bytes} bytes in {root} are right", reader.files().len());
    Ok(())
}

fn open(path: &str) -> Result<Reader<BufReader<File>>, Box<dyn Error>> {
    let file = File::open(path).map_err(|error| format!("{path}: {error}"))?;
    Ok(Reader::new(BufReader::new(file))?)
}
