//! Repeats the experiment of the first paper's web server, and writes the table of its page.

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
#[path = "webserver/report.rs"]
mod report;

#[cfg(target_os = "linux")]
mod linux {
    use crate::report::{Row, page_with, report};
    use colored_traces::args::{Args, Mistake, run};
    use colored_traces::play::{MAX_CLIENTS, Settings};
    use colored_traces::servers::{Kind, Measured, Quota, Server, Setup};
    use std::error::Error;
    use std::path::PathBuf;
    use std::process::ExitCode;
    use std::time::Duration;

    const USAGE: &str = "\
usage: webserver TRACE DIR [OPTIONS]

Starts web servers of the files in DIR, which `tracegen files TRACE DIR` has written, and plays TRACE
against each, round by round: the example httpd with one color, with colors and one worker or two, in
two copies, with 1, 10 and 64 parts of its cache; tokio's ServeDir, nginx and Apache, as far as they
are installed. The server gets a part of a core for each worker, if the system lets this program set a
limit, so that the clients, which share the machine, are never what limits it.

options:
  --only TEXT       the servers whose names contain a text
  --rounds N        the rounds, 1 to 99; usually 3
  --clients N       the clients at a time, 1 to 1024; usually 800, as in the paper
  --seconds X       the length of a play; usually 3; half of it is not measured and comes first
  --check-content   compares bodies with the contents that `tracegen files` writes
  --quota PERCENT   of a core, for each worker; usually 30
  --page FILE       replaces the block between `<!-- measured: webserver -->` and `<!-- end -->`
";

    /// A server, and what it gets.
    struct Contestant {
        name: &'static str,
        kind: Kind,
        /// The workers, of each copy.
        workers: usize,
        /// The cores of which it gets a part.
        cores: usize,
        options: &'static str,
        /// Whether each request has a connection of its own.
        is_short: bool,
    }

    const fn of(
        name: &'static str,
        kind: Kind,
        workers: usize,
        cores: usize,
        options: &'static str,
    ) -> Contestant {
        Contestant { name, kind, workers, cores, options, is_short: false }
    }

    /// httpd with two workers, where each request has a connection of its own.
    const fn short(name: &'static str, options: &'static str) -> Contestant {
        Contestant { is_short: true, ..of(name, OURS, 2, 2, options) }
    }

    const OURS: Kind = Kind::Httpd("sendfile");

    const CONTESTANTS: [Contestant; 16] = [
        of("httpd, one color", OURS, 1, 1, "--coloring serial"),
        of("httpd, 1 worker", OURS, 1, 1, ""),
        of("httpd, 2 workers", OURS, 2, 2, ""),
        of("httpd, 2 copies", OURS, 1, 2, "--copies 2"),
        of("httpd, 2 workers, 1 shard", OURS, 2, 2, "--shards 1"),
        of("httpd, 2 workers, 64 shards", OURS, 2, 2, "--shards 64"),
        short("httpd, 2 workers, short", ""),
        short("httpd, 2 workers, short, 2 listeners", "--listeners each"),
        of("ServeDir, 1 worker", Kind::ServeDir, 1, 1, ""),
        of("ServeDir, 2 workers", Kind::ServeDir, 2, 2, ""),
        of("nginx, 1 process", Kind::Nginx, 1, 1, ""),
        of("nginx, 2 processes", Kind::Nginx, 2, 2, ""),
        of("Apache event, 1 process", Kind::Apache("event"), 1, 1, ""),
        of("Apache event, 2 processes", Kind::Apache("event"), 2, 2, ""),
        of("Apache prefork, 1 core", Kind::Apache("prefork"), 1, 1, ""),
        of("Apache prefork, 2 cores", Kind::Apache("prefork"), 2, 2, ""),
    ];

    struct Plan {
        trace: PathBuf,
        root: PathBuf,
        only: String,
        rounds: usize,
        settings: Settings,
        /// Of a core, for each core that a server gets; `None` without limits.
        quota: Option<f64>,
        page: Option<PathBuf>,
    }

