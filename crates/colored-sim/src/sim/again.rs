//! The command that repeats a run.

use super::child::REPLAY;
use crate::Replay;
use std::path::Path;

/// A test, as the command that runs it alone names it.
#[derive(Clone, Debug)]
pub(super) struct Test {
    /// Its name, as the test binary calls it.
    pub(super) path: String,
    /// Its test binary, where that is known.
    pub(super) binary: Option<Binary>,
}

/// A test binary of a package, from what cargo tells the compiler.
#[derive(Clone, Copy, Debug)]
pub(super) struct Binary {
    pub(super) package: &'static str,
    /// The folder of the package.
    pub(super) folder: &'static str,
    /// The name of the crate, with `_` in place of `-`.
    pub(super) name: &'static str,
    /// The name of the program, if it is the tests of one.
    pub(super) program: Option<&'static str>,
    /// Whether it is a file of `tests` or `benches`.
    pub(super) is_apart: bool,
}

impl Test {
    /// A command that a POSIX shell, cmd and PowerShell take as it is: it runs this test, in this run, and no other test. The
    /// run is one more name of a test, which no test has.
    pub(super) fn command(&self, replay: &Replay) -> String {
        let target = self.binary.map_or_else(String::new, |binary| binary.target());
        let path = &self.path;
        format!("cargo test{target} -- --exact {path} {REPLAY}={replay} --include-ignored")
    }
}

impl Binary {
    /// The options of `cargo test` that choose it, each behind a space.
    fn target(&self) -> String {
        let Self { package, folder, name, program, is_apart } = *self;
        let target = match program {
            _ if is_apart => of_folder(folder, name),
            Some(program) if is_there(folder, "examples", program) => {
                format!("--example {program}")
            }
            Some(program) => format!("--bin {program}"),
            None => "--lib".to_owned(),
        };
        format!(" -p {package} {target}")
    }
}

/// The option for a file of `tests` or `benches`, whose name may have `-` where that of the crate has `_`.
fn of_folder(folder: &str, name: &str) -> String {
    let names = [name.to_owned(), name.replace('_', "-")];
    for (inner, option) in [("tests", "--test"), ("benches", "--bench")] {
        if let Some(name) = names.iter().find(|name| is_there(folder, inner, name)) {
            return format!("{option} {name}");
        }
    }
    // The manifest names it. In quotes, as a shell takes the sign for any character of a file's name.
    match name.contains('_') {
        true => format!("--test \"{}\"", name.replace('_', "?")),
        false => format!("--test {name}"),
    }
}

fn is_there(folder: &str, inner: &str, name: &str) -> bool {
    let inner = Path::new(folder).join(inner);
    inner.join(format!("{name}.rs")).is_file() || inner.join(name).join("main.rs").is_file()
}

#[cfg(test)]
mod tests {
    use super::{Binary, Replay, Test};

    #[test]
    fn a_command_names_the_test_binary_and_the_test() {
        let folder = std::env::temp_dir().join(format!("colored-sim-again-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("tests")).unwrap();
        for name in ["probes", "native_stacks"] {
            std::fs::write(folder.join(format!("tests/{name}.rs")), "").unwrap();
        }
        let leaked: &'static str = folder.to_str().unwrap().to_owned().leak();
        let replay: Replay = "v2:3:2:0.1n1_1.1d1".parse().unwrap();
        let command = |name, program, is_apart| {
            let binary = Binary { package: "colored-rt", folder: leaked, name, program, is_apart };
            let test = Test { path: "bank::pays".to_owned(), binary: Some(binary) };
            test.command(&replay)
        };
        let rest = "-- --exact bank::pays COLORED_SIM_REPLAY=v2:3:2:0.1n1_1.1d1 --include-ignored";
        for (name, program, is_apart, target) in [
            ("colored", None, false, "--lib"),
            ("a_server", Some("a-server"), false, "--bin a-server"),
            ("probes", None, true, "--test probes"),
            ("native_stacks", None, true, "--test native_stacks"),
            ("in_the_manifest", None, true, "--test \"in?the?manifest\""),
        ] {
            let expected = format!("cargo test -p colored-rt {target} {rest}");
            assert_eq!(command(name, program, is_apart), expected);
        }
        let unknown = Test { path: "bank::pays".to_owned(), binary: None };
        assert_eq!(unknown.command(&replay), format!("cargo test {rest}"));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
