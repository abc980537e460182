//! [`Findings`]: who asks for which features of tokio that need its runtime.

use crate::metadata::{Metadata, Node, Package, Resolve};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

/// The features of tokio whose functions look for a runtime.
const NEED_A_RUNTIME: [&str; 7] = ["fs", "io-std", "net", "process", "rt", "signal", "time"];

/// Packages of ours that have tokio's runtime, and start it themselves.
const OURS: [&str; 2] = ["colored-rt", "colored-rt-hyper"];

/// What was found in a program.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) users: Vec<User>,
    /// Whether `colored-rt` is there, and has its feature `tokio-context`.
    pub(crate) context: Option<bool>,
}

/// A package that asks for such a feature.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct User {
    /// With its version.
    pub(crate) name: String,
    pub(crate) features: Vec<String>,
    /// The names of the packages from the program to this one.
    pub(crate) path: Vec<String>,
}

impl Findings {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        let Some(resolve) = &metadata.resolve else { return Self::default() };
        let graph = Graph::new(metadata, resolve);
        let (mut findings, before) = (Self::default(), graph.reach());
        for id in before.keys() {
            let (Some(package), Some(node)) = (graph.packages.get(id), graph.nodes.get(id)) else {
                continue;
            };
            if OURS.contains(&package.name.as_str()) {
                if package.name == OURS[0] {
                    let is_on = node.features.iter().any(|feature| feature == "tokio-context");
                    findings.context = Some(is_on);
                }
                continue;
            }
            let features = graph.features_of_tokio(package, node);
            if !features.is_empty() {
                let name = format!("{} {}", package.name, package.version);
                findings.users.push(User { name, features, path: graph.path(&before, id) });
            }
        }
        findings.users.sort_by(|a, b| (a.path.len(), &a.name).cmp(&(b.path.len(), &b.name)));
        findings
    }

    /// Whether a library that looks for tokio's runtime finds one.
    pub(crate) fn are_met(&self) -> bool {
        self.users.is_empty() || self.context == Some(true)
    }
}

struct Graph<'a> {
    packages: BTreeMap<&'a str, &'a Package>,
    nodes: BTreeMap<&'a str, &'a Node>,
    roots: Vec<&'a str>,
}

impl<'a> Graph<'a> {
    fn new(metadata: &'a Metadata, resolve: &'a Resolve) -> Self {
        let packages = metadata.packages.iter().map(|package| (&*package.id, package)).collect();
        let nodes = resolve.nodes.iter().map(|node| (&*node.id, node)).collect();
        let roots = match &resolve.root {
            Some(root) => vec![&**root],
            None => metadata.workspace_members.iter().map(String::as_str).collect(),
        };
        Self { packages, nodes, roots }
    }

    /// What the program contains: for each package the one before it on a shortest way.
    fn reach(&self) -> BTreeMap<&'a str, Option<&'a str>> {
        let mut before: BTreeMap<_, _> = self.roots.iter().map(|root| (*root, None)).collect();
        let mut next: VecDeque<_> = self.roots.iter().copied().collect();
        while let Some(id) = next.pop_front() {
            let edges = self.nodes.get(id).into_iter().flat_map(|node| &node.deps);
            for edge in edges.filter(|edge| edge.is_ordinary()) {
                let package = self.packages.get(&*edge.pkg);
                let is_in_the_program = !package.is_some_and(|package| package.is_proc_macro());
                if is_in_the_program && !before.contains_key(&*edge.pkg) {
                    before.insert(&edge.pkg, Some(id));
                    next.push_back(&edge.pkg);
                }
            }
        }
        before
    }

    fn path(&self, before: &BTreeMap<&'a str, Option<&'a str>>, id: &'a str) -> Vec<String> {
        let mut path = Vec::new();
        let mut at = Some(id);
        while let Some(id) = at {
            path.push(self.packages.get(id).map_or(id, |package| &package.name).to_owned());
            at = before.get(id).copied().flatten();
        }
        path.reverse();
        path
    }

    /// The features of tokio that the package asks for, of those that need a runtime.
    fn features_of_tokio(&self, package: &Package, node: &Node) -> Vec<String> {
        let has = |edge: &&crate::metadata::Edge| {
            edge.is_ordinary() && self.packages.get(&*edge.pkg).is_some_and(|of| of.name == "tokio")
        };
        let Some(tokio) = node.deps.iter().find(has) else { return Vec::new() };
        let mut asked = BTreeSet::new();
        for dependency in &package.dependencies {
            if dependency.name != "tokio" || dependency.kind.is_some() {
                continue;
            }
            asked.extend(dependency.features.iter().map(String::as_str));
            // As in `net = ["tokio/net"]`, and with a question mark for one that is optional.
            let name = dependency.rename.as_deref().unwrap_or("tokio");
            let enabled = node.features.iter().filter_map(|feature| package.features.get(feature));
            asked.extend(enabled.flatten().filter_map(|entry| {
                let rest = entry.strip_prefix(name)?;
                rest.strip_prefix("?/").or_else(|| rest.strip_prefix('/'))
            }));
        }
        let all = with_what_they_enable(asked, &self.packages[&*tokio.pkg].features);
        NEED_A_RUNTIME.iter().filter(|need| all.contains(**need)).map(ToString::to_string).collect()
    }
}

/// As in `full = ["fs", "net", ..]`.
fn with_what_they_enable<'a>(
    mut all: BTreeSet<&'a str>,
    features: &'a BTreeMap<String, Vec<String>>,
) -> BTreeSet<&'a str> {
    let mut next: Vec<_> = all.iter().copied().collect();
    while let Some(feature) = next.pop() {
        for enabled in features.get(feature).into_iter().flatten() {
            if all.insert(enabled) {
                next.push(enabled);
            }
        }
    }
    all
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.users.is_empty() {
            return writeln!(
                f,
                "No package of the program asks for a feature of tokio that needs its runtime."
            );
        }
        writeln!(
            f,
            "These packages may look for tokio's runtime, by the features of tokio that they ask for:\n"
        )?;
        let (mut name, mut features) = (0, 0);
        for user in &self.users {
            name = name.max(user.name.len());
            features = features.max(user.features.join(" ").len());
        }
        for user in &self.users {
            let (asked, path) = (user.features.join(" "), user.path.join(" > "));
            writeln!(f, "  {:name$}  {asked:features$}  {path}", user.name)?;
        }
        f.write_str(match self.context {
            Some(true) => "\nThey find one: colored-rt has its feature tokio-context.\n",
            _ => NOT_MET,
        })
    }
}

const NOT_MET: &str = "
Where one does so, it panics, in some programs only after months. Enable the feature with which they find a runtime:

  colored = { package = \"colored-rt\", version = \"..\", features = [\"tokio-context\"] }

Who enables which feature of tokio: cargo tree -i tokio -e features
";

#[cfg(test)]
mod tests;
