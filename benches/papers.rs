//! `cargo bench -p colored-benches --bench papers`: the experiments of the papers and the peers.
//!
//! A full run ends inside 22 minutes and writes `benches/results/papers.md` with its plots; `-- --quick`
//! ends inside two minutes and writes the same page below the target directory; `-- <text>` runs the
//! experiments whose names contain it. Options: `--date=<text>`, `--transfers=<count>`.

use colored_benches::http::raise_open_files;
use colored_benches::measure::Mode;
use colored_benches::papers::{ALL, Experiment, Plan, page, supervise};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

const SERVER: &str = env!("CARGO_BIN_EXE_http-server");
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/results/papers.md");
const ELSEWHERE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/papers/papers.md");

fn main() -> Result<(), Box<dyn Error>> {
    let plan = Plan::parse(Path::new(SERVER), std::env::args().skip(1))?;
    let page = Path::new(if plan.mode == Mode::Full { PAGE } else { ELSEWHERE });
    if let Some(name) = &plan.child {
        let found = ALL.iter().find(|experiment| experiment.name == name);
        raise_open_files()?;
        return alone(found.ok_or("no such experiment")?, &plan, page);
    }
    if plan.mode != Mode::Full {
        fs::create_dir_all(page.parent().expect("it is in a folder"))?;
        fs::copy(PAGE, page)?;
    }
    all(&plan, page)
}

/// Runs one experiment in this process.
fn alone(experiment: &Experiment, plan: &Plan, page: &Path) -> Result<(), Box<dyn Error>> {
    let (body, plots) = (experiment.run)(plan).finish();
    Ok(page::write(page, experiment.name, &body, &plots)?)
}

/// Runs every experiment that matches, one after another. Returns the error when all have run.
fn all(plan: &Plan, page: &Path) -> Result<(), Box<dyn Error>> {
    let this: PathBuf = std::env::current_exe()?;
    let deadline = Instant::now() + plan.limit();
    let mut failures = Vec::new();
    for experiment in ALL.iter().filter(|experiment| plan.matches(experiment.name)) {
        let name = experiment.name;
        let start = Instant::now();
        let left = deadline.saturating_duration_since(start);
        let limit = left.min(plan.limit_of_one());
        if let Err(error) = supervise::run(&this, &plan.to_child(name), limit) {
            println!("FAILED {name}: {error}");
            failures.push(format!("{name}: {error}"));
        }
        println!("INFO {name} took {:.1} s", start.elapsed().as_secs_f64());
    }
    page::summarize(page, &failures)?;
    println!("INFO page {}", page.display());
    if failures.is_empty() { Ok(()) } else { Err(failures.join(", ").into()) }
}
