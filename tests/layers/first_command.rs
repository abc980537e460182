//! The README's first command compiles little.

use super::{assert_none, root};
use std::collections::BTreeSet;
use std::process::Command;

/// With the packages of this workspace.
const MOST_PACKAGES: usize = 45;

/// What the example asks of the runtime beside its default features: hyper's traits on sockets.
const FEATURES: [&str; 3] = ["default", "hyper", "macros"];

/// What cargo says of the packages that it compiles, for a command that names none if the options name none.
fn tree(options: &[&str]) -> String {
    let cargo = std::env::var_os("CARGO").expect("cargo runs the tests");
    let mut command = Command::new(cargo);
    command.current_dir(root()).args(["tree", "--locked", "--prefix", "none"]);
    let output = command.args(options).output().expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("it is a text")
}

/// What [`tree`] names, each with its version.
fn packages(tree: &str) -> BTreeSet<&str> {
    tree.lines().map(|line| line.split(" (").next().expect("a line has a begin")).collect()
}

#[test]
fn the_first_command_compiles_the_default_features_only() {
    let page = std::fs::read_to_string(root().join("README.md")).expect("the page is there");
    assert!(page.contains("\ncargo run --release --example http\n"), "it is another command now");
    let text = tree(&["-p", "colored-examples-http", "--edges", "normal,build"]);
    let all = packages(&text);
    assert!(all.iter().any(|package| package.starts_with("colored-examples-http ")));
    assert!(all.len() <= MOST_PACKAGES, "{} packages: {all:?}", all.len());
    let text = tree(&["-p", "colored-rt", "--edges", "normal,build"]);
    let others = packages(&text).iter().filter(|name| !name.starts_with("colored")).count();
    for figure in
        [format!("compiles {} packages", all.len()), format!("needs {others} other packages")]
    {
        assert!(page.contains(&figure), "README.md does not say: {figure}");
    }
    // With what the other default member, the groups beside tokio, asks for: cargo unites the features of all of them.
    let text = tree(&["--edges", "normal,dev,features", "--invert", "colored-rt"]);
    let features = text.lines().filter_map(|line| line.strip_prefix("colored-rt feature "));
    let others = features.filter(|name| !FEATURES.contains(&name.split('"').nth(1).unwrap_or("")));
    assert_none(others.map(String::from).collect());
}
