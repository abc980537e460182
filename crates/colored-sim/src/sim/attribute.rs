//! What `#[colored::test(sim)]` expands to. It changes without notice.

use super::again::{self, Binary};
use super::kept::beside;
use super::{Builder, Faults, Runtimes};
use crate::Strategy;
use std::fmt::Debug;
use std::ops::RangeInclusive;

/// A test, as the compiler knows it where the attribute stands.
#[derive(Clone, Copy, Debug)]
pub struct Test {
    /// The path of its module, from the crate.
    pub module: &'static str,
    /// The name of the function.
    pub name: &'static str,
    /// The source file.
    pub file: &'static str,
    /// The folder of the package, if cargo compiles it.
    pub folder: Option<&'static str>,
    /// The name of the package, if cargo compiles it.
    pub package: Option<&'static str>,
    /// The name of the program, if it is a test of one.
    pub program: Option<&'static str>,
    /// Whether its crate is a file of `tests` or `benches`.
    pub is_apart: bool,
}

impl Test {
    /// The name by which the test binary calls the test: the path without the crate.
    fn path(self) -> String {
        match self.module.split_once("::") {
            Some((_, modules)) => format!("{modules}::{}", self.name),
            None => self.name.to_owned(),
        }
    }

    /// The binary that has it, if cargo has compiled it.
    fn binary(self) -> Option<Binary> {
        let Self { module, folder, package, program, is_apart, .. } = self;
        let name = module.split("::").next()?;
        Some(Binary { package: package?, folder: folder?, name, program, is_apart })
    }
}

/// The end of a simulated test.
#[diagnostic::on_unimplemented(
    message = "a simulated test cannot end with a `{Self}`",
    label = "nothing says whether this is a failure",
    note = "return `()`, or a `Result` of `()` with an error that is `Debug`"
)]
pub trait End {
    /// Panics if it is an error.
    fn end(self);
}

impl End for () {
    fn end(self) {}
}

#[diagnostic::do_not_recommend]
impl<T: End, E: Debug> End for Result<T, E> {
    #[track_caller]
    fn end(self) {
        match self {
            Ok(value) => value.end(),
            Err(error) => panic!("the test returns the error {error:?}"),
        }
    }
}

/// The option `workers`.
pub trait Workers {
    /// The numbers of which a seed draws one.
    fn range(self) -> RangeInclusive<usize>;
}

impl Workers for usize {
    fn range(self) -> RangeInclusive<usize> {
        self..=self
    }
}

impl Workers for RangeInclusive<usize> {
    fn range(self) -> RangeInclusive<usize> {
        self
    }
}

/// The option `workers`.
pub fn workers(workers: impl Workers) -> RangeInclusive<usize> {
    workers.range()
}

/// The option `strategy`, as a text.
///
/// # Panics
///
/// If no strategy has this name.
#[must_use]
#[track_caller]
pub fn strategy(name: &str) -> Strategy {
    name.parse().unwrap_or_else(|error| panic!("the option `strategy`: {error}"))
}

/// The option `faults`, as a text.
///
/// # Panics
///
/// If a word is the name of no fault.
#[track_caller]
pub fn faults(names: &str) -> Faults {
    names.parse().unwrap_or_else(|error| panic!("the option `faults`: {error}"))
}

/// Runs the test for each seed, and panics with the report if a run fails.
///
/// # Panics
///
/// So.
#[track_caller]
pub fn simulate<R, F>(builder: Builder<R>, test: Test, program: impl Fn() -> F + Sync)
where
    R: Runtimes,
    F: Future<Output: End> + Send + 'static,
{
    let path = test.path();
    let file = test.folder.and_then(|folder| beside(folder, test.file));
    let builder = match file {
        Some(file) => builder.keep_failures(file, &*path),
        None => builder,
    };
    let program = || {
        let future = program();
        async { future.await.end() }
    };
    let test = again::Test { path, binary: test.binary() };
    builder.test_of(test).run(program).assert_passed();
}
