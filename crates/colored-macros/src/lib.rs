//! `#[colored::main]` and `#[colored::test]`.
//!
//! Use them by the names that `colored` gives them. Both take the same options: see
//! [`main`](macro@main).

#![forbid(unsafe_code)]

mod entry;
mod errors;
mod function;
mod nearest;
mod options;

use proc_macro::TokenStream;

use entry::Kind;

/// Makes an `async fn main` the entry point of a program.
///
/// A runtime is built, the function runs in it as a task under `Color::DEFAULT`, and the program ends
/// when the function does; tasks that are still there are dropped. Any worker may run the function,
/// so what it keeps across an `.await` must be `Send`. With `local` the calling thread runs it
/// instead, still under `Color::DEFAULT`, and nothing need be `Send`.
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
/// `main` may return whatever a plain `main` may; an error is reported by the worker that met it, so
/// it need not be `Send`. A function of another name works too, and gives its output to its caller:
/// that output must be `Send` unless the option `local` is there.
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
/// | option | meaning | when left out |
/// |---|---|---|
/// | `workers = 4` | how many workers run tasks, 1 to 1024; any `usize` expression | one for each available CPU |
/// | `pin = true` | whether each worker is pinned to a CPU; any `bool` expression | `false` |
/// | `local` | the calling thread runs the function, which need not be `Send` | a worker runs it |
/// | `crate = ::rt` | the path of the runtime; `crate = "::rt"` is the same | `::colored` |
///
/// A literal is checked when the program is compiled, any other expression by the builder when it runs.
/// All mistakes are reported at once, each where it was made.
///
/// The function takes no arguments and no generic parameters, and is not `const`, `unsafe` or
/// `extern`. Attributes and visibility are kept.
///
/// # When `colored` has another name
///
/// The package is `colored-rt`, its library `colored`. A program that renames it says so to the
/// attributes:
///
/// ```text
/// rt = { package = "colored-rt", version = "0.1" }     # Cargo.toml
///
/// #[rt::main(crate = ::rt)]
/// async fn main() {}
/// ```
///
/// # Panics
///
/// The function that comes out panics where the function that went in does, and where the runtime
/// cannot be built: an option has a value that the builder refuses, or the system has no thread left.
#[proc_macro_attribute]
pub fn main(options: TokenStream, item: TokenStream) -> TokenStream {
    entry::expand(Kind::Main, options.into(), item.into()).into()
}

/// Makes an `async fn` a test.
///
/// Each test has a runtime of its own, built and shut down with it, and runs in it as
/// [`main`](macro@main) does; the options are the same, in a table there.
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
/// `#[should_panic]`, `#[ignore]` and other attributes are kept; a second `#[test]` is refused.
///
/// # Panics
///
/// As [`main`](macro@main).
#[proc_macro_attribute]
pub fn test(options: TokenStream, item: TokenStream) -> TokenStream {
    entry::expand(Kind::Test, options.into(), item.into()).into()
}
