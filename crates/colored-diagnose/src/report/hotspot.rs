//! [`Hotspot`]: a crate whose functions take time.

use super::fault::Finding;
use super::text::percent;
use crate::json::Object;
use crate::usage::{FunctionUsage, Window};
use colored_core::Color;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;

/// Fewer looks say nothing: with as many, a part of a half is wrong by a tenth or more in one of three cases.
const LEAST: u64 = 20;

/// A crate that takes less is not shown, and no more crates than this.
const PART: f64 = 0.05;
const CRATES: usize = 3;

/// A function that takes less is not shown, and no more functions of a crate than this.
const PART_OF_FUNCTION: f64 = 0.1;
const FUNCTIONS: usize = 2;

/// A crate that polls and callbacks spend their time in.
///
/// Each look at a worker counts for one function, which is in no standard library: see
/// [`FunctionUsage`](crate::usage::FunctionUsage::function). What the function calls in other crates counts for those.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Hotspot {
    /// The color whose time it is; none for all colors.
    pub color: Option<Color>,
    /// The crate.
    pub crate_name: String,
    /// The part of the time of the color that is spent in functions of the crate, from 0 to 1: of 400 looks, wrong by 0.02
    /// as a rule.
    pub part: f64,
    /// The functions that take a tenth of that time at least, and their parts of it: at most two.
    pub functions: Vec<(String, f64)>,
    /// The function of another crate that has called them most often, as far as the runtime has not.
    pub caller: Option<String>,
    /// Whether all of the calls are that function's.
    is_only_caller: bool,
}

impl Hotspot {
    /// A crate by its functions, which are seen in this number of looks of all.
    fn of(color: Option<Color>, crate_name: &str, of: &[&FunctionUsage], all: u64) -> Self {
        let part = |looks: u64| looks as f64 / all as f64;
        let functions = sums(of, |function| Some(&function.function));
        let callers = sums(of, |function| function.caller.as_ref());
        let looks = of.iter().map(|function| function.looks).sum();
        let large = functions.iter().filter(|(_, looks)| part(*looks) >= PART_OF_FUNCTION);
        let functions = large.take(FUNCTIONS).map(|&(name, looks)| (name.clone(), part(looks)));
        Self {
            color,
            crate_name: crate_name.to_owned(),
            part: part(looks),
            functions: functions.collect(),
            caller: callers.first().map(|(name, _)| (*name).clone()),
            is_only_caller: callers.first().is_some_and(|(_, of_first)| *of_first == looks),
        }
    }

    pub(super) fn write(&self, object: &mut Object<'_>) {
        object.field("color", self.color.map(|color| color.to_string()).as_ref());
        object.field("part", self.part);
        object.field("crate", &self.crate_name);
        object.array("functions", |list| {
            for (name, part) in &self.functions {
                list.object(|one| {
                    one.field("function", name);
                    one.field("part", *part);
                });
            }
        });
        object.field("caller", self.caller.as_ref());
    }
}

/// The looks by name, the most frequent first.
fn sums<'f>(
    of: &[&'f FunctionUsage],
    name: impl Fn(&'f FunctionUsage) -> Option<&'f String>,
) -> Vec<(&'f String, u64)> {
    let mut sums: BTreeMap<&String, u64> = BTreeMap::new();
    for &function in of {
        if let Some(name) = name(function) {
            *sums.entry(name).or_default() += function.looks;
        }
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_key(|(_, looks)| Reverse(*looks));
    sums
}

impl fmt::Display for Hotspot {
    /// What it is, without its part: `crate a, mostly called by b::c: 40 % in a::d`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the crate {}", self.crate_name)?;
        if let Some(caller) = &self.caller {
            let mostly = if self.is_only_caller { "" } else { "mostly " };
            write!(f, ", {mostly}called by {caller}")?;
        }
        for (number, (name, part)) in self.functions.iter().enumerate() {
            let sign = if number == 0 { ": " } else { ", " };
            write!(f, "{sign}{} in {name}", percent(*part))?;
        }
        Ok(())
    }
}

/// The largest crates in the time of a color, or of all.
fn hotspots(windows: &[Window], color: Option<Color>) -> Vec<Hotspot> {
    let functions = windows.iter().flat_map(|window| &window.functions);
    let functions = functions.filter(|function| color.is_none() || function.color == color);
    let mut crates: BTreeMap<&str, Vec<&FunctionUsage>> = BTreeMap::new();
    let mut all = 0;
    for function in functions {
        all += function.looks;
        crates.entry(&function.crate_name).or_default().push(function);
    }
    if all < LEAST {
        return Vec::new();
    }
    crates.remove("");
    let hotspots = crates.iter().map(|(name, of)| Hotspot::of(color, name, of, all));
    let mut hotspots: Vec<_> = hotspots.filter(|hotspot| hotspot.part >= PART).collect();
    hotspots.sort_by(|one, other| other.part.total_cmp(&one.part));
    hotspots.truncate(CRATES);
    hotspots
}

/// The hotspots of all colors together, and of each color that a finding is about.
pub(super) fn of_findings(windows: &[Window], findings: &[Finding]) -> Vec<Hotspot> {
    let mut colors: Vec<_> = findings.iter().filter_map(|finding| finding.color).collect();
    colors.sort_unstable();
    colors.dedup();
    let all = [None].into_iter().chain(colors.into_iter().map(Some));
    all.flat_map(|color| hotspots(windows, color)).collect()
}

/// The lines of a finding about the color, whose time has this name.
pub(super) fn evidence(windows: &[Window], color: Color, time: &str) -> Vec<String> {
    lines(hotspots(windows, Some(color)).iter(), time).collect()
}

/// A line for each.
pub(super) fn lines<'h>(
    hotspots: impl Iterator<Item = &'h Hotspot>,
    time: &str,
) -> impl Iterator<Item = String> {
    hotspots.map(move |hotspot| format!("{} of {time} is in {hotspot}", percent(hotspot.part)))
}
