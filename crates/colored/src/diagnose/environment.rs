//! The environment variables by which an operator diagnoses a program.

use std::env;
use std::io;
use std::path::PathBuf;
use std::process;

/// The path that a variable names, if it is set, with the number of the process for `{pid}`.
///
/// # Errors
///
/// If it is empty, or no UTF-8; `default` describes the value without the variable.
pub(super) fn path(name: &str, default: &str) -> io::Result<Option<PathBuf>> {
    let Some(value) = env::var_os(name) else { return Ok(None) };
    match value.to_str().filter(|value| !value.is_empty()) {
        Some(path) => Ok(Some(path.replace("{pid}", &process::id().to_string()).into())),
        None => {
            let text = format!(
                "the environment variable {name} is {value:?}: allowed is a path in UTF-8; unset it for {default}"
            );
            Err(io::Error::new(io::ErrorKind::InvalidInput, text))
        }
    }
}
