//! The command line.

use colored_traces::args::{Args, Mistake};
use colored_traces::play::MAX_CLIENTS;
use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

pub(super) const USAGE: &str = "\
usage: laio DIR [OPTIONS]

Plays the Berkeley trace against the example httpd in each of its modes, in a control group whose
memory is in the paper's ratio to the footprint, and prints a page: throughput, response times and
bytes of the disk by clients, and the lines of each mode. Each play is cold, and a second one in the
same server warm. DIR gets the files of the trace; it is empty, or has them from an earlier run.

options:
  --scale X         the scale of the trace, above 0, at most 1; usually 0.02
  --clients A,B,..  the clients at a time, each 1 to 1024; usually 32,64,128,256,512
  --rounds N        the rounds, of which medians are printed, 1 to 99; usually 1
  --seconds X       ends a play after X seconds; usually 60
  --read-ops N      more plays with so many reads of the disk in a second, by a limit of the group
  --slow-clients A,B,..  the clients of these plays; usually 64,512
  --drop-caches     drops all page caches and names of the machine before each cold play; otherwise
                    only the pages of the files
  --page PATH       writes the page there, and plots into the folder `plots` beside it
";

pub(super) struct Plan {
    pub(super) directory: PathBuf,
    pub(super) scale: f64,
    pub(super) clients: Vec<usize>,
    pub(super) rounds: usize,
    pub(super) max_time: Duration,
    pub(super) read_ops: Option<u64>,
    pub(super) slow_clients: Vec<usize>,
    pub(super) drops_caches: bool,
    pub(super) page: Option<PathBuf>,
}

impl Plan {
    pub(super) fn parse(mut args: Args) -> Result<Plan, Box<dyn Error>> {
        let seconds = args.value("--seconds", "a number of seconds above 0")?.unwrap_or(60.0);
        let max_time = Duration::try_from_secs_f64(seconds)
            .map_err(|error| Mistake::new(format!("--seconds is {seconds}: {error}")))?;
        let from_1_to_99 = |word: &str| word.parse().ok().filter(|n| (1..=99).contains(n));
        let plan = Plan {
            scale: args.value("--scale", "a number above 0, at most 1")?.unwrap_or(0.02),
            clients: clients(&mut args, "--clients", &[32, 64, 128, 256, 512])?,
            rounds: args.value_by("--rounds", "1 to 99", from_1_to_99)?.unwrap_or(1),
            max_time,
            read_ops: args.value("--read-ops", "a number of reads")?,
            slow_clients: clients(&mut args, "--slow-clients", &[64, 512])?,
            drops_caches: args.flag("--drop-caches"),
            page: args.value("--page", "a path")?,
            directory: PathBuf::new(),
        };
        let directory = args.word("DIR")?.into();
        args.end()?;
        Ok(Plan { directory, ..plan })
    }
}

fn clients(args: &mut Args, name: &str, usual: &[usize]) -> Result<Vec<usize>, Mistake> {
    let allowed = format!("numbers from 1 to {MAX_CLIENTS} with commas between them");
    let one = |word: &str| word.parse().ok().filter(|n| (1..=MAX_CLIENTS).contains(n));
    let parse = |word: &str| word.split(',').map(one).collect::<Option<Vec<usize>>>();
    Ok(args.value_by(name, &allowed, parse)?.unwrap_or(usual.to_vec()))
}
