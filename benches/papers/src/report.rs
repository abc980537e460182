//! The result of an experiment.

use super::Plan;
use colored_benches::chart::number;
use colored_benches::machine::{machine, today};
use colored_benches::measure::Mode;
use colored_benches::page::{GOALS, table_head};
use colored_benches::ratio::line;
use std::fmt::Write;

/// The goal of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// Lower is better.
    AtMost(f64),
    /// Higher is better.
    AtLeast(f64),
    /// Higher is better, and an equal value is not enough.
    Above(f64),
}

impl Goal {
    /// Whether `value` meets the goal.
    #[must_use]
    pub fn met(self, value: f64) -> bool {
        match self {
            Goal::AtMost(most) => value <= most,
            Goal::AtLeast(least) => value >= least,
            Goal::Above(least) => value > least,
        }
    }

    /// The one of two values that is further from the goal.
    fn worse(self, one: f64, other: f64) -> f64 {
        match self {
            Goal::AtMost(_) => one.max(other),
            Goal::AtLeast(_) | Goal::Above(_) => one.min(other),
        }
    }

    fn text(self) -> String {
        match self {
            Goal::AtMost(most) => format!("at most {}", number(most)),
            Goal::AtLeast(least) => format!("at least {}", number(least)),
            Goal::Above(least) => format!("above {}", number(least)),
        }
    }
}

/// An experiment's block of the page, and its plots.
#[derive(Debug)]
pub struct Report {
    body: String,
    goals: Vec<(String, f64, Goal)>,
    plots: Vec<(String, String)>,
}

impl Report {
    /// An empty report, with a line that says where and when it was made.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let date = plan.date.clone().unwrap_or_else(today);
        let kind = match plan.mode {
            Mode::Full => "",
            Mode::Quick => "; a quick run, its figures are rough",
            Mode::Smoke => "; a smoke run, its figures mean nothing",
        };
        let body = format!("*{date}, {}{kind}.*\n\n", machine());
        Self { body, goals: Vec::new(), plots: Vec::new() }
    }

    /// Prints a `RATIO` line: `colored`'s cost over the peer's, lower is better.
    pub fn ratio(&mut self, name: &str, colored: f64, peer: &str, other: f64, unit: &str) {
        line(name, colored, peer, other, unit);
    }

    /// Prints a `GOAL` line, and keeps it for the table at the block's end: of several with one text, the worst.
    pub fn goal(&mut self, what: &str, value: f64, goal: Goal) {
        let [_, value_text, text, met] = row(what, value, goal);
        println!("GOAL {met} | {value_text} | {text} | {what}");
        match self.goals.iter_mut().find(|(known, ..)| known == what) {
            Some((_, worst, _)) => *worst = goal.worse(*worst, value),
            None => self.goals.push((what.to_owned(), value, goal)),
        }
    }

    /// Adds a paragraph.
    pub fn text(&mut self, text: &str) {
        self.body.push_str(text);
        self.body.push_str("\n\n");
    }

    /// Adds a table.
    pub fn table(&mut self, head: &[&str], rows: &[Vec<String>]) {
        self.body.push_str(&table(head, rows));
        self.body.push('\n');
    }

    /// Adds a plot, kept as `plots/<file>.svg` beside the page. `alt` is for readers who cannot see
    /// it.
    pub fn plot(&mut self, file: &str, alt: &str, svg: String) {
        // Writing to a string does not fail.
        let _ = writeln!(self.body, "![{alt}](plots/{file}.svg)\n");
        self.plots.push((format!("{file}.svg"), svg));
    }

    /// The block's text, and the plots by file name.
    #[must_use]
    pub fn finish(mut self) -> (String, Vec<(String, String)>) {
        if !self.goals.is_empty() {
            let rows: Vec<_> = self
                .goals
                .iter()
                .map(|(what, value, goal)| row(what, *value, *goal).into())
                .collect();
            self.body.push_str(&table(&GOALS, &rows));
        }
        (self.body, self.plots)
    }
}

fn row(what: &str, value: f64, goal: Goal) -> [String; 4] {
    let met = if goal.met(value) { "met" } else { "missed" };
    [what.to_owned(), number(value), goal.text(), met.to_owned()]
}

/// A table, its first column to the left and all others to the right.
fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let mut text = table_head(head);
    for row in rows {
        assert_eq!(row.len(), head.len(), "{row:?} under {head:?}");
        // Writing to a string does not fail.
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn what_shall_rise_must_not_stay() {
        assert!(Goal::AtLeast(1.0).met(1.0) && Goal::AtMost(1.0).met(1.0));
        assert!(!Goal::Above(1.0).met(1.0) && Goal::Above(1.0).met(1.001));
        assert_eq!(Goal::Above(1.0).text(), "above 1");
    }

    #[test]
    fn a_report_is_text_tables_goals_and_plots() {
        let arguments = [String::from("--date=then")];
        let plan = Plan::parse(Path::new(""), arguments.into_iter()).expect("well-formed");
        let mut report = Report::new(&plan);
        report.table(&["keys", "s"], &[vec![String::from("1"), String::from("26.7")]]);
        report.plot("keys", "time by keys", String::from("<svg/>"));
        report.goal("one key", 1.2, Goal::AtMost(1.1));
        report.goal("one key", 1.1, Goal::AtMost(1.1));
        report.goal("two keys", 3.0, Goal::AtLeast(1.5));
        report.goal("two keys", 2.0, Goal::AtLeast(1.5));
        let (body, plots) = report.finish();
        assert!(body.starts_with("*then, "));
        assert!(body.contains("| keys | s |\n|---|---:|\n| 1 | 26.7 |\n"));
        assert!(body.contains("![time by keys](plots/keys.svg)"));
        let goals =
            "| one key | 1.2 | at most 1.1 | missed |\n| two keys | 2 | at least 1.5 | met |\n";
        assert!(body.ends_with(goals));
        assert_eq!(plots, [(String::from("keys.svg"), String::from("<svg/>"))]);
    }
}
