//! What the package offers with its features, and what it does without one.

#[cfg(all(unix, feature = "macros"))]
mod tokio_paths;
#[cfg(not(feature = "diagnose"))]
mod without_diagnose;
