//! The plots: one of all rows against their best peers, and one for each family whose costs compare.

use super::Line;
use colored_benches::chart::{Axis, Bars, Scale};

/// A plot of costs: rows of one unit.
struct Family {
    file: &'static str,
    title: &'static str,
    axis: &'static str,
    scale: Scale,
    rows: &'static [&'static str],
}

const FAMILIES: [Family; 3] = [
    Family {
        file: "peers-tasks",
        title: "tasks, a color for each of ours",
        axis: "ns",
        scale: Scale::Linear,
        rows: &["spawn_join_unique", "pairs_unique", "yield_unique"],
    },
    Family {
        file: "peers-messages",
        title: "a message, and a request with its answer",
        axis: "ns",
        scale: Scale::Linear,
        rows: &["post", "call", "call_64"],
    },
    Family {
        file: "peers-http",
        title: "HTTP hello: CPU time of a request, by connections",
        axis: "µs",
        scale: Scale::Linear,
        rows: &["http_64", "http_512"],
    },
];

/// A plot's file below `plots/`, what it shows, and its text.
pub(super) type Plot = (String, &'static str, String);

/// All plots for which there are figures.
pub(super) fn all(lines: &[Line<'_>]) -> Vec<Plot> {
    if lines.is_empty() {
        return Vec::new();
    }
    let all = (String::from("peers.svg"), "our cost over the best peer's, by row", ratios(lines));
    let families = FAMILIES.iter().filter_map(|family| {
        let svg = costs(family, lines)?;
        Some((format!("{}.svg", family.file), family.title, svg))
    });
    [all].into_iter().chain(families).collect()
}

fn ratios(lines: &[Line<'_>]) -> String {
    let name = |line: &Line<'_>| format!("{} ({})", line.row.name, line.best().peer);
    let bars = Bars {
        title: String::from("our cost over the best peer's, whose name is in brackets"),
        axis: Axis::log("ratio: below 1, ours is less"),
        groups: lines.iter().map(name).collect(),
        series: vec![(
            String::from("colored over the best peer"),
            lines.iter().map(|line| Some(line.ratio())).collect(),
        )],
    };
    bars.draw()
}

/// A group of bars for each peer, with a bar for each row.
fn costs(family: &Family, lines: &[Line<'_>]) -> Option<String> {
    let rows: Vec<_> = lines.iter().filter(|line| family.rows.contains(&line.row.name)).collect();
    // A peer may be in some of the rows only: the order is that of the row with the most.
    let longest = rows.iter().max_by_key(|line| line.peers.len())?;
    let names: Vec<_> = longest.all().map(|figure| figure.peer.clone()).collect();
    let series = rows.iter().map(|line| {
        let cost = |name: &String| {
            line.all().find(|figure| figure.peer == *name).map(|figure| figure.cost)
        };
        (line.row.name.to_owned(), names.iter().map(cost).collect())
    });
    let axis = Axis { label: family.axis.to_owned(), scale: family.scale };
    let series = series.collect();
    let bars = Bars { title: family.title.to_owned(), axis, groups: names.clone(), series };
    Some(bars.draw())
}
