//! The table of the page, and its plot.

use colored_figures::chart::{Axis, Bars};
use colored_figures::machine::{machine, today};
use colored_traces::servers::{Measured, median};
use std::fmt::Write;

/// The medians of a server.
pub(crate) struct Row {
    name: &'static str,
    cores: usize,
    megabytes: f64,
    rate: f64,
    /// The CPU time of a request.
    micros: f64,
    /// In seconds.
    median: f64,
    p99: f64,
    pub(crate) faults: u64,
}

impl Row {
    pub(crate) fn new(name: &'static str, cores: usize, plays: &[Measured]) -> Row {
        let of = |value: fn(&Measured) -> f64| median(plays.iter().map(value).collect());
        Row {
            name,
            cores,
            megabytes: of(Measured::megabytes),
            rate: of(|play| play.report.rate()),
            micros: of(Measured::micros),
            median: of(|play| play.report.request_latency.p50.as_secs_f64()),
            p99: of(|play| play.report.request_latency.p99.as_secs_f64()),
            faults: plays.iter().map(|play| play.report.all_faults()).sum(),
        }
    }
}

/// Pairs of servers, what the ratio of their throughputs means, and what the paper measured.
const RATIOS: [(&str, &str, &str, &str); 10] = [
    ("httpd, 2 workers", "httpd, 1 worker", "two workers over one", "1.28"),
    ("httpd, 1 worker", "httpd, one color", "one worker over one color", "0.86"),
    ("httpd, 2 copies", "httpd, 2 workers", "two copies over two workers", "well above 1"),
    ("httpd, 2 workers, 1 shard", "httpd, 2 workers", "1 part of the cache over 10", "-"),
    ("httpd, 2 workers, 64 shards", "httpd, 2 workers", "64 parts of the cache over 10", "-"),
    (
        "httpd, 2 workers, short, 2 listeners",
        "httpd, 2 workers, short",
        "a connection for each request: a listener for each worker over one",
        "-",
    ),
    ("httpd, 2 workers", "ServeDir, 2 workers", "two workers over tokio's `ServeDir`", "-"),
    (
        "httpd, 2 workers",
        "nginx, 2 processes",
        "two workers over nginx",
        "a little below 1 (Flash)",
    ),
    (
        "httpd, 2 workers",
        "Apache event, 2 processes",
        "two workers over Apache, threads",
        "above 1",
    ),
    (
        "httpd, 2 workers",
        "Apache prefork, 2 cores",
        "two workers over Apache, processes",
        "above 1",
    ),
];

/// The block of the page, and the plot.
pub(crate) fn report(
    rows: &[Row],
    clients: usize,
    rounds: usize,
    quota: Option<f64>,
) -> (String, String) {
    let limit = match quota {
        Some(part) => format!("{:.0} % of a core for each core of the table", part * 100.0),
        None => "none: no limit of CPU time could be set, and clients and servers share the cores"
            .into(),
    };
    let mut text = format!(
        "*{}, {}. {clients} clients; limit of a server: {limit}; medians of {rounds} plays.*\n\n",
        today(),
        machine()
    );
    text += "| server | cores | MB/s | req/s | CPU µs a request | median ms | p99 ms |\n";
    text += "|---|---:|---:|---:|---:|---:|---:|\n";
    for Row { name, cores, megabytes, rate, micros, median, p99, .. } in rows {
        let (median, p99) = (median * 1e3, p99 * 1e3);
        let figures = format!("{megabytes:.1} | {rate:.0} | {micros:.1} | {median:.1} | {p99:.1}");
        writeln!(text, "| {name} | {cores} | {figures} |").expect("a string takes all");
    }
    text += "\n| ratio of MB/s | measured | paper |\n|---|---:|---:|\n";
    let find = |name: &str| rows.iter().find(|row| row.name == name);
    for (over, under, what, paper) in RATIOS {
        let (Some(over), Some(under)) = (find(over), find(under)) else { continue };
        let ratio = over.megabytes / under.megabytes;
        writeln!(text, "| {what} | {ratio:.2} | {paper} |").expect("a string takes all");
    }
    text += "\n![MB/s of each server](plots/webserver.svg)";
    (text, plot(rows))
}

fn plot(rows: &[Row]) -> String {
    let values = rows.iter().map(|row| Some(row.megabytes)).collect();
    Bars {
        title: "The first paper's load: throughput".into(),
        axis: Axis::linear("MB/s"),
        groups: rows.iter().map(|row| row.name.to_owned()).collect(),
        series: vec![("MB/s".into(), values)],
    }
    .draw()
}

/// The page with another block.
pub(crate) fn page_with(page: &str, block: &str) -> Result<String, String> {
    let (begin, end) = ("<!-- measured: webserver -->\n", "<!-- end -->");
    let parts = page.split_once(begin).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(end)?;
        Some(format!("{before}{begin}\n{block}\n\n{end}{after}"))
    });
    parts.ok_or_else(|| format!("the page has no block between {:?} and {end:?}", begin.trim_end()))
}
