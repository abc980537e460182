//! Errors of the operating system with their context: an address, a path.

use std::error::Error;
use std::fmt;
use std::io;

/// An error of the operating system with its context.
#[derive(Debug)]
struct WithContext {
    text: String,
    source: io::Error,
}

impl fmt::Display for WithContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for WithContext {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.source)
    }
}

/// `source` with `text`, which should quote it.
pub(crate) fn with_context(text: String, source: io::Error) -> io::Error {
    io::Error::new(source.kind(), WithContext { text, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_the_system_is_the_source() {
        let error = with_context("accept".into(), io::Error::from_raw_os_error(24));
        let source = error.get_ref().unwrap().source().unwrap();
        assert_eq!(source.downcast_ref::<io::Error>().unwrap().raw_os_error(), Some(24));
    }
}
