//! The environment variables by which an operator changes defaults.

use std::env;
use std::io;
use std::ops::RangeInclusive;

/// The value of a variable, if it is set.
///
/// # Errors
///
/// If it is no number of the range; `default` describes the value without the variable.
pub(crate) fn number(
    name: &str,
    allowed: RangeInclusive<usize>,
    default: &str,
) -> io::Result<Option<usize>> {
    let Some(value) = env::var_os(name) else { return Ok(None) };
    let number = value.to_str().and_then(|value| value.parse().ok());
    match number.filter(|number| allowed.contains(number)) {
        Some(number) => Ok(Some(number)),
        None => {
            let (min, max) = allowed.into_inner();
            let text = format!(
                "the environment variable {name} is {value:?}: allowed are {min} to {max}; unset it for {default}"
            );
            Err(io::Error::new(io::ErrorKind::InvalidInput, text))
        }
    }
}

/// Whether a variable says yes; `default` if it is not set.
///
/// # Errors
///
/// If it is neither 0 nor 1.
pub(crate) fn switch(name: &str, default: bool) -> io::Result<bool> {
    Ok(choice(name, default)?.unwrap_or(default))
}

/// What a variable says, if it is set; `default` is for the text of the error.
///
/// # Errors
///
/// If it is neither 0 nor 1.
pub(crate) fn choice(name: &str, default: bool) -> io::Result<Option<bool>> {
    match env::var_os(name) {
        None => Ok(None),
        Some(value) if value == "1" => Ok(Some(true)),
        Some(value) if value == "0" => Ok(Some(false)),
        Some(value) => {
            let default = u8::from(default);
            let text = format!(
                "the environment variable {name} is {value:?}: allowed are 0 and 1; unset it for {default}"
            );
            Err(io::Error::new(io::ErrorKind::InvalidInput, text))
        }
    }
}
