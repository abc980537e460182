//! The attributes, and their documentation, whose examples use the runtime: as tests of `colored-rt-macros` they would need the
//! whole runtime compiled once more, in the way in which cargo compiles procedural macros.

/// Makes an `async fn main` the entry point of a program.
///
/// The attribute builds a runtime and runs the function in it as a task under `Color::DEFAULT`. The
/// program ends when the function does, and the runtime drops the remaining tasks. Any worker may run
/// the function, so values that it keeps across an `.await` must be `Send`. With `local` the calling
/// thread runs it instead, still under `Color::DEFAULT`, and nothing need be `Send`.
///
/// `colored::spawn` is serial: tasks of other colors, by `spawn_unique` and `spawn_colored`, use all workers.
///
/// ```
/// #[colored::main(workers = 2)]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let answer: u32 = "42".parse()?;
///     assert_eq!(answer, 42);
///     Ok(())
/// }
/// ```
///
/// `main` may return the same types as a plain `main`. The worker that runs it reports an error, so the
/// error need not be `Send`. A function with another name works too, and returns its output to its
/// caller; the output must be `Send` without the option `local`. It may have arguments and generic parameters. Then the calling
/// thread runs it, as with `local`, because it may borrow its arguments; with `local = false` a worker does, if all of them are
/// `Send` and borrow nothing.
///
/// ```
/// #[colored::main(workers = 2)]
/// async fn shout(words: &[&str]) -> String {
///     words.concat().to_uppercase()
/// }
///
/// assert_eq!(shout(&["so", "be", "it"]), "SOBEIT");
/// ```
///
/// ```
/// #[colored::main(local, pin = cfg!(target_os = "linux"))]
/// async fn answer() -> std::rc::Rc<u32> {
///     std::rc::Rc::new(42)
/// }
///
/// assert_eq!(*answer(), 42);
/// ```
///
/// Options, separated by commas:
///
/// | option | meaning | default |
/// |---|---|---|
/// | `workers = 4` | the number of workers, 1 to 1024; any `usize` expression | one for each available CPU |
/// | `pin = true` | whether each worker is pinned to a CPU; any `bool` expression | `false` |
/// | `local`, `local = false` | the calling thread runs the function, which need not be `Send`; a worker does | a worker, for a `main` without arguments |
/// | `paused` | the clock stands still and moves from timer to timer: for tests, see `colored::time` | it shows the system's time |
/// | `tokio`, `tokio = false` | libraries that need tokio's runtime find one, by the feature `tokio-context`, without which the option does not compile; they find none, and panic | they find one if the feature is enabled |
/// | `crate = ::rt` | the path of the runtime; `crate = "::rt"` is the same | `::colored` |
///
/// The attribute checks a literal at compile time; the builder checks any other expression at run time.
/// The attribute reports all mistakes at once, each at its place.
///
/// These options of tokio's are accepted, so that a program which comes from tokio compiles:
///
/// | option | here |
/// |---|---|
/// | `worker_threads = 4` | `workers = 4` |
/// | `flavor = "multi_thread"` | no effect: it is the default |
/// | `flavor = "current_thread"`, `flavor = "local"` | `local, workers = 1`. The worker is a thread of its own |
/// | `start_paused = true` | `paused`, with any number of workers |
///
/// The function is not `const`, `unsafe` or `extern`, and has no `self`. `main` takes no arguments and no generic parameters.
/// Attributes and visibility are kept.
///
/// # When `colored` has another name
///
/// The package is `colored-rt`, its library `colored`. A program that renames it passes the new name to
/// the attributes:
///
/// ```text
/// rt = { package = "colored-rt", path = ".." }         # Cargo.toml
///
/// #[rt::main(crate = ::rt)]
/// async fn main() {}
/// ```
///
/// # Panics
///
/// The resulting function panics where the original function does, and if the runtime cannot be built:
/// because the builder refuses the value of an option, or the system has no thread left.
#[doc(inline)]
pub use colored_macros::main;

/// Makes an `async fn` a test.
///
/// Each test has a runtime of its own, which is built before it and shut down after it. The thread of the test runs the
/// function, as with the option `local`: under `Color::DEFAULT`, and nothing need be `Send`. With `local = false` a worker
/// runs it, as it runs [`main`](macro@main), which has a table of the options.
///
/// ```
/// #[colored::test]
/// async fn adds() {
///     assert_eq!(async { 20 + 22 }.await, 42);
/// }
///
/// #[colored::test(workers = 1)]
/// #[should_panic = "odd"]
/// async fn refuses() {
///     assert_eq!(41 % 2, 0, "odd");
/// }
///
/// #[colored::test]
/// async fn parses() -> Result<(), std::num::ParseIntError> {
///     assert_eq!("42".parse::<u32>()?, 42);
///     Ok(())
/// }
/// ```
///
/// With the option `paused` the clock of the runtime stands still, and moves at once to the next timer when nothing else is
/// left to do. The module `colored::time` says what that means to be exact, and has an example.
///
/// The function keeps `#[should_panic]`, `#[ignore]` and other attributes; a second `#[test]` is an
/// error.
///
/// # Simulations
///
/// With the option `sim`, and the feature of that name, the test runs under many schedules by seed, in a time of its own:
///
/// ```text
/// #[colored::test(sim, seeds = 1000)]
/// async fn both_deposits_count() { .. }
/// ```
///
/// A run of it fails if the function panics or returns an error, and if it hangs. The failing run is confirmed in a fresh
/// process, shrunk, kept in a file beside the source file, whose name ends with `.sim-failures`, and printed with a line that
/// repeats it: see the module `colored::sim`. The function is a task, so its future must be `Send`; it returns `()`, or a
/// `Result` of it. It may have these options, and `crate`:
///
/// | option | meaning | default |
/// |---|---|---|
/// | `seeds = 1000` | how many seeds are run; any `u64` expression | 1000 |
/// | `workers = 4`, `workers = 1..=8` | the numbers of workers, of which a seed draws one, 1 to 64 | `1..=16` |
/// | `strategy = "pct(3)"` | how a seed chooses: `"portfolio"`, `"random"`, `"round_robin"`, `"starve"`, `"pct(3)"`, or a `colored::sim::Strategy` | `"portfolio"` |
/// | `faults = "net, crash"` | which faults happen: `"swarm"`, or names of `colored::sim::Fault` in lower case, `"net"` for those of the network; or a `colored::sim::Faults` | `"none"` |
/// | `budget = "2s"` | after this time no further seed begins: a text with `ms`, `s`, `min` or `h`, or a `Duration` | none |
/// | `tokio` | what libraries hand to `tokio::spawn` runs, by the feature `tokio-context`; see `colored::sim::Builder::tokio` | a panic |
/// | `until = plateau(200)` | the end comes when so many seeds in a row have brought no new schedule | none |
///
/// # Panics
///
/// As [`main`](macro@main).
#[doc(inline)]
pub use colored_macros::test;
