//! What the examples share: their arguments, and a certificate.

mod certificate;

pub use self::certificate::SelfSigned;
pub use colored_examples::Failure;

/// The first argument of the program, or `default`.
#[must_use]
pub fn argument_or(default: &str) -> String {
    std::env::args().nth(1).unwrap_or_else(|| default.into())
}

// Compiles the code of the page.
#[cfg(doctest)]
#[doc = include_str!("../GUIDE.md")]
struct Page;