    pub(crate) fn main() -> ExitCode {
        run(USAGE, |args| {
            let plan = plan(args)?;
            let chosen = CONTESTANTS.iter().filter(|server| server.name.contains(&plan.only));
            let is_here = |server: &&Contestant| is_installed(server.kind);
            let servers: Vec<&Contestant> = chosen.filter(is_here).collect();
            let mut plays: Vec<Vec<Measured>> = servers.iter().map(|_| Vec::new()).collect();
            for round in 0..plan.rounds {
                // Each round begins with another server.
                for n in 0..servers.len() {
                    let place = (n + round) % servers.len();
                    let name = servers[place].name;
                    let play = one(servers[place], &plan);
                    let play = play.map_err(|error| format!("{name}: {error}"))?;
                    if let Some(fault) = &play.report.first_fault {
                        eprintln!("{name}: {} faults, such as {fault}", play.report.all_faults());
                    }
                    plays[place].push(play);
                }
            }
            let row = |(server, plays): (&&Contestant, &Vec<Measured>)| {
                Row::new(server.name, server.cores, plays)
            };
            let rows: Vec<Row> = servers.iter().zip(&plays).map(row).collect();
            let (text, plot) = report(&rows, plan.settings.clients, plan.rounds, plan.quota);
            println!("{text}");
            if let Some(page) = plan.page {
                let old = std::fs::read_to_string(&page)?;
                std::fs::write(&page, page_with(&old, &text)?)?;
                std::fs::write(page.with_file_name("plots").join("webserver.svg"), plot)?;
            }
            match rows.iter().map(|row| row.faults).sum::<u64>() {
                0 => Ok(()),
                faults => Err(format!("{faults} requests failed").into()),
            }
        })
    }

    fn one(server: &Contestant, plan: &Plan) -> Result<Measured, Box<dyn Error>> {
        let quota = plan.quota.map(|part| Quota::new(part * server.cores as f64)).transpose()?;
        let groups = quota.iter().map(|quota| quota.directory().to_owned()).collect();
        let setup = Setup {
            root: plan.root.clone(),
            workers: server.workers,
            keep_alive: !server.is_short,
            httpd: server.options.split_whitespace().map(str::to_owned).collect(),
            groups,
        };
        let running = Server::start(server.kind, &setup)?;
        let settings = Settings { keep_alive: !server.is_short, ..plan.settings.clone() };
        let warm = Settings { max_time: settings.max_time / 2, ..settings.clone() };
        Measured::play(&running, &plan.trace, &warm)?;
        Measured::play(&running, &plan.trace, &settings)
    }

    fn is_installed(kind: Kind) -> bool {
        let program = match kind {
            Kind::Nginx => "nginx",
            Kind::Apache(_) => "apache2",
            Kind::Httpd(_) | Kind::ServeDir => return true,
        };
        let paths = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&paths).any(|path| path.join(program).is_file())
    }

    fn plan(mut args: Args) -> Result<Plan, Box<dyn Error>> {
        let clients = args.value("--clients", "1 to 1024")?.unwrap_or(800);
        let rounds = args.value("--rounds", "1 to 99")?.unwrap_or(3);
        let seconds = args.value("--seconds", "a number of seconds above 0")?.unwrap_or(3.0);
        let percent = args.value("--quota", "a percentage from 5 to 100")?.unwrap_or(30.0);
        if !(1..=MAX_CLIENTS).contains(&clients) || !(1..=99).contains(&rounds) {
            let text = format!("allowed are 1 to {MAX_CLIENTS} clients and 1 to 99 rounds");
            return Err(Mistake::new(text).into());
        }
        if !(5.0..=100.0).contains(&percent) || !(0.1..=3600.0).contains(&seconds) {
            let text = "allowed are a quota of 5 to 100 percent and plays of 0.1 to 3600 seconds";
            return Err(Mistake::new(text).into());
        }
        let check_content = args.flag("--check-content");
        let only = args.value("--only", "a part of a name")?.unwrap_or_default();
        let page = args.value("--page", "the path of a page")?;
        let trace = args.word("the path of a trace")?.into();
        let root = args.word("the directory of the files")?.into();
        args.end()?;
        let local = std::net::SocketAddr::from(([127, 0, 0, 1], 1));
        let max_time = Duration::from_secs_f64(seconds);
        let settings = Settings { max_time, check_content, ..Settings::closed(local, clients) };
        let quota = match Quota::new(percent / 100.0) {
            Ok(_) => Some(percent / 100.0),
            Err(error) => {
                eprintln!("no limit of CPU time can be set here: {error}");
                None
            }
        };
        Ok(Plan { trace, root, only, rounds, settings, quota, page })
    }
}
