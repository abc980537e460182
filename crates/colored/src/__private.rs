//! The functions to which `#[colored::main]` and `#[colored::test]` expand. This module is not public:
//! it changes without notice.
//!
//! `async fn main() -> Result<(), E>` becomes
//!
//! ```text
//! fn main() -> ExitCode {
//!     async fn main() -> Result<(), E> { .. }
//!     let main = future(main());
//!     run_to_exit(builder(), main).here()
//! }
//! ```
//!
//! It is `run` where nothing is returned, or where the function is neither `main` nor a test. With
//! `local`, in a test, and for a function with arguments it is `block_on(builder(), main()).here()`, and nothing more is
//! asked of the future.
//!
//! The traits here exist for their error messages: each stands for a bound of `Runtime::run`, and its
//! message gives a remedy if the bound does not hold.

pub use colored_core::port::{OfStack, exchange_with_stacks};

use std::convert::identity;
use std::panic::Location;
use std::pin::{Pin, pin};
use std::process::Termination;

/// The features with which this package is compiled, without those that only let libraries in: benches refuse others than
/// the default ones.
pub const FEATURES: &[&str] = {
    const fn chosen<const N: usize>(all: [(&'static str, bool); N]) -> ([&'static str; N], usize) {
        let (mut names, mut count, mut at) = ([""; N], 0, 0);
        while at < N {
            if all[at].1 {
                names[count] = all[at].0;
                count += 1;
            }
            at += 1;
        }
        (names, count)
    }
    const CHOSEN: ([&str; 8], usize) = chosen([
        ("diagnose", cfg!(feature = "diagnose")),
        ("macros", cfg!(feature = "macros")),
        ("metrics", cfg!(feature = "metrics")),
        ("native-stacks", cfg!(feature = "native-stacks")),
        ("sim", cfg!(feature = "sim")),
        ("stage", cfg!(feature = "stage")),
        ("tokio-context", cfg!(feature = "tokio-context")),
        ("tracing", cfg!(feature = "tracing")),
    ]);
    CHOSEN.0.split_at(CHOSEN.1).0
};

use crate::chance;
use crate::runtime::{Builder, Runtime};

/// The bounds of what needs a feature that is not enabled.
#[cfg(not(feature = "diagnose"))]
pub use crate::runtime::without_features::WithDiagnose;
#[cfg(not(feature = "tokio-context"))]
pub use crate::runtime::without_features::WithTokio;

/// For `select!`.
pub use colored_core::budget::poll_remaining;
pub use std::process::ExitCode;

/// The main future of `Runtime::run`.
#[diagnostic::on_unimplemented(
    message = "the main future is not `Send`: no worker may run it",
    label = "this future is not `Send`",
    note = "add `local`, as in `#[colored::main(local)]` or `#[colored::test(local)]`: the calling \
            thread then runs this future, which need not be `Send`"
)]
pub trait MainFuture: Future {}

#[diagnostic::do_not_recommend]
impl<F: Future + Send + 'static> MainFuture for F {}

/// A type that a worker may return to the calling thread.
#[diagnostic::on_unimplemented(
    message = "the output `{Self}` is not `Send`: no worker may hand it to the caller",
    label = "this output is not `Send`",
    note = "add `local`, as in `#[colored::main(local)]`: the calling thread then runs this function, \
            and its output need not be `Send`"
)]
pub trait MainOutput: Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Send + 'static> MainOutput for T {}

/// A return type of a program or a test.
#[diagnostic::on_unimplemented(
    message = "a program or a test cannot end with a `{Self}`",
    label = "no exit code can be made of this",
    note = "return `()`, `!`, an `ExitCode`, or a `Result` of one of these with an error that is `Debug`"
)]
pub trait Exit {
    /// Reports an error, if it is one, on standard error.
    fn exit(self) -> ExitCode;
}

#[diagnostic::do_not_recommend]
impl<T: Termination> Exit for T {
    fn exit(self) -> ExitCode {
        self.report()
    }
}

/// The runtime to be, with every option at its default.
pub fn builder() -> Builder {
    Builder::new()
}

/// The option `tokio`.
#[cfg(feature = "tokio-context")]
pub fn with_tokio(builder: Builder) -> Builder {
    builder.tokio_context(true)
}

/// The option `tokio`, without the feature that it needs.
#[cfg(not(feature = "tokio-context"))]
pub fn with_tokio<B: WithTokio>(builder: B) -> B {
    builder
}

/// The option `tokio = false`.
#[cfg(feature = "tokio-context")]
pub fn without_tokio(builder: Builder) -> Builder {
    builder.tokio_context(false)
}

/// The option `tokio = false`, where there is none.
#[cfg(not(feature = "tokio-context"))]
pub fn without_tokio(builder: Builder) -> Builder {
    builder
}

/// Asks of the main future what `run` will ask, in words that name the remedy.
pub fn future<F: MainFuture>(main: F) -> F {
    main
}

