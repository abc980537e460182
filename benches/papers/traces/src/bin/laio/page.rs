//! The page: tables, plots, and what is reached beside the paper.

use crate::goals;
use crate::plan::Plan;
use crate::sweep::{HTTPD, MODES, OWN, OWN_OF_A_CLIENT, Play, STATES, Sweeps, Swept};
use crate::table3;
use colored_figures::chart::{Axis, Chart, Series, number};
use colored_figures::machine::{machine, today};
use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::Path;

const INTRODUCTION: &str = "\
# The LAIO paper's servers under the Berkeley trace

`laio` of [`traces`](../traces/src/lib.rs) writes this page. It repeats figures 7, 10 and 11, and table 3, of
Elmeleegy, Chanda, Cox, Zwaenepoel: \"Lazy Asynchronous I/O for Event-Driven Servers\", USENIX 2004, with the example
[`httpd`](../httpd/src/main.rs) in five modes. The Rice trace is on the page of
[servers of files](file-servers.md), and the pipe on that of [the papers](papers.md).

| `--fs` | a read, and an opening or a question for metadata | the paper's server |
|---|---|---|
| `lazy` | tried on the worker; what would wait goes to io_uring (reads) or to a thread | LAIO |
| `blocking` | on the worker, which waits for the disk | NB-B |
| `aio` | reads go to io_uring untried; the rest is on the worker, which waits for the disk | NB-AIO |
| `amped` | on the worker, after a helper process has read the data or the name into memory | NB-AMPED |
| `pool` | on a thread, always; the paper's hands over what it expects to wait | NB-AMTED |

The paper's NB-LAIO and LAIO-LAIO differ in how they reach the network. There is one way here: a socket is tried, and
else waits for the reactor, which is both. So figure 9, by which the two are very close, has no counterpart.

";

/// Prints the page, or writes it with its plots.
pub(super) fn write(plan: &Plan, sweeps: &Sweeps) -> Result<(), Box<dyn Error>> {
    let mut page = String::from(INTRODUCTION);
    conditions(&mut page, plan, sweeps);
    let mut plots = Vec::new();
    for (state, name) in STATES.iter().enumerate() {
        let _ = writeln!(page, "## The disk as it is, {name}\n");
        section(&mut page, &sweeps.as_it_is, state);
        if sweeps.as_it_is.len() > 1 {
            let file = format!("laio-{name}.svg");
            let _ = writeln!(page, "![requests per second by clients](plots/{file})\n");
            plots.push((file, plot(&sweeps.as_it_is, state, name)));
        }
    }
    if let Some(read_ops) = plan.read_ops {
        slow(&mut page, read_ops, sweeps);
    }
    goals::add(&mut page, sweeps);
    lines(&mut page)?;
    let Some(path) = &plan.page else {
        print!("{page}");
        return Ok(());
    };
    let folder = path.parent().unwrap_or(Path::new(".")).join("plots");
    fs::create_dir_all(&folder)?;
    for (file, svg) in plots {
        fs::write(folder.join(file), svg)?;
    }
    Ok(fs::write(path, page)?)
}

// Writing to a string does not fail.

fn conditions(page: &mut String, plan: &Plan, sweeps: &Sweeps) {
    let mega = |bytes: u64| bytes as f64 / 1e6;
    let drops = if plan.drops_caches { " --drop-caches" } else { "" };
    let reads = plan.read_ops.map(|reads| format!(" --read-ops {reads}")).unwrap_or_default();
    let _ = writeln!(
        page,
        "*{}, `laio DIR{drops}{reads}` on {}, which the clients share with the server. {}. One worker, and the \
         options `{HTTPD} --sendfile off` of `httpd`: only `lazy` could use `sendfile`.*\n",
        today(),
        machine(),
        match plan.rounds {
            1 => String::from("Each play ran once"),
            rounds => format!("Figures are medians of {rounds} rounds"),
        }
    );
    let _ = match &sweeps.no_group {
        None => writeln!(
            page,
            "The files have {:.0} MB. The control group of the server and its page cache has {:.0} MB, by which the footprint \
             is 3.2 times the memory as in the paper, and what the server takes for itself: {:.0} MB, and {} KB for each \
             client.",
            mega(sweeps.footprint),
            mega(sweeps.memory),
            mega(OWN),
            OWN_OF_A_CLIENT / 1000,
        ),
        Some(error) => writeln!(
            page,
            "There was no control group, so all {:.0} MB of files fit into memory, and no figure of the disk exists: \
             {error}.",
            mega(sweeps.footprint)
        ),
    };
    let names = match plan.drops_caches {
        true => "the runner drops all caches of the machine, the cache of names too",
        false => "the pages of the files are dropped; names may be in memory",
    };
    let _ = writeln!(
        page,
        "Before a cold play {names}. A warm play follows it in the same server. Each play touched at least {:.0} % of \
         the footprint. The trace:\n\n```text\n{}```\n",
        100.0 * sweeps.touched[0],
        sweeps.trace
    );
}

