//! The plays: each mode of the server by numbers of clients.

use crate::plan::Plan;
use colored_traces::files;
use colored_traces::format::{Reader, write};
use colored_traces::generate::{Options, Trace, generate};
use colored_traces::play::{Report, Settings, play};
use colored_traces::profile::Profile;
use colored_traces::servers::{Group, Kind, Limits, Server, Setup, evict};
use std::error::Error;
use std::fs;
use std::path::Path;

/// The modes, with the server of the paper that each stands for.
pub(super) const MODES: [(&str, &str); 5] = [
    ("lazy", "LAIO"),
    ("blocking", "NB-B"),
    ("aio", "NB-AIO"),
    ("amped", "NB-AMPED"),
    ("pool", "NB-AMTED"),
];

/// The paper's servers have one thread; the helpers of AMPED are processes.
const WORKERS: usize = 1;
pub(super) const HTTPD: &str = "--cache-mib 1 --helpers 16";

/// What a server takes for itself, measured: 9 MB with 32 clients, 24 to 30 MB with 512. The paper's machine had 2 GB, of
/// which this is little; beside a scaled memory it is much, so the group has it in addition.
pub(super) const OWN: u64 = 8_000_000;
pub(super) const OWN_OF_A_CLIENT: u64 = 40_000;

/// The state of the page cache before a play.
pub(super) const STATES: [&str; 2] = ["cold", "warm"];

/// What one play has shown.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Play {
    /// Requests per second.
    pub(super) rate: f64,
    /// Response times in ms.
    pub(super) mean: f64,
    pub(super) p99: f64,
    /// Megabytes from the disk, if there is a control group.
    pub(super) read: f64,
    /// The same per second.
    pub(super) read_rate: f64,
}

/// By number of clients, by mode, by state: medians.
pub(super) type Swept = Vec<(usize, [[Play; 2]; MODES.len()])>;

/// All that was measured.
pub(super) struct Sweeps {
    pub(super) trace: String,
    /// The bytes of all files, and the memory in the paper's ratio to them.
    pub(super) footprint: u64,
    pub(super) memory: u64,
    /// Why there were no limits.
    pub(super) no_group: Option<String>,
    pub(super) as_it_is: Swept,
    pub(super) slow: Swept,
    /// The least part of the footprint that a play of each has touched.
    pub(super) touched: [f64; 2],
}

struct Runner<'a> {
    plan: &'a Plan,
    trace: Trace,
    /// The trace as text.
    text: Vec<u8>,
    memory: u64,
    touched: u64,
}

pub(super) fn run(plan: &Plan) -> Result<Sweeps, Box<dyn Error>> {
    let options = Options { scale: plan.scale, seed: 7, ..Options::default() };
    let trace = generate(&Profile::BERKELEY, &options)?;
    let mut text = Vec::new();
    write(&trace, "", &mut text)?;
    let footprint: u64 = trace.files().iter().sum();
    match plan.directory.exists() && fs::read_dir(&plan.directory)?.next().is_some() {
        true => files::check(&plan.directory, trace.files())?,
        false => files::create(&plan.directory, trace.files(), footprint)?,
    };
    let memory = (Profile::MEMORY as f64 * plan.scale) as u64;
    let limits = Limits { memory: memory + OWN, read_ops: plan.read_ops };
    let no_group = Group::new(&plan.directory, limits).err().map(|error| error.to_string());
    let summary = trace.summary().to_string();
    let mut runner = Runner { plan, trace, text, memory, touched: u64::MAX };
    let has_group = no_group.is_none();
    let as_it_is = runner.sweep(&plan.clients, has_group, None)?;
    let of_all = runner.touched as f64 / footprint as f64;
    runner.touched = footprint;
    let slow = match plan.read_ops.filter(|_| has_group) {
        Some(read_ops) => runner.sweep(&plan.slow_clients, true, Some(read_ops))?,
        None => Vec::new(),
    };
    let touched = [of_all, runner.touched as f64 / footprint as f64];
    Ok(Sweeps { trace: summary, footprint, memory, no_group, touched, as_it_is, slow })
}

