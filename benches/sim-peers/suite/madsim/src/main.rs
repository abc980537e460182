//! How many seeds find the bugs of the suite: ours, and madsim's on the same programs.
//!
//! ```text
//! RUSTFLAGS="--cfg madsim" cargo run --release -p colored-sim-suite-madsim 2>/dev/null
//! ```
//!
//! The flag is for the whole build: without it madsim does not simulate. madsim writes lines for each run that fails, to the
//! standard error. A kernel counts where its twin without the bug passes on madsim. These are counts of runs, which a busy
//! machine does not change.

#[cfg(not(madsim))]
fn main() {
    eprintln!("compile it with RUSTFLAGS=\"--cfg madsim\"");
    std::process::exit(2);
}

#[cfg(madsim)]
fn main() {
    table::print();
}

#[cfg(madsim)]
mod table {
    use colored_sim_suite::{SEARCHES, Strategy, Table, search};
    use colored_sim_suite_madsim::{is_twin_right, runs_until_bug};

    pub(crate) fn print() {
        std::panic::set_hook(Box::new(|_| {}));
        let mut table = Table::new(&["random", "portfolio", "madsim"]);
        for (family, kernel) in colored_sim_suite::kernels() {
            if !is_twin_right(kernel) {
                table.leave_out(kernel);
                continue;
            }
            let ours = |strategy, number| search(kernel, strategy, number).map(|found| found.seeds);
            let columns: [&dyn Fn(u64) -> Option<u64>; 3] = [
                &|number| ours(Strategy::Random, number),
                &|number| ours(Strategy::Portfolio, number),
                &|number| runs_until_bug(kernel, number),
            ];
            table.add(family, kernel, &columns.map(|of| (0..SEARCHES).map(of).collect()));
        }
        table.end();
    }
}
