//! Plays a trace against servers of files, one after the other, and prints medians.

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("error: this program reads CPU times from /proc, and needs Linux");
    std::process::exit(1);
}

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    linux::main()
}

#[cfg(target_os = "linux")]
mod linux {
    use colored_traces::args::{Args, Mistake, run};
    use colored_traces::format::Reader;
    use colored_traces::play::{MAX_CLIENTS, Report, Settings, play};
    use colored_traces::servers::{Kind, Server, Setup, evict};
    use std::error::Error;
    use std::fs::File;
    use std::io::{BufReader, ErrorKind};
    use std::path::Path;
    use std::process::ExitCode;
    use std::time::Duration;

    const USAGE: &str = "\
usage: fileservers TRACE DIR [OPTIONS]

Starts servers of the files in DIR, which `tracegen files TRACE DIR` has written, and plays TRACE
against each, round by round. Prints for each server the medians of the rounds, and ratios to the
first server. CPU is the time of the server's processes; `req/CPUs` are requests for a second of it.

options:
  --servers A,B,..  some of lazy, sendfile, blocking, pool, aio, amped (the example httpd), nginx,
                    servedir; usually all; nginx is left out if it is not installed
  --rounds N        the rounds, 1 to 99; usually 5
  --clients N       the clients at a time, 1 to 1024; usually 64
  --sequences N     the sequences of each play; usually all of the trace
  --seconds X       ends a play after X seconds; usually 60
  --workers N       the threads or processes of a server, 1 to 64; usually 2
  --keep-alive on|off    one connection for a sequence (on, usual), or for each request (off)
  --cold            takes the files out of the page cache before each play; otherwise an equal play
                    that is not measured comes first
  --cgroup DIR      a control group for the servers; may be given several times
  --httpd WORDS     more options for httpd, such as \"--cache-mib 0\"
";

    struct Plan {
        kinds: Vec<Kind>,
        rounds: usize,
        setup: Setup,
        is_cold: bool,
        settings: Settings,
        trace: String,
    }

    /// What one play has shown.
    struct Play {
        rate: f64,
        per_cpu_second: f64,
        p50: Duration,
        p99: Duration,
        busy: f64,
        faults: u64,
        /// What it has touched.
        files: u64,
        footprint: u64,
    }

    pub(crate) fn main() -> ExitCode {
        run(USAGE, |args| {
            let plan = plan(args)?;
            let mut plays: Vec<(Kind, Vec<Play>)> =
                plan.kinds.iter().map(|&kind| (kind, Vec::new())).collect();
            for round in 0..plan.rounds {
                // Each round begins with another server.
                for n in 0..plays.len() {
                    let place = (n + round) % plays.len();
                    let (kind, plays) = &mut plays[place];
                    match one(*kind, &plan) {
                        Ok(play) => plays.push(play),
                        Err(error) if *kind == Kind::Nginx && is_missing(&*error) => {}
                        Err(error) => return Err(format!("{kind}: {error}").into()),
                    }
                }
            }
            print(&plays);
            print_touched(&plays);
            Ok(())
        })
    }

    fn is_missing(error: &(dyn Error + 'static)) -> bool {
        error.downcast_ref::<std::io::Error>().is_some_and(|e| e.kind() == ErrorKind::NotFound)
    }

    fn one(kind: Kind, plan: &Plan) -> Result<Play, Box<dyn Error>> {
        if kind == Kind::Nginx && !is_installed("nginx") {
            return Err(std::io::Error::from(ErrorKind::NotFound).into());
        }
        let server = Server::start(kind, &plan.setup)?;
        let settings = Settings { address: server.address, ..plan.settings.clone() };
        // A page belongs to the group that reads it first.
        if plan.is_cold || !plan.setup.groups.is_empty() {
            let files = Reader::new(BufReader::new(File::open(&plan.trace)?))?.files().len();
            evict(&plan.setup.root, 0..u32::try_from(files)?)?;
        }
        if !plan.is_cold {
            play_once(&plan.trace, &settings)?;
        }
        let before = server.cpu()?;
        let report = play_once(&plan.trace, &settings)?;
        let cpu = (server.cpu()? - before).as_secs_f64();
        Ok(Play {
            rate: report.rate(),
            per_cpu_second: report.requests as f64 / cpu.max(0.01),
            p50: report.request_latency.p50,
            p99: report.request_latency.p99,
            busy: cpu / report.wall.as_secs_f64(),
            faults: report.all_faults(),
            files: report.files,
            footprint: report.footprint,
        })
    }

    fn play_once(trace: &str, settings: &Settings) -> Result<Report, Box<dyn Error>> {
        let reader = Reader::new(BufReader::new(File::open(trace)?))?;
        Ok(play(reader, settings)?)
    }

    fn is_installed(program: &str) -> bool {
        let paths = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&paths).any(|path| path.join(program).is_file())
    }

