//! Examples with axum, TLS and WebSockets.

// Compiles the code of the page.
#[cfg(all(doctest, unix))]
#[doc = include_str!("../../../docs/recipes.md")]
struct Recipes;
