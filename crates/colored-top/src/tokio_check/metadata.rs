//! [`Metadata`]: what `cargo metadata` prints, as far as this program reads it.

use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
    pub(crate) workspace_members: Vec<String>,
    pub(crate) resolve: Option<Resolve>,
}

#[derive(Deserialize)]
pub(crate) struct Package {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) features: BTreeMap<String, Vec<String>>,
    pub(crate) targets: Vec<Target>,
}

/// A library or a program of a package.
#[derive(Deserialize)]
pub(crate) struct Target {
    pub(crate) kind: Vec<String>,
}

/// A line of a `Cargo.toml`.
#[derive(Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) rename: Option<String>,
    pub(crate) kind: Option<String>,
    pub(crate) features: Vec<String>,
}

#[derive(Deserialize)]
pub(crate) struct Resolve {
    pub(crate) root: Option<String>,
    pub(crate) nodes: Vec<Node>,
}

/// A package with the features that are enabled, and what it depends on.
#[derive(Deserialize)]
pub(crate) struct Node {
    pub(crate) id: String,
    pub(crate) features: Vec<String>,
    pub(crate) deps: Vec<Edge>,
}

#[derive(Deserialize)]
pub(crate) struct Edge {
    pub(crate) pkg: String,
    pub(crate) dep_kinds: Vec<EdgeKind>,
}

/// None is an ordinary dependency; the others are `dev` and `build`.
#[derive(Deserialize)]
pub(crate) struct EdgeKind {
    pub(crate) kind: Option<String>,
}

impl Metadata {
    pub(crate) fn parse(json: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(json)
            .map_err(|error| format!("cargo metadata is not understood: {error}"))
    }
}

impl Package {
    /// Whether the compiler runs the package, and no program contains it.
    pub(crate) fn is_proc_macro(&self) -> bool {
        self.targets.iter().any(|target| target.kind.iter().any(|kind| kind == "proc-macro"))
    }
}

impl Edge {
    /// Whether the program itself contains the package.
    pub(crate) fn is_ordinary(&self) -> bool {
        self.dep_kinds.iter().any(|kind| kind.kind.is_none())
    }
}