/// The future of a simulated test.
#[diagnostic::on_unimplemented(
    message = "the future of a simulated test is not `Send`",
    label = "this future is not `Send`",
    note = "a simulation runs the function as a task, as `#[colored::main]` does: its values that live across an `.await` \
            must be `Send`"
)]
pub trait SimulatedFuture: Future {}

#[diagnostic::do_not_recommend]
impl<F: Future + Send + 'static> SimulatedFuture for F {}

/// Asks of the future of a simulated test what the simulation will ask.
pub fn simulated<F: SimulatedFuture>(test: F) -> F {
    test
}

/// `#[colored::test(sim)]`: the methods of the builder, the name of the function, and a closure that makes its future.
#[cfg(feature = "sim")]
#[doc(hidden)]
#[macro_export]
macro_rules! __simulate_test {
    ([$($setters:tt)*] $name:literal $program:expr) => {
        $crate::sim::attribute::simulate(
            $crate::sim::Builder::new() $($setters)*,
            $crate::sim::attribute::Test {
                module: ::core::module_path!(),
                name: $name,
                file: ::core::file!(),
                folder: ::core::option_env!("CARGO_MANIFEST_DIR"),
                package: ::core::option_env!("CARGO_PKG_NAME"),
                program: ::core::option_env!("CARGO_BIN_NAME"),
                is_apart: ::core::option_env!("CARGO_TARGET_TMPDIR").is_some(),
            },
            $program,
        )
    };
}

/// `#[colored::test(sim)]`, without the feature that it needs.
#[cfg(not(feature = "sim"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __simulate_test {
    ($($test:tt)*) => {
        ::core::compile_error!(
            "the option `sim` needs the feature `sim` of the package `colored-rt`: in `Cargo.toml`, among the \
             dev-dependencies, `colored = { package = \"colored-rt\", features = [\"sim\"] }`"
        )
    };
}

pub use crate::__simulate_test as simulate_test;
#[cfg(feature = "sim")]
pub use crate::sim::attribute::{faults, strategy, workers};

/// A boxed main future: so the runtime is compiled once for each output, and not once for each test.
type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A main future that is ready to be run.
pub struct Main<T> {
    builder: Builder,
    main: Boxed<T>,
    /// Made where the bounds of the output hold: [`here`](Self::here) has none, which the compiler would report again.
    run: fn(&Runtime, &'static Location<'static>, Boxed<T>) -> T,
}

impl<T> Main<T> {
    /// `Runtime::run`: the main task is spawned at the caller's place.
    #[track_caller]
    pub fn here(self) -> T {
        (self.run)(&start(self.builder), Location::caller(), self.main)
    }
}

/// What `run` runs.
pub fn run<F>(builder: Builder, main: F) -> Main<F::Output>
where
    F: Future<Output: MainOutput> + Send + 'static,
{
    let run = |runtime: &Runtime, site, main| runtime.run_from(site, main);
    Main { builder, main: Box::pin(main), run }
}

/// `run`, with an exit code that is made where the future ran: its output need not be `Send`.
pub fn run_to_exit<F>(builder: Builder, main: F) -> Main<ExitCode>
where
    F: Future<Output: Exit> + Send + 'static,
{
    run(builder, async { main.await.exit() })
}

/// A main future that the calling thread is ready to run.
pub struct LocalMain<F: Future, T> {
    builder: Builder,
    main: F,
    /// Made where the bounds of the output hold, as [`Main::run`].
    end: fn(F::Output) -> T,
}

impl<F: Future, T> LocalMain<F, T> {
    /// `Runtime::block_on`, also compiled once for each output.
    #[track_caller]
    pub fn here(self) -> T {
        let Self { builder, main, end } = self;
        let main: Pin<&mut dyn Future<Output = F::Output>> = pin!(main);
        start(builder).block_on(async { end(main.await) })
    }
}

/// What `block_on` runs.
pub fn block_on<F: Future>(builder: Builder, main: F) -> LocalMain<F, F::Output> {
    LocalMain { builder, main, end: identity }
}

/// `block_on`, with an exit code.
pub fn block_on_to_exit<F>(builder: Builder, main: F) -> LocalMain<F, ExitCode>
where
    F: Future<Output: Exit>,
{
    LocalMain { builder, main, end: F::Output::exit }
}

fn start(builder: Builder) -> Runtime {
    builder.build().unwrap_or_else(|error| panic!("the runtime does not start: {error}"))
}

/// For `select!`: the branch that is polled first.
#[inline]
pub fn any_branch(branches: u32) -> u32 {
    chance::below(branches)
}

/// For `select!` with `biased`.
#[inline]
pub fn branch_0(_branches: u32) -> u32 {
    0
}

/// For `select!`.
#[inline]
pub fn apply<T, R>(value: T, f: impl FnOnce(T) -> R) -> R {
    f(value)
}

/// For `select!`.
#[cold]
#[track_caller]
pub fn no_branch_is_left() -> ! {
    panic!("all branches of this `select!` are disabled, and it has no `else`")
}
