//! [`FunctionUsage`]: how often workers were seen in a function.

use colored_core::Color;

/// Looks that found a worker in a function, inside a poll or a callback.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunctionUsage {
    /// The color that the worker ran. None if it ran another one a moment later.
    pub color: Option<Color>,
    /// The crate of the function. Empty if no function of the stack has a crate: the program has no symbols.
    pub crate_name: String,
    /// The innermost function of the stack that belongs neither to the standard library nor to the layers over the
    /// system's calls. A function without a crate, as one in C, counts for its caller.
    pub function: String,
    /// The innermost function of another such crate, which has called that one, with the file and the line of the call as
    /// far as the program has debug information. None if the runtime has called it.
    pub caller: Option<String>,
    /// How many looks there were.
    pub looks: u64,
}
