//! There are no native stacks here.

use super::Frame;
use std::collections::HashMap;

/// There are none.
#[derive(Default)]
pub(in crate::dump) struct Stacks {}

#[expect(clippy::unused_self, reason = "as where there are stacks")]
impl Stacks {
    pub(in crate::dump) fn is_installed() -> bool {
        false
    }

    pub(in crate::dump) fn of_thread(&self, _: u32) -> Option<Result<Vec<Frame>, &'static str>> {
        None
    }

    pub(in crate::dump) fn sample(&self, _: u32) -> Option<Result<Vec<u64>, &'static str>> {
        None
    }
}

/// There are no addresses.
pub(in crate::dump) fn frames_at(_: impl Iterator<Item = u64>) -> HashMap<u64, Vec<Frame>> {
    HashMap::new()
}

/// On this system: an error.
///
/// # Errors
///
/// `Unsupported`.
#[cfg(feature = "native-stacks")]
pub fn install_stack_handler() -> std::io::Result<()> {
    let text = "native stacks are there on Linux, on x86-64 and aarch64";
    Err(std::io::Error::new(std::io::ErrorKind::Unsupported, text))
}