fn slow(page: &mut String, read_ops: u64, sweeps: &Sweeps) {
    let _ = writeln!(page, "## A disk of {read_ops} reads in a second\n");
    if sweeps.slow.is_empty() {
        page.push_str("Not run: there is no control group that could limit the disk.\n\n");
        return;
    }
    let _ = writeln!(
        page,
        "The control group limits the reads in a second, as a provider does. Unlike the arm of the paper's disk, such a \
         limit lets one read at a time pass as fast as many, so a server that waits for each read loses only what it \
         could have sent from memory meanwhile. What many clients read at a time takes memory from each other, so that \
         `blocking`, which serves one at a time, needs the fewest bytes for a request. Each play touched at least {:.0} % of the footprint.\n",
        100.0 * sweeps.touched[1]
    );
    for (state, name) in STATES.iter().enumerate() {
        let _ = writeln!(page, "The plays that begin {name}:\n");
        section(page, &sweeps.slow, state);
    }
}

type Cell = fn(&Play) -> String;

fn section(page: &mut String, swept: &Swept, state: usize) {
    let tables: [(&str, Cell); 3] = [
        ("requests per second", |play| number(play.rate)),
        ("response time, mean / p99, ms", |play| {
            format!("{} / {}", number(play.mean), number(play.p99))
        }),
        ("MB from the disk, and MB in a second", |play| match play.read {
            0.0 => String::from("0"),
            read => format!("{} ({})", number(read), number(play.read_rate)),
        }),
    ];
    for (what, cell) in tables {
        let _ = writeln!(page, "| {what}: clients | {} |", MODES.map(|(mode, _)| mode).join(" | "));
        let _ = writeln!(page, "|---|{}", "---:|".repeat(MODES.len()));
        for (clients, modes) in swept {
            let cells = modes.each_ref().map(|plays| cell(&plays[state]));
            let _ = writeln!(page, "| {clients} | {} |", cells.join(" | "));
        }
        page.push('\n');
    }
}

fn plot(swept: &Swept, state: usize, name: &str) -> String {
    let series = MODES.iter().enumerate().map(|(mode, (title, paper))| {
        let points =
            swept.iter().map(|(clients, modes)| (*clients as f64, modes[mode][state].rate));
        Series::measured(&format!("{title} ({paper})"), points.collect())
    });
    let chart = Chart {
        title: format!("The Berkeley trace, {name}"),
        x: Axis::log("clients"),
        y: Axis::linear("requests per second"),
        series: series.collect(),
    };
    chart.draw()
}

fn lines(page: &mut String) -> Result<(), Box<dyn Error>> {
    let (modes, all) = table3::counts()?;
    page.push_str(
        "## Table 3: the code of each mode\n\nLines with code, and branches (`if`, loops, `?`, arms of `match`), of what \
         reaches the files in `httpd`; comments, tests and the code that all modes share are not in them. hyper keeps \
         what is left of a response that the socket did not take, in all modes. The paper's Flash with AMPED and with \
         LAIO had 550 and 15 lines to read files, 610 and 375 for names, 70 and 0 for the rest of a write, and 8,860 and \
         8,020 in all.\n\n| mode | lines | branches | lines over `lazy` |\n|---|---:|---:|---:|\n",
    );
    let lazy = modes.first().map_or(1, |(_, count)| count.lines) as f64;
    for (mode, count) in &modes {
        let over = number(count.lines as f64 / lazy);
        let _ = writeln!(page, "| `{mode}` | {} | {} | {over} |", count.lines, count.branches);
    }
    let _ = writeln!(page, "| the server with all modes | {} | {} | |", all.lines, all.branches);
    Ok(())
}
