//! A runtime for one future.

use super::Runtime;

/// Runs a future on the calling thread, in a runtime with the default settings that begins and ends with it: for programs
/// and tests that need no settings, and have no attribute. The future need not be `Send` and may borrow.
///
/// It is `#[colored::main(local)]` without the attribute. The future is a task under
/// [`Color::DEFAULT`](crate::Color::DEFAULT), and its end is that [of a program](crate#the-end-of-a-program): the remaining
/// tasks are dropped under their colors, and the call waits for polls and blocking calls that have begun, and for stages.
///
/// ```
/// let words = [String::from("one"), String::from("two")];
/// let length = colored::block_on(async {
///     let first = words[0].len();
///     first + colored::spawn_unique(async { 3 }).await.unwrap()
/// });
/// assert_eq!(length, 6);
/// ```
///
/// A runtime starts a thread for each CPU: for several futures make one [`Runtime`], and use [`Runtime::block_on`].
///
/// # Panics
///
/// With the panic of the future; if the system refuses a thread or a selector; and inside a task or another `block_on`.
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    let runtime =
        Runtime::new().unwrap_or_else(|error| panic!("the runtime does not start: {error}"));
    runtime.block_on(future)
}