    fn print(plays: &[(Kind, Vec<Play>)]) {
        println!(
            "| server | req/s | req/CPUs | p50 µs | p99 µs | CPUs busy | req/CPUs to the first | faults |"
        );
        println!("|---|---:|---:|---:|---:|---:|---:|---:|");
        let mut first = None;
        for (kind, plays) in plays {
            if plays.is_empty() {
                println!("| {kind} | not installed |");
                continue;
            }
            let of = |value: fn(&Play) -> f64| median(plays.iter().map(value).collect());
            let per_cpu_second = of(|play| play.per_cpu_second);
            let ratio = per_cpu_second / *first.get_or_insert(per_cpu_second);
            let faults: u64 = plays.iter().map(|play| play.faults).sum();
            println!(
                "| {kind} | {:.0} | {per_cpu_second:.0} | {:.0} | {:.0} | {:.2} | {ratio:.2} | {faults} |",
                of(|play| play.rate),
                of(|play| play.p50.as_secs_f64() * 1e6),
                of(|play| play.p99.as_secs_f64() * 1e6),
                of(|play| play.busy),
            );
        }
    }

    /// A play that is cut short may leave files untouched, which then take no memory.
    fn print_touched(plays: &[(Kind, Vec<Play>)]) {
        let all = || plays.iter().flat_map(|(_, plays)| plays);
        let least = all().map(|play| (play.files, play.footprint)).min().unwrap_or_default();
        println!(
            "\nEach play touched at least {} files with {:.1} MB.",
            least.0,
            least.1 as f64 / 1e6
        );
    }

    fn median(mut values: Vec<f64>) -> f64 {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    }

    fn plan(mut args: Args) -> Result<Plan, Box<dyn Error>> {
        let mut kinds = Kind::ALL.to_vec();
        if let Some(names) = args.value::<String>("--servers", "names with commas between them")? {
            let parse = |name: &str| name.parse::<Kind>().map_err(Mistake::new);
            kinds = names.split(',').map(parse).collect::<Result<_, _>>()?;
        }
        let rounds = number(&mut args, "--rounds", 1, 99, 5)?;
        let clients = number(&mut args, "--clients", 1, MAX_CLIENTS, 64)?;
        let workers = number(&mut args, "--workers", 1, 64, 2)?;
        let max_sequences = args.value("--sequences", "a number")?;
        let seconds = args.value("--seconds", "a number of seconds above 0")?.unwrap_or(60.0);
        let max_time = Duration::try_from_secs_f64(seconds)
            .map_err(|error| Mistake::new(format!("--seconds is {seconds}: {error}")))?;
        let on_or_off = |word: &str| match word {
            "on" => Some(true),
            "off" => Some(false),
            _ => None,
        };
        let keep_alive = args.value_by("--keep-alive", "on or off", on_or_off)?.unwrap_or(true);
        let is_cold = args.flag("--cold");
        let mut groups = Vec::new();
        while let Some(group) = args.value::<String>("--cgroup", "a directory")? {
            if !Path::new(&group).join("cgroup.procs").exists() {
                return Err(Mistake::new(format!("--cgroup {group} has no cgroup.procs")).into());
            }
            groups.push(group.into());
        }
        // The words are options, which the parser would not take for a value.
        let httpd = args.words("--httpd", "options of httpd in quotes")?;
        let trace = args.word("the path of a trace")?;
        let root = args.word("the directory of the files")?;
        args.end()?;
        let local = std::net::SocketAddr::from(([127, 0, 0, 1], 1));
        let settings =
            Settings { keep_alive, max_sequences, max_time, ..Settings::closed(local, clients) };
        let setup = Setup { root: root.into(), workers, keep_alive, httpd, groups };
        Ok(Plan { kinds, rounds, setup, is_cold, settings, trace })
    }

    fn number(
        args: &mut Args,
        name: &str,
        least: usize,
        most: usize,
        usual: usize,
    ) -> Result<usize, Mistake> {
        let allowed = format!("{least} to {most}");
        let parse = |word: &str| word.parse().ok().filter(|n| (least..=most).contains(n));
        Ok(args.value_by(name, &allowed, parse)?.unwrap_or(usual))
    }
}
