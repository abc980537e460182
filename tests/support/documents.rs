//! The code of the front page and of the guide, as doctests. They stand outside of the packages, so that no package
//! reads a file that it does not contain.

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

#[cfg(doctest)]
#[doc = include_str!("../../docs/colors.md")]
struct Guide;

#[cfg(doctest)]
#[doc = include_str!("../../docs/simulation.md")]
struct Simulation;

// Its server waits for Ctrl-C.
#[cfg(all(doctest, unix))]
#[doc = include_str!("../../docs/from-tokio.md")]
struct FromTokio;