impl Runner<'_> {
    fn sweep(
        &mut self,
        clients: &[usize],
        has_group: bool,
        read_ops: Option<u64>,
    ) -> Result<Swept, Box<dyn Error>> {
        let mut swept = Vec::new();
        for &clients in clients {
            let memory = self.memory + OWN + OWN_OF_A_CLIENT * clients as u64;
            let limits = has_group.then_some(Limits { memory, read_ops });
            let mut all: [Vec<[Play; 2]>; MODES.len()] = Default::default();
            for round in 0..self.plan.rounds {
                // Each round begins with another mode.
                for n in 0..MODES.len() {
                    let mode = (n + round) % MODES.len();
                    let plays = self.both(MODES[mode].0, clients, limits).map_err(|error| {
                        format!("{} with {clients} clients: {error}", MODES[mode].0)
                    })?;
                    eprintln!("{clients} clients, {}: {plays:.1?}", MODES[mode].0);
                    all[mode].push(plays);
                }
            }
            swept.push((clients, all.map(|rounds| medians(&rounds))));
        }
        Ok(swept)
    }

    /// A cold play, and a warm one.
    fn both(
        &mut self,
        mode: &'static str,
        clients: usize,
        limits: Option<Limits>,
    ) -> Result<[Play; 2], Box<dyn Error>> {
        let root = &self.plan.directory;
        let group = limits.map(|limits| Group::new(root, limits)).transpose()?;
        let setup = Setup {
            root: root.clone(),
            workers: WORKERS,
            keep_alive: true,
            httpd: HTTPD.split(' ').map(String::from).collect(),
            groups: group.as_ref().map_or(Vec::new(), |group| group.directories().to_vec()),
        };
        // A page belongs to the group that reads it first.
        evict(root, 0..u32::try_from(self.trace.files().len())?)?;
        if self.plan.drops_caches {
            drop_caches()?;
        }
        let server = Server::start(Kind::Httpd(mode), &setup)?;
        let mut plays = [Play::default(); 2];
        for play in &mut plays {
            *play = self.one(&server, clients, group.as_ref())?;
        }
        // The group is removed when the server has ended.
        drop(server);
        drop(group);
        Ok(plays)
    }

    fn one(
        &mut self,
        server: &Server,
        clients: usize,
        group: Option<&Group>,
    ) -> Result<Play, Box<dyn Error>> {
        let settings =
            Settings { max_time: self.plan.max_time, ..Settings::closed(server.address, clients) };
        let read = || group.map_or(Ok(0), Group::bytes_read);
        let before = read()?;
        let report: Report = play(Reader::new(&self.text[..])?, &settings)?;
        let read = (read()? - before) as f64 / 1e6;
        if let Some(fault) = &report.first_fault {
            return Err(format!("{} requests failed: {fault}", report.all_faults()).into());
        }
        self.touched = self.touched.min(report.footprint);
        let latency = report.request_latency;
        Ok(Play {
            rate: report.rate(),
            mean: latency.mean.as_secs_f64() * 1e3,
            p99: latency.p99.as_secs_f64() * 1e3,
            read,
            read_rate: read / report.wall.as_secs_f64(),
        })
    }
}

/// Takes clean pages, names and inodes out of the memory of the whole machine.
fn drop_caches() -> Result<(), Box<dyn Error>> {
    let path = Path::new("/proc/sys/vm/drop_caches");
    fs::write(path, "3").map_err(|error| format!("--drop-caches: {}: {error}", path.display()))?;
    Ok(())
}

fn medians(rounds: &[[Play; 2]]) -> [Play; 2] {
    [0, 1].map(|state| {
        let median = |figure: fn(&Play) -> f64| {
            let mut all: Vec<f64> = rounds.iter().map(|plays| figure(&plays[state])).collect();
            all.sort_by(f64::total_cmp);
            all[all.len() / 2]
        };
        Play {
            rate: median(|play| play.rate),
            mean: median(|play| play.mean),
            p99: median(|play| play.p99),
            read: median(|play| play.read),
            read_rate: median(|play| play.read_rate),
        }
    })
}
