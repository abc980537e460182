//! The guarantees, and what is built on colors, under the policies of the papers.

mod combinations;
mod lab_features;
